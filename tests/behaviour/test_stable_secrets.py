"""Random functions of each language: stable for an XR, and secret with an operator's salt."""

import hashlib
import hmac
import string
from pathlib import Path
from typing import cast

import pytest
from support import builders, one_step
from support.commands import Run
from support.core_model import Core

from function_script.request.objects import find_path
from function_script.request.salt import SaltFile
from function_script.request.values import Object

_STATUS = "apiVersion: example.org/v1\nkind: XThing\nstatus:\n"


STEPS = {
    "starlark": builders.starlark(
        "def main(req):\n"
        '    values = {"id": stable_secret("password")}\n'
        '    return {"desired": {"composite": {"resource": {"status": values}}}}\n'
    ),
    "jinja": builders.jinja(_STATUS + '  id: "{{ stable_secret("password") }}"\n'),
    "gotemplate": builders.gotemplate(
        _STATUS
        + '  id: "{{ randAlphaNum 32 }}"\n  pick: {{ randInt 0 1000000 }}\n  uuid: {{ uuidv4 }}\n',
        options={"stableValues": True},
    ),
    "function-go-templating": builders.peer(_STATUS + '  id: "{{ randAlphaNum 32 }}"\n'),
}


def values(step: Object, seed: bytes = b"", uid: str = "8a4c2f0e") -> Object:
    """The random values of a step for one XR."""
    xr = {**builders.XR, "metadata": {"name": "demo", "uid": uid}}
    request = builders.request(step, observed={"composite": {"resource": xr}})
    response = builders.call(request, seed=seed)
    assert not response.results
    assert not seed or seed.hex() not in str(response)
    status = find_path(builders.to_dict(response), "desired.composite.resource.status")
    return cast("Object", status)


def seed_of(path: Path, text: str, uid: str = "8a4c2f0e") -> bytes:
    """The seed of an XR for a salt."""
    path.write_text(text)
    xr = {**builders.XR, "metadata": {"name": "demo", "uid": uid}}
    request = builders.request(observed={"composite": {"resource": xr}})
    return SaltFile(path).derive_seed(request.SerializeToString())


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_random_values_are_equal_for_the_same_salt_only(tmp_path: Path, step: Object) -> None:
    seed = seed_of(tmp_path / "a", "the salt of this cluster")
    salted = values(step, seed)
    assert salted == values(step, seed_of(tmp_path / "b", "the salt of this cluster"))
    other = values(step, seed_of(tmp_path / "c", "the salt of a different cluster"))
    plain = values(step)
    assert plain == values(step)
    for name in salted:
        assert len({str(each[name]) for each in (salted, other, plain)}) == 3


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_random_values_of_two_xrs_differ(tmp_path: Path, step: Object) -> None:
    text = "the salt of this cluster"
    first = values(step, seed_of(tmp_path / "a", text))
    second = values(step, seed_of(tmp_path / "a", text, uid="another"), uid="another")
    assert all(first[name] != second[name] for name in first)


def test_random_values_are_computable_from_the_request_without_a_salt_only(tmp_path: Path) -> None:
    """The formula is public; the uid is all that it takes without a salt."""
    characters = "x" + string.ascii_letters.replace("x", "") + string.digits
    draws = (f"8a4c2f0e\0manifests: randAlphaNum 32\0{count}" for count in range(1, 33))
    digests = (hashlib.sha256(draw.encode()).digest() for draw in draws)
    computed = "".join(characters[int.from_bytes(digest) % 62] for digest in digests)
    seed = seed_of(tmp_path / "a", "the salt of this cluster")
    plain, salted = values(STEPS["gotemplate"]), values(STEPS["gotemplate"], seed)
    assert plain["id"] == computed
    assert salted["id"] != computed
    numbers = (
        hmac.digest(b"8a4c2f0e", f"stable_secret\0password\0{index}".encode(), "sha256")
        for index in range(32)
    )
    letters = string.ascii_letters + string.digits
    unsalted = "".join(letters[int.from_bytes(number) % 62] for number in numbers)
    assert values(STEPS["starlark"])["id"] == unsalted
    assert values(STEPS["starlark"], seed)["id"] != unsalted


NAMES = {
    "starlark": builders.starlark(
        "def main(req):\n"
        '    body = {"apiVersion": "example.org/v1", "kind": "Thing"}\n'
        '    zone = stable_choice(["a", "b", "c", "d", "e"])\n'
        '    name = "bucket-%s-%s" % (stable_id("bucket"), zone)\n'
        '    return {"desired": {"resources": {name: {"resource": body}}}}\n'
    ),
    "jinja": builders.jinja(
        "apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n"
        "    script.fn.crossplane.io/composition-resource-name: "
        "bucket-{{ stable_id('bucket') }}-{{ stable_choice(range(9)|list) }}\n"
    ),
}


