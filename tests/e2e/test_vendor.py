"""The author's commands with remote programs: pin, lock, copy, push, render."""

from __future__ import annotations

import json
import tarfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
import yaml
from e2e.remote_sources import FILES, commit, make_repository, needs_git, put_module, serving_git
from e2e.scripted_registry import Registry, serving, status
from support import one_step
from support.commands import Run

from function_script.tools.remote import oci

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("docker_config", "project")
COMPOSITION = f"""{one_step.HEAD}\
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: StarlarkScript
      source: Remote
      remote:
        REFERENCE
"""


@pytest.fixture
def registry() -> Iterator[Registry]:
    with serving() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "xr.yaml").write_text(f"{one_step.XR}spec: {{}}\n")
    monkeypatch.chdir(directory)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return directory


def write(project: Path, reference: str) -> None:
    (project / "composition.yaml").write_text(COMPOSITION.replace("REFERENCE", reference))


def ref_of(project: Path) -> dict[str, str]:
    (document,) = yaml.safe_load_all((project / "composition.yaml").read_text())
    remote = document["spec"]["pipeline"][0]["input"]["remote"]
    section: dict[str, str] = remote.get("oci") or remote["git"]
    return section


RENDER = ("render", "xr.yaml", "composition.yaml")


def test_vendor_writes_the_digest_of_a_tag_and_keeps_the_rest(
    registry: Registry, project: Path, run: Run
) -> None:
    ref = put_module(registry)
    name, _, digest = ref.partition("@")
    write(project, f"oci: {{ref: '{name}:v1'}}  # of a team")
    text = run(*RENDER, code=1).err
    assert "must have a digest, for a tag moves" in text
    assert "function-script vendor" in text
    before = (project / "composition.yaml").read_text()
    assert run("vendor").text == f"oci {ref}\n"
    after = (project / "composition.yaml").read_text()
    assert after == before.replace(f"{name}:v1", f"{name}:v1@{digest}")
    (entry,) = json.loads((project / "function-script.lock").read_text())["references"]
    assert (entry["version"], entry["revision"]) == (digest, "v1")
    assert run(*RENDER).text.count("kind: Thing\n") == 10
    assert run("vendor").text == f"oci {ref}\n"
    assert (project / "composition.yaml").read_text() == after


def test_vendor_follows_a_moved_tag_only_with_update(
    registry: Registry, project: Path, run: Run
) -> None:
    first = put_module(registry)
    write(project, f"oci: {{ref: '{first.partition('@')[0]}:v1'}}")
    run("vendor")
    second = put_module(registry, {"main.star": "def main(req):\n    return {}\n"})
    run("vendor")
    assert ref_of(project)["ref"].endswith(first.partition("@")[2])
    run("vendor", "--update")
    assert ref_of(project)["ref"].endswith(second.partition("@")[2])
    run("vendor", "--check")


def test_check_fails_while_a_lock_is_stale(registry: Registry, project: Path, run: Run) -> None:
    ref = put_module(registry)
    write(project, f"oci: {{ref: '{ref.partition('@')[0]}:v1'}}")
    requests = len(registry.seen)
    text = run("vendor", "--check", code=1).text
    assert "must have a digest, for a tag moves\n  --> composition.yaml:15:15\n" in text
    assert "15 |         oci: {ref: '" in text
    run("vendor", "--output", "vendor")
    assert run("vendor", "--check", "--output", "vendor").text == ""
    after = len(registry.seen)
    assert after > requests
    other = put_module(registry, {"main.star": "def main(req):\n    return {}\n"}, tag="v2")
    write(project, f"oci: {{ref: '{other}'}}")
    lines = run("vendor", "--check", "--diagnostics", "json", code=1).text.splitlines()
    assert [json.loads(line)["severity"] for line in lines] == ["error", "error"]
    text = run("vendor", "--check", code=1).text
    assert f"oci {other} is missing" in text
    assert f"oci {ref} is not in use" in text
    assert len(registry.seen) == after, "--check needs no network"


def test_copies_are_enough_without_a_network_and_must_not_be_changed(
    registry: Registry, project: Path, tmp_path: Path, run: Run
) -> None:
    write(project, f"oci: {{ref: '{put_module(registry)}'}}")
    run("vendor", "--output", "vendor")
    (cached,) = (tmp_path / "cache").rglob("remote/*")
    cached.unlink()
    registry.hook("*", "", status(500))
    requests = len(registry.seen)
    run(*RENDER)
    run(*RENDER, "--offline")
    assert "1 step" in run("check").text
    assert len(registry.seen) == requests
    (main,) = (project / "vendor").rglob("main.star")
    main.write_text("def main(req):\n    return {}\n")
    assert "was changed" in run(*RENDER, code=1).text
    run("vendor", "--check", "--output", "vendor", code=1)


def test_render_needs_the_cache_to_be_offline(registry: Registry, project: Path, run: Run) -> None:
    write(project, f"oci: {{ref: '{put_module(registry)}'}}")
    assert "--offline is set" in run(*RENDER, "--offline", code=1).text
    run(*RENDER)
    run(*RENDER, "--offline")


def test_check_finds_a_mistake_in_a_module_that_is_on_this_machine(
    registry: Registry, project: Path, run: Run
) -> None:
    write(project, f"oci: {{ref: '{put_module(registry, {'main.star': 'def main(req)'})}'}}")
    assert "1 program that only a request brings\n  one: source Remote" in run("check").text
    run("vendor")
    assert "/main.star:1" in run("check", code=1).text


