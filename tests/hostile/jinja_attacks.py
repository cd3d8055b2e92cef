"""Hostile templates of our own, by what they attack. Data for test_jinja_attacks.py."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A template and how it must end: ``outcome`` is "text", an error's type, or "this|that"."""

    id: str
    reason: str
    template: str
    outcome: str
    message: str


def _refused(id_: str, reason: str, template: str, message: str = "not available") -> Attack:
    return Attack(id=id_, reason=reason, template=template, outcome="ProgramError", message=message)


def _limited(id_: str, reason: str, template: str, message: str = "the limit is") -> Attack:
    return Attack(id=id_, reason=reason, template=template, outcome="LimitError", message=message)


def _renders(id_: str, reason: str, template: str, text: str) -> Attack:
    return Attack(id=id_, reason=reason, template=template, outcome="text", message=text)


# A value that is small in memory and has 2**40 parts when it is walked.
_SHARED = (
    "{% set n = namespace(t=[1], u=[1]) %}{% for i in range(40) %}"
    "{% set n.t = [n.t, n.t] %}{% set n.u = [n.u, n.u] %}{% endfor %}"
)
_TUPLES = (
    "{% macro m(n) %}{% set n.t = varargs %}{% endmacro %}{% set n = namespace(t=1) %}"
    "{% for i in range(40) %}{{ m(n, n.t, n.t) }}{% endfor %}"
)
_BIG = "{% set big = 'a' * 1000000 %}"

