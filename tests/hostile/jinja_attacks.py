"""The table of hostile templates in Jinja, by what they attack."""

from hostile.cases import Attack

UNAVAILABLE, LIMIT = "not available", "the limit is"

# A value that is small in memory and has 2**40 parts when it is walked.
_SHARED = (
    "{% set n = namespace(t=[1], u=[1]) %}{% for i in range(40) %}"
    "{% set n.t = [n.t, n.t] %}{% set n.u = [n.u, n.u] %}{% endfor %}"
)
_TUPLES = (
    "{% macro m(n) %}{% set n.t = varargs %}{% endmacro %}{% set n = namespace(t=1) %}"
    "{% for i in range(40) %}{{ m(n, n.t, n.t) }}{% endfor %}"
)
_SPEC = "{% set x = observed.composite.resource.spec %}"
_BIG = "{% set big = 'a' * 1000000 %}"

ATTACKS = [
    Attack(*row)
    for row in (
        # Reaching for Python's objects
        ("class-of-a-string", UNAVAILABLE, '{{ "".__class__ }}'),
        ("class-by-item", UNAVAILABLE, '{{ ""["__class__"] }}'),
        ("mro-by-attribute-filter", UNAVAILABLE, '{{ [""] | map(attribute="__class__") }}'),
        ("sort-by-class", UNAVAILABLE, '{{ ["", 1] | sort(attribute="__class__") }}'),
        ("format", UNAVAILABLE, '{{ "{0.__class__}".format("") }}'),
        ("format-stored", UNAVAILABLE, '{% set f = "{}".format %}{{ f(1) }}'),
        ("format-by-map", "no filter", '{{ [""] | map("format") }}'),
        ("percent", UNAVAILABLE, '{{ "%s" % [1] }}'),
        ("macro-internals", UNAVAILABLE, "{% macro m() %}{% endmacro %}{{ m._func }}"),
        ("loop-internals", UNAVAILABLE, "{% for i in l %}{{ loop._iterator }}{% endfor %}"),
        ("method-internals", UNAVAILABLE, "{{ s.upper.owner }}"),
        ("function-internals", UNAVAILABLE, "{{ dict.call }}"),
        ("function-of-go", "is a function", "{{ range.call }}"),
        ("namespace-internals", "is undefined", "{{ namespace()._Namespace__attrs }}"),
        ("namespace-class", "begin with _", "{% set n = namespace() %}{% set n.__class__ = 1 %}"),
        ("namespace-class-by-argument", "begin with _", '{{ namespace(**{"__class__": 1}) }}'),
        ("self", UNAVAILABLE, "{{ self._TemplateReference__context }}"),
        ("printed-function", "cannot be written", "{{ range }}"),
        ("printed-by-join", "cannot be written", "{{ [s.upper] | join }}"),
        ("call-a-number", "cannot be called", "{{ (1)() }}"),
        ("namespace-of-a-number", "not a list", "{{ namespace(1) }}"),
        ("autoescape", "there is no tag", "{% autoescape true %}{% endautoescape %}"),
        ("import-python", "no module", '{% import "os" as os %}'),
        ("include-file", "no module", '{% include "/etc/passwd" %}'),
        ("include-computed", "text in quotes", "{% include s %}"),
        (
            "named-argument-called-self",
            "5",
            (
                "{% macro m() %}{{ kwargs | length }}{% endmacro %}"
                "{{ m(context=1, obj=2, callee=3, budget=4, run=5) }}"
            ),
            True,
        ),
        # Changing data: Jinja itself forgets that a block and a tuple set attributes, too.
        ("append", UNAVAILABLE, "{{ observed.composite.resource.spec.l.append(9) }}"),
        ("update", "is undefined", "{{ d.update(a=2) }}"),
        (
            "set-attribute",
            "only the attributes",
            _SPEC + "{% set x.a = 9 %}",
        ),
        (
            "set-block-attribute",
            "only the attributes",
            _SPEC + "{% set x.a %}9{% endset %}",
        ),
        (
            "set-in-tuple",
            "only the attributes",
            _SPEC + "{% set x.a, y = [1, 2] %}",
        ),
        (
            "merge-copies",
            "5 2",
            _SPEC + "{{ (x | merge({'count': 5})).count }} {{ x.count }}",
            True,
        ),
        # Time
        (
            "nested-loops",
            "steps",
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        ),
        (
            "loop-with-a-test",
            "steps",
            "{% for a in range(99999) %}{% for b in range(99999) if 0 %}{% endfor %}{% endfor %}",
        ),
        (
            "macro-exponential",
            "steps",
            "{% macro f(n) %}{% if n %}{{ f(n-1) ~ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        ),
        ("macro-endless", "nested", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
        ("loop-endless", "nested", "{% for x in [[]] recursive %}{{ loop([[]]) }}{% endfor %}"),
        (
            "caller-endless",
            "nested",
            (
                "{% macro f() %}{{ caller() if false }}{% call f() %}{% endcall %}"
                "{% endmacro %}{% call f() %}{% endcall %}"
            ),
        ),
        ("shared-printed", LIMIT, _SHARED + "{{ n.t }}"),
        ("shared-compared", LIMIT, _SHARED + "{{ n.t == n.u }}"),
        ("shared-in-list", LIMIT, _SHARED + "{{ n.t in [n.u] }}"),
        ("shared-in-library", LIMIT, _SHARED + "{{ n.t | tojson }}"),
        ("shared-changed", LIMIT, _SHARED + "{% for i in l %}{{ loop.changed(n.t) }}{% endfor %}"),
        ("shared-in-message", LIMIT, _SHARED + "{{ fail(n.t) }}"),
        ("shared-unique", LIMIT, _SHARED + "{{ [n.t, n.u] | unique }}"),
        ("shared-as-key", "key of an object", _TUPLES + "{{ {n.t: 1} }}"),
        ("shared-as-index", "index", _TUPLES + "{{ {}[n.t] }}"),
        ("shared-in-get", "key of an object", _TUPLES + "{{ {}.get(n.t) }}"),
        ("shared-attribute", "attribute", _TUPLES + "{{ l | map(attribute=n.t) }}"),
        (
            "in-list",
            "steps",
            "{% set x = range(99999) | list %}{% for i in x %}{{ -1 in x }}{% endfor %}",
        ),
        (
            "in-text",
            "steps",
            _BIG + "{% for i in range(99999) %}{% if 'b' in big %}{% endif %}{% endfor %}",
        ),
        ("strip-product", "steps", _BIG + "{{ big.strip(big) }}"),
        ("rfind-product", "steps", _BIG + "{{ big.rfind('b' + 'a' * 500000) }}"),
        ("sort", "steps", "{{ range(99999) | map('string') | sort | length }}"),
        (
            "upper-loop",
            "steps",
            _BIG + "{% for i in range(99999) %}{% set x = big.upper() %}{% endfor %}",
        ),
        (
            "slice-loop",
            "steps",
            _BIG + "{% for i in range(99999) %}{% set x = big[1:] %}{% endfor %}",
        ),
        (
            "spread-arguments",
            "steps",
            (
                "{% macro m() %}{{ varargs | length }}{% endmacro %}{% set x = range(99999) %}"
                "{% for i in x %}{{ m(*x) }}{% endfor %}"
            ),
        ),
        ("spread-in-filter", "* and **", "{{ 1 | join(*range(99999)) }}"),
        ("long-key", "is undefined", "{{ d['a' * 1000000].b }}"),
        ("long-key-of-a-part", "is undefined", "{{ get_credential_data('=' * 1000000) }}"),
        # Calls that Python would explain in its words
        ("name-of-varargs", "there is *values", "{{ log(values=1) }}"),
        ("arguments-of-items", "items takes no arguments", "{{ observed.items(1) }}"),
        ("bound-of-a-slice", "integers or None", "{{ s['a':] }}"),
        ("log-of-two-bytes", "", "{{ log('é' * 100000) }}", True),
        (
            "undefined-chain",
            "is undefined",
            (
                "{% set n = namespace(t=d.x) %}{% for i in range(100000) %}"
                "{% set n.t = n.t.x %}{% endfor %}{{ n.t }}"
            ),
        ),
        ("long-line", "is undefined", "{{ s }}" * 9000 + "{{ d.s }}"),
        # The search for what is wrong
        ("line-of-a-loop", "is undefined", "\n% for " + "x " * 60000 + "\n{{ x }}"),
        ("tags-in-a-comment", "is undefined", "{{ y }}{# " + "{% set y " * 25000 + " #}"),
        ("raw-in-a-comment", "is undefined", "{# " + "{% raw %}" * 25000 + " #}${{ x }}"),
        # Memory
        ("power", LIMIT, "{{ 9 ** 9 ** 9 }}"),
        ("power-in-constant", LIMIT, "{% if 9 ** (9 ** 9) %}{% endif %}"),
        ("text-times", LIMIT, '{{ "x" * 10 ** 10 }}'),
        ("list-times", LIMIT, "{{ [0] * 10 ** 9 }}"),
        (
            "text-doubling",
            LIMIT,
            (
                "{% set n = namespace(x='aa') %}{% for i in range(60) %}"
                "{% set n.x = n.x ~ n.x %}{% endfor %}"
            ),
        ),
        (
            "list-doubling",
            LIMIT,
            (
                "{% set n = namespace(x=[0]) %}{% for i in range(60) %}"
                "{% set n.x = n.x + n.x %}{% endfor %}"
            ),
        ),
        (
            "integer-doubling",
            LIMIT,
            (
                "{% set n = namespace(x=1) %}{% for i in range(999) %}"
                "{% set n.x = n.x - (0 - n.x) %}{% endfor %}"
            ),
        ),
        ("replace", LIMIT, '{{ ("x" * 100000) | replace("x", "y" * 100000) }}'),
        ("replace-method", LIMIT, '{{ ("x" * 100000).replace("x", "y" * 100000) }}'),
        ("join", LIMIT, '{{ range(99999) | join("y" * 100000) }}'),
        ("indent", LIMIT, '{{ "a\\nb" | indent(1000000000) }}'),
        (
            "set-block",
            LIMIT,
            "{% set x %}{% for i in range(100000) %}" + "x" * 1000 + "{% endfor %}{% endset %}",
        ),
        ("output", "output", "{% for i in range(100000) %}" + "x" * 1000 + "{% endfor %}"),
        ("range", LIMIT, "{{ range(10 ** 9) }}"),
        ("range-beyond-words", LIMIT, "{{ range(2 ** 100) }}"),
        (
            "big-list-of-texts",
            LIMIT,
            _BIG + "{% set n = namespace(x=[]) %}{% for i in range(999) %}"
            "{% set n.x = n.x + [big ~ i] %}{% endfor %}",
        ),
        ("regex-product", "characters", '{{ ("x" * 100000) | regex_replace("x", "y" * 1000) }}'),
        # The compiler
        ("parentheses", "nested too deeply", "{{ " + "(" * 5000 + ")" * 5000 + " }}"),
        ("sum-chain", "levels deep", "{{ " + "s+" * 5000 + "s }}"),
        ("filter-chain", "levels deep", "{{ s" + "|upper" * 3000 + " }}"),
        ("attribute-chain", "words", "{{ s" + ".a" * 100000 + " }}"),
        ("ifs", "deep", "{% if s %}" * 99 + "{% endif %}" * 99),
        ("loops", "loops", "{% for a in l %}" * 21 + "{% endfor %}" * 21),
        ("elifs", "parts", "{% if s %}" + "{% elif s %}x" * 9000 + "{% endif %}"),
        ("digits", "digits", "{{ " + "9" * 100000 + " }}"),
        ("infinite", "too big", "{{ 1e999 }}"),
        ("surrogate", "surrogate", '{{ "\\ud800" }}'),
        ("surrogate-by-json", "surrogate", '{{ "\\"\\\\ud800\\"" | from_json }}'),
        ("unclosed-comments", "comment", "{#" * 50000),
        ("argument-twice", "repeated", "{{ range(a=1, a=2) }}"),
        ("debug-argument", "debug", "{{ dict(__debug__=1) }}"),
        ("source", "bytes", "x" * 300000),
    )
]
