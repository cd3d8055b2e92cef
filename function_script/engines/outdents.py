"""Printed values of several lines that lack the indentation of their place.

Each run looks for them, so this does not parse; `documents/rendered_lines.py` judges what is found.
"""

from collections.abc import Iterable, Sequence

from function_script.documents.rendered_lines import KEY, is_key, required_indentation


def is_outdented(parts: Sequence[str], index: int, value: str) -> bool:
    """Report whether a line of a value has too few blanks behind the first ``index`` parts."""
    prefix = above = ""
    for number in range(index - 1, -1, -1):
        head, line_break, tail = parts[number].rpartition("\n")
        prefix = tail + prefix
        if line_break:
            above = head.rpartition("\n")[2]
            break
    if not prefix.strip(" ") and is_key(above):
        prefix, value = above, f"\n{prefix}{value}"
    elif value[0] == "\n" and not KEY.fullmatch(prefix):
        return False
    width = required_indentation(prefix, value)
    # Most values are indented, which takes a fraction of the time to see.
    if value.count("\n" + " " * width) == value.count("\n"):
        return False
    return any(line[:width].lstrip(" ") for line in value.split("\n")[1:] if not line.isspace())


def find_outdented(parts: Sequence[str], values: Iterable[str]) -> list[tuple[int, int]]:
    """Return the offsets where the outdented ones of printed values begin and end in a text.

    ``parts`` are the parts of the text, ``values`` are in their order; not all are in it.
    """
    offsets: list[tuple[int, int]] = []
    start = 0
    for value in values:
        try:
            index = parts.index(value, start)
        except ValueError:
            continue
        if is_outdented(parts, index, value):
            offset = sum(map(len, parts[:index]))
            offsets.append((offset, offset + len(value)))
        start = index + 1
    return offsets
