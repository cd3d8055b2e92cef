import pytest

from function_script.engines import foreign_syntax
from function_script.engines.foreign_syntax import (
    COMMENT_STATEMENT,
    DIRECTIVE,
    JINJA_COMMENT,
    JINJA_TAG,
    LINE_STATEMENT,
)
from function_script.texts.source import Source


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


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# for x in spec.xs:\na: 1\n# endfor", id="for"),
        pytest.param("## for key, x in xs\n  a: 1\n## endfor", id="two marks"),
        pytest.param("#if x\na: 1\n#endif", id="if"),
    ],
)
def test_comment_that_is_a_statement_is_a_finding(text: str) -> None:
    assert _lines(text, COMMENT_STATEMENT) == [1]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# for the platform team in europe\na: 1", id="prose"),
        pytest.param("# for teams in europe\na: 1\n# end of it", id="other end"),
        pytest.param("# if it fails, restart\na: 1\n# endif is not here", id="words behind"),
        pytest.param("# if x\n{% if x %}\na: 1\n{% endif %}\n# endif", id="name of a tag"),
        pytest.param("# for x in xs\n#   a: 1\n# endfor", id="comment as a whole"),
        pytest.param("run: |\n  # if x\n  a\n  # endif", id="block scalar"),
        pytest.param("# endfor\na: 1\n# for x in xs", id="end before"),
    ],
)
def test_comment_that_may_be_meant_is_no_finding(text: str) -> None:
    assert _lines(text, COMMENT_STATEMENT) == []


def test_directive_of_terraform_is_a_finding() -> None:
    assert _lines('a: "%{ if x }b%{ endif }"', DIRECTIVE) == [1]
    assert _lines("a:\n%{ for k, v in m ~}", DIRECTIVE) == [2]
    assert _lines('format: "%{if}o %{User-Agent}i %{for}" ', DIRECTIVE) == []
