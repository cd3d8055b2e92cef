"""The place of a field of main's result in the script that wrote it."""

import pytest

from function_script.engines.starlark.analysis import missing
from function_script.texts.source import Source

# A script, the path of the field, and the text at the place: None where there is none.
CASES = (
    ('x = {"a": {"b": 1}}', ("a", "b"), '"b"'),
    ('x = {"a": {"b": 1}}\ny = {"b": 2}', ("a", "b"), '"b": 1'),
    ('x = {"a": {}}\ny = {"b": 2}', ("a", "b"), '"a"'),
    ('x = {"a": y}\ny = {"b": 2}', ("a", "b"), '"b"'),
    ('x["a"] = {"b": 1}\ny = {"b": 2}', ("a", "b"), '"b": 1'),
    (
        'rsp.resource("x", {"kind": "A"})\nrsp.resource("y", {"spec": {}})',
        ("desired", "resources", "y", "resource", "kind"),
        '"y"',
    ),
    ('x = {"b": 1}\ny = {"b": 2}', ("a", "b"), None),
)


@pytest.mark.parametrize(("text", "path", "place"), CASES)
def test_place_is_the_innermost_certain_key(
    text: str, path: tuple[str, ...], place: str | None
) -> None:
    """A key of another object is not taken for it."""
    span = missing.find_written_key(path, [Source(name="script", text=text)])
    if place is None:
        assert span is None
        return
    assert span is not None
    line = text.split("\n")[span.line - 1]
    assert line[(span.column or 1) - 1 :].startswith(place)
