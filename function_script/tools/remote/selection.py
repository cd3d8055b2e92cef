"""The selection of a reference's texts among the files of an artifact or a commit.

Its failure is that of a fetch.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from function_script.request.remote.content import MAX_BYTES, MAX_FILES, Content
from function_script.texts import spelling

_MAX_NAME: Final = 1_000


class FetchError(Exception):
    """Content cannot be fetched; ``hint`` may be ""."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def check_name(name: str) -> str:
    """Return the path of a file without ``./``. Raises FetchError if it leads elsewhere."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
        raise FetchError(f"it has a file {name[:_MAX_NAME]!r}, which is outside of it")
    return str(path)


def is_hidden(name: str) -> bool:
    """Report whether a part of a path begins with a dot."""
    return any(part.startswith(".") for part in name.split("/"))


def select_names(names: Iterable[str], path: str) -> dict[str, str]:
    """Return the files at ``path`` by their names below it; a file itself has its last part.

    Hidden files are left out. Raises FetchError if there are none.
    """
    visible = sorted(name for name in names if not is_hidden(name))
    if path in visible:
        return {PurePosixPath(path).name: path}
    prefix = f"{path}/" if path else ""
    selected = {name.removeprefix(prefix): name for name in visible if name.startswith(prefix)}
    if not selected:
        suggestion = spelling.nearest(path, visible) if path else None
        what = f'it has no file and no folder "{path}"' if path else "it has no files"
        hint = f'did you mean "{suggestion}"?' if suggestion else ""
        raise FetchError(what, hint)
    if len(selected) > MAX_FILES:
        raise FetchError(f"it has more than {MAX_FILES:,} files", "name a folder by `path`")
    return selected


def read_texts(selected: Mapping[str, str], path: str, read: Callable[[str], bytes]) -> Content:
    """Return the texts of selected files; those that are not UTF-8 are left out."""
    is_file = list(selected.values()) == [path]
    texts: dict[str, str] = {}
    remaining = MAX_BYTES
    for name, file in selected.items():
        data = read(file)
        remaining -= len(data)
        if remaining < 0:
            raise too_large()
        try:
            texts[name] = data.decode()
        except UnicodeDecodeError:
            if is_file:
                raise FetchError(f'the file "{path}" is not UTF-8 text') from None
    return Content(texts=texts, is_file=is_file)


def too_large() -> FetchError:
    """Return the error of content that exceeds the limit."""
    return FetchError(f"it has more than {MAX_BYTES >> 20} MiB", "name a folder by `path`")
