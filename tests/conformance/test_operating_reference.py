"""The reference of metrics and log is about what there is, and so is the dashboard."""

import ast
import json
import re
from typing import NamedTuple

import pytest
import yaml
from generate import parts
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from support import builders, generated
from support.paths import ROOT

from function_script.cli.serve import serve
from function_script.request import limits
from function_script.sandbox.confinement import Measure
from function_script.server import background, capture_writer, log, metrics, request_record, tracing
from function_script.step import telemetry

METRICS_PAGE = ROOT / "docs" / "reference" / "metrics.md"
METRICS = METRICS_PAGE.read_text()
TRACES = (ROOT / "docs" / "reference" / "traces.md").read_text()
LOGS = (ROOT / "docs" / "reference" / "logs.md").read_text()
DASHBOARD = ROOT / "examples" / "install" / "grafana" / "dashboard.json"
ALERTS = ROOT / "examples" / "install" / "monitoring" / "prometheusrule.yaml"
FULL = request_record.RequestRecord(
    outcome="fatal",
    info=telemetry.RequestInfo(
        **{key: key for key in telemetry.IDENTITY},  # type: ignore[arg-type] # texts
        **dict.fromkeys(telemetry.COUNTS, 1),  # type: ignore[arg-type] # numbers
        program_microseconds=1_000_000,
        limit="steps",
    ),
    request_bytes=1,
    response_bytes=1,
    seconds=1.0,
    waited_seconds=1.0,
    cpu_seconds=1.0,
    error="error",
    detail="detail",
)


class Family(NamedTuple):
    """A metric by its row in the reference."""

    type: str
    labels: tuple[str, ...]
    meaning: str


def families() -> dict[str, Family]:
    """Our metrics by their names as documented."""
    registry = metrics.Metrics(
        lambda: metrics.Gauges(
            certificate_expiry=1.0, rejected={"INTERNAL": 1}, remote_counts={"hit": 1}
        )
    )
    registry.observe(FULL)
    registry.observe(FULL._replace(outcome="timeout"))
    found = {}
    for family in text_string_to_metric_families(registry.render().decode()):
        if family.name.startswith(metrics.PREFIX):
            labels = dict.fromkeys(label for each in family.samples for label in each.labels)
            name = family.name + ("_total" if family.type == "counter" else "")
            names = tuple(label for label in labels if label != "le")
            found[name] = Family(family.type, names, family.documentation)
    return found


def table(page: str, heading: str) -> dict[str, list[str]]:
    """The rows below ``| heading |`` by what their first cell has in backquotes."""
    (body,) = re.findall(rf"\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", page)
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in body.splitlines()]
    return {name: row[1:] for row in rows for name in re.findall(r"`([^`]+)`", row[0])}


def names_in(text: str) -> set[str]:
    """What is in backquotes."""
    return set(re.findall(r"`([^`]+)`", text))


def test_metric_is_documented_as_it_is(*, update_goldens: bool) -> None:
    rows = []
    for name, row in families().items():
        labels = ", ".join(f"`{label}`" for label in row.labels)
        rows.append(f"| `{name}` | {row.type} | {labels} | {row.meaning} |\n")
    text = f"| metric | type | labels | meaning |\n|---|---|---|---|\n{''.join(rows)}"
    page = parts.fill(METRICS_PAGE, text.replace("|  |", "| |"))
    generated.check(METRICS_PAGE, page, update=update_goldens)


def test_label_is_documented() -> None:
    labels = {label for row in families().values() for label in row.labels}
    assert labels - {"version", "python"} == set(table(METRICS, "label"))


VALUES = {
    "outcome": set(request_record.OUTCOMES),
    "stage": set(metrics.STAGES),
    "state": set(metrics.WORKER_STATES),
    "limit": {limits.PRINTED, limits.BUILT_IN, metrics.UNKNOWN},
    "cause": set(request_record.OUTCOMES) - {"ok", "fatal", "waited", "refused"},
    "input": {"StarlarkScript", "JinjaTemplate", "GoTemplate", metrics.UNKNOWN},
    "measure": {measure.value for measure in Measure},
}


@pytest.mark.parametrize("label", VALUES)
def test_value_of_a_label_is_documented(label: str) -> None:
    """Names of other stages may be mentioned in a meaning, so `stage` is a subset."""
    shown = names_in(table(METRICS, "label")[label][0])
    assert VALUES[label] == shown


