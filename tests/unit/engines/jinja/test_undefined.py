import pytest
from support.jinja_programs import scope, text_of
from support.programs import program

from function_script.engines.jinja import engine as jinja
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.texts.errors import ProgramError

A = "{% set a = {'p': 1} %}"
RENDERS = [
    ("{{ a.q.r.s | default('D') }}", "D", "default survives a missing parent"),
    ("{{ a.q[0]['x'] | d('D') }}", "D", "also by subscripts"),
    ("{% if a.q %}y{% else %}n{% endif %}", "n", "false in a condition"),
    ("{% if a.q.r %}y{% else %}n{% endif %}", "n", "also below a missing parent"),
    ("{{ a.q.r is defined }}", "false", "may be tested"),
    ("{{ a.q is undefined }}", "true", "may be tested"),
    ("{{ a.q == 1 }}", "false", "equal to no value"),
    ("{{ a.q == none }}", "false", "not even to null"),
    ("{{ a.q != 1 }}", "true", "unequal to every value"),
    ("{{ not a.q }}", "true", "may be negated"),
    ("{{ a.q or 'x' }}", "x", "false in or"),
    ("{{ 'x' if a.q else 'y' }}", "y", "false in an inline if"),
    ("{% set b = a.q %}{{ b | default(1) }}", "1", "may be stored"),
    ("{% macro m(x) %}{{ x | d('D') }}{% endmacro %}{{ m(a.q) }}", "D", "may be passed"),
    ("{{ [a.q, 1] | length }}", "2", "may stand in a list"),
    ("{{ [a] | map(attribute='²') | first | d('D') }}", "D", "a digit that is no index"),
    (
        "{{ [[1]] | map(attribute='9' * 5000) | first | d('D') }}",
        "D",
        "more digits than Python reads",
    ),
]
REFUSED = [
    ("{{ a.q }}", "written"),
    ("{{ a.q.r }}", "written, from a missing parent"),
    ("{% for x in a.q %}{% endfor %}", "looped over"),
    ("{{ a.q ~ 'x' }}", "joined"),
    ("{{ a.q + 1 }}", "added"),
    ("{{ 1 - a.q }}", "subtracted"),
    ("{{ -a.q }}", "negated"),
    ("{{ a.q * 2 }}", "multiplied"),
    ("{{ a.q < 1 }}", "ordered"),
    ("{{ 1 in a.q }}", "searched"),
    ("{{ a.q in [1] }}", "looked for"),
    ("{{ a[a.q] }}", "used as an index"),
    ("{{ {a.q: 1} }}", "used as a key"),
    ("{{ a.q[1:] }}", "sliced"),
    ("{{ a.q() }}", "called"),
    ("{{ a.q.r() }}", "called, from a missing parent"),
    ("{{ [a.q] }}", "written within a list"),
    ("{{ a.q | tojson }}", "given to the library"),
    ("{{ {'x': a.q} | tojson }}", "given to the library within an object"),
    ("{{ 'a'.replace(a.q, 'b') }}", "given to a method"),
    *[(f"{{{{ a.q | {name} }}}}", f"filtered by {name}") for name in (
        "abs", "dictsort", "first", "float", "int", "items", "join", "last", "length", "list",
        "lower", "map('upper')", "max", "min", "quote", "replace('a', 'b')", "reverse", "round",
        "select", "sort", "split", "string", "sum", "title", "tojson", "trim", "unique", "upper",
        "indent", "b64encode", "sha256", "slugify", "groupby('x')", "selectattr('x')",
    )],
]  # fmt: skip


@pytest.mark.parametrize(("template", "text", "reason"), RENDERS, ids=[row[2] for row in RENDERS])
def test_missing_value_may_be(template: str, text: str, reason: str) -> None:
    assert text_of(A + template) == text, reason