ATTACKS = (
    # Reaching for Python's objects
    _refused("class-of-a-string", "dunder names", '{{ "".__class__ }}'),
    _refused("class-by-item", "the same by subscript", '{{ ""["__class__"] }}'),
    _refused("class-of-a-list", "the same of a list", "{{ [].__class__ }}"),
    _refused("mro-by-attribute-filter", "by map", '{{ [""] | map(attribute="__class__") }}'),
    _refused("sort-by-class", "by sort", '{{ ["", 1] | sort(attribute="__class__") }}'),
    _refused("format", "str.format reads attributes", '{{ "{0.__class__}".format("") }}'),
    _refused("format-stored", "a stored reference", '{% set f = "{}".format %}{{ f(1) }}'),
    _refused("format-by-map", "|map calls filters only", '{{ [""] | map("format") }}', "no filter"),
    _refused("percent", "% formats", '{{ "%s" % [1] }}'),
    _refused("macro-internals", "a macro's code", "{% macro m() %}{% endmacro %}{{ m._func }}"),
    _refused("macro-name", "even a macro's name", "{% macro m() %}{% endmacro %}{{ m.name }}"),
    _refused(
        "loop-internals", "a loop's iterator", "{% for i in l %}{{ loop._iterator }}{% endfor %}"
    ),
    _refused("method-internals", "a method's owner", "{{ s.upper.owner }}"),
    _refused("function-internals", "a function's code", "{{ dict.call }}"),
    _refused("function-of-go", "the same of a tag in Go", "{{ range.call }}", "is a function"),
    _refused("namespace-internals", "a namespace's dict", "{{ namespace()._Namespace__attrs }}"),
    _refused(
        "namespace-class",
        "setting dunder names",
        "{% set n = namespace() %}{% set n.__class__ = 1 %}",
        "begin with _",
    ),
    _refused(
        "namespace-class-by-argument",
        "the same by name",
        '{{ namespace(**{"__class__": 1}) }}',
        "begin with _",
    ),
    _refused("self", "self holds the context", "{{ self._TemplateReference__context }}"),
    _refused("printed-function", "addresses of memory", "{{ range }}", "cannot be written"),
    _refused("printed-method", "the same of methods", "{{ s.upper }}", "cannot be written"),
    _refused("printed-in-a-list", "hidden in a list", "{{ [range] }}", "cannot be written"),
    _refused("printed-by-join", "or joined", "{{ [s.upper] | join }}", "cannot be written"),
    _refused("call-a-number", "only functions are called", "{{ (1)() }}", "cannot be called"),
    _refused("namespace-of-a-number", "no object", "{{ namespace(1) }}", "not a list"),
    _refused(
        "autoescape", "tags that change the engine", "{% autoescape true %}{% endautoescape %}"
    ),
    _refused("import-python", "no file is read", '{% import "os" as os %}', "no module"),
    _refused("include-file", "no file is read", '{% include "/etc/passwd" %}', "no module"),
    _refused("include-computed", "names are constant", "{% include s %}", "text in quotes"),
    _renders(
        "named-argument-called-self",
        "no clash with Python's names",
        "{% macro m() %}{{ kwargs | length }}{% endmacro %}"
        "{{ m(context=1, obj=2, callee=3, budget=4, run=5) }}",
        "^5",
    ),
    # Changing data
    _refused(
        "append", "lists have no methods", "{{ observed.composite.resource.spec.l.append(9) }}"
    ),
    _refused("update", "objects have four methods", "{{ d.update(a=2) }}", "is undefined"),
    _refused(
        "set-attribute",
        "set changes namespaces only",
        "{% set x = observed.composite.resource.spec %}{% set x.a = 9 %}",
        "only the attributes",
    ),
    _refused(
        "set-block-attribute",
        "Jinja forgets this one",
        "{% set x = observed.composite.resource.spec %}{% set x.a %}9{% endset %}",
        "only the attributes",
    ),
    _refused(
        "set-in-tuple",
        "the same among others",
        "{% set x = observed.composite.resource.spec %}{% set x.a, y = [1, 2] %}",
        "only the attributes",
    ),
    _renders(
        "merge-copies",
        "the library changes copies",
        '{{ observed.composite.resource.spec | merge({"a": 5}) }}',
        '"a": 5',
    ),
    # Time
    _limited(
        "nested-loops",
        "10**10 turns",
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "steps",
    ),
    _limited(
        "loop-with-a-test",
        "turns without a body",
        "{% for a in range(100000) %}{% for b in range(100000) if false %}{% endfor %}{% endfor %}",
        "steps",
    ),
    _limited(
        "macro-exponential",
        "calls that double",
        "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "steps",
    ),
    _limited(
        "macro-endless",
        "a macro that calls itself",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "nested",
    ),
    _limited(
        "loop-endless",
        "a loop that calls itself",
        "{% for x in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
        "nested",
    ),
    _limited(
        "caller-endless",
        "through call blocks",
        "{% macro f() %}{{ caller() if false }}{% call f() %}{% endcall %}"
        "{% endmacro %}{% call f() %}{% endcall %}",
        "nested",
    ),
    _limited("shared-printed", "2**40 parts", _SHARED + "{{ n.t }}"),
    _limited("shared-compared", "equality walks both", _SHARED + "{{ n.t == n.u }}"),
    _limited("shared-in-list", "so does in", _SHARED + "{{ n.t in [n.u] }}"),
    _limited("shared-in-library", "and copying", _SHARED + "{{ n.t | tojson }}"),
    _limited(
        "shared-changed",
        "and a loop's memory",
        _SHARED + "{% for i in l %}{{ loop.changed(n.t) }}{% endfor %}",
    ),
    _limited("shared-in-message", "and a message", _SHARED + "{{ fail(n.t) }}"),
    _limited("shared-unique", "and what is unique", _SHARED + "{{ [n.t, n.u] | unique }}"),
    _refused(
        "shared-as-key", "tuples hash in full", _TUPLES + "{{ {n.t: 1} }}", "key of an object"
    ),
    _refused("shared-as-index", "also as an index", _TUPLES + "{{ {}[n.t] }}", "index"),
    _refused("shared-in-get", "also in get", _TUPLES + "{{ {}.get(n.t) }}", "key of an object"),
    _refused(
        "shared-attribute", "also as a name", _TUPLES + "{{ l | map(attribute=n.t) }}", "attribute"
    ),
    _limited(
        "in-list",
        "membership costs",
        "{% set x = range(99999) | list %}{% for i in x %}{% if -1 in x %}{% endif %}{% endfor %}",
        "steps",
    ),
    _limited(
        "in-text",
        "so does searching",
        _BIG + "{% for i in range(99999) %}{% if 'b' in big %}{% endif %}{% endfor %}",
        "steps",
    ),
    _limited(
        "strip-product", "strip compares all with all", _BIG + "{{ big.strip(big) }}", "steps"
    ),
    _limited(
        "rfind-product", "rfind is quadratic", _BIG + "{{ big.rfind('b' + 'a' * 500000) }}", "steps"
    ),
    _limited(
        "sort", "sorting is n log n", "{{ range(99999) | map('string') | sort | length }}", "steps"
    ),
    _limited(
        "upper-loop",
        "work on text costs",
        _BIG + "{% for i in range(99999) %}{% set x = big.upper() %}{% endfor %}",
        "steps",
    ),
    _limited(
        "slice-loop",
        "so do slices",
        _BIG + "{% for i in range(99999) %}{% set x = big[1:] %}{% endfor %}",
        "steps",
    ),
    _limited(
        "spread-arguments",
        "arguments cost",
        "{% macro m() %}{{ varargs | length }}{% endmacro %}{% set x = range(99999) %}"
        "{% for i in x %}{{ m(*x) }}{% endfor %}",
        "steps",
    ),
    _refused(
        "spread-in-filter", "filters take none", "{{ 1 | join(*range(99999)) }}", r"\* and \*\*"
    ),
    _refused(
        "undefined-chain",
        "a chain of 10**5",
        "{% set n = namespace(t=d.x) %}{% for i in range(100000) %}"
        "{% set n.t = n.t.x %}{% endfor %}{{ n.t }}",
        "is undefined",
    ),
    _refused(
        "long-line",
        "20,000 tags on the failing line",
        "{{ s }}" * 9000 + "{{ d.s }}",
        "is undefined",
    ),
    # Memory
    _limited("power", "computed integers", "{{ 9 ** 9 ** 9 }}"),
    _limited("power-in-constant", "also by the compiler", "{% if 9 ** (9 ** 9) %}{% endif %}"),
    _limited("text-times", "repeated text", '{{ "x" * 10 ** 10 }}'),
    _limited("list-times", "repeated lists", "{{ [0] * 10 ** 9 }}"),
    _limited(
        "text-doubling",
        "joined text",
        "{% set n = namespace(x='aa') %}{% for i in range(60) %}"
        "{% set n.x = n.x ~ n.x %}{% endfor %}",
    ),
    _limited(
        "list-doubling",
        "joined lists",
        "{% set n = namespace(x=[0]) %}{% for i in range(60) %}"
        "{% set n.x = n.x + n.x %}{% endfor %}",
    ),
    _limited(
        "integer-doubling",
        "sums",
        "{% set n = namespace(x=1) %}{% for i in range(999) %}"
        "{% set n.x = n.x - (0 - n.x) %}{% endfor %}",
    ),
    _limited("replace", "replaced text", '{{ ("x" * 100000) | replace("x", "y" * 100000) }}'),
    _limited(
        "replace-method", "by the method too", '{{ ("x" * 100000).replace("x", "y" * 100000) }}'
    ),
    _limited("join", "joined text", '{{ range(99999) | join("y" * 100000) }}'),
    _limited("indent", "indented text", '{{ "a\\nb" | indent(1000000000) }}'),
    _limited(
        "set-block",
        "captured text",
        "{% set x %}{% for i in range(100000) %}" + "x" * 1000 + "{% endfor %}{% endset %}",
    ),
    _limited(
        "output", "output", "{% for i in range(100000) %}" + "x" * 1000 + "{% endfor %}", "output"
    ),
    _limited("range", "ranges", "{{ range(10 ** 9) }}"),
    _limited("range-beyond-words", "ranges beyond 64 bits", "{{ range(2 ** 100) }}"),
    _limited(
        "big-list-of-texts",
        "many texts at once",
        _BIG + "{% set n = namespace(x=[]) %}{% for i in range(999) %}"
        "{% set n.x = n.x + [big ~ i] %}{% endfor %}",
    ),
    _refused(
        "regex-product",
        "replacements that grow",
        '{{ ("x" * 100000) | regex_replace("x", "y" * 1000) }}',
        "characters",
    ),
    # The compiler
    _refused(
        "parentheses", "nesting", "{{ " + "(" * 5000 + ")" * 5000 + " }}", "nested too deeply"
    ),
    _refused("lists", "nesting", "{{ " + "[" * 5000 + "]" * 5000 + " }}", "nested too deeply"),
    _refused("sum-chain", "a deep tree", "{{ " + "s+" * 5000 + "s }}", "levels deep"),
    _refused("filter-chain", "a deep tree", "{{ s" + "|upper" * 3000 + " }}", "levels deep"),
    _refused("attribute-chain", "a deep tree", "{{ s" + ".a" * 100000 + " }}", "words|levels deep"),
    _refused("ifs", "Python's indentation", "{% if s %}" * 99 + "{% endif %}" * 99, "deep"),
    _refused("loops", "Python's blocks", "{% for a in l %}" * 21 + "{% endfor %}" * 21, "loops"),
    _refused(
        "elifs", "a big tree", "{% if s %}" + "{% elif s %}x" * 9000 + "{% endif %}", "parts|words"
    ),
    Attack(
        id="elifs-that-fit",
        reason="Python's stack, which is deep enough from 3.13 on",
        template="{% if s %}" + "{% elif s %}" * 4500 + "{% endif %}",
        outcome="ProgramError|text",
        message="nested too deeply|^$",
    ),
    _refused("digits", "Python's limit for numbers", "{{ " + "9" * 100000 + " }}", "digits"),
    _refused("infinite", "a number that is no literal", "{{ 1e999 }}", "too big"),
    _refused("surrogate", "text that is no text", '{{ "\\ud800" }}', "surrogate"),
    _refused(
        "surrogate-by-json",
        "the same while running",
        '{{ "\\"\\\\ud800\\"" | from_json }}',
        "JSON|surrogate",
    ),
    _refused("unclosed-comments", "the lexer", "{#" * 50000, "comment"),
    _refused("argument-twice", "Python's own syntax errors", "{{ range(a=1, a=2) }}", "repeated"),
    _refused("debug-argument", "names Python reserves", "{{ dict(__debug__=1) }}", "debug"),
    _limited("source", "a template of 300 KB", "x" * 300000, "bytes"),
)
