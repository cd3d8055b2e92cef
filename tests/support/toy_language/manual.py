"""The manual of the toy language."""

from collections.abc import Iterator

from function_script.engines.language import Entry


def entries() -> Iterator[Entry]:
    """Yield the only name: the dollar sign."""
    yield Entry(
        name="$", section="values", summary="The value of a field: name=$observed.composite."
    )
