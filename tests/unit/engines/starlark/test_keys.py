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
    (
        'pod["resources"] = {"limits": {}}\nrsp.resource("y", {"spec": {"size": 1}})',
        ("desired", "resources", "y", "resource", "spec", "size"),
        '"size"',
    ),
    (
        'rsp.resource("y", {"spec": {"type": "A"}})\nrsp.condition("Ready", True, "a b")',
        ("conditions", 0, "reason"),
        '"a b"',
    ),
    ('x = {"spec": {"type": "A"}}', ("conditions", 0, "type"), None),
    ('rsp.ttl("1 day")', ("meta", "ttl"), '"1 day"'),
    (
        'rsp.connection_details({"port": 1})',
        ("desired", "composite", "connection_details", "port"),
        '"port"',
    ),
)


@pytest.mark.parametrize(("text", "path", "place"), CASES)
def test_place_is_the_innermost_certain_key(
    text: str, path: tuple[str | int, ...], place: str | None
) -> None:
    """A key of another object is not taken for it."""
    span = missing.find_written_key(path, [Source(name="script", text=text)])
    if place is None:
        assert span is None
        return
    assert span is not None
    line = text.split("\n")[span.line - 1]
    assert line[(span.column or 1) - 1 :].startswith(place)
