"""Names of other languages, and the correction of each in Starlark and in Jinja.

An author who comes from Helm, Ansible, Terraform, Python, Go or JavaScript writes names that are
right there. A name of this table has one meaning and one correction, so a hint that takes it from
here is certain.
"""

from typing import Final, NamedTuple


class Correction(NamedTuple):
    """The hint for a name in each language; None where the name exists or nothing replaces it."""

    starlark: str | None
    jinja: str | None


_NO_CLOCK: Final = "there is no clock: the same request gives the same response"
_NO_RANDOMNESS: Final = "there is no randomness: stable_id(key) gives an id, stable_choice(list)"
_NO_FILES: Final = "programs see nothing but the request: there are no files"
_NO_ENVIRONMENT: Final = "programs see nothing but the request: there are no environment variables"
_NO_CLUSTER: Final = "objects of the cluster are asked for with `requirements` of the input"
# Helm and Ansible look up objects, Terraform a key of a map.
_LOOKUP: Final = f"a key of a value is value.get(key, default); {_NO_CLUSTER}"


def _both(text: str) -> Correction:
    return Correction(text, text)


def _call(name: str) -> Correction:
    """Return the correction for a function that both languages have under another name."""
    return Correction(f"write {name}(...)", f"write `value | {name}`")


NAMES: Final[dict[str, Correction]] = {
    # Constants.
    **dict.fromkeys(("null", "nil", "NULL", "undefined"), Correction("write None", "write none")),
    "none": Correction("write None", None),
    # A function of KCL.
    "option": Correction("the XR is get_xr(request), for `def main(request):`", None),
    "true": Correction("write True", None),
    "false": Correction("write False", None),
    "TRUE": Correction("write True", "write true"),
    "FALSE": Correction("write False", "write false"),
    # Python's functions.
    "len": Correction(None, "write `value | length`"),
    "str": Correction(None, "write `value | string`"),
    "int": Correction(None, "write `value | int`"),
    "float": Correction(None, "write `value | float`"),
    "list": Correction(None, "write `value | list`"),
    "bool": Correction(None, 'compare the value, as in `value == "true"`'),
    "sorted": Correction(None, "write `value | sort`"),
    "reversed": Correction(None, "write `value | reverse`"),
    "min": Correction(None, "write `list | min`"),
    "max": Correction(None, "write `list | max`"),
    "abs": Correction(None, "write `value | abs`"),
    "enumerate": Correction(None, "in a loop, loop.index0 counts from 0 and loop.index from 1"),
    "print": Correction(None, "write log(value)"),
    "isinstance": Correction(None, "test the type: `value is string`, `value is mapping`"),
    "type": Correction(None, "test the type: `value is string`, `value is mapping`"),
    "sum": Correction("add up in a loop", "write `list | sum`"),
    "round": Correction("use int(x + 0.5)", "write `value | round`"),
    "set": Correction("there are no sets: use the keys of a dict", "write `list | unique`"),
    "open": _both(_NO_FILES),
    "math": Correction(
        "there is no math module: use the operators, min, max, abs, int and float", None
    ),
    "re": Correction(
        "there is no module re: use regex_match, regex_find, regex_replace",
        "use the filters regex_match, regex_find, regex_replace",
    ),
    "yaml": Correction(
        "there is no module yaml: use to_yaml(value) and from_yaml(text)",
        "write `value | to_yaml` or `text | from_yaml`",
    ),
    "base64": Correction(
        "there is no module base64: use b64encode(text) and b64decode(text)",
        "write `text | b64encode` or `text | b64decode`",
    ),
    "hashlib": _both("use sha256(text), sha1(text) or md5(text)"),
    "json": Correction(None, "write `value | to_json` or `text | from_json`"),
    **dict.fromkeys(("time", "datetime", "now", "date", "Date", "timestamp"), _both(_NO_CLOCK)),
    **dict.fromkeys(
        (
            *("random", "uuid", "uuidv4", "uuid4", "randAlphaNum", "randAlpha", "randNumeric"),
            *("randInt", "random_id", "random_password", "random_string"),
        ),
        _both(_NO_RANDOMNESS),
    ),
    **dict.fromkeys(("os", "env", "getenv", "expandenv", "environ"), _both(_NO_ENVIRONMENT)),
    # Functions of Helm, sprig, Terraform, Ansible and JavaScript.
    **dict.fromkeys(
        ("toYaml", "toYAML", "yamlencode", "to_nice_yaml", "yaml_encode"), _call("to_yaml")
    ),
    **dict.fromkeys(("fromYaml", "yamldecode", "fromYAML"), _call("from_yaml")),
    **dict.fromkeys(("toJson", "jsonencode", "mustToJson", "toRawJson"), _call("to_json")),
    **dict.fromkeys(("fromJson", "jsondecode", "mustFromJson"), _call("from_json")),
    **dict.fromkeys(("toPrettyJson", "to_nice_json"), _call("to_pretty_json")),
    **dict.fromkeys(("b64enc", "base64encode", "btoa"), _call("b64encode")),
    **dict.fromkeys(("b64dec", "base64decode", "atob"), _call("b64decode")),
    "sha256sum": _call("sha256"),
    "sha1sum": _call("sha1"),
    "md5sum": _call("md5"),
    "squote": _call("quote"),
    "trunc": _call("truncate"),
    "trimPrefix": _call("trim_prefix"),
    "trimSuffix": _call("trim_suffix"),
    "trimprefix": _call("trim_prefix"),
    "trimsuffix": _call("trim_suffix"),
    "regexMatch": _call("regex_match"),
    "regexFind": _call("regex_find"),
    "regexFindAll": _call("regex_find_all"),
    "regexReplaceAll": _call("regex_replace"),
    "regexreplace": _call("regex_replace"),
    "urlquery": _call("url_quote"),
    "urlencode": _call("url_quote"),
    "cidrsubnet": Correction("write cidr_subnet(...)", "write cidr_subnet(...)"),
    "cidrhost": Correction("write cidr_host(...)", "write cidr_host(...)"),
    "cidrnetmask": _call("cidr_netmask"),
    "lookup": _both(_LOOKUP),
    "query": _both(_NO_CLUSTER),
    "tpl": Correction(None, "a template is a module or a macro: {% macro name(a) %}"),
    "template": Correction(None, "a template is a module or a macro: {% macro name(a) %}"),
    "default": Correction(
        "write get(value, path, default), or `value or default`", "write `value | default(...)`"
    ),
    "length": Correction("write len(value)", "write `value | length`"),
    "concat": _both("write `a + b`"),
    "element": _both("write `list[index]`"),
    "toset": Correction("there are no sets: use the keys of a dict", "write `list | unique`"),
    "tolist": Correction("write list(value)", "write `value | list`"),
    "templatefile": _both(_NO_FILES),
    "ApiObject": Correction('an object is a dict: rsp.resource("name", {...})', None),
    "coalesce": Correction("write `a or b`", "write `a or b`"),
    "ternary": _both("write `a if condition else b`"),
    "printf": Correction('write "%s-%s" % (a, b)', 'join with ~: a ~ "-" ~ b'),
    "format": Correction('write "%s-%s" % (a, b)', 'join with ~: a ~ "-" ~ b'),
    "eq": _both("compare with ==: `a == b`"),
    "ne": _both("compare with !=: `a != b`"),
    "lt": _both("compare with <: `a < b`"),
    "le": _both("compare with <=: `a <= b`"),
    "gt": _both("compare with >: `a > b`"),
    "ge": _both("compare with >=: `a >= b`"),
    "empty": _both("write `not value`"),
    "hasKey": _both("write `key in value`"),
    "has": _both("write `item in list`"),
    "contains": _both("write `part in text`"),
    "mergeOverwrite": _both("write merge(target, source)"),
    "deepCopy": Correction("write merge({}, value)", None),
    "parseInt": Correction("write int(text)", "write `text | int`"),
    "parseFloat": Correction("write float(text)", "write `text | float`"),
    "tonumber": Correction("write int(text)", "write `text | int`"),
    "tostring": Correction("write str(value)", "write `value | string`"),
    "toString": Correction("write str(value)", "write `value | string`"),
    "atoi": Correction("write int(text)", "write `text | int`"),
    "until": Correction("write range(n)", "write range(n)"),
    "keys": Correction("write value.keys()", "write `value.keys()`"),
    "values": Correction("write value.values()", "write `value.values()`"),
    "upper": Correction("write text.upper()", "write `text | upper`"),
    "lower": Correction("write text.lower()", "write `text | lower`"),
    "trim": Correction("write text.strip()", "write `text | trim`"),
    "replace": Correction("write text.replace(old, new)", "write `text | replace(old, new)`"),
    "join": Correction('write ",".join(list)', 'write `list | join(",")`'),
    "split": Correction('write text.split(",")', 'write `text | split(",")`'),
    "first": Correction("write list[0]", "write `list | first`"),
    "last": Correction("write list[-1]", "write `list | last`"),
    "sort": Correction("write sorted(list)", "write `list | sort`"),
    "index": _both("write `value[key]`"),
    "throw": Correction("stop with `fail(message)`", "stop with fail(message)"),
    "Error": Correction("stop with `fail(message)`", "stop with fail(message)"),
    "console": Correction("write print(value)", "write log(value)"),
    "JSON": Correction("write to_json(value) or from_json(text)", "write `value | to_json`"),
    # Other functions of Crossplane's family.
    "getComposedResource": Correction(
        'write get_observed(req, "name")', 'write get_composed_resource("name")'
    ),
    "getCompositeResource": Correction("write get_xr(req)", "write xr"),
    "getResourceCondition": Correction(
        "write get_condition(resource, type)", "write get_condition(resource, type)"
    ),
    "setResourceNameAnnotation": Correction(None, "write set_resource_name_annotation(name)"),
    "getCredentialData": Correction(
        "write get_credentials(req, name)", "write get_credential_data(name)"
    ),
    # Roots of other languages.
    "Values": Correction(
        'there are no Helm values: read the XR with get_xr(req, "spec.field")',
        "there are no Helm values: the XR's fields are in spec, such as spec.field",
    ),
    "Release": Correction(
        'there is no Helm release: the XR\'s name is get_xr(req, "metadata.name")',
        "there is no Helm release: the XR's name is xr.metadata.name",
    ),
    "Chart": Correction("there is no Helm chart", "there is no Helm chart"),
    "var": Correction(
        'there are no Terraform variables: read the XR with get_xr(req, "spec.field")',
        "there are no Terraform variables: the XR's fields are in spec, such as spec.field",
    ),
    "local": _both("there are no Terraform locals: give the value a name and write that"),
    "each": Correction("name the item in the loop: `for item in list:`", None),
    "req": Correction(
        "the request is the argument of main: pass it on to your functions",
        "the request's parts have names of their own: observed, desired, context, xr, spec",
    ),
    "request": Correction(
        None, "the request's parts have names of their own: observed, desired, context, xr, spec"
    ),
}