def test_url_in_place_of_the_object_is_shown_as_the_object(project: Path, run: Run) -> None:
    """The form of the first design."""
    write(project, "PLACE")
    path = project / "composition.yaml"
    text = path.read_text().replace(
        "remote:\n        PLACE", "remote: git://a.org/b//main.star?ref=v1"
    )
    path.write_text(text)
    form = "write `remote: {git: {url: https://a.org/b, commit: …, path: main.star}}`"
    for command in (["check"], ["vendor"], ["render", "xr.yaml", "composition.yaml"]):
        output = run(*command, code=1).text
        assert form in output
        assert "composition.yaml:14:" in output


def test_tag_that_is_not_there_is_an_error_at_its_place(
    registry: Registry, project: Path, run: Run
) -> None:
    write(project, f"oci: {{ref: '{registry.name}/lib:v9'}}")
    (_, place) = run("vendor", code=1).err.split("cannot resolve it: HTTP 404: not found\n")
    assert "--> composition.yaml:" in place


@pytest.mark.parametrize(
    ("reference", "message"),
    [("{a: b}", "input.remote.oci.ref: must be a string"), ("nginx", 'cannot read "nginx"')],
    ids=["no-text", "no-registry"],
)
def test_reference_that_names_no_package_is_an_error_at_its_place(
    project: Path, run: Run, reference: str, message: str
) -> None:
    write(project, f"oci: {{ref: {reference}}}")
    text = run("vendor", code=1).err
    assert message in text
    assert "--> composition.yaml:15:" in text


def test_vendor_pins_an_alias_where_its_anchor_is(
    registry: Registry, project: Path, run: Run
) -> None:
    name, _, digest = put_module(registry).partition("@")
    write(project, f"oci: &ref {{ref: '{name}:v1'}}")
    path = project / "composition.yaml"
    text = path.read_text()
    step = text[text.index("  - step:") :].replace("- step: ", "- step: again-")
    path.write_text(text + step.replace(f"&ref {{ref: '{name}:v1'}}", "*ref"))
    before = path.read_text()
    run("vendor")
    assert path.read_text() == before.replace(f"{name}:v1", f"{name}:v1@{digest}")
    assert run("vendor", "--check").text == ""


def test_vendor_says_that_nothing_is_remote(project: Path, run: Run) -> None:
    text = one_step.composition("StarlarkScript", "def main(req):\n    return {}", field="script")
    (project / "composition.yaml").write_text(text)
    assert run("vendor").text == "nothing to pin: no step has a remote program or module\n"


def test_vendor_writes_nothing_for_stdin(project: Path, run: Run) -> None:
    text = run("vendor", "-", code=1).text
    assert text == "error: cannot pin references on stdin: name a file\n"
    assert [path.name for path in project.iterdir()] == ["xr.yaml"]


@needs_git
def test_vendor_writes_the_commit_of_a_branch(project: Path, tmp_path: Path, run: Run) -> None:
    first = make_repository(tmp_path)
    with serving_git(tmp_path) as server:
        url = f"{server.url}/lib.git"
        write(project, f"git: {{url: '{url}', commit: main}}")
        assert run("vendor").text == f"git {url} at {first}\n"
        assert ref_of(project)["commit"] == first
        assert run(*RENDER).text.count("kind: Thing\n") == 10
        (tmp_path / "work/lib/names.star").write_text('def name(i):\n    return "new-%d" % i\n')
        second = commit(tmp_path)
        run("vendor")
        assert ref_of(project)["commit"] == first
        run("vendor", "--update")
        assert ref_of(project)["commit"] == second
        write(project, f"git: {{url: '{url}', commit: nowhere}}")
        assert 'no branch and no tag "nowhere"' in run("vendor", code=1).text
        write(project, f"git: {{url: '{url}'}}")
        assert "remote.git.commit: is required" in run("vendor", code=1).text


def test_push_of_a_module_prints_a_reference_that_render_takes(
    registry: Registry, project: Path, tmp_path: Path, run: Run
) -> None:
    for name, text in {**FILES, ".git/config": "secret"}.items():
        path = tmp_path / "module" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    name = f"{registry.name}/team/lib:v2"
    text = run("package", "push", "--module", "-q", name, tmp_path / "module").text
    assert text.startswith(f"{name}@sha256:")
    manifest = json.loads(registry.manifests["v2"])
    assert manifest["artifactType"] == oci.ARTIFACT_TYPE
    (layer,) = manifest["layers"]
    assert layer["mediaType"] == oci.LAYER_TYPE
    with tarfile.open(fileobj=BytesIO(registry.blobs[layer["digest"]])) as archive:
        assert archive.getnames() == sorted(FILES)
    registry.manifests[text.strip().partition("@")[2]] = registry.manifests["v2"]
    write(project, f"oci: {{ref: '{text.strip()}'}}")
    assert run(*RENDER).text.count("kind: Thing\n") == 10


def test_push_of_a_module_refuses_what_no_step_could_read(tmp_path: Path, run: Run) -> None:
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.star").write_text("x = 1")
    (tmp_path / "x.star").write_text("x = 2")
    push = ("package", "push", "--module", "-q", "localhost:1/team/lib:v1")
    assert "is not UTF-8 text" in run(*push, tmp_path / "logo.png", code=1).text
    deep = tmp_path / "deep" / ("a" * 200) / ("b" * 200)
    deep.mkdir(parents=True)
    (deep / "x.star").write_text("x = 1")
    assert "is too long for an archive" in run(*push, tmp_path / "deep", code=1).text
    both = (tmp_path / "a", tmp_path / "x.star")
    assert "has the same name" in run(*push, *both, code=1).text