@pytest.mark.parametrize(("template", "use"), REFUSED, ids=[row[1] for row in REFUSED])
def test_missing_value_may_not_be(template: str, use: str) -> None:
    with pytest.raises(ProgramError, match=r"\ba\.q(\.r)? is undefined") as caught:
        text_of(A + template)
    assert caught.value.diagnostics[0].span is not None, use


@pytest.mark.parametrize("condition", ["a.q", "not a.q", "a.q == 1", "a.q != 1", "a.q or 1"])
def test_strict_conditions_refuse_missing_values(condition: str) -> None:
    with pytest.raises(ProgramError, match=r"a\.q is undefined"):
        text_of(A + "{% if " + condition + " %}{% endif %}", undefined="Strict")


def test_strict_still_takes_defaults_and_tests() -> None:
    template = A + "{{ a.q.r | default(1) }} {{ a.q is defined }} {{ a.q is undefined }}"
    assert text_of(template, undefined="Strict") == "1 false true"


PATHS = [
    ("{{ xr.metadata.nam }}", "xr.metadata.nam is undefined", 'did you mean "name"?'),
    ("{{ xr['a-b'].c }}", 'xr["a-b"].c is undefined (xr["a-b"] does not exist)', None),
    ("{{ spec.zones[1].size }}", "spec.zones[1].size is undefined", "it has name"),
    ("{{ spec.zones[2].name }}", "spec.zones[2].name is undefined", "the list has 2 items"),
    ("{% set x = spec.zones %}{{ x[0].y }}", "spec.zones[0].y is undefined", "it has name"),
    (
        "{{ spec.note }}{% for zone in zones %}{% endfor %}",
        "zones is undefined",
        "write spec.zones",
    ),
    ("{% for z in spec.zones %}{{ z.y }}{% endfor %}", "spec.zones[0].y is undefined", None),
    ("{{ spec.note.x }}", "spec.note.x is undefined (spec.note is null)", None),
    ("{{ spec.count.x }}", "spec.count.x is undefined (spec.count is an integer)", None),
    ("{{ nope }}", "nope is undefined", None),
    ("{{ obsrved.x }}", "obsrved.x is undefined (obsrved does not exist)", '"observed"'),
    ("{{ get_composite_resource().speck.x }}", "observed.composite.resource.speck.x", '"spec"'),
    (
        "{% for z in spec.zones %}{{ spec.zones[loop.index].name }}{% endfor %}",
        "spec.zones[2].name is undefined",
        "the list has 2 items; loop.index counts from 1, and loop.index0 from 0",
    ),
    ("{{ forloop.counter }}", "is undefined", "loop.index0 counts"),
    ("{% set d = {} %}{{ d.x }}", "d.x is undefined", "d is empty; where it may be missing"),
    ("{{ {'a': {}}.a.b }}", "is undefined", "a is empty; where it may be missing"),
    ("{{ 'text'.x.y }}", "'text'.x.y is undefined", None),
    ("{{ context['a/b'].c }}", 'context["a/b"] does not exist', "context is empty; where"),
    ("{{ get_composed_resource('a').is_ready }}", "is undefined", "write `value | is_ready`"),
    ("{{ spec.zones-x }}", "x is undefined", "texts are joined with ~"),
    ("{{ [1] | map(int) }}", "int is undefined", 'in quotes: map("int")'),
    ("{{ hostvars[inventory_hostname] }}", "is undefined", "there are no hosts"),
    ("{{ lookup('env', 'A') }}", "lookup is undefined", "nothing but the request"),
    ("{{ params.colour }}", "params.colour is undefined", '"color"'),
    ("{{ context.apiextensions.crossplane.io/environment.a }}", "is undefined", 'io/environment"]'),
]
M = "{% macro m(alpha, beta=1) %}{{ alpha }}{{ caller() if caller }}{% endmacro %}"
CALLS = [
    ("{{ m(1, 2, 3) }}", "cannot call m: 3 arguments for 2 parameters", "write m(alpha, beta)"),
    ("{{ m(1, bta=2) }}", 'no parameter "bta"; there are alpha, beta', 'did you mean "beta"?'),
    ("{{ m() }}", 'parameter "alpha" was not provided', "pass it in the call, or give it a def"),
    ("{{ m(1, alpha=2) }}", "alpha is given twice", "write m(alpha, beta)"),
    ("{% call m(1, 2, 3) %}x{% endcall %}", "3 arguments for 2 parameters", "write m(alpha"),
    ("{% macro n() %}{% endmacro %}{{ n(a=1) }}", 'no parameter "a"; there are none', "write n()"),
    ("{{ [1] | select('match', 'a') }}", 'no test "match"', "regex_match"),
    ("{{ m }}", "a macro cannot be written into the text", "call it: m(...)"),
    ("{{ 'a'.upper }}", "a method cannot be written into the text", "call it: upper(...)"),
    ("{% for k in spec.items %}{% endfor %}", "cannot loop over a method", "call it: items(...)"),
    ("{{ range('3') }}", "not of a string", "convert the text: `value | int`"),
    ("{{ get_condition('Ready', spec.x) }}", "must be an object, not a string", "(resource, type)"),
    ("{{ truncate(3, 'a') }}", "text: must be a string", "write truncate(text, length)"),
    ("{{ {} | tojson(indent=2) }}", 'cannot call tojson: no parameter "indent"', "tojson(value)"),
    ("{{ {} | dig }}", "cannot call dig: path is missing", "write dig(value, path, default=None)"),
    ("{{ '1.5' > 1 }}", "cannot compare a string with an integer", "`| float`"),
    ("{% macro n(a) %}{{ a.b }}{% endmacro %}{{ n() }}", 'parameter "a" was not', "pass it in the"),
]


