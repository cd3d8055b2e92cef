"""Documents: YAML and JSON to plain objects and back, as Kubernetes reads and writes them.

Called by the main path (rendered text), the library (`from_yaml`, `to_yaml`) and the tools
(files). Knows no protocol and no language.
"""

from __future__ import annotations

from function_script.documents.cache import ByteLruCache, reset_stats
from function_script.documents.origin import TextOrigin
from function_script.documents.positions import EmbeddedText, find_embedding
from function_script.documents.stream import Document, read_source, read_stream, read_value
from function_script.documents.writer import to_yaml, to_yaml_stream

__all__ = [
    "ByteLruCache",
    "Document",
    "EmbeddedText",
    "TextOrigin",
    "find_embedding",
    "read_source",
    "read_stream",
    "read_value",
    "reset_stats",
    "to_yaml",
    "to_yaml_stream",
]
