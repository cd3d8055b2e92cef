"""TTL of a response: the program's, else the input's, else the one by the cause."""

import json
from pathlib import Path

import pytest
from support import builders
from support.commands import Run

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.values import Object

SILENT = {
    "starlark": builders.starlark("def main(req):\n    return {}\n"),
    "jinja": builders.jinja("# nothing\n"),
}
SAYING = builders.starlark('def main(req):\n    return {"meta": {"ttl": "5m"}}\n')
FAILING = builders.jinja('{{ fail("no") }}')
STATED = builders.starlark(
    "def main(req):\n"
    '    return {"meta": {"ttl": "5m"}, "results": [{"severity": "Fatal", "message": "no"}]}\n'
)


def seconds(step_input: Object, limits: Limits | None = None, **parts: object) -> int:
    """The TTL of the response, which is always set."""
    response = builders.call(builders.request(step_input, **parts), limits)
    assert response.meta.HasField("ttl")
    return response.meta.ttl.ToSeconds()


def is_settled(ttl: int) -> bool:
    """Report whether it is an hour, plus or minus a tenth."""
    return 3240 <= ttl <= 3960


def test_ttl_is_the_programs_or_the_inputs() -> None:
    """tests/conformance/test_coverage.py sets it in each language."""
    silent = SILENT["starlark"]
    assert is_settled(seconds(silent))
    assert seconds({**silent, "ttl": "20m"}) == 1200
    assert seconds({**silent, "ttl": "0s"}) == 0
    assert seconds({**SAYING, "ttl": "20m"}) == 300


@pytest.mark.parametrize("step_input", [FAILING, STATED], ids=["raised", "as a result"])
def test_error_has_no_ttl(step_input: Object) -> None:
    """A cache would hand it out again when its cause is gone."""
    response = builders.call(builders.request({**step_input, "ttl": "20m"}))
    assert pb.SEVERITY_FATAL in [result.severity for result in response.results]
    assert seconds({**step_input, "ttl": "20m"}) == 0


WAITING = {
    "stated by the program": builders.jinja(builders.document("a", ready="False")),
    "judged": builders.jinja(builders.document("a"), autoReady={}),
    "blocked": builders.jinja(builders.document("a") + builders.document("b", depends_on="a")),
    "missing": builders.jinja(
        builders.document("a")
        + builders.document("b")
        + "data:\n  x: {{ observed.resources.a.resource.status.id }}\n",
        missing="Defer",
    ),
    "the XR": builders.starlark(
        'def main(req):\n    return {"desired": {"composite": {"ready": "False"}}}\n'
    ),
    "a requirement of the program": builders.starlark(
        "def main(req):\n"
        '    return {"requirements": {"resources": {"a": {"api_version": "v1", "kind": "ConfigMap",'
        ' "match_name": "a", "namespace": "x"}}}}\n'
    ),
    "a requirement of the input": builders.jinja(
        "# nothing\n",
        requirements={
            "resources": {
                "a": {"apiVersion": "v1", "kind": "ConfigMap", "matchName": "a", "namespace": "x"}
            }
        },
    ),
}
READY_THING: Object = {
    "apiVersion": "example.org/v1",
    "kind": "Thing",
    "metadata": {"name": "a"},
    "status": {"id": "1", "conditions": [{"type": "Ready", "status": "True"}]},
}
CONFIG: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "x"},
}


@pytest.mark.parametrize("step_input", WAITING.values(), ids=WAITING)
def test_step_that_waits_says_ten_seconds(step_input: Object) -> None:
    assert seconds(step_input) == 10
    assert seconds({**step_input, "ttl": "20m"}) == 1200


@pytest.mark.parametrize("cause", ["judged", "blocked", "missing"])
def test_step_that_waited_says_an_hour_when_it_settles(cause: str) -> None:
    both = {"a": {"resource": READY_THING}, "b": {"resource": READY_THING}}
    observed = {"composite": {"resource": builders.XR}, "resources": both}
    assert is_settled(seconds(WAITING[cause], observed=observed))


@pytest.mark.parametrize("owner", ["program", "input"])
def test_requirement_that_is_met_says_an_hour(owner: str) -> None:
    required = {"a": {"items": [{"resource": CONFIG}]}}
    step_input = WAITING[f"a requirement of the {owner}"]
    assert is_settled(seconds(step_input, required_resources=required))
    assert is_settled(
        seconds(WAITING["a requirement of the program"], required_resources={"a": {}})
    )


def test_ttl_of_an_xr_never_changes_and_xrs_differ() -> None:
    ttls = []
    for number in range(200):
        observed = builders.observed(f"xr-{number}")
        ttl = seconds(SILENT["jinja"], observed=observed)
        assert ttl == seconds(SILENT["starlark"], observed=observed)
        assert is_settled(ttl)
        ttls.append(ttl)
    assert min(ttls) < 3340
    assert max(ttls) > 3860
    assert len(set(ttls)) > 100


def test_operators_default_replaces_the_hour() -> None:
    limits = Limits(default_ttl_seconds=600.0)
    assert 540 <= seconds(SILENT["jinja"], limits) <= 660
    assert seconds(SILENT["jinja"], Limits(default_ttl_seconds=0.0)) == 0
    assert seconds(WAITING["judged"], limits) == 10
    assert seconds({**SILENT["jinja"], "ttl": "20m"}, limits) == 1200


def test_program_in_a_file_says_a_minute(tmp_path: Path) -> None:
    """Crossplane does not see that a file has changed."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app/main.j2").write_text("# nothing\n")
    (tmp_path / "app/main.star").write_text("def main(req):\n    return {}\n")
    limits = Limits(program_root=str(tmp_path))
    files = {"source": "FileSystem", "fileSystem": {"dirPath": "app", "main": "main.j2"}}
    base: Object = {"apiVersion": builders.API_VERSION, "kind": "JinjaTemplate"}
    assert seconds({**base, **files}, limits) == 60
    modules = {**SILENT["starlark"], "modulesFrom": [{"fileSystem": {"dirPath": "app"}}]}
    assert seconds(modules, limits) == 60
    assert seconds(modules, Limits(program_root=str(tmp_path), default_ttl_seconds=5.0)) == 5


def test_run_answers_as_the_server_does(tmp_path: Path, run: Run) -> None:
    script = (
        "def main(req):\n"
        '    status = {"id": stable_secret("a")}\n'
        '    return {"desired": {"composite": {"resource": {"status": status}}}}\n'
    )
    observed = {"composite": {"resource": builders.XR}}
    request = json.dumps({"observed": observed, "input": builders.starlark(script)})
    (tmp_path / "salt").write_text("the salt of this cluster")
    outputs = [
        json.loads(run("run", *flags, stdin=request).out)
        for flags in ([], ["--default-ttl", "10m"], ["--seed-file", tmp_path / "salt"])
    ]
    ttls = [int(output["meta"]["ttl"].removesuffix("s")) for output in outputs]
    assert is_settled(ttls[0])
    assert 540 <= ttls[1] <= 660
    assert outputs[0]["desired"] == outputs[1]["desired"] != outputs[2]["desired"]
    printed = run("run", "--default-ttl", "-1s", stdin=request, code=2)
    assert "must not be less than 0" in printed.err
