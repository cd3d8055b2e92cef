"""Spans of rendered streams, and the errors in them."""

import pytest

from function_script import documents
from function_script.texts.errors import FatalError
from function_script.texts.source import Span


def locate(line: int) -> Span:
    """Map a rendered line to the template, which is ten lines longer."""
    return Span(name="inline", line=line + 10)


def stream_error(text: str) -> FatalError:
    """Return the error in a rendered stream."""
    with pytest.raises(FatalError) as caught:
        documents.read_stream(text, locate=locate)
    return caught.value
