"""The note about an XR that another revision of its Composition composes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from function_script.tools.render import command

if TYPE_CHECKING:
    from function_script.request.values import Object

COMPOSITION: Object = {"metadata": {"name": "sites", "labels": {"channel": "next"}}}


def xr(channel: str, *, is_legacy: bool = False, **fields: str) -> Object:
    """An XR that selects revisions of a channel."""
    machinery: Object = {
        "compositionRevisionSelector": {"matchLabels": {"channel": channel}},
        **fields,
    }
    spec: Object = machinery if is_legacy else {"crossplane": machinery}
    return {"kind": "Site", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize("is_legacy", [True, False])
def test_revision_that_is_not_selected_is_noted(is_legacy: bool) -> None:
    note = command.find_other_revision(COMPOSITION, xr("stable", is_legacy=is_legacy))

    assert note is not None
    assert 'label channel="stable", the Composition has "next"' in note


def test_revision_without_the_label_is_noted() -> None:
    note = command.find_other_revision({"metadata": {"name": "sites"}}, xr("stable"))

    assert note is not None
    assert "the Composition does not have it" in note


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(xr("next"), id="selected"),
        pytest.param(xr("stable", compositionUpdatePolicy="Manual"), id="policy-manual"),
        pytest.param({"kind": "Site", "metadata": {"name": "a"}, "spec": {}}, id="no-selector"),
    ],
)
def test_revision_of_an_xr_is_not_noted(value: Object) -> None:
    assert command.find_other_revision(COMPOSITION, value) is None
