"""Cost against observed resources, as a small SVG with logarithmic axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_WIDTH, _HEIGHT, _LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT = 760, 400, 70, 40, 480, 300
_COLORS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#475569")
_MAX_OBSERVED = 500
# The servers of an older build, which are measured for `RESULTS.md` alone.
_OLDER = "prev-"


def draw(rows: list[dict[str, object]], path: Path) -> None:
    """Draw every server's CPU per request, touching all, new documents, first client count."""
    lines = _lines(rows)
    costs = [cost for points in lines.values() for _, cost in points]
    if not costs:
        return
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    parts = [_grid(low, high)]
    for index, (name, points) in enumerate(sorted(lines.items())):
        color = _COLORS[index % len(_COLORS)]
        places = [(_x(observed), _y(cost, low, high)) for observed, cost in sorted(points)]
        path_text = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path_text}" fill="none" stroke="{color}" stroke-width="2"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places]
        y = _TOP + 20 + index * 22
        parts.append(f'<rect x="580" y="{y - 9}" width="12" height="12" fill="{color}"/>')
        parts.append(f'<text x="598" y="{y + 2}">{name}</text>')
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="13" fill="#1f2937">'
        '<rect width="100%" height="100%" fill="white"/>' + "".join(parts) + "</svg>\n"
    )


def _lines(rows: list[dict[str, object]]) -> dict[str, list[tuple[int, float]]]:
    """Each server's (observed, cost); of several points at one place that with most produced."""
    clients = min((int(str(row["clients"])) for row in rows), default=1)
    chosen = [
        row
        for row in rows
        if row["clients"] == clients and row["new"] and not row["few"] and row["observed"]
        if not str(row["server"]).startswith(_OLDER)
    ]
    lines: dict[str, dict[int, float]] = {}
    for row in sorted(chosen, key=lambda row: int(str(row["produced"]))):
        line = lines.setdefault(str(row["server"]), {})
        line[int(str(row["observed"]))] = float(str(row["cpu_ms"]))
    return {name: sorted(line.items()) for name, line in lines.items()}


def _x(observed: int) -> float:
    return _LEFT + _PLOT_WIDTH * math.log10(observed) / math.log10(_MAX_OBSERVED)


def _y(cost: float, low: int, high: int) -> float:
    return _TOP + _PLOT_HEIGHT * (1 - (math.log10(cost) - low) / max(1, high - low))


def _grid(low: int, high: int) -> str:
    parts = [
        f'<text x="{_LEFT}" y="22" font-weight="bold">Server CPU per request (ms)</text>',
        f'<text x="{_LEFT + 150}" y="{_TOP + _PLOT_HEIGHT + 45}">observed resources</text>',
    ]
    for power in range(low, high + 1):
        y = _y(10**power, low, high)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_LEFT + _PLOT_WIDTH}" y1="{y}" y2="{y}" stroke="#e5e7eb"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{10.0**power:g}</text>'
        )
    for observed in (3, 50, _MAX_OBSERVED):
        x, bottom = _x(observed), _TOP + _PLOT_HEIGHT
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}" stroke="#e5e7eb"/>'
            f'<text x="{x}" y="{bottom + 20}" text-anchor="middle">{observed}</text>'
        )
    return "".join(parts)
