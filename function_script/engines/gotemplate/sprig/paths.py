"""sprig's functions on paths: ``base``, ``dir``, ``clean``, ``ext``, ``isAbs``.

The separator is a slash on every system. Functions with "os" in front are the same on Linux.
"""

from typing import Final

from function_script.engines.gotemplate.function import FunctionTable

FUNCTIONS: Final = FunctionTable()


@FUNCTIONS.add("base", "osBase", parameters="string", returns="string")
def base(path: str) -> str:
    """The last part of a path."""
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


@FUNCTIONS.add("dir", "osDir", parameters="string", returns="string")
def dir_(path: str) -> str:
    """The path without its last part."""
    folder, slash, _ = path.rpartition("/")
    return clean(folder + slash)


@FUNCTIONS.add("clean", "osClean", parameters="string", returns="string")
def clean(path: str) -> str:
    """The path without . and .. parts.

    It is the shortest equal path: without ``.``, ``//`` and, as far as possible, ``..``.
    """
    segments: list[str] = []
    rooted = path.startswith("/")
    for segment in path.split("/"):
        if segment == ".." and segments and segments[-1] != "..":
            segments.pop()
        elif segment not in {"", "."} and not (segment == ".." and rooted):
            segments.append(segment)
    return ("/" if rooted else "") + "/".join(segments) or "."


@FUNCTIONS.add("ext", "osExt", parameters="string", returns="string")
def ext(path: str) -> str:
    """The extension of a path."""
    _, point, extension = path.rpartition("/")[2].rpartition(".")
    return point + extension if point else ""


@FUNCTIONS.add("isAbs", "osIsAbs", parameters="string", returns="bool")
def is_absolute(path: str) -> bool:
    """True if the path begins at the root."""
    return path.startswith("/")
