"""Documents: YAML and JSON to plain objects and back, as Kubernetes reads and writes them.

Called by the main path (rendered text), the library (`from_yaml`, `to_yaml`) and the tools
(files). Knows no protocol and no language.
"""

from __future__ import annotations

from function_script.documents.memo import Memo, take_tally
from function_script.documents.origin import Origin
from function_script.documents.positions import Embedding, find_embedding
from function_script.documents.stream import Document, read_source, read_stream, read_value
from function_script.documents.writer import to_yaml, to_yaml_stream

__all__ = [
    "Document",
    "Embedding",
    "Memo",
    "Origin",
    "find_embedding",
    "read_source",
    "read_stream",
    "read_value",
    "take_tally",
    "to_yaml",
    "to_yaml_stream",
]
