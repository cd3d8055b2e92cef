"""The expression of a template that makes a rendered line no YAML, and what to write instead."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from jinja2 import nodes

from function_script.engines.jinja import tokens
from function_script.engines.jinja.environment import Environment
from function_script.source import Source, Span

_MULTILINE: Final = frozenset({"to_yaml", "to_pretty_json"})
_INDENTS: Final = frozenset({"indent", "nindent"})
_KEY: Final = re.compile(r" *(?:(?:- +)?[\w./\"'-]+: *|(?:- +)+)")
# A plain scalar of YAML does not begin so, and has no such part.
_NOT_PLAIN: Final = re.compile(r"[*&!%@`|>{}\[\]\"',#]|.*(?:: | #)|.*:$|[-?:](?: |$)")
_QUOTES: Final = "\"'"


class _Expression(NamedTuple):
    """An expression of a template: its text, the text of its line around it, and its place."""

    node: nodes.Node
    text: str
    before: str
    after: str
    offset: int


def explain(source: Source, line: int, rendered: Sequence[str]) -> tuple[Span, str] | None:
    """Return the expression to correct and a hint, for the lines that a template's line rendered.

    None where the reason is not certain.
    """
    if trimmed := _trimmed_break(source, line, rendered[0]):
        return trimmed
    expressions = _on_line(source, line)
    if len(expressions) != 1:
        return None
    expression = expressions[0]
    hint = _indent_hint(expression) if len(rendered) > 1 else _quote_hint(expression, rendered[0])
    if hint is None:
        return None
    return tokens.span(source, expression.offset, len(expression.text)), hint


def _trimmed_break(source: Source, line: int, rendered: str) -> tuple[Span, str] | None:
    """Return the tag that takes away the line break behind a key."""
    text = tokens.normalize(source.text)
    own, following = [*text.split("\n")[line - 1 : line + 1], ""][:2]
    mark = following.strip()[:3]
    is_joined = own.endswith(":") and rendered.startswith(own) and rendered != own
    if mark not in {"{%-", "{{-"} or not is_joined:
        return None
    begin = sum(len(each) + 1 for each in text.split("\n")[:line])
    hint = f'"-" in {mark} takes away the line break before it: write {mark[:2]}'
    return tokens.span(source, text.index(mark, begin), len(mark)), hint


def _indent_hint(expression: _Expression) -> str | None:
    names = _filters(expression.node)
    key = _KEY.fullmatch(expression.before)
    if _INDENTS & {*names}:
        is_of_key = key and _MULTILINE & {*names} and not expression.after.strip()
        is_indented = is_of_key and "nindent" not in names
        return "put it on lines of its own: write nindent for indent" if is_indented else None
    if not _MULTILINE & {*names}:
        is_field = key and not expression.after.strip()
        if is_field and _is_value(expression.node):
            return f"the value has several lines: write {{{{ {expression.text} | quote }}}}"
        return None
    if expression.after.strip():
        return None
    if not expression.before.strip():
        return f"indent its lines: {{{{ {expression.text} | indent({len(expression.before)}) }}}}"
    if key is None:
        return None
    width = len(expression.before) - len(expression.before.lstrip(" -")) + 2
    return f"put it on lines of its own: {{{{ {expression.text} | nindent({width}) }}}}"


def _quote_hint(expression: _Expression, rendered: str) -> str | None:
    if "quote" in _filters(expression.node) or not _is_value(expression.node):
        return None
    quote = expression.before[-1:]
    key = _KEY.fullmatch(expression.before[:-1] if quote in _QUOTES else expression.before)
    if key is None:
        return None
    if quote and quote in _QUOTES and expression.after.strip() == quote:
        value = rendered.strip()[len(expression.before.strip()) :]
        if quote in value[:-1] or (quote == '"' and "\\" in value):
            return f"write {{{{ {expression.text} | quote }}}}, without quotes around it"
        return None
    value = rendered[len(expression.before) :].strip()
    if expression.after.strip() or not _NOT_PLAIN.match(value):
        return None
    return f"write {{{{ {expression.text} | quote }}}}"


def _is_value(node: nodes.Node) -> bool:
    """Report whether an expression gives a value, and no text that a macro has written."""
    if isinstance(node, nodes.Filter) and node.node is not None:
        return _is_value(node.node)
    return isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Concat, nodes.Const))


def _filters(node: nodes.Node | None) -> list[str]:
    """Return the filters that a value is piped through, and functions around it."""
    match node:
        case nodes.Filter(name=name, node=value):
            return [name, *_filters(value)]
        case nodes.Call(node=nodes.Name(name=name)):
            return [name]
        case _:
            return []


def _on_line(source: Source, line: int) -> list[_Expression]:
    """Return the expressions that a line of a template writes."""
    environment = Environment()
    token_list = tokens.read(environment, source.text)
    text = token_list.text
    tree = tokens.parse(environment, source.text)
    written = [
        node
        for output in tree.find_all(nodes.Output)
        for node in output.nodes
        if not isinstance(node, nodes.TemplateData)
    ]
    expressions = []
    for index, token in enumerate(token_list.tokens):
        if token.kind != "variable_begin" or tokens.line_at(text, token.offset) != line:
            continue
        _, end = token_list.tag(index)
        if end >= len(token_list.tokens):
            return []
        close = token_list.tokens[end]
        inside = [
            node for node in written if token.offset < tokens.first_offset(node) < close.offset
        ]
        if len(inside) != 1:
            return []
        begin, finish = token_list.tokens[index + 1].offset, token_list.tokens[end - 1].end
        behind = close.offset + len(close.text.rstrip())
        line_begin = text.rfind("\n", 0, token.offset) + 1
        expressions.append(
            _Expression(
                node=inside[0],
                text=text[begin:finish],
                before=text[line_begin : token.offset],
                after=text[behind:].partition("\n")[0],
                offset=begin,
            )
        )
    return expressions
