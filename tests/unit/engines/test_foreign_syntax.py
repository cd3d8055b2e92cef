import pytest

from function_script.engines import foreign_syntax
from function_script.engines.foreign_syntax import JINJA_COMMENT, JINJA_TAG, LINE_STATEMENT
from function_script.source import Source


def _lines(text: str, *syntax: foreign_syntax.ForeignSyntax) -> list[int]:
    problems = foreign_syntax.find(Source(name="inline", text=text), text, syntax)
    return [problem.span.line for problem in problems if problem.span is not None]


def _dollars(text: str) -> list[int]:
    problems = foreign_syntax.find_dollars([Source(name="inline", text=text)])
    return [problem.span.line for problem in problems if problem.span is not None]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("region: ${{ spec.region }}", id="value"),
        pytest.param("- ${{ spec.region }}", id="item"),
        pytest.param('- region: "${{ .spec.region }}"', id="quotes"),
    ],
)
def test_dollar_before_a_whole_value_is_a_finding(text: str) -> None:
    assert _dollars(text) == [1]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("price: US${{ spec.price }}", id="part of a text"),
        pytest.param("run: ${{ spec.a }}-${{ spec.b }}", id="two"),
        pytest.param("run: |\n  ${{ spec.a }}", id="block scalar"),
        pytest.param("run: ${{ '{{' }} github.ref }}", id="escaped braces"),
        pytest.param("{% raw %}\nrun: ${{ github.ref }}\n{% endraw %}", id="raw"),
        pytest.param("run: ${NAME}", id="shell"),
    ],
)
def test_dollar_that_may_be_meant_is_no_finding(text: str) -> None:
    assert _dollars(text) == []


def test_dollars_are_a_finding_each() -> None:
    assert _dollars("a: ${{ x }}\nb: 1\nc: ${{ y }}") == [1, 3]


def test_statements_are_one_finding_at_the_first() -> None:
    assert _lines("a: 1\n% for x in y:\n% endfor", LINE_STATEMENT) == [2]
    assert _lines("{% for x in y %}\n{# x #}\n{% endfor %}", JINJA_TAG, JINJA_COMMENT) == [1, 2]


@pytest.mark.parametrize("header", ["|", ">-", "|2", "| # a program"])
def test_statement_in_a_block_scalar_is_no_finding(header: str) -> None:
    text = f"data:\n  program: {header}\n    {{% if x %}}\n\n    % if x\n  other: {{% if x %}}"
    assert _lines(text, JINJA_TAG, LINE_STATEMENT) == [6]


def test_percent_of_a_text_is_no_finding() -> None:
    assert _lines("a: 5 % for you\n# 5\n%YAML 1.1\n---", LINE_STATEMENT) == []