@pytest.mark.parametrize("step", NAMES.values(), ids=NAMES)
def test_names_and_choices_do_not_change_with_the_salt(tmp_path: Path, step: Object) -> None:
    """Crossplane deletes a resource whose name changes."""
    core = Core(pipeline=[step])
    for salt in ("", "the salt of this cluster", "another salt of this cluster"):
        core.seed = seed_of(tmp_path / "salt", salt) if salt else b""
        core.run(10.0)
    assert len(core.created) == 1
    assert not core.deleted


MANIFEST = (
    "{{% set old = observed.resources['login'].resource.data.password | default('') %}}"
    "apiVersion: v1\nkind: Secret\nmetadata: {{annotations: {{"
    "script.fn.crossplane.io/composition-resource-name: login}}}}\n"
    "data:\n  password: {}\n"
)
RANDOM_TEXT = "stable_secret('login') | b64encode"


def password_of(core: Core) -> object:
    """The password in the cluster."""
    return find_path(core.resources["login"], "resource.data.password")


def test_secret_that_takes_the_observed_value_stays_at_a_rotation(tmp_path: Path) -> None:
    step = builders.jinja(MANIFEST.format(f"{{{{ old or ({RANDOM_TEXT}) }}}}"))
    seed = seed_of(tmp_path / "salt", "the salt of this cluster")
    core = Core(pipeline=[step], seed=seed)
    core.run(10.0)
    before = password_of(core)
    core.seed = seed_of(tmp_path / "salt", "another salt of this cluster")
    core.run(7200.0)
    assert password_of(core) == before
    # A secret that is made after the rotation is of the new salt.
    other = Core(pipeline=[step], seed=core.seed)
    other.run(10.0)
    assert password_of(other) != before


def test_secret_that_does_not_changes_at_a_rotation(tmp_path: Path) -> None:
    step = builders.jinja(MANIFEST.format(f"{{{{ {RANDOM_TEXT} }}}}"))
    core = Core(pipeline=[step], seed=seed_of(tmp_path / "salt", "the salt of this cluster"))
    core.run(10.0)
    before = password_of(core)
    core.seed = seed_of(tmp_path / "salt", "another salt of this cluster")
    core.run(7200.0)
    assert password_of(core) != before
    assert not core.deleted


PROGRAM = """\
apiVersion: example.org/v1
kind: XThing
status:
  text: {{ stable_secret("a") }}
"""
COMPOSITION = one_step.composition("JinjaTemplate", PROGRAM)
CASE = """\
xr: xr.yaml
composition: composition.yaml
expect:
  xr:
    status: {text: %s}
"""


def project(path: Path) -> None:
    """A folder with a Composition, an XR and a salt."""
    (path / "composition.yaml").write_text(COMPOSITION)
    xr = "apiVersion: example.org/v1\nkind: XThing\nmetadata: {name: demo, uid: 8a4c2f0e}\n"
    (path / "xr.yaml").write_text(xr)
    (path / "salt").write_text("the salt of this cluster")


def test_render_test_and_template_use_the_salt_of_the_server(here: Path, run: Run) -> None:
    """The same flag, so the same values for the same uid."""
    project(here)
    seed = seed_of(here / "salt", "the salt of this cluster")
    step = builders.jinja(_STATUS + '  text: {{ stable_secret("a") }}\n')
    texts = [values(step)["text"], values(step, seed)["text"]]
    for text, flags in zip(texts, ([], ["--seed-file", "salt"]), strict=True):
        for command in (
            ["render", "xr.yaml", "composition.yaml"],
            ["template", "composition.yaml", "--data", "xr.yaml"],
        ):
            assert f"text: {text}" in run(*command, *flags).out
        (here / "a.case.yaml").write_text(CASE % text)
        run("test", "--ci", *flags)
    run("test", "--ci", code=1)


@pytest.mark.parametrize("command", ["render xr.yaml composition.yaml", "test", "playground"])
def test_salt_that_cannot_be_read_is_refused(here: Path, run: Run, command: str) -> None:
    project(here)
    (here / "salt").write_text("short")
    printed = run(*command.split(), "--seed-file", "salt", code=1)
    assert "cannot read the salt" in printed.err