# Methods by the type that has none of this name.
_LENGTH: Final = Correction("write len(value)", "write `value | length`")
_IN_LIST: Final = _both("write `item in list`")
_IN_TEXT: Final = _both("write `part in text`")
_IN_DICT: Final = _both("write `key in value`")
_NEW_LIST: Final = "make a new list: {% set list = list + [item] %}"
_LOOP: Final = Correction("write a loop, or [f(x) for x in list]", "write a loop, or use `| map`")

STRING_METHODS: Final[dict[str, Correction]] = {
    **dict.fromkeys(("length", "len", "size"), _LENGTH),
    **dict.fromkeys(("contains", "includes", "has"), _IN_TEXT),
    **dict.fromkeys(("toUpperCase", "ToUpper", "toUpper", "upcase"), _both("write text.upper()")),
    **dict.fromkeys(("toLowerCase", "ToLower", "toLower", "downcase"), _both("write text.lower()")),
    **dict.fromkeys(("casefold",), _both("write text.lower()")),
    **dict.fromkeys(("trim", "Trim", "TrimSpace"), _both("write text.strip()")),
    **dict.fromkeys(("trimStart", "trimLeft"), _both("write text.lstrip()")),
    **dict.fromkeys(("trimEnd", "trimRight"), _both("write text.rstrip()")),
    **dict.fromkeys(("startsWith", "hasPrefix", "HasPrefix"), _both("write text.startswith(part)")),
    **dict.fromkeys(("endsWith", "hasSuffix", "HasSuffix"), _both("write text.endswith(part)")),
    **dict.fromkeys(("substring", "substr", "slice"), _both("write text[start:end]")),
    **dict.fromkeys(("indexOf",), _both("write text.find(part)")),
    **dict.fromkeys(("lastIndexOf",), _both("write text.rfind(part)")),
    **dict.fromkeys(("replaceAll", "gsub", "sub"), _both("write text.replace(old, new)")),
    **dict.fromkeys(("charAt",), _both("write text[index]")),
    "zfill": Correction(
        'pad in front: "0" * (width - len(text)) + text', 'pad in front: "0" * n ~ text'
    ),
    "rjust": Correction('pad in front: " " * (width - len(text)) + text', None),
    "padStart": Correction('pad in front: "0" * (width - len(text)) + text', None),
    "ljust": Correction('pad behind: text + " " * (width - len(text))', None),
    "padEnd": Correction('pad behind: text + " " * (width - len(text))', None),
    "concat": Correction("write `a + b`", "write `a ~ b`"),
    "append": Correction("write `a + b`", "write `a ~ b`"),
    "isnumeric": _both("write text.isdigit()"),
    "isdecimal": _both("write text.isdigit()"),
    "repeat": _both("write `text * times`"),
    "match": Correction("write regex_match(text, pattern)", "write `text | regex_match(pattern)`"),
    "encode": Correction("leave it out: texts have no encoding", "leave it out"),
    "decode": Correction("leave it out: texts have no encoding", "leave it out"),
    "toString": _both("leave it out: this is a text"),
    "format_map": Correction("write text.format(**values)", None),
    "reverse": Correction("write text[::-1]", "write `text | reverse`"),
}
LIST_METHODS: Final[dict[str, Correction]] = {
    **dict.fromkeys(("length", "len", "size", "count"), _LENGTH),
    **dict.fromkeys(("contains", "includes", "has"), _IN_LIST),
    **dict.fromkeys(
        ("push", "add", "Add", "append", "extend"), Correction("write list.append(item)", _NEW_LIST)
    ),
    **dict.fromkeys(("unshift", "prepend"), Correction("write list.insert(0, item)", None)),
    "shift": Correction("write list.pop(0)", None),
    "join": Correction('write ",".join(list)', 'write `list | join(",")`'),
    "sort": Correction("write sorted(list): it gives a new list", "write `list | sort`"),
    "reverse": Correction("write reversed(list): it gives a new list", "write `list | reverse`"),
    "indexOf": Correction("write list.index(item)", None),
    "concat": _both("write `a + b`"),
    "copy": Correction("write list(value)", None),
    "slice": _both("write list[start:end]"),
    "first": Correction("write list[0]", "write `list | first`"),
    "last": Correction("write list[-1]", "write `list | last`"),
    "map": Correction("write [f(x) for x in list]", "write `list | map(...)`"),
    "filter": Correction("write [x for x in list if condition]", "write `list | select(...)`"),
    "forEach": _LOOP,
    "each": _LOOP,
    "isEmpty": _both("write `not list`"),
    "keys": Correction("a list has no keys: write range(len(list))", None),
    "items": Correction("a list has no keys: write enumerate(list)", None),
}
MAPPING_METHODS: Final[dict[str, Correction]] = {
    **dict.fromkeys(
        ("has_key", "hasKey", "has", "contains", "containsKey", "hasOwnProperty", "includes"),
        _IN_DICT,
    ),
    **dict.fromkeys(("iteritems", "iterItems", "entries", "viewitems"), _both("write .items()")),
    **dict.fromkeys(("itervalues", "viewvalues"), _both("write .values()")),
    **dict.fromkeys(("iterkeys", "viewkeys"), _both("write .keys()")),
    **dict.fromkeys(("length", "len", "size", "count"), _LENGTH),
    "copy": Correction("write dict(value)", "write dict(value)"),
    "deepcopy": Correction("write merge({}, value)", None),
    "merge": _both("write merge(value, other)"),
    "append": Correction("a dict gets a key: value[key] = ...", None),
    "put": Correction("a dict gets a key: value[key] = ...", None),
    "add": Correction("a dict gets a key: value[key] = ...", None),
    "remove": Correction("write value.pop(key)", "write omit(value, [key])"),
    "delete": Correction("write value.pop(key)", "write omit(value, [key])"),
    "isEmpty": _both("write `not value`"),
    "forEach": Correction("write `for key, value in object.items():`", None),
    "dig": Correction('write get(value, "a.b")', 'write get(value, "a.b")'),
    "fetch": Correction("write value.get(key, default)", "write value.get(key, default)"),
}

