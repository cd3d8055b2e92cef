import pytest
from support import programs as builders
from support.jinja_programs import XR, rendered, scope, text_of
from support.programs import program

from function_script.engines.jinja import engine as jinja
from function_script.engines.jinja import programs
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.program import Program, Scope
from function_script.texts.errors import LimitError, ProgramError


def test_equal_programs_are_compiled_once() -> None:
    """The cache knows a program by what it says, not by identity."""
    template, modules = "{% import 'm' as m %}{{ m.x }}", {"m": "{% set x = 1 %}"}
    first = programs.load(program(template, modules), Limits())
    assert programs.load(program(template, dict(modules)), Limits()) is first


@pytest.mark.parametrize(
    "other",
    [
        program("{{ 2 }}", {"m": "x"}),
        program("{{ 1 }}", {"m": "y"}),
        program("{{ 1 }}", {"n": "x"}),
        program("{{ 1 }}", {"m": "x"}, undefined="Strict"),
        program("{{ 1 }}", {"m": "x"}, name="other.j2"),
    ],
    ids=["text", "module", "module name", "option", "source name"],
)
def test_different_programs_are_compiled_apart(other: Program) -> None:
    """Everything that a run or an error depends on is part of the cache's key."""
    first = programs.load(program("{{ 1 }}", {"m": "x"}), Limits())
    assert programs.load(other, Limits()) is not first


def test_cache_forgets_what_was_not_used_for_longest() -> None:
    """Its size is bounded; what was just used stays."""
    remaining = program("kept")
    first = programs.load(remaining, Limits())
    for number in range(programs.MAX_PROGRAMS + 5):
        programs.load(program(f"another {number}"), Limits())
        assert programs.load(remaining, Limits()) is first
    for number in range(programs.MAX_PROGRAMS):
        programs.load(program(f"more {number}"), Limits())
    assert programs.load(remaining, Limits()) is not first


def test_module_state_ends_with_the_run() -> None:
    """A module sees each run's data; Jinja itself would keep that of the first import."""
    modules = {"m": "{% set name = xr.metadata.name %}{% macro who() %}{{ name }}{% endmacro %}"}
    template = program("{% import 'm' as m %}{{ m.name }} {{ m.who() }}", modules)
    for name in ("first", "second"):
        xr = {**XR, "metadata": {"name": name}}
        data = scope(observed={"composite": {"resource": xr}})
        assert jinja.evaluate(template, data, Limits()).text == f"{name} {name}"


def test_budget_is_new_for_every_run() -> None:
    """A run that used its budget up leaves nothing to the next one, nor takes anything from it."""
    template = program("{% for i in range(params.turns) %}{% endfor %}ok")
    limits = Limits(steps=1000)

    def run(turns: int) -> str:
        return jinja.evaluate(template, builders.scope({"turns": turns}), limits).text

    assert run(900) == "ok"
    with pytest.raises(LimitError, match="steps used, the limit is 1000"):
        run(1100)
    assert run(900) == "ok"


def test_module_is_evaluated_once_for_all_imports() -> None:
    """Importing a module in a loop does not evaluate it again and again."""
    modules = {"m": "{% set x = range(5000) | list %}"}
    template = "{% for i in range(200) %}{% from 'm' import x %}{% endfor %}{{ x | default('-') }}"
    assert text_of(template, modules) == "-"


def test_request_parts_are_built_when_named() -> None:
    """Parts that the template does not name are never decoded."""

    def untouched() -> dict[str, object]:
        pytest.fail("the template does not name this")

    parts = {"observed": untouched, "context": lambda: {"team": "blue"}, "desired": untouched}
    data = Scope(request=Lazy(parts))
    assert jinja.evaluate(program("{{ context.team }}"), data, Limits()).text == "blue"


def test_log_writes_to_stderr_and_nothing_to_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each call, also when the value has several; and not again to locate a line."""
    result = rendered("a{{ log('seen', spec.count, 'x\\ny') }}b")
    result.locate(1)
    assert result.text == "ab"
    assert capsys.readouterr().err == "seen 2 x\\ny\n"


def test_log_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    """The kernel refuses more bytes, line breaks included."""
    text_of("{% for i in range(1000) %}{{ log('é' * 1000) }}{% endfor %}{{ log('x' * 99999) }}")
    assert len(capsys.readouterr().err.encode()) == 64 * 1024


def test_check_finds_problems_in_modules_that_are_not_used() -> None:
    """Check compiles everything, evaluate only what the template needs."""
    template = program("ok", {"unused": "{{ 1 | nope }}", "fine": "{{ 1 }}"})
    assert jinja.evaluate(template, scope(), Limits()).text == "ok"
    with pytest.raises(ProgramError, match=r"modules\[unused\]:1:8.*no filter \"nope\""):
        jinja.check(template, Limits())


def test_check_reports_every_problem_of_every_source() -> None:
    """Problems come sorted by source and line, and at most ten of them."""
    template = program("{{ 1 | a }}\n{{ 1 | b }}", {"m": "{{ 1 is c }}", "n": "{% if %}"})
    with pytest.raises(ProgramError) as caught:
        jinja.check(template, Limits())
    places = [str(problem.span) for problem in caught.value.diagnostics]
    assert places == ["inline:1:8", "inline:2:8", "modules[m]:1:9", "modules[n]:1:7"]
    with pytest.raises(ProgramError) as caught:
        jinja.check(program("\n".join(["{{ 1 | a }}"] * 30)), Limits())
    assert caught.value.diagnostics[-1].message == "and 20 more problems"


def test_output_limit_counts_bytes() -> None:
    limits = Limits(output_bytes=10)
    assert jinja.evaluate(program("äääää"), scope(), limits).text == "äääää"
    with pytest.raises(LimitError, match="12 bytes of output, the limit is 10"):
        jinja.evaluate(program("ääääää"), scope(), limits)


def test_source_limit_counts_bytes_of_all_sources() -> None:
    limits = Limits(source_bytes=10)
    with pytest.raises(LimitError, match=r"a source of 12 bytes, the limit is 10$"):
        jinja.evaluate(program("ääääää"), scope(), limits)
    with pytest.raises(LimitError, match=r"of 11 bytes.*\(its modules count, too\)"):
        jinja.evaluate(program("x" * 5, {"m": "x" * 6}), scope(), limits)


def test_circle_and_depth_of_modules() -> None:
    """Modules may import modules 20 deep, but not in a cycle; both are checked at compilation."""
    chain = {f"m{n}": f"{{% include 'm{n + 1}' %}}" for n in range(100)}
    with pytest.raises(ProgramError, match="more than 20 deep"):
        text_of("{% include 'm0' %}", {**chain, "m100": "end"})
    assert text_of("{% include 'm82' %}", {**chain, "m100": "end"}) == "end"
    with pytest.raises(ProgramError, match="in a cycle: a -> a"):
        text_of("{% import 'a' as a %}", {"a": "{% include 'a' %}"})


def test_many_ways_through_modules_are_followed_once() -> None:
    """Modules that each need the next one twice are no exponential work to check."""
    twice = {
        f"m{n}": f"{{% import 'm{n + 1}' as a %}}{{% import 'm{n + 1}' as b %}}" for n in range(19)
    }
    assert text_of("{% import 'm0' as m %}ok", {**twice, "m19": ""}) == "ok"
