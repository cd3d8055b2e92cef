"""Snapshots of a cluster, read by a kubectl of the tests."""

import base64
import json
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from function_script import cli
from function_script.cli import exit_codes
from function_script.request.values import Object
from function_script.tools.plan import dump
from function_script.tools.plan.dump import MASKED

KUBECTL = """\
#!{python}
import json, sys
objects = json.load(open({objects!r}))
open({calls!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
name, *names = sys.argv[sys.argv.index("--") + 1 :]
if name == "secrets":
    place = sys.argv[sys.argv.index("--namespace") + 1]
    items = [each for each in objects[name] if each["metadata"]["namespace"] == place]
    items = [each for each in items if each["metadata"]["name"] in names]
    listed = {{"kind": "List", "items": items}} if len(items) > 1 else (items or [""])[0]
    print(json.dumps(listed) if items else "")
    sys.exit()
if name not in objects:
    sys.exit(f"error: the server does not have a resource type \\"{{name}}\\"")
print(json.dumps({{"kind": "List", "items": objects[name]}}))
"""
CANARY = "canary-in-a-mine"
CROSSPLANE = "apiextensions.crossplane.io"
XRDS = f"compositeresourcedefinitions.{CROSSPLANE}"


def reference(name: str, namespace: str = "here") -> dict[str, object]:
    """A reference to a Secret."""
    return {"name": name, "namespace": namespace}


def secret(name: str, password: str, namespace: str = "here") -> dict[str, object]:
    """A Secret, which somebody has applied with kubectl."""
    data = {"password": base64.b64encode(password.encode()).decode()}
    last = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"data": data})}
    metadata = {"name": name, "namespace": namespace, "annotations": last}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


# Objects by the names under which kubectl has them.
OBJECTS = f"""\
{XRDS}:
- kind: XRD
  metadata: {{name: xs.example.org}}
  spec: {{group: example.org, names: {{kind: X, plural: xs}}}}
compositions.{CROSSPLANE}:
- kind: Composition
  metadata: {{name: a}}
  spec: {{pipeline: [{{credentials: [{{secretRef: {{name: login, namespace: here}}}}]}}]}}
compositionrevisions.{CROSSPLANE}: []
functions.pkg.crossplane.io: []
xs.example.org:
- kind: X
  metadata: {{name: x}}
  spec:
    crossplane:
      resourceRefs:
      - {{apiVersion: s3.example.org/v1, kind: Bucket, name: b}}
      - {{apiVersion: v1, kind: ConfigMap, name: c}}
      - {{apiVersion: example.org/v1, kind: X, name: inner}}
      - {{apiVersion: v1, kind: Secret, name: composed, namespace: here}}
Bucket.v1.s3.example.org:
- kind: Bucket
  metadata: {{name: b}}
  spec:
    writeConnectionSecretToRef: {{name: details, namespace: here}}
    passwordSecretRef: {{name: elsewhere, namespace: there}}
    keys: [{{valueFrom: {{secretKeyRef: {{name: absent, namespace: nowhere}}}}}}]
ConfigMap: [{{kind: ConfigMap, metadata: {{name: c}}}}]
customresourcedefinitions.apiextensions.k8s.io:
- {{kind: CRD, metadata: {{name: crd-b}}, spec: {{group: example.org, names: {{kind: Bucket}}}}}}
- {{kind: CRD, metadata: {{name: crd-o}}, spec: {{group: example.org, names: {{kind: Other}}}}}}
zones:
- {{kind: Zone, metadata: {{name: z}}}}
- {{kind: Secret, metadata: {{name: canary}}}}
"""


def cluster() -> dict[str, list[dict[str, object]]]:
    """Return the objects, whose apiVersion makes no difference, and the Secrets."""
    objects = yaml.safe_load(OBJECTS)
    head = {"apiVersion": "example.org/v1"}
    named = {name: [head | each for each in items] for name, items in objects.items()}
    named["zones"][1]["apiVersion"] = "v1"
    secrets = [
        secret("login", CANARY),
        secret("details", CANARY),
        secret("composed", "canary-2"),
        secret("elsewhere", "canary-3", "there"),
        secret("unnamed", "canary-4"),
    ]
    return {**named, "secrets": secrets}


