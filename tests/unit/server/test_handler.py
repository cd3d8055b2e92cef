"""The identity of a request: its XR and its program. Its remote programs are found by it."""

from support import builders

from function_script.request.remote.reference import Allowlist, RemoteReference
from function_script.request.remote.store import ContentStore, FetchKey
from function_script.request.values import Object
from function_script.server import handler
from function_script.server.remote_programs import RemotePrograms
from function_script.step.telemetry import Answered

XR: Object = {"apiVersion": "example.org/v1", "kind": "XThing", "metadata": {"name": "a"}}
OTHER: Object = {**XR, "metadata": {"name": "b"}}


def suspect(template: str, xr: Object, **params: str) -> object:
    """Return the key that is penalized for a request with this program."""
    step_input = builders.jinja(template, params=params)
    request = builders.request(step_input, observed={"composite": {"resource": xr}})
    return handler.identify(request.SerializeToString()).key


def test_program_and_its_xr_are_to_blame_together() -> None:
    """A changed program has another key, and so has the same program for another XR."""
    assert suspect("{{ 1 }}", XR) == suspect("{{ 1 }}", {**XR, "spec": {"size": 1}})
    assert suspect("{{ 1 }}", XR) != suspect("{{ 10 }}", XR)
    assert suspect("{{ 1 }}", XR) != suspect("{{ 1 }}", OTHER)


def test_order_of_maps_makes_no_difference() -> None:
    """Crossplane changes it on every call."""
    assert suspect("{{ 1 }}", XR, a="x", b="yy") == suspect("{{ 1 }}", XR, b="yy", a="x")


def test_steps_of_one_identity_have_their_own_remote_programs() -> None:
    """Each has its content in advance, whichever of them was called last, so it runs once."""
    store = ContentStore(lambda *_: None)
    remote_programs = RemotePrograms(store, Allowlist(["example.org"]), 1_000_000)
    requests: list[bytes] = []
    for digit in "abcdef":
        version = f"sha256:{digit * 64}"
        remote: Object = {"oci": {"ref": f"example.org/a@{version}"}}
        step_input = {**builders.starlark(""), "source": "Remote", "remote": remote}
        data = builders.request(step_input).SerializeToString()
        reference = RemoteReference(transport="oci", location="example.org/a", version=version)
        store.settle(FetchKey(reference, ""), digit.encode())
        reply = Answered(response=b"", missing=(("input.remote", reference),))
        whole = remote_programs.resolve(data, reply)
        assert isinstance(whole, bytes)
        assert remote_programs.attach(data) == whole != data
        requests.append(data)
    # The oldest are forgotten.
    assert [remote_programs.attach(data) != data for data in requests] == [False] * 2 + [True] * 4
