"""Names of other languages, and what is written for each in Starlark, Jinja and Go templates.

An author who comes from Helm, Ansible, Terraform, Python, Go or JavaScript writes names that are
right there. A name of one kind has one meaning, so a hint that takes it from here is certain.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal[
    "name", "text", "list", "object", "filter", "test", "tag", "word", "function"
]
"""A kind of name: a function or variable, a method of a type, a part of Jinja, a word of a tag.

A ``function`` is where a Go template calls one, and may be a keyword of another language.
"""


class _Row(NamedTuple):
    """Names of one meaning, and the hint for them in each language.

    None where the name exists, or nothing replaces it.
    """

    names: str
    starlark: str | None
    jinja: str | None
    gotemplate: str | None = None


def _same(names: str, hint: str) -> _Row:
    return _Row(names, hint, hint)


def _function(name: str, names: str) -> _Row:
    """Return the row of a function that both languages have under another name."""
    return _Row(names, f"write {name}(...)", f"write `value | {name}`")


def _jinja(names: str, hint: str) -> _Row:
    return _Row(names, None, hint)


def _go(names: str, hint: str) -> _Row:
    return _Row(names, None, None, hint)


_NO_CLOCK: Final = "there is no clock: the same request gives the same response"
_NO_RANDOMNESS: Final = "there is no randomness: stable_id(key) gives an id, stable_choice(list)"
_NO_FILES: Final = "programs see nothing but the request: there are no files"
_NO_ENVIRONMENT: Final = "programs see nothing but the request: there are no environment variables"
_NO_CLUSTER: Final = "objects of the cluster are asked for with `requirements` of the input"
_GO_CALLED: Final = "a part of the template with a name: define it, and write it with include"
_GO_PARTS: Final = (
    "a list has an item: has ITEM LIST; a map a key: hasKey MAP KEY; a text a part: "
    "contains PART TEXT"
)

_ROWS: Final[dict[Kind, tuple[_Row, ...]]] = {
    "name": (
        _Row("null nil NULL undefined", "write None", "write none"),
        _Row("none", "write None", None),
        _Row("option", "the XR is get_xr(request), for `def main(request):`", None),
        _Row("true", "write True", None),
        _Row("false", "write False", None),
        _Row("TRUE", "write True", "write true"),
        _Row("FALSE", "write False", "write false"),
        _jinja("len", "write `value | length`"),
        _jinja("str", "write `value | string`"),
        _jinja("int", "write `value | int`"),
        _jinja("float", "write `value | float`"),
        _jinja("list", "write `value | list`"),
        _jinja("bool", 'compare the value, as in `value == "true"`'),
        _jinja("sorted", "write `value | sort`"),
        _jinja("reversed", "write `value | reverse`"),
        _jinja("min", "write `list | min`"),
        _jinja("max", "write `list | max`"),
        _jinja("abs", "write `value | abs`"),
        _jinja("enumerate", "in a loop, loop.index0 counts from 0 and loop.index from 1"),
        _jinja("print", "write log(value)"),
        _jinja("isinstance type", "test the type: `value is string`, `value is mapping`"),
        _Row("sum", "add up in a loop", "write `list | sum`"),
        _Row("round", "use int(x + 0.5)", "write `value | round`"),
        _Row("set toset", "there are no sets: use the keys of a dict", "write `list | unique`"),
        _same("open templatefile", _NO_FILES),
        _Row(
            "math", "there is no math module: use the operators, min, max, abs, int and float", None
        ),
        _Row(
            "re",
            "there is no module re: use regex_match, regex_find, regex_replace",
            "use the filters regex_match, regex_find, regex_replace",
        ),
        _Row(
            "yaml",
            "there is no module yaml: use to_yaml(value) and from_yaml(text)",
            "write `value | to_yaml` or `text | from_yaml`",
        ),
        _Row(
            "base64",
            "there is no module base64: use b64encode(text) and b64decode(text)",
            "write `text | b64encode` or `text | b64decode`",
        ),
        _same("hashlib", "use sha256(text), sha1(text) or md5(text)"),
        _jinja("json", "write `value | to_json` or `text | from_json`"),
        _same("time datetime now date timestamp", _NO_CLOCK),
        _same(
            "random uuid uuidv4 uuid4 randAlphaNum randAlpha randNumeric randInt",
            _NO_RANDOMNESS,
        ),
        _same("os env getenv expandenv environ", _NO_ENVIRONMENT),
        _function("to_yaml", "toYaml toYAML yamlencode to_nice_yaml yaml_encode"),
        _function("from_yaml", "fromYaml yamldecode fromYAML"),
        _function("to_json", "toJson jsonencode mustToJson toRawJson"),
        _function("from_json", "fromJson jsondecode mustFromJson"),
        _function("to_pretty_json", "toPrettyJson to_nice_json"),
        _function("b64encode", "b64enc base64encode btoa"),
        _function("b64decode", "b64dec base64decode atob"),
        _function("sha256", "sha256sum"),
        _function("sha1", "sha1sum"),
        _function("quote", "squote"),
        _function("truncate", "trunc"),
        _function("trim_prefix", "trimPrefix trimprefix"),
        _function("trim_suffix", "trimSuffix trimsuffix"),
        _function("regex_match", "regexMatch"),
        _function("regex_find", "regexFind"),
        _function("regex_find_all", "regexFindAll"),
        _function("regex_replace", "regexReplaceAll regexreplace"),
        _function("url_quote", "urlquery urlencode"),
        _Row(
            "lookup",
            # Helm and Ansible look up objects, Terraform a key of a map.
            f"a key of a value is value.get(key, default); {_NO_CLUSTER}",
            f"a key of a value is value.get(key, default); {_NO_CLUSTER}",
            "objects of the cluster are asked for with ExtraResources or Requirements",
        ),
        _same("query", _NO_CLUSTER),
        _Row(
            "tpl",
            None,
            "a template is a module or a macro: {% macro name(a) %}",
            "write a named template with define, and include it",
        ),
        _jinja("template", "a template is a module or a macro: {% macro name(a) %}"),
        _go(
            "elseif elsif elif",
            "write {{ else if … }}; in range and with, {{ else }}{{ if … }} with one end more",
        ),
        _go("required", 'write {{ if not .x }}{{ fail "x is missing" }}{{ end }}, or default'),
        _go("getCompositeResourceConnectionDetails", "read .observed.composite.connectionDetails"),
        _Row(
            "default",
            "write get(value, path, default), or `value or default`",
            "write `value | default(...)`",
        ),
        _Row("length", "write len(value)", "write `value | length`"),
        _same("concat", "write `a + b`"),
        _same("coalesce", "write `a or b`"),
        _same("ternary", "write `a if condition else b`"),
        _Row("printf format", 'write "%s-%s" % (a, b)', 'join with ~: a ~ "-" ~ b'),
        _same("eq", "compare with ==: `a == b`"),
        _same("ne", "compare with !=: `a != b`"),
        _same("lt", "compare with <: `a < b`"),
        _same("le", "compare with <=: `a <= b`"),
        _same("gt", "compare with >: `a > b`"),
        _same("ge", "compare with >=: `a >= b`"),
        _same("empty", "write `not value`"),
        _same("hasKey", "write `key in value`"),
        _same("has", "write `item in list`"),
        _same("contains", "write `part in text`"),
        _same("mergeOverwrite", "write merge(target, source)"),
        _Row("deepCopy", "write merge({}, value)", None),
        _Row("parseInt tonumber atoi", "write int(text)", "write `text | int`"),
        _Row("tostring toString", "write str(value)", "write `value | string`"),
        _same("until", "write range(n)"),
        _Row("keys", "write value.keys()", "write `value.keys()`"),
        _Row("values", "write value.values()", "write `value.values()`"),
        _Row("upper", "write text.upper()", "write `text | upper`"),
        _Row("lower", "write text.lower()", "write `text | lower`"),
        _Row("trim", "write text.strip()", "write `text | trim`"),
        _Row("replace", "write text.replace(old, new)", "write `text | replace(old, new)`"),
        _Row("join", 'write ",".join(list)', 'write `list | join(",")`'),
        _Row("split", 'write text.split(",")', 'write `text | split(",")`'),
        _Row("first", "write list[0]", "write `list | first`"),
        _Row("last", "write list[-1]", "write `list | last`"),
        _Row("sort", "write sorted(list)", "write `list | sort`"),
        _same("index", "write `value[key]`"),
        _Row("throw Error", "stop with `fail(message)`", "stop with fail(message)"),
        _Row("console", "write print(value)", "write log(value)"),
        _Row("JSON", "write to_json(value) or from_json(text)", "write `value | to_json`"),
        _Row(
            "getComposedResource",
            'write get_observed(req, "name")',
            'write get_composed_resource("name")',
        ),
        _Row("getCompositeResource", "write get_xr(req)", "write xr"),
        _same("getResourceCondition", "write get_condition(resource, type)"),
        _jinja("setResourceNameAnnotation", "write set_resource_name_annotation(name)"),
        _Row(
            "getCredentialData",
            "write get_credentials(req, name)",
            "write get_credential_data(name)",
        ),
        _Row(
            "Values",
            'there are no Helm values: read the XR with get_xr(req, "spec.field")',
            "there are no Helm values: the XR's fields are in spec, such as spec.field",
        ),
        _Row(
            "Release",
            'there is no Helm release: the XR\'s name is get_xr(req, "metadata.name")',
            "there is no Helm release: the XR's name is xr.metadata.name",
        ),
        _same("Chart", "there is no Helm chart"),
        _Row(
            "var",
            'there are no Terraform variables: read the XR with get_xr(req, "spec.field")',
            "there are no Terraform variables: the XR's fields are in spec, such as spec.field",
        ),
        _same("local", "there are no Terraform locals: give the value a name and write that"),
        _Row("each", "name the item in the loop: `for item in list:`", None),
        _Row(
            "req",
            "the request is the argument of main: pass it on to your functions",
            "the request's parts have names of their own: observed, desired, context, xr, spec",
        ),
        _jinja(
            "request",
            "the request's parts have names of their own: observed, desired, context, xr, spec",
        ),
    ),
    "text": (
        _Row("length len size", "write len(value)", "write `value | length`"),
        _same("contains includes has", "write `part in text`"),
        _same("toUpperCase ToUpper toUpper upcase", "write text.upper()"),
        _same("toLowerCase ToLower toLower downcase casefold", "write text.lower()"),
        _same("trim Trim TrimSpace", "write text.strip()"),
        _same("startsWith hasPrefix HasPrefix", "write text.startswith(part)"),
        _same("endsWith hasSuffix HasSuffix", "write text.endswith(part)"),
        _same("substring substr slice", "write text[start:end]"),
        _same("indexOf", "write text.find(part)"),
        _same("lastIndexOf", "write text.rfind(part)"),
        _same("replaceAll gsub sub", "write text.replace(old, new)"),
        _same("charAt", "write text[index]"),
        _Row(
            "zfill",
            'pad in front: "0" * (width - len(text)) + text',
            'pad in front: "0" * n ~ text',
        ),
        _Row("rjust", 'pad in front: " " * (width - len(text)) + text', None),
        _Row("ljust padEnd", 'pad behind: text + " " * (width - len(text))', None),
        _Row("concat append", "write `a + b`", "write `a ~ b`"),
        _same("isnumeric isdecimal", "write text.isdigit()"),
        _same("repeat", "write `text * times`"),
        _Row("match", "write regex_match(text, pattern)", "write `text | regex_match(pattern)`"),
        _Row("encode decode", "leave it out: texts have no encoding", "leave it out"),
        _same("toString", "leave it out: this is a text"),
        _Row("format_map", "write text.format(**values)", None),
        _jinja("format", "join with ~, or use a filter"),
        _Row("reverse", "write text[::-1]", "write `text | reverse`"),
    ),
    "list": (
        _Row("length len size count", "write len(value)", "write `value | length`"),
        _same("contains includes has", "write `item in list`"),
        _Row(
            "push add Add append",
            "write list.append(item)",
            "make a new list: {% set list = list + [item] %}",
        ),
        _jinja("extend", "make a new list: {% set list = list + others %}"),
        _jinja("insert", "make a new list: {% set list = [item] + list %}"),
        _jinja("pop", "make a new list with list[:-1]"),
        _Row("unshift prepend", "write list.insert(0, item)", None),
        _Row("shift", "write list.pop(0)", None),
        _Row("join", 'write ",".join(list)', 'write `list | join(",")`'),
        _Row("sort", "write sorted(list): it gives a new list", "write `list | sort`"),
        _Row("reverse", "write reversed(list): it gives a new list", "write `list | reverse`"),
        _Row("indexOf", "write list.index(item)", None),
        _same("concat", "write `a + b`"),
        _Row("copy", "write list(value)", None),
        _same("slice", "write list[start:end]"),
        _Row("first", "write list[0]", "write `list | first`"),
        _Row("last", "write list[-1]", "write `list | last`"),
        _Row("map", "write [f(x) for x in list]", "write `list | map(...)`"),
        _Row("filter", "write [x for x in list if condition]", "write `list | select(...)`"),
        _Row(
            "forEach each", "write a loop, or [f(x) for x in list]", "write a loop, or use `| map`"
        ),
        _Row("keys", "a list has no keys: write range(len(list))", None),
        _Row("items", "a list has no keys: write enumerate(list)", None),
    ),
    "object": (
        _same(
            "has_key hasKey has contains containsKey hasOwnProperty includes",
            "write `key in value`",
        ),
        _same("iteritems iterItems entries viewitems", "write .items()"),
        _Row("length len size count", "write len(value)", "write `value | length`"),
        _same("copy", "write dict(value)"),
        _Row("deepcopy", "write merge({}, value)", None),
        _same("merge", "write merge(value, other)"),
        _jinja("update", "make a new object: {% set object = merge(object, other) %}"),
        _jinja("setdefault", "make a new object: {% set object = merge({key: value}, object) %}"),
        _jinja("pop", "make a new object with omit(object, [key])"),
        _Row("append put add", "a dict gets a key: value[key] = ...", None),
        _Row("remove delete", "write value.pop(key)", "write omit(value, [key])"),
        _same("dig", 'write get(value, "a.b")'),
        _same("fetch", "write value.get(key, default)"),
    ),
    "filter": (
        _jinja("size len", "write `value | length`"),
        _jinja("squote quoted", "write `value | quote`"),
        _jinja("regex_search", "write `value | regex_find`"),
        _jinja("str tostring", "write `value | string`"),
        _jinja("strip", "write `value | trim`"),
        _jinja("trunc", "write `value | truncate`"),
        _jinja("upcase toupper uppercase", "write `value | upper`"),
        _jinja("downcase tolower lowercase", "write `value | lower`"),
        _jinja("combine", "write `value | merge(other)`"),
        _jinja("bool", 'compare the value, as in `value == "true"`'),
        _jinja("ternary", "write `a if condition else b`"),
        _jinja("hash", "write `value | sha256` or `value | sha1`"),
        _jinja("append prepend", "join with ~ for texts, and with + for lists"),
        _jinja("plus add", "write `a + b`"),
        _jinja("minus", "write `a - b`"),
        _jinja("times", "write `a * b`"),
        _jinja("where", 'write `list | selectattr(name, "equalto", value)`'),
        _jinja("format", 'join with ~: a ~ "-" ~ b'),
        _jinja("safe escape e forceescape", "nothing is escaped: leave it out"),
        _jinja("date strftime to_datetime", _NO_CLOCK),
        _jinja("random shuffle password_hash to_uuid", _NO_RANDOMNESS),
        _jinja("not", "write `not value`"),
    ),
    "test": (
        _jinja("null nil None", "write `value is none`"),
        _jinja("empty falsy", "write `not value`"),
        _jinja("exists", "write `value is defined`"),
        _jinja("dict object map", "write `value is mapping`"),
        _jinja("list array tuple", "write `value is sequence`"),
        _jinja("str text", "write `value is string`"),
        _jinja("int", "write `value is integer`"),
        _jinja("bool", "write `value is boolean`"),
        _jinja("match search regex", "write `value | regex_match(pattern)`"),
        _jinja("contains", "write `item in value`"),
        _jinja("truthy", "write the value alone: `if value`"),
    ),
    "tag": (
        _jinja("elseif elsif elif", "write {% elif condition %}"),
        _jinja("foreach range", "write {% for item in list %}"),
        _jinja("while", "there is no while: {% for i in range(10) %} is a loop of 10 turns"),
        _jinja(
            "break continue",
            "loops run to their end: filter them with {% for item in list if condition %}",
        ),
        _jinja("assign let var const local", "write {% set name = value %}"),
        _jinja("capture", "write {% set name %}text{% endset %}"),
        _jinja("unless", "write {% if not condition %}"),
        _jinja("case when switch match", "write {% if %} and {% elif %}"),
        _jinja("do", "an action cannot stand alone: {% set name = value %} names a new value"),
        _jinja("define function", "write {% macro name(argument) %}"),
        _jinja("template", "write a macro, and call it: {{ name(argument) }}"),
        _jinja("comment", "write {# comment #}"),
        _jinja("load", "there are no extensions to load: leave it out"),
        _jinja("print echo", "write {{ value }}"),
        _jinja("return", "a macro gives the text that it writes: {{ value }}"),
        _jinja("autoescape", "nothing is escaped: leave it out"),
        _jinja("fail", "write {{ fail(message) }}"),
    ),
    "word": (
        _jinja("range", "write {% for item in list %}"),
        _jinja("end", "write {% endif %} or {% endfor %}"),
        _jinja("define", "write {% macro name(argument) %}"),
        _jinja("template", "write a macro, and call it: {{ name(argument) }}"),
        _jinja("include", 'write {% include "module" %}, or a macro and {{ name(argument) }}'),
    ),
    "function": (
        _go("in includes", _GO_PARTS),
        _go("is", "test a value with if, not, eq or kindIs"),
        _go("for", "there is no for: range $item := LIST, or range until N"),
        _go("unless", "write {{ if not .x }}"),
        _go("while", "there is no while: range over a list, or over until N"),
        _go("case switch match", "write if, else if and end"),
        _go("def func function macro import load extends from", _GO_CALLED),
        _go("raise throw error assert", 'end with an error: fail "TEXT"'),
        _go("isset defined exists", "test a value with if, or a key with hasKey"),
        _go(
            "lambda map filter select selectattr reject rejectattr groupby "
            "zip forEach foreach each",
            "go over a list with range",
        ),
        _go("enumerate", "range has the index: range $index, $item := LIST"),
        _go(
            "items dictsort dict2items entries iteritems",
            "range goes over a map in the order of its keys: range $key, $value := MAP",
        ),
        _go("items2dict zipmap", "fill a map in a loop: $_ := set MAP KEY VALUE"),
        _go("batch", "write chunk N LIST"),
        _go("sum", "add in a loop: declare $sum := 0 before, and write $sum = add $sum ."),
        _go("abs", "for a whole number, write max X (sub 0 X)"),
        _go("capitalize", "title begins each word with a capital letter"),
        _go("safe forceescape raw", "nothing is escaped here: leave it out"),
        _go("urlencode", "urlquery escapes a text for the query of an URL"),
        _go("bool tobool parseBool", 'compare the text: eq VALUE "true"'),
        _go(
            "regex_replace regexReplace regexreplace",
            "write regexReplaceAll PATTERN TEXT REPLACEMENT",
        ),
        _go("regex_search regex regexp", "write regexFind PATTERN TEXT"),
        _go("regex_findall regexall", "write regexFindAll PATTERN TEXT -1"),
        _go("union setunion", "write concat LIST LIST | uniq"),
        _go("flatten", "concat joins lists: concat LIST LIST"),
        _go("difference setsubtract", "write without LIST ITEM ITEM"),
        _go(
            "combine update assign extend",
            "write mergeOverwrite MAP MAP: the last one wins; with merge, the first",
        ),
        _go("attr getattr", 'write index MAP "NAME"'),
        _go("hasattr contains_key is_defined has_key", "write hasKey MAP KEY"),
        _go("element", "write index LIST N"),
        _go("try can", "a value that may be missing takes a default: default OTHER X"),
        _go("sort sorted", "sortAlpha sorts texts"),
        _go(
            "file templatefile readFile open",
            "a template reads no files: write a named template with define, and include it",
        ),
        _go("isinstance instanceof", 'write kindIs "string" VALUE'),
        _go("mandatory", 'write {{ if not .x }}{{ fail "x is missing" }}{{ end }}, or default'),
        _go("chomp", r'write trimSuffix "\n" TEXT'),
        _go("md5", "write sha256sum TEXT"),
        _go(
            "getResource get_resource getObserved get_observed getComposed",
            'write getComposedResource . "NAME"',
        ),
        _go("getXR getXr get_xr getComposite", "write getCompositeResource ."),
        _go("self this", "the data is the dot, or $ from everywhere"),
    ),
}
_HABITS: Final = {
    (kind, name): row for kind, rows in _ROWS.items() for row in rows for name in row.names.split()
}
_PLACES: Final[dict[Kind, str]] = {
    "name": "",
    "text": " for a text",
    "list": " for a list",
    "object": " for an object",
    "filter": " as a filter",
    "test": " as a test",
    "tag": " as a tag",
    "word": " as a tag",
    "function": "",
}


def find(
    language: Literal["starlark", "jinja", "gotemplate"], name: str, *kinds: Kind
) -> str | None:
    """Return what is written for a name, as the first of ``kinds`` that it has; else None."""
    rows = (_HABITS[kind, name] for kind in kinds if (kind, name) in _HABITS)
    return next((hint for row in rows if (hint := getattr(row, language))), None)


def describe(name: str) -> list[str]:
    """Return a line for each language and each meaning that a name of another language has."""
    return [*dict.fromkeys(_describe(name))]


def _describe(name: str) -> Iterator[str]:
    rows = [
        (place, _HABITS[kind, name]) for kind, place in _PLACES.items() if (kind, name) in _HABITS
    ]
    yield from (f"in Starlark{place}: {row.starlark}" for place, row in rows if row.starlark)
    yield from (f"in Jinja{place}: {row.jinja}" for place, row in rows if row.jinja)
    yield from (f"in Go templates: {row.gotemplate}" for _, row in rows if row.gotemplate)