@pytest.fixture
def kubectl(here: Path) -> Path:
    """A kubectl of the cluster, which notes its calls."""
    program = here / "kubectl"
    calls, objects = str(here / "calls"), str(here / "objects.json")
    program.write_text(KUBECTL.format(python=sys.executable, calls=calls, objects=objects))
    program.chmod(0o755)
    Path(objects).write_text(json.dumps(cluster()))
    return program


def read_objects() -> list[Object]:
    """Return the objects of the dump."""
    items: list[Object] = json.loads(Path("dump.json").read_text())["items"]
    return items


def snapshot(kubectl: Path, *flags: str) -> int:
    """Run the command."""
    return cli.execute(["snapshot", "dump.json", "--kubectl", str(kubectl), *flags])


def test_xrs_and_what_they_compose_are_read(kubectl: Path) -> None:
    """Nobody else can read the file."""
    assert snapshot(kubectl, "--also", "zones", "--context", "prod") == 0
    file = Path("dump.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    names = [each["metadata"]["name"] for each in read_objects() if each["kind"] != "Secret"]
    assert sorted(names) == ["a", "b", "c", "crd-b", "x", "xs.example.org", "z"]
    calls = Path("calls").read_text().splitlines()
    assert all(call.startswith("--context prod get ") for call in calls)
    form = "--all-namespaces --output json --show-managed-fields"
    assert f"--context prod get {form} -- xs.example.org" in calls


def test_objects_of_a_cluster_add_no_flags(kubectl: Path) -> None:
    """A kind or a name that somebody writes into an XR could send kubectl to another server."""
    objects = cluster()
    evil = {"apiVersion": "v1", "kind": "--server=https://evil.example.org", "name": "x"}
    spec = {
        "resourceRefs": [evil],
        "loginSecretRef": reference("--server=https://evil.example.org"),
    }
    objects["xs.example.org"][0]["spec"] = spec
    Path("objects.json").write_text(json.dumps(objects))
    assert snapshot(kubectl) == exit_codes.PROBLEM
    calls = [call.partition(" -- ")[::2] for call in Path("calls").read_text().splitlines()]
    assert not any("evil" in flags for flags, _ in calls)
    assert sum("evil" in names for _, names in calls) == 2


def test_kind_in_two_versions_is_read_once(kubectl: Path) -> None:
    """It may change between the two commands, and a dump has one state of an object."""
    objects = cluster()
    for number, version in enumerate(("v1", "v1beta1")):
        metadata = {"name": "b", "resourceVersion": str(number)}
        bucket = {"apiVersion": f"s3.example.org/{version}", "kind": "Bucket", "metadata": metadata}
        objects[f"Bucket.{version}.s3.example.org"] = [bucket]
    old = {"apiVersion": "s3.example.org/v1beta1", "kind": "Bucket", "name": "b"}
    objects["xs.example.org"][0]["spec"]["crossplane"]["resourceRefs"].append(old)
    Path("objects.json").write_text(json.dumps(objects))
    assert snapshot(kubectl) == 0
    versions = [each["apiVersion"] for each in read_objects() if each["kind"] == "Bucket"]
    assert versions == ["s3.example.org/v1"]


def test_xrs_are_read_in_the_version_of_their_compositions(kubectl: Path) -> None:
    """Kubectl would print them in the newest one."""
    objects = cluster()
    versions = [{"name": "v2"}, {"name": "v1", "referenceable": True}]
    objects[XRDS][0]["spec"]["versions"] = versions
    objects["xs.v1.example.org"] = objects.pop("xs.example.org")
    Path("objects.json").write_text(json.dumps(objects))
    assert snapshot(kubectl) == 0
    assert "x" in [each["metadata"]["name"] for each in read_objects()]


def test_namespace_takes_the_place_of_all(kubectl: Path) -> None:
    assert snapshot(kubectl, "--namespace", "team") == 0
    calls = Path("calls").read_text()
    assert all(" --namespace team " in call for call in calls.splitlines())
    # Objects that others compose may exist all the same.
    assert json.loads(Path("dump.json").read_text())["unread"]


def test_kind_that_cannot_be_read_is_named(
    kubectl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest is written."""
    assert snapshot(kubectl, "--also", "nothing") == exit_codes.PROBLEM
    reason = 'cannot read nothing: error: the server does not have a resource type "nothing"'
    assert reason in capsys.readouterr().err
    assert len([each for each in read_objects() if each["kind"] != "Secret"]) == 6
    assert "nothing" in json.loads(Path("dump.json").read_text())["unread"]


def test_secrets_that_objects_name_are_masked(kubectl: Path) -> None:
    """Equal values have equal masks, and no other Secret is read."""
    assert snapshot(kubectl, "--also", "zones") == 0
    by_name = {
        each["metadata"]["name"]: each for each in read_objects() if each["kind"] == "Secret"
    }
    assert by_name.keys() == {"login", "details", "composed", "elsewhere"}
    masks = {name: each["data"]["password"] for name, each in by_name.items()}
    assert masks["login"] == masks["details"]
    assert len(set(masks.values())) == 3
    assert base64.b64decode(masks["login"]).startswith(b"redacted")
    assert {each["metadata"]["annotations"][MASKED] for each in by_name.values()} == {"true"}
    text = Path("dump.json").read_text()
    assert "canary" not in text
    assert base64.b64encode(b"canary").decode()[:8] not in text
    calls = [call for call in Path("calls").read_text().splitlines() if "secret" in call]
    assert [(call.split()[2], call.partition(" -- ")[2]) for call in calls] == [
        ("here", "secrets composed details login"),
        ("nowhere", "secrets absent"),
        ("there", "secrets elsewhere"),
    ]


def test_masked_dump_is_read_by_plan(kubectl: Path) -> None:
    """The marks and the list of what could not be read are no obstacle."""
    assert snapshot(kubectl) == 0
    loaded = dump.load(Path("dump.json"))
    secrets = [loaded[key] for key in loaded.list_keys(("", "Secret"))]
    assert {dump.is_masked(each) for each in secrets} == {True}


def test_interrupt_leaves_no_file_and_no_process(kubectl: Path) -> None:
    """The signal comes while kubectl runs."""
    pid = Path("pid")
    kubectl.write_text(f"#!/bin/sh\necho $$ > {pid}.part\nmv {pid}.part {pid}\nexec sleep 60\n")
    command = [sys.executable, "-m", "function_script", "snapshot", "dump.json"]
    process = subprocess.Popen(
        [*command, "--kubectl", str(kubectl)], stderr=subprocess.DEVNULL, start_new_session=True
    )
    while not pid.exists() and process.poll() is None:
        time.sleep(0.02)
    # A signal without a handler would leave an empty one.
    assert not Path("dump.json").exists()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == exit_codes.INTERRUPTED
    state = ["ps", "-o", "stat=", "-p", pid.read_text().strip()]
    # Nobody may have waited for the process yet.
    assert subprocess.run(state, capture_output=True, check=False).stdout[:1] in {b"", b"Z"}
    assert not Path("dump.json").exists()


def test_dry_run_prints_commands_and_runs_none(
    kubectl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert snapshot(kubectl, "--dry-run") == 0
    assert f"-- {XRDS}\n" in capsys.readouterr().out
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
    Path(name).unlink()
    assert snapshot(kubectl) == exit_codes.PROBLEM
    assert message in capsys.readouterr().err
    assert not Path("dump.json").exists()


def test_file_that_exists_stays(kubectl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dump.json").write_text("mine")
    assert snapshot(kubectl) == exit_codes.PROBLEM
    # The cluster is not even asked.
    assert capsys.readouterr().err == 'error: cannot write "dump.json": file exists\n'
    assert Path("dump.json").read_text() == "mine"
    assert cli.execute(["snapshot", "-"]) == exit_codes.PROBLEM
    assert 'cannot write the dump to "-"' in capsys.readouterr().err


def test_file_of_others_stays_after_an_error(kubectl: Path) -> None:
    """It is made while the cluster is read."""
    kubectl.write_text("#!/bin/sh\necho mine > dump.json\nexit 1\n")
    assert snapshot(kubectl) == exit_codes.PROBLEM
    assert Path("dump.json").read_text() == "mine\n"
