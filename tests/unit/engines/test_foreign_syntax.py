"""Lines in the syntax of another language, and lines that only look like them."""

import pytest

from function_script.engines import foreign_syntax
from function_script.engines.foreign_syntax import (
    DIRECTIVE,
    JINJA_COMMENT,
    JINJA_TAG,
    LINE_STATEMENT,
    ForeignSyntax,
)
from function_script.texts.source import Source

# A text, and the lines with a finding.
DOLLARS = [
    pytest.param("region: ${{ spec.region }}", [1], id="value"),
    pytest.param("- ${{ spec.region }}", [1], id="item"),
    pytest.param('- region: "${{ .spec.region }}"', [1], id="quotes"),
    pytest.param("a: ${{ x }}\nb: 1\nc: ${{ y }}", [1, 3], id="one-each"),
    pytest.param("price: US${{ spec.price }}", [], id="part of a text"),
    pytest.param("run: ${{ spec.a }}-${{ spec.b }}", [], id="two"),
    pytest.param("run: |\n  ${{ spec.a }}", [], id="block scalar"),
    pytest.param("run: ${{ '{{' }} github.ref }}", [], id="escaped braces"),
    pytest.param("{% raw %}\nrun: ${{ github.ref }}\n{% endraw %}", [], id="raw"),
    pytest.param("{% raw %}\nrun: ${{ github.ref }}", [], id="raw without an end"),
    pytest.param("run: ${NAME}", [], id="shell"),
]
BOTH = (JINJA_TAG, JINJA_COMMENT)
# A text, the syntax that is looked for, and the lines with a finding: one for each syntax.
LINES = [
    pytest.param("a: 1\n% for x in y:\n% endfor", (LINE_STATEMENT,), [2], id="line-statement"),
    pytest.param("{% for x in y %}\n{# x #}\n{% endfor %}", BOTH, [1, 2], id="tag-and-comment"),
    pytest.param("a: 5 % for you\n# 5\n%YAML 1.1\n---", (LINE_STATEMENT,), [], id="percent"),
    pytest.param('a: "%{ if x }b%{ endif }"', (DIRECTIVE,), [1], id="directive"),
    pytest.param("a:\n%{ for k, v in m ~}", (DIRECTIVE,), [2], id="directive-of-a-line"),
    pytest.param('a: "%{if}o %{User-Agent}i %{for}" ', (DIRECTIVE,), [], id="format-of-a-log"),
]


def _lines(text: str, *syntax: ForeignSyntax) -> list[int]:
    problems = foreign_syntax.find(Source(name="inline", text=text), text, syntax)
    return [problem.span.line for problem in problems if problem.span is not None]


@pytest.mark.parametrize(("text", "lines"), DOLLARS)
def test_dollar_is_a_finding_before_a_whole_value(text: str, lines: list[int]) -> None:
    problems = foreign_syntax.find_dollars([Source(name="inline", text=text)])
    assert [problem.span.line for problem in problems if problem.span is not None] == lines


@pytest.mark.parametrize(("text", "syntax", "lines"), LINES)
def test_syntax_is_one_finding_at_its_first_line(
    text: str, syntax: tuple[ForeignSyntax, ...], lines: list[int]
) -> None:
    assert _lines(text, *syntax) == lines


@pytest.mark.parametrize("header", ["|", ">-", "|2", "| # a program"])
def test_statement_in_a_block_scalar_is_no_finding(header: str) -> None:
    text = f"data:\n  program: {header}\n    {{% if x %}}\n\n    % if x\n  other: {{% if x %}}"
    assert _lines(text, JINJA_TAG, LINE_STATEMENT) == [6]
