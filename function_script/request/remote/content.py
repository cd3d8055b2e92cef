"""The texts of a reference, and their form in the bytes of a request."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from function_script.request.remote.reference import RemoteReference
from function_script.wire import fields, request

MAX_FILES: Final = 1_000
MAX_BYTES: Final = 8 << 20
"""The bounds of the texts of one reference."""
_TEXT: Final = 1
_IS_FILE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Texts by their paths below the folder; ``is_file``: the reference names one file."""

    texts: Mapping[str, str]
    is_file: bool = False


def encode(content: Content) -> bytes:
    """Encode content as a message."""
    entries = [
        fields.entry_field(_TEXT, name, text.encode()) for name, text in content.texts.items()
    ]
    return b"".join([*entries, fields.varint_field(_IS_FILE, content.is_file or None)])


def decode(payload: bytes) -> Content:
    """Decode what `encode` returned. Raises ValueError for anything else."""
    texts: dict[str, str] = {}
    is_file = False
    parts = fields.Fields(payload, 0, len(payload))
    while parts.next():
        if parts.is_field(_TEXT, fields.LENGTH):
            name, text = fields.read_bytes_entry(payload, parts.start, parts.end)
            texts[name] = text.decode()
        elif parts.is_field(_IS_FILE, fields.VARINT):
            is_file = parts.integer() == 1
    return Content(texts=texts, is_file=is_file)


def attach(data: bytes, payloads: Iterable[tuple[RemoteReference, bytes]]) -> bytes:
    """Return a RunFunctionRequest with the encoded contents of references in front."""
    entries = [
        fields.entry_field(request.REMOTE_TEXTS, reference.key, payload)
        for reference, payload in payloads
    ]
    # A message is a sequence of fields, so that adding some is all it takes.
    return b"".join([*entries, data])