def test_field_of_a_request_is_documented() -> None:
    (of_all, of_request, of_refusal, of_start) = re.findall(
        r"\| field \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)", LOGS
    )
    first = "\n".join(line.split(" | ")[0] for line in of_request.splitlines())
    assert names_in(first) == set(log.fields_of(FULL))
    first = "\n".join(line.split(" | ")[0] for line in of_all.splitlines())
    assert names_in(first) == {"ts", "level", "msg", "exception"}
    first = "\n".join(line.split(" | ")[0] for line in of_refusal.splitlines())
    assert names_in(first) == named_in("rpc.py")
    first = "\n".join(line.split(" | ")[0] for line in of_start.splitlines())
    assert names_in(first) == named_in("lifecycle.py")
    assert named_in("log.py") == {"problems", "printed"} <= names_in(LOGS)


def named_in(file: str) -> set[str]:
    """The fields that a module of the server passes to the log by name."""
    tree = ast.parse((ROOT / "function_script" / "server" / file).read_text())
    return {
        keyword.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"log.fields", "fields"}
        for keyword in node.keywords
        if keyword.arg is not None
    }


def test_fact_of_a_request_can_be_logged() -> None:
    """What the function notes of a request is passed on."""
    data = builders.request(builders.jinja("", metadata={"name": "step"}))
    noted = set(telemetry.read(data.SerializeToString()).identity())
    assert noted == set(FULL.info.identity())
    assert noted <= set(log.fields_of(FULL))


def test_outcome_is_documented() -> None:
    assert set(table(LOGS, "outcome")) == set(request_record.OUTCOMES)


def test_attribute_and_event_of_a_span_is_documented() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with tracing.Tracing(provider) as traces:
        traces.observe(FULL)
        (span,) = exporter.get_finished_spans()
    assert set(table(TRACES, "attribute")) == set(span.attributes or {})
    events = table(TRACES, "event")
    assert set(events) == {event.name for event in span.events}
    assert names_in(events["program ran"][0]) == set(span.events[-1].attributes or {})


def metrics_of(query: str) -> set[str]:
    """Our metrics in a query, after a check that they exist and have the labels in it."""
    known = families()
    used = set()
    for name, selector in re.findall(r"(function_script_\w+)(\{[^}]*\})?", query):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        assert base in known, f"{name} in {query}"
        labels = set(re.findall(r"(\w+)=~?\"", selector))
        assert labels <= {*known[base].labels, "namespace", "pod"}
        used.add(base)
    return used


def test_dashboard_shows_metrics_that_exist() -> None:
    """Every name in every query, with labels the metric has; every metric of ours is shown."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    queries = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    assert set().union(*map(metrics_of, queries)) == set(families())


def test_alert_has_a_row_of_the_page_and_covers_an_outcome() -> None:
    """Each outcome but ``ok`` is in one alert, and in the row of that alert."""
    manifest = yaml.safe_load(ALERTS.read_text())
    rules = {rule["alert"]: rule for group in manifest["spec"]["groups"] for rule in group["rules"]}
    rows = table(METRICS, r"alert \| meaning \| what to do")
    assert list(rows) == list(rules)
    outcomes: list[str] = []
    for name, rule in rules.items():
        assert metrics_of(rule["expr"]), name
        for selector in re.findall(r'outcome=~"([^"]*)"', rule["expr"]):
            assert names_in(rows[name][0]) == set(selector.split("|"))
            outcomes += selector.split("|")
    assert sorted(outcomes) == sorted(set(table(LOGS, "outcome")) - {"ok"})


def test_dashboard_has_no_overlapping_panels() -> None:
    """Grafana would move them about; each has a title, a unit and a place of its own."""
    dashboard = json.loads(DASHBOARD.read_text())
    places = set()
    for panel in dashboard["panels"]:
        assert panel["title"]
        grid = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(grid["x"], grid["x"] + grid["w"])
            for y in range(grid["y"], grid["y"] + grid["h"])
        }
        assert not cells & places
        assert max(x for x, _ in cells) < 24
        places |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_bounds_of_capturing_are_told() -> None:
    page = (ROOT / "docs" / "how-to" / "debug-a-live-composition.md").read_text()
    (files,) = [option.default for option in serve.params if "--capture-limit" in option.opts]
    for bound, value in {
        "files in the directory": f"`--capture-limit`, {files} by default",
        "one request with its response": f"{capture_writer.MAX_REQUEST_BYTES // limits.MIB} MiB",
        "one file": f"{capture_writer.MAX_FILE_BYTES // limits.MIB} MiB",
        "requests waiting to be written": f"{background.MAX_QUEUED}",
        "time spent on it": {9: "a tenth of one thread"}[capture_writer._REST],
    }.items():
        assert f"- {bound}: {value}" in page
