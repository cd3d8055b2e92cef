"""Contents in a folder of the author's project, which `vendor --output` writes.

index.json                      each reference by its key, with its files and their digest
HOST/REPOSITORY@VERSION/PATH    the files
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from function_script.errors import InputError
from function_script.remote import content
from function_script.remote.content import Content
from function_script.tools import bounded, manifests
from function_script.tools.remote import selection
from function_script.tools.remote.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.remote.reference import RemoteReference
    from function_script.values import Object

DEFAULT: Final = Path("vendor")
"""The folder that commands read, in the current directory."""
_INDEX: Final = "index.json"


def digest(payload: bytes) -> str:
    """Return the digest of encoded content."""
    return f"sha256:{hashlib.sha256(payload).hexdigest()}"


def find(directory: Path, reference: RemoteReference) -> bytes | None:
    """Return encoded content; None if the folder does not have it.

    Raises FetchError for files that differ from the index.
    """
    entry = manifests.object_at(_read_index(directory), reference.key)
    if not entry:
        return None
    folder = directory / selection.check_name(manifests.text_at(entry, "folder"))
    texts: dict[str, str] = {}
    names = entry.get("files")
    try:
        for name in names if isinstance(names, list) else ():
            texts[str(name)] = (folder / selection.check_name(str(name))).read_bytes().decode()
    except (OSError, ValueError) as error:
        raise FetchError(f'its copy in "{folder}" cannot be read') from error
    payload = content.encode(Content(texts=texts, is_file=entry.get("isFile") is True))
    if digest(payload) != entry.get("digest"):
        hint = "`function-script vendor --output` writes it again"
        raise FetchError(f'its copy in "{folder}" was changed', hint)
    return payload


def write(directory: Path, payloads: Mapping[RemoteReference, bytes]) -> None:
    """Write contents, and an index of them alone. Raises InputError."""
    index: Object = {}
    try:
        for reference, payload in payloads.items():
            decoded = content.decode(payload)
            path = PurePosixPath(reference.name_of(""))
            folder = path.parent if decoded.is_file else path
            for name, text in decoded.texts.items():
                file = directory / folder / selection.check_name(name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode())
            index[reference.key] = {
                "reference": asdict(reference),
                "folder": str(folder),
                "files": [*sorted(decoded.texts)],
                "isFile": decoded.is_file,
                "digest": digest(payload),
            }
        directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps(index, indent=2, sort_keys=True, ensure_ascii=False)
        (directory / _INDEX).write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot write "{directory}": {cause}') from error


def _read_index(directory: Path) -> Object:
    path = directory / _INDEX
    try:
        index = bounded.read_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise FetchError(f'cannot read "{path}"') from error
    return index if isinstance(index, dict) else {}