@pytest.mark.parametrize(("template", "message", "hint"), CALLS, ids=[row[0] for row in CALLS])
def test_wrong_use_of_a_callable_gets_its_hint(template: str, message: str, hint: str) -> None:
    with pytest.raises(ProgramError) as caught:
        text_of(M + template)
    (problem,) = caught.value.diagnostics
    assert message in problem.message
    assert hint in (problem.hint or "")


@pytest.mark.parametrize(
    "template",
    [
        *("{{ range('three') }}", "{{ 'a' > 1 }}", "{{ '1.5' | int }}", "{{ dns1123('a', 'b') }}"),
        *("{% for i in true %}{% endfor %}", "{% for i in [1] %}{% set n = n + 1 %}{% endfor %}"),
    ],
)
def test_value_without_a_certain_correction_gets_no_hint(template: str) -> None:
    with pytest.raises(ProgramError) as caught:
        text_of(template)
    assert caught.value.diagnostics[0].hint is None


@pytest.mark.parametrize(("template", "message", "hint"), PATHS, ids=[row[0] for row in PATHS])
def test_message_names_the_path(template: str, message: str, hint: str | None) -> None:
    """The path is that of the data where the value comes from there, else the template's words."""
    with pytest.raises(ProgramError) as caught:
        text_of(template)
    (problem,) = caught.value.diagnostics
    assert message in problem.message
    if hint is not None:
        assert hint in (problem.hint or "")


def test_search_for_a_path_builds_nothing() -> None:
    """Resources that the template did not read are not decoded to tell an error."""

    def untouched() -> dict[str, object]:
        pytest.fail("this resource was never read by the template")

    resources = Lazy({"a": untouched, "b": lambda: {"resource": {"kind": "B"}}, "c": untouched})
    data = scope(observed=Lazy({"composite": untouched, "resources": lambda: resources}))
    template = program("{{ observed.resources.b.resource.kin }}")
    with pytest.raises(ProgramError, match=r"observed\.resources\.b\.resource\.kin is undefined"):
        jinja.evaluate(template, data, Limits())
