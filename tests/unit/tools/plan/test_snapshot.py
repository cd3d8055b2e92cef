"""Snapshots of a cluster, read by a kubectl of the tests."""

import json
import stat
import sys
from pathlib import Path

import pytest

from function_script import cli
from function_script.cli import exit_codes

KUBECTL = """\
#!{python}
import json, sys
objects = json.load(open({objects!r}))
open({calls!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
name = sys.argv[sys.argv.index("get") + 1]
if name not in objects:
    sys.exit(f"error: the server does not have a resource type \\"{{name}}\\"")
print(json.dumps({{"kind": "List", "items": objects[name]}}))
"""
CROSSPLANE = "apiextensions.crossplane.io"
XRDS = f"compositeresourcedefinitions.{CROSSPLANE}"


def thing(kind: str, name: str, **fields: object) -> dict[str, object]:
    """An object of a cluster."""
    return {"apiVersion": "example.org/v1", "kind": kind, "metadata": {"name": name}, **fields}


def cluster() -> dict[str, list[dict[str, object]]]:
    """Objects by the names under which kubectl has them."""
    references = [
        {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "name": "b"},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "c"},
        {"apiVersion": "v1", "kind": "Secret", "name": "canary"},
    ]
    return {
        XRDS: [
            thing("XRD", "xs", spec={"group": "example.org", "names": {"plural": "xs"}}),
        ],
        f"compositions.{CROSSPLANE}": [thing("Composition", "a")],
        f"compositionrevisions.{CROSSPLANE}": [],
        "functions.pkg.crossplane.io": [],
        "xs.example.org": [thing("X", "x", spec={"crossplane": {"resourceRefs": references}})],
        "Bucket.v1.s3.example.org": [thing("Bucket", "b")],
        "ConfigMap": [thing("ConfigMap", "c")],
        "customresourcedefinitions.apiextensions.k8s.io": [
            thing("CRD", f"crd-{kind}", spec={"group": "example.org", "names": {"kind": kind}})
            for kind in ("Bucket", "Other")
        ],
        "zones": [
            thing("Zone", "z"),
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "canary"}},
        ],
    }


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubectl of the cluster, which notes its calls."""
    program = tmp_path / "kubectl"
    calls, objects = str(tmp_path / "calls"), str(tmp_path / "objects.json")
    program.write_text(KUBECTL.format(python=sys.executable, calls=calls, objects=objects))
    program.chmod(0o755)
    Path(objects).write_text(json.dumps(cluster()))
    monkeypatch.chdir(tmp_path)
    return program


def snapshot(kubectl: Path, *flags: str) -> int:
    """Run the command."""
    return cli.execute(["snapshot", "dump.json", "--kubectl", str(kubectl), *flags])


def test_xrs_and_what_they_compose_are_read(kubectl: Path) -> None:
    """Nobody else can read the file, and no Secret is in it."""
    assert snapshot(kubectl, "--also", "zones", "--context", "prod") == 0
    file = Path("dump.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    names = [each["metadata"]["name"] for each in json.loads(text)["items"]]
    assert sorted(names) == ["a", "b", "c", "crd-Bucket", "x", "xs", "z"]
    assert '"Secret", "metadata"' not in text
    calls = Path("calls").read_text().splitlines()
    assert all(call.startswith("--context prod get ") for call in calls)
    assert not any("ecret" in call for call in calls)
    form = "--all-namespaces --output json --show-managed-fields"
    assert f"--context prod get xs.example.org {form}" in calls


def test_namespace_takes_the_place_of_all(kubectl: Path) -> None:
    assert snapshot(kubectl, "--namespace", "team") == 0
    calls = Path("calls").read_text()
    assert all(" --namespace team " in call for call in calls.splitlines())


def test_kind_that_cannot_be_read_is_named(
    kubectl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest is written."""
    assert snapshot(kubectl, "--also", "nothing") == exit_codes.PROBLEM
    reason = 'cannot read nothing: error: the server does not have a resource type "nothing"'
    assert reason in capsys.readouterr().err
    assert len(json.loads(Path("dump.json").read_text())["items"]) == 6


def test_dry_run_prints_commands_and_runs_none(
    kubectl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert snapshot(kubectl, "--dry-run") == 0
    assert f"get {XRDS} --all-namespaces" in capsys.readouterr().out
    assert not Path("calls").exists()
    assert not Path("dump.json").exists()


FAULTS = [
    pytest.param("objects.json", "cannot read the cluster: ", id="no rights"),
    pytest.param("kubectl", "cannot start", id="no kubectl"),
]


@pytest.mark.parametrize(("name", "message"), FAULTS)
def test_cluster_that_cannot_be_read_is_an_error(
    kubectl: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    """No file is written."""
    Path(name).unlink()
    assert snapshot(kubectl) == exit_codes.PROBLEM
    assert message in capsys.readouterr().err
    assert not Path("dump.json").exists()


def test_file_that_exists_stays(kubectl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dump.json").write_text("mine")
    assert snapshot(kubectl) == exit_codes.PROBLEM
    assert "it exists" in capsys.readouterr().err
    assert Path("dump.json").read_text() == "mine"
