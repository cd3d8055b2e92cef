"""Change a YAML text to hold another value, and keep every line of what stays equal.

Comments, quotes, the order of keys and the indentation of untouched fields are their author's. The
result is read again; a text that cannot be edited so, such as one with aliases, is written anew.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

import yaml

from function_script.documents.rendered_lines import Edit
from function_script.documents.stream import read_source
from function_script.documents.writer import to_yaml
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.values import Object, Value
from function_script.texts.errors import FatalError
from function_script.texts.source import Source

# libyaml's parser is ten times as fast; it is not in every build of PyYAML.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BLOCKS: Final = {"|", ">"}


class _NotEditableError(Exception):
    """The text has a form in which single fields cannot be replaced."""


def edit(text: str, before: Object, after: Object) -> str:
    """Return ``text``, which holds ``before``, changed to hold ``after``.

    A text that begins with a brace is JSON and stays JSON.
    """
    if objects.is_same(before, after):
        return text
    if text.lstrip().startswith("{"):
        return json.dumps(_in_order(before, after), indent=2, ensure_ascii=False) + "\n"
    try:
        result = _Editor(text).edit(before, after)
        # The caller has read the text before, with limits of its own.
        limits = Limits(documents=2, depth=len(result), nodes=len(result))
        documents = read_source(Source(name="output", text=result), limits=limits)
    except (_NotEditableError, yaml.YAMLError, FatalError):
        return to_yaml(after)
    return (
        result if objects.is_same([each.value for each in documents], [after]) else to_yaml(after)
    )


def _in_order(before: Value, after: Value) -> Value:
    """Return a value with the keys in the order that they had; new ones are sorted behind them."""
    if isinstance(after, dict):
        old = before if isinstance(before, dict) else {}
        names = [*(name for name in old if name in after), *sorted(after.keys() - old.keys())]
        return {name: _in_order(old.get(name), after[name]) for name in names}
    if isinstance(after, list):
        items = {_identity(item): item for item in before} if isinstance(before, list) else {}
        return [_in_order(items.get(_identity(item)), item) for item in after]
    return after


class _Editor:
    """The nodes of one text, and the edits of it so far."""

    def __init__(self, text: str) -> None:
        self._text = text if text.endswith("\n") else f"{text}\n"
        self._lines = self._text.split("\n")
        self._starts = [0]
        for line in self._lines[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._edits: list[Edit] = []

    def edit(self, before: Object, after: Object) -> str:
        root = yaml.compose(self._text, Loader=_LOADER)
        nodes = list(_walk(root))
        # An alias is the node of its anchor once more.
        has_alias = len(nodes) != len({id(node) for node in nodes})
        if root is None or has_alias or not self._can_edit(root, before, after):
            raise _NotEditableError
        self._edit_value(root, before, after)
        text = self._text
        # From the end on, so that the offsets of those before it stay right.
        for edit_ in sorted(self._edits, reverse=True):
            text = text[: edit_.start] + edit_.text + text[edit_.end :]
        return text

    def _can_edit(self, node: yaml.Node, before: Value, after: Value) -> bool:
        """Report whether parts of a value can be replaced, so that the others stay as they are."""
        if isinstance(node, yaml.CollectionNode) and (node.flow_style or not after):
            return False
        if isinstance(before, dict) and isinstance(after, dict):
            if not isinstance(node, yaml.MappingNode):
                return False
            names = [key.value for key, _ in node.value]
            # The first field of an item stands beside its dash.
            is_first_gone = bool(names) and names[0] not in after
            has_dash = bool(names) and not self._is_first(node.value[0][0])
            return set(names) == set(before) and not (is_first_gone and has_dash)
        if isinstance(before, list) and isinstance(after, list):
            is_list = isinstance(node, yaml.SequenceNode) and bool(before)
            return is_list and self._is_first(node) and _is_aligned(before, after)
        return False

    def _edit_value(self, node: yaml.Node, before: Value, after: Value) -> None:
        if isinstance(node, yaml.MappingNode):
            self._edit_fields(node, before, after)  # type: ignore[arg-type] # see _can_edit
        else:
            self._edit_items(node, before, after)  # type: ignore[arg-type] # see _can_edit

    def _edit_fields(self, node: yaml.MappingNode, before: Object, after: Object) -> None:
        column, line = node.value[0][0].start_mark.column, 0
        for key, value in node.value:
            name = key.value
            line = self._last_line(value)
            if name not in after:
                self._replace_lines(key.start_mark.line, line, "")
            elif objects.is_same(after[name], before[name]):
                continue
            elif self._can_edit(value, before[name], after[name]):
                self._edit_value(value, before[name], after[name])
            else:
                self._replace_field(key, value, {name: after[name]})
        if added := {name: value for name, value in after.items() if name not in before}:
            self._insert_after(line, _indent(to_yaml(added), column))

    def _replace_field(self, key: yaml.Node, value: yaml.Node, field: Object) -> None:
        text = to_yaml(field)
        is_inline = (
            isinstance(value, yaml.ScalarNode)
            and value.style not in _BLOCKS
            and value.end_mark.line == key.start_mark.line
        )
        if is_inline and text.count("\n") == 1:
            # The comment behind the value stays.
            start, end = self._offset(key.start_mark), self._offset(value.end_mark)
            self._edits.append(Edit(start, end, text[:-1]))
            return
        margin = key.start_mark.column
        end = self._starts[self._last_line(value) + 1]
        self._edits.append(Edit(self._offset(key.start_mark), end, _indent(text, margin)[margin:]))

    def _edit_items(self, node: yaml.SequenceNode, before: list[Value], after: list[Value]) -> None:
        column = node.start_mark.column
        later = {_identity(value): value for value in after}
        line = node.start_mark.line
        for item, value in zip(node.value, before, strict=True):
            # The dash may stand on a line above its item.
            dashes = range(item.start_mark.line, -1, -1)
            first = next(n for n in dashes if self._lines[n][column : column + 1] == "-")
            line = self._last_line(item)
            if _identity(value) not in later:
                self._replace_lines(first, line, "")
                continue
            new = later[_identity(value)]
            if objects.is_same(new, value):
                continue
            if self._can_edit(item, value, new):
                self._edit_value(item, value, new)
            else:
                self._replace_lines(first, line, _indent(to_yaml([new]), column))
        identities = set(map(_identity, before))
        if added := [value for value in after if _identity(value) not in identities]:
            self._insert_after(line, _indent(to_yaml(added), column))

    def _is_first(self, node: yaml.Node) -> bool:
        """Report whether only blanks are before a node on its line."""
        mark = node.start_mark
        return not self._lines[mark.line][: mark.column].strip()

    def _last_line(self, node: yaml.Node) -> int:
        """Return the line on which a value ends; comments below it are not part of it."""
        while isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
            last = node.value[-1]
            node = last[1] if isinstance(node, yaml.MappingNode) else last
        mark = node.end_mark
        is_block = isinstance(node, yaml.ScalarNode) and node.style in _BLOCKS
        if not is_block:
            return mark.line
        # A literal or folded block ends where the next field begins, below blank lines.
        line = mark.line - 1 if mark.column == 0 else mark.line
        while line > node.start_mark.line and not self._lines[line].strip():
            line -= 1
        return line

    def _replace_lines(self, first: int, last: int, text: str) -> None:
        self._edits.append(Edit(self._starts[first], self._starts[last + 1], text))

    def _insert_after(self, line: int, text: str) -> None:
        start = self._starts[line + 1]
        self._edits.append(Edit(start, start, text))

    def _offset(self, mark: yaml.Mark) -> int:
        return self._starts[mark.line] + mark.column


def _walk(node: yaml.Node | None) -> Iterator[yaml.Node]:
    if node is None:
        return
    yield node
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _walk(key)
            yield from _walk(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _walk(item)


def _indent(text: str, columns: int) -> str:
    margin = " " * columns
    return "".join(
        f"{margin}{line}" if line.strip() else line for line in text.splitlines(keepends=True)
    )


def _is_aligned(before: Sequence[Value], after: Sequence[Value]) -> bool:
    """Report whether items were changed, deleted or added at the end, and none was moved."""
    old, new = list(map(_identity, before)), list(map(_identity, after))
    if len(set(old)) < len(old) or len(set(new)) < len(new):
        return False
    common = [identity for identity in old if identity in set(new)]
    return bool(common) and new[: len(common)] == common


def _identity(value: Value) -> str:
    """Return what an item of a list has in common with its changed version."""
    if isinstance(value, dict):
        metadata = value.get("metadata")
        if isinstance(metadata, dict) and value.get("kind"):
            names = (metadata.get("namespace"), metadata.get("name"))
            return repr((value.get("apiVersion"), value["kind"], *names))
        if isinstance(value.get("name"), str):
            return repr(value["name"])
    return repr(value)
