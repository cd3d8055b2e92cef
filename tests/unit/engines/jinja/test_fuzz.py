"""Templates made of random parts: the engine raises nothing but FatalError, and always the same."""

from hypothesis import given
from hypothesis import strategies as st
from support.example_counts import examples
from support.jinja_programs import scope
from support.programs import program

from function_script.engines.jinja import engine as jinja
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import FUNCTIONS
from function_script.engines.jinja.lookups import STRING_METHODS
from function_script.request.limits import Limits
from function_script.texts.errors import FatalError

LIMITS = Limits(steps=20_000, output_bytes=20_000)
NAMES = st.sampled_from(["xr", "spec", "observed", "params", "loop", "ns", "x", "lib", "m", "nope"])
KEYS = st.sampled_from(
    ["spec", "count", "zones", "name", "items", "q", "_x", "__class__", *STRING_METHODS]
)
OPERATORS = st.sampled_from(
    [*"+-*/%~<", *("//", "**", "==", "!=", ">=", "in", "not in", "and", "or")]
)
FILTERED = st.sampled_from(["upper", "trim", "list", "indent(2)"])
ATOMS = st.one_of(
    NAMES,
    st.sampled_from(
        ["1", "-1", "0", "2.5", "'a'", "'a.b'", "''", "none", "true", "[]", "[1,'a']", "{'a':1}"],
    ),
    st.sampled_from(
        ["range(3)", "namespace(a=1)", "m(1)", "loop(spec.zones)", "caller()", "range"]
    ),
)


def _combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}.{}".format, inner, KEYS),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}[{}:]".format, inner, inner),
        st.builds("({} {} {})".format, inner, OPERATORS, inner),
        st.builds("({} | {})".format, inner, st.sampled_from(sorted(FILTERS))),
        st.builds("({} | {}({}))".format, inner, st.sampled_from(sorted(FILTERS)), inner),
        st.builds("({} is {})".format, inner, st.sampled_from(sorted(TESTS))),
        st.builds("{}({})".format, st.sampled_from(sorted(FUNCTIONS)), inner),
        st.builds("{}({}, {})".format, st.sampled_from(sorted(FUNCTIONS)), inner, inner),
        st.builds("{}.{}({})".format, inner, KEYS, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(ATOMS, _combined, max_leaves=6)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("{{% for x in {} %}}{}{{% endfor %}}".format, EXPRESSIONS, inner),
        st.builds("{{% for x in {} recursive %}}{}{{% endfor %}}".format, EXPRESSIONS, inner),
        st.builds("{{% if {} %}}{}{{% endif %}}".format, EXPRESSIONS, inner),
        st.builds("{{% macro m(x) %}}{}{{% endmacro %}}{}".format, inner, inner),
        st.builds("{{% call m(1) %}}{}{{% endcall %}}".format, inner),
        st.builds("{{% set x %}}{}{{% endset %}}".format, inner),
        st.builds("{{% filter {} %}}{}{{% endfilter %}}".format, FILTERED, inner),
        st.builds("{{% block b %}}{}{{% endblock %}}".format, inner),
    )


STATEMENTS = st.recursive(
    st.one_of(
        st.builds("{{{{ {} }}}}\n".format, EXPRESSIONS),
        st.builds("{{% set x = {} %}}".format, EXPRESSIONS),
        st.builds("{{% set ns.a = {} %}}".format, EXPRESSIONS),
        st.sampled_from(
            [
                "text\n",
                "{% import 'lib' as lib %}",
                "{% from 'lib' import m %}",
                "{% include 'lib' %}",
            ]
        ),
    ),
    _nested,
    max_leaves=5,
)
LIB = {"lib": "{% macro m(x) %}{{ x }}{% endmacro %}{% set y = 1 %}lib"}


def outcome(template: str) -> str:
    """The text, or the error; locating lines must work as well."""
    try:
        result = jinja.evaluate(program(template, LIB), scope(), LIMITS)
    except FatalError as error:
        return str(error)
    for number in range(1, result.text.count("\n") + 2):
        assert result.locate(number) is not None or not result.text
    return result.text


@examples(75)
@given(STATEMENTS)
def test_templates_end_in_text_or_in_an_error_of_the_author(template: str) -> None:
    """Whatever a template does, it never ends in an exception that is a bug; twice the same."""
    prefix = "{% set ns = namespace(a=1) %}{% macro m(x) %}{{ x }}{% endmacro %}\n"
    assert outcome(prefix + template) == outcome(prefix + template)


@examples(50)
@given(st.text(alphabet="{}%#-+ \n'\"[]().|~=<>*ax1\\", max_size=60))
def test_broken_templates_are_errors_of_the_author(template: str) -> None:
    """Any text compiles or is refused with a FatalError."""
    outcome(template)