# Filters and tests of Ansible, Liquid, Django and Jinja itself that are not there.
FILTERS: Final[dict[str, str]] = {
    **{
        name: f"write `value | {filter_name}`"
        for filter_name, foreign in {
            "length": ("size",),
            "quote": ("squote", "quoted"),
            "regex_find": ("regex_search",),
            "regex_find_all": ("regex_findall",),
            "required": ("mandatory",),
            "sha1": ("checksum",),
            "string": ("str", "tostring"),
            "title": ("titlecase",),
            "trim": ("strip",),
            "truncate": ("trunc",),
            "upper": ("upcase", "toupper", "uppercase"),
            "lower": ("downcase", "tolower", "lowercase"),
            "url_quote": ("urlencode", "url_encode"),
            "url_unquote": ("url_decode",),
        }.items()
        for name in foreign
    },
    "combine": "write `value | merge(other)`",
    "bool": 'compare the value, as in `value == "true"`',
    "ternary": "write `a if condition else b`",
    "hash": "write `value | sha256` or `value | sha1`",
    "dict2items": "`value | items` gives pairs of key and value",
    "items2dict": "write dict(pairs)",
    "json_query": 'write `value | get("a.b")`',
    "append": "join with ~ for texts, and with + for lists",
    "prepend": "join with ~ for texts, and with + for lists",
    "plus": "write `a + b`",
    "minus": "write `a - b`",
    "times": "write `a * b`",
    "divided_by": "write `a // b`",
    "modulo": "write `a % b`",
    "add": "write `a + b`",
    "where": 'write `list | selectattr(name, "equalto", value)`',
    "format": 'join with ~: a ~ "-" ~ b',
    **dict.fromkeys(("safe", "escape", "e", "forceescape"), "nothing is escaped: leave it out"),
    **dict.fromkeys(("date", "strftime", "to_datetime"), _NO_CLOCK),
    **dict.fromkeys(("random", "shuffle", "password_hash", "to_uuid"), _NO_RANDOMNESS),
    "ipaddr": "use cidr_network, cidr_netmask, cidr_host(...) or cidr_contains(...)",
    "ipsubnet": "use cidr_subnet(...)",
    "not": "write `not value`",
    "len": "write `value | length`",
}
TESTS: Final[dict[str, str]] = {
    **dict.fromkeys(("null", "nil", "None"), "write `value is none`"),
    "empty": "write `not value`",
    "exists": "write `value is defined`",
    **dict.fromkeys(("dict", "object", "map"), "write `value is mapping`"),
    **dict.fromkeys(("list", "array", "tuple"), "write `value is sequence`"),
    **dict.fromkeys(("str", "text"), "write `value is string`"),
    "int": "write `value is integer`",
    "bool": "write `value is boolean`",
    **dict.fromkeys(("match", "search", "regex"), "write `value | regex_match(pattern)`"),
    "contains": "write `item in value`",
    "truthy": "write the value alone: `if value`",
    "falsy": "write `not value`",
}

# Words of tags of Go templates.
GO_TAGS: Final[dict[str, str]] = {
    "range": "write {% for item in list %}",
    "end": "write {% endif %} or {% endfor %}",
    "define": "write {% macro name(argument) %}",
    "template": "write a macro, and call it: {{ name(argument) }}",
    "include": 'write {% include "module" %}, or a macro and {{ name(argument) }}',
}


def name_in_starlark(name: str) -> str | None:
    """Return the correction of a name in Starlark; None for names of no other language."""
    correction = NAMES.get(name)
    return correction.starlark if correction is not None else None


def name_in_jinja(name: str) -> str | None:
    """Return the correction of a name in Jinja; None for names of no other language."""
    correction = NAMES.get(name)
    return GO_TAGS.get(name) or (correction.jinja if correction is not None else None)


def filter_in_jinja(name: str) -> str | None:
    """Return the correction of a filter in Jinja; None for names of no other language."""
    correction = NAMES.get(name)
    return FILTERS.get(name) or (correction.jinja if correction is not None else None)
