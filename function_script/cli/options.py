"""What the commands' options share: types with units, and an environment variable for each flag.

Called while the command modules are imported, so it must import nothing slow.
"""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from function_script import quantities
from function_script.limits import LIMITS, MIB, Limit, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from function_script.tools.render.functions import Runtime

Number = TypeVar("Number", int, float)

PATH: Final = click.Path(path_type=Path)
_MIN_TIMEOUT_SECONDS: Final = 0.001
_MAX_PORT: Final = 65_535
_MAX_HOST_CHARACTERS: Final = 253
_HOST_NAME: Final = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*", re.ASCII)

PREFIX: Final = "FUNCTION_SCRIPT"
# By the names of LIMITS, in the order of --help.
_LIMIT_HELP: Final = {
    "time": "CPU time a step may use. It may take ten times as long on a busy machine.",
    "memory": "Memory a step may use.",
    "output": "Largest response. Crossplane takes up to 4Mi.",
    "steps": "Steps of work a template may take.",
    "documents": "Documents a template may produce.",
    "nodes": "Values that what a step produces may have.",
    "depth": "How deep these values may be nested.",
    "source": "Largest program, with its modules.",
}
# These run the function itself: in a container, the same variables set up both.
_SHARING: Final = {"serve", "run"}


def duration(text: str) -> float:
    """Seconds, written as in Go: ``1m30s``."""
    return _positive(quantities.parse_duration, text)


def _timeout(text: str) -> float:
    seconds = duration(text)
    if seconds < _MIN_TIMEOUT_SECONDS:
        raise click.BadParameter(f'"{text}" is less than 1ms, in which no program runs')
    return seconds


def size(text: str) -> int:
    """Bytes, written as in Kubernetes: ``256Mi``."""
    return _positive(quantities.parse_size, text)


def _memory(text: str) -> int:
    size_bytes = size(text)
    if size_bytes < MIB:
        raise click.BadParameter(f'"{text}" is less than 1Mi, in which no program runs')
    return size_bytes


def _positive(parse: Callable[[str], Number], text: str) -> Number:
    try:
        parsed = parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    if parsed <= 0:
        raise click.BadParameter(f'"{text}" must be more than 0')
    return parsed


# How flags of a limit's field are parsed; the others are counts.
_LIMIT_UNITS: Final[dict[str, tuple[Callable[[str], float], str]]] = {
    "timeout_seconds": (_timeout, "DURATION"),
    "memory_bytes": (_memory, "SIZE"),
    "output_bytes": (size, "SIZE"),
    "source_bytes": (size, "SIZE"),
}


def address(text: str) -> str:
    """HOST:PORT; without a host, as in ``:9443``, every address of this machine."""
    host, colon, port = text.rpartition(":")
    if not (colon and port.isascii() and port.isdecimal() and _is_host(host)):
        raise click.BadParameter(
            f'"{text}" is not of the form HOST:PORT, such as 127.0.0.1:8080, [::]:8080 or :8080'
        )
    if len(port) > len(str(_MAX_PORT)) or int(port) > _MAX_PORT:
        raise click.BadParameter(f'"{text}": the port must be {_MAX_PORT} at most')
    return f"{host or '[::]'}:{int(port)}"


def _is_host(text: str) -> bool:
    """Tell whether a text is empty, a name, an IPv4 address, or an IPv6 address in brackets."""
    if text.startswith("[") and text.endswith("]"):
        with suppress(OSError):
            socket.inet_pton(socket.AF_INET6, text[1:-1])
            return True
    is_name = _HOST_NAME.fullmatch(text) and len(text) <= _MAX_HOST_CHARACTERS
    return not text or bool(is_name)


def address_or_nothing(text: str) -> str:
    """The same; an empty text stays empty."""
    return address(text) if text else text


def limits() -> list[click.Parameter]:
    """Return the flags that bound one run of one step."""
    return [_limit(LIMITS[name], text) for name, text in _LIMIT_HELP.items()]


def _limit(limit: Limit, text: str) -> click.Option:
    default: float = getattr(Limits(), limit.field)
    if limit.field in _LIMIT_UNITS:
        parse, metavar = _LIMIT_UNITS[limit.field]
        shown = f"{default:g}s" if metavar == "DURATION" else _format_size(int(default))
        return click.Option(
            [limit.flag], type=parse, default=shown, show_default=True, metavar=metavar, help=text
        )
    return click.Option(
        [limit.flag],
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        metavar="N",
        help=text,
    )


def _format_size(size_bytes: int) -> str:
    mib, rest = divmod(size_bytes, MIB)
    return f"{size_bytes // 1024}Ki" if rest else f"{mib}Mi"


def read_limits(flags: Mapping[str, object]) -> Limits:
    """Return the limits that the flags of `limits` set."""
    values = {
        limit.field: flags[limit.flag.removeprefix("--").replace("-", "_")]
        for limit in LIMITS.values()
    }
    return Limits(**values)  # type: ignore[arg-type] # each flag has the type of its field


def with_root(limits: Limits, program_root: Path | None) -> Limits:
    """``limits`` that let inputs read programs below a directory, if there is one."""
    return replace(
        limits, program_root=None if program_root is None else str(program_root.resolve())
    )


def program_root(default: str = "") -> click.Option:
    """Where programs in files are; ``default`` says it in words."""
    return click.Option(
        ["--program-root"],
        show_default=default or None,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Directory below which inputs with source FileSystem find their programs.",
    )


def functions() -> click.Option:
    """Where the functions of a pipeline run; read by `read_runtimes`."""
    return click.Option(
        ["--function"],
        multiple=True,
        metavar="NAME=local|skip|HOST:PORT",
        help="Where a function runs: here, not at all, or served at an address. May be repeated.",
    )


def read_runtimes(texts: Iterable[str]) -> dict[str, Runtime]:
    """The places that the flag of ``functions`` says."""
    from function_script.tools.render import functions  # noqa: PLC0415 - slow to import

    try:
        return dict(functions.parse_runtime(text) for text in texts)
    except ValueError as error:
        raise click.UsageError(f"--function: {error}") from error


def quiet(what: str) -> click.Option:
    """Leave out ``what`` is told on stderr beside problems."""
    return click.Option(["-q", "--quiet"], is_flag=True, help=f"Do not print {what}.")


def output(*forms: str, short: str = "-o", what: str = "the report") -> click.Option:
    """In which of ``forms`` to print ``what``; the first is the default. ``short`` may be ""."""
    return click.Option(
        [name for name in (short, "--output") if name],
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help=f"How to print {what}.",
    )


def debug(meaning: str = "Print the traceback of a bug of ours.") -> click.Option:
    """What else is told; also remembered for the one who reports bugs."""
    return click.Option(["--debug"], is_flag=True, callback=_remember, help=meaning)


def _remember(context: click.Context, option: click.Parameter, value: object) -> object:
    if isinstance(context.obj, dict):
        context.obj[option.name] = value
    return value


def name_variables(group: click.Group, prefix: str = PREFIX) -> None:
    """Give every flag below ``group`` its environment variable, where it declares none itself."""
    for name, command in group.commands.items():
        below = prefix if name in _SHARING else f"{prefix}_{_upper(name)}"
        if isinstance(command, click.Group):
            name_variables(command, below)
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                option.show_envvar = name in _SHARING
                if option.envvar is None:
                    option.envvar = f"{below}_{_upper(max(option.opts, key=len))}"


def _upper(name: str) -> str:
    return name.lstrip("-").replace("-", "_").replace(" ", "_").upper()
