"""What a run of the benchmark is judged by."""

import sys

from support.paths import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import judged


def row(server: str, *rounds_cpu_ms: float) -> dict[str, object]:
    """A row of 3 observed and 3 produced, as the benchmark makes it."""
    point = {"observed": 3, "produced": 3, "few": False, "new": True, "clients": 8}
    times = {"p50_ms": 2.0, "p99_ms": 5.0}
    return {"server": server, **point, **times, "rounds_cpu_ms": list(rounds_cpu_ms)}


def test_ratio_compares_what_was_measured_side_by_side() -> None:
    """Both servers take longer while the host is slow, and the ratio stays."""
    rows = [row("jinja", 0.2, 0.55, 0.45), row(judged.GO_TEMPLATING, 0.5, 1.0, 1.0)]
    ratio, tail = judged.findings(rows)
    assert (ratio.at_most, ratio.measured) == (0.5, 0.45)
    assert tail.measured == 2.5
    assert "| 0.5 | 0.45 | yes |" in judged.table([ratio])
    assert "| 0.5 | 1 | no |" in judged.table(
        judged.findings([row("jinja", 1), row(judged.GO_TEMPLATING, 1)])
    )


def test_figure_without_a_bound_is_stated_as_it_is() -> None:
    """GoTemplate beside function-starlark."""
    ratio, _ = judged.findings([row("gotemplate", 3), row(judged.STARLARK, 2)])
    assert (ratio.at_most, ratio.measured) == (None, 1.5)
    assert judged.table([ratio]).endswith("|  | 1.5 |  |")
