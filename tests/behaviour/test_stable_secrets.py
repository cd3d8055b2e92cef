"""Random functions of each language: stable for an XR, and secret with an operator's salt."""

import hashlib
import hmac
import string
from pathlib import Path
from typing import cast

import pytest
from support import builders

from function_script import function
from function_script.limits import Limits
from function_script.objects import find_path
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.salt import SaltFile
from function_script.values import Object

_STATUS = "apiVersion: example.org/v1\nkind: XThing\nstatus:\n"


def go(text: str, **options: object) -> Object:
    """A GoTemplate of ours."""
    return {**builders.jinja(text, **options), "kind": "GoTemplate"}


STEPS = {
    "starlark": builders.starlark(
        "def main(req):\n"
        '    values = {"id": stable_id("password", 32), "pick": stable_choice(list(range(1000)))}\n'
        '    return {"desired": {"composite": {"resource": {"status": values}}}}\n'
    ),
    "jinja": builders.jinja(
        _STATUS
        + '  id: "{{ stable_id("password", 32) }}"\n'
        + "  pick: {{ stable_choice(range(1000)|list) }}\n"
    ),
    "gotemplate": go(
        _STATUS
        + '  id: "{{ randAlphaNum 32 }}"\n  pick: {{ randInt 0 1000000 }}\n  uuid: {{ uuidv4 }}\n',
        options={"stableValues": True},
    ),
    "function-go-templating": {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": _STATUS + '  id: "{{ randAlphaNum 32 }}"\n'},
    },
}


def values(step: Object, seed: bytes = b"", uid: str = "8a4c2f0e") -> Object:
    """The random values of a step for one XR."""
    xr = {**builders.XR, "metadata": {"name": "demo", "uid": uid}}
    request = builders.request(step, observed={"composite": {"resource": xr}})
    data = request.SerializeToString()
    result = function.handle(data, Limits(), lambda _: None, seed)
    response = pb.RunFunctionResponse.FromString(result.response)
    assert not response.results
    assert not seed or seed.hex().encode() not in result.response
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
    unsalted = hmac.digest(b"8a4c2f0e", b"password", "sha256").hex()[:32]
    assert values(STEPS["starlark"])["id"] == unsalted
    assert values(STEPS["starlark"], seed)["id"] != unsalted


def test_secret_of_random_text_is_warned_of_without_a_salt_only(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: Secret\nmetadata: {annotations: {"
        'script.fn.crossplane.io/composition-resource-name: a}}\nstringData:\n  p: "%s"\n'
    )
    for step in (
        builders.jinja(text % '{{ stable_id("password", 32) }}'),
        go(text % "{{ randAlphaNum 32 }}", options={"stableValues": True}),
    ):
        data = builders.request(step).SerializeToString()
        seed = seed_of(tmp_path / "a", "the salt of this cluster")
        for each, count in ((b"", 1), (seed, 0)):
            result = function.handle(data, Limits(), lambda _: None, each)
            results = pb.RunFunctionResponse.FromString(result.response).results
            assert [each.reason for each in results] == ["PredictableSecret"] * count
