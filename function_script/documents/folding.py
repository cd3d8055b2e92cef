"""Long one-line scalars over several lines, where libyaml's emitter breaks them."""

from __future__ import annotations

# A line is broken at the first single blank beyond this column.
_BEST_WIDTH = 80


def folded(lead: str, written: str, margin: str) -> list[str]:
    """The lines of ``lead + written``: a scalar as it stands in YAML, plain or quoted.

    Lines after the first are indented by ``margin``. Readers join them with one blank each.
    """
    if len(lead) + len(written) <= _BEST_WIDTH or " " not in written:
        return [lead + written]
    is_double = written[0] == '"'
    inner = 1 if written[0] in "'\"" else 0
    lines: list[str] = []
    start = 0
    for at in range(inner + 1, len(written) - inner - 1):
        if (
            written[at] == " "
            and written[at - 1] != " "
            and (is_double or written[at + 1] != " ")
            and len(lead) + at - start > _BEST_WIDTH
        ):
            lines.append(lead + written[start:at])
            # Blanks at a line's beginning would be lost: a backslash keeps them.
            lead = f"{margin}\\" if written[at + 1] == " " else margin
            start = at + 1
    return [*lines, lead + written[start:]]
