"""The identity of a request: its XR and its program."""

from support import builders

from function_script.request.values import Object
from function_script.server import handler

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
