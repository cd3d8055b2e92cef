"""The note about an XR that another revision of its Composition composes."""

import pytest

from function_script.request.values import Object
from function_script.tools.render import command

NEXT: Object = {"metadata": {"name": "sites", "labels": {"channel": "next"}}}
UNLABELLED: Object = {"metadata": {"name": "sites"}}


def machinery(channel: str, **fields: str) -> Object:
    """The fields of an XR that selects revisions of a channel."""
    return {"compositionRevisionSelector": {"matchLabels": {"channel": channel}}, **fields}


# The Composition, the spec of an XR, and the note.
NOTES = {
    "another": (
        NEXT,
        {"crossplane": machinery("stable")},
        'label channel="stable", the Composition has "next"',
    ),
    "another-of-a-legacy-xr": (
        NEXT,
        machinery("stable"),
        'label channel="stable", the Composition has "next"',
    ),
    "no-label": (
        UNLABELLED,
        {"crossplane": machinery("stable")},
        "the Composition does not have it",
    ),
    "selected": (NEXT, {"crossplane": machinery("next")}, None),
    "policy-manual": (
        NEXT,
        {"crossplane": machinery("stable", compositionUpdatePolicy="Manual")},
        None,
    ),
    "no-selector": (NEXT, {}, None),
}


@pytest.mark.parametrize(("composition", "spec", "text"), NOTES.values(), ids=NOTES)
def test_revision_that_is_not_selected_is_noted(
    composition: Object, spec: Object, text: str | None
) -> None:
    xr = {"kind": "Site", "metadata": {"name": "a"}, "spec": spec}
    note = next(command.find_other_revision(composition, xr), None)
    assert note is None if text is None else text in note
