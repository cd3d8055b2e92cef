"""sprig's functions on paths: ``base``, ``dir``, ``clean``, ``ext``, ``isAbs``.

The separator is a slash on every system. Functions with "os" in front are the same on Linux.
"""

from typing import Final

from function_script.engines.gotemplate.function import Function


def _clean(path: str) -> str:
    """Return the shortest equal path: without ``.``, ``//`` and, as far as possible, ``..``."""
    segments: list[str] = []
    rooted = path.startswith("/")
    for segment in path.split("/"):
        if segment == ".." and segments and segments[-1] != "..":
            segments.pop()
        elif segment not in {"", "."} and not (segment == ".." and rooted):
            segments.append(segment)
    return ("/" if rooted else "") + "/".join(segments) or "."


def _base(path: str) -> str:
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


def _dir(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return _clean(folder + slash)


def _ext(path: str) -> str:
    _, point, extension = path.rpartition("/")[2].rpartition(".")
    return point + extension if point else ""


def _is_absolute(path: str) -> bool:
    return path.startswith("/")


def _functions(name: str, call: object, returns: str = "string") -> tuple[Function, Function]:
    """Return a function, and the same one for the paths of the operating system."""
    names = (name, f"os{name[0].upper()}{name[1:]}")
    first, second = (
        Function(name=name, parameters="string", call=call, returns=returns) for name in names
    )
    return first, second


FUNCTIONS: Final = (
    *_functions("base", _base),
    *_functions("dir", _dir),
    *_functions("clean", _clean),
    *_functions("ext", _ext),
    *_functions("isAbs", _is_absolute, "bool"),
)
