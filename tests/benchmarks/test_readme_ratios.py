"""The comparison in the README follows from the figures of the page on performance."""

import re
from collections import defaultdict

from support import generated
from support.paths import ROOT

README = ROOT / "README.md"
FIGURES = ROOT / "docs" / "explanation" / "performance.md"
BLOCK = re.compile(r"(<!-- ratios: .* -->\n)(.*?)( *<!-- end of ratios -->)", re.DOTALL)
PEERS = ("function-go-templating", "function-starlark")
OTHER_RUN = re.compile(
    r"^\| .*\| (\d+) \| (\d+) % to (\d+) % \| (\d+) % to (\d+) % \|$", re.MULTILINE
)


def ratios() -> dict[int, dict[str, list[float]]]:
    """CPU time of our languages divided by that of a peer, in all runs: by observed and peer."""
    (head, body) = re.findall(
        r"^\| observed \| (.*) \|\n\|[-:|]+\|\n((?:\|.*\n)+)", FIGURES.read_text(), re.MULTILINE
    )[0]
    columns = ["observed", *head.split(" | ")]
    ratios_by_observed: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in body.splitlines():
        row = dict(zip(columns, line.strip("| ").split(" | "), strict=True))
        for peer in PEERS:
            for kind in ("JinjaTemplate", "StarlarkScript", "GoTemplate"):
                ratios_by_observed[int(row["observed"])][peer].append(
                    float(row[kind]) / float(row[peer])
                )
    for observed, *percentages in OTHER_RUN.findall(FIGURES.read_text()):
        for number, percentage in enumerate(percentages):
            ratios_by_observed[int(observed)][PEERS[number // 2]].append(int(percentage) / 100)
    return ratios_by_observed


def table() -> str:
    lines = [
        f"  | observed resources | {' | '.join(f'of {peer}' for peer in PEERS)} |",
        "  |---:|---|---|",
    ]
    for observed, peers in ratios().items():
        cells = [f"{min(values):.0%} to {max(values):.0%}" for values in peers.values()]
        lines.append(f"  | {observed} | {' | '.join(cells)} |".replace("%", " %"))
    return "\n".join(lines)


def test_ratios_are_those_of_the_figures(*, update_goldens: bool) -> None:
    page = README.read_text()
    fresh = BLOCK.sub(lambda match: f"{match[1]}\n{table()}\n\n{match[3]}", page)
    assert fresh.count("<!-- ratios: ") == 1
    generated.check(README, fresh, update=update_goldens)
