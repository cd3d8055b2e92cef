"""Flags in the groups of a command's help, those that commands share, and their variables.

The command modules import this to declare their flags, so it must import nothing slow.
"""

from __future__ import annotations

import inspect
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Final,
    Literal,
    NamedTuple,
    NotRequired,
    ParamSpec,
    TypedDict,
    TypeVar,
    get_args,
)

import click
from click.decorators import FC

from function_script.cli import terminal
from function_script.request import quantities
from function_script.request.limits import LIMITS, Limit, Limits
from function_script.texts.diagnostics import Form
from function_script.tools.processes.options import PackageOptions
from function_script.tools.project import FLAG

if TYPE_CHECKING:
    from function_script.sandbox.pool import PoolOptions
    from function_script.tools.render import renderer

Arguments = ParamSpec("Arguments")
Number = TypeVar("Number", int, float)

# In the order of --help.
Group = Literal[
    "Project",
    "Input",
    "Functions",
    "Runs",
    "Validation",
    "Cases",
    "Limits",
    "Server",
    "Security",
    "Captures",
    "Remote programs",
    "Registry",
    "Output",
    "Other",
]
_GROUPS: Final = get_args(Group)

TIMEOUT: Final = "--timeout"


class _PathType(click.Path):
    """A path; an empty text is none, though Python takes it for the current directory."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Refuse an empty text, such as that of a shell's variable without a value."""
        if value == "":
            self.fail("it is empty; the current directory is written .", param, ctx)
        return super().convert(value, param, ctx)


PATH: Final = _PathType(path_type=Path)
TEXT_PATH: Final = _PathType(readable=False)
"""A path that stays a text: ``-`` is stdin, and a tool tells what it cannot read."""
_MAX_PORT: Final = 65_535
_MAX_HOST_CHARACTERS: Final = 253
_HOST_NAME: Final = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*", re.ASCII)

PREFIX: Final = "FUNCTION_SCRIPT"
# These commands run the function itself, so the same variables configure both in a container.
_SHARING: Final = {"serve", "run"}
# These run until they are interrupted, as every command does with --watch.
_ENDLESS: Final = {"serve", "playground"}


class Flag(click.Option):
    """An option in a group of its command's help, which shows its default.

    One without a type and a metavar takes no value. A value that the metavar calls
    PATH, FILE or DIR is a path.
    """

    def __init__(self, names: list[str], *, group: Group, **settings: object) -> None:
        if settings.keys().isdisjoint({"type", "metavar"}):
            settings["is_flag"] = True
        if settings.get("metavar") in {"PATH", "FILE", "DIR"}:
            settings.setdefault("type", PATH)
        settings.setdefault("show_default", bool(settings.get("default")))
        super().__init__(names, **settings)  # type: ignore[arg-type] # click's own settings
        self.group: Group = group


def flag(*names: str, group: Group, **settings: object) -> Callable[[FC], FC]:
    """Return a decorator that adds a `Flag` to a command."""
    return click.option(*names, cls=Flag, group=group, **settings)


class Command(click.Command):
    """A command whose help lists its flags group by group, and which shows when it takes long.

    Its examples are the end of its function's docstring; in the help they stand last.
    """

    def __init__(self, name: str | None, **settings: object) -> None:
        text = inspect.cleandoc(str(settings.pop("help", None) or ""))
        settings["help"], heading, examples = text.partition("\nExamples:\n")
        if heading:
            settings["epilog"] = f"\b\nExamples:\n{examples}"
        super().__init__(name, **settings)  # type: ignore[arg-type] # click's own settings

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; with ``--quiet`` and until an interrupt it shows nothing."""
        is_endless = self.name in _ENDLESS or ctx.params.get("watch")
        if is_endless or ctx.params.get("quiet"):
            return super().invoke(ctx)
        with terminal.show_activity(ctx.info_name or ""):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        for group, options in by_group(self.get_params(ctx)):
            rows = [row for option in options if (row := option.get_help_record(ctx))]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)


def command(
    *parameters: click.Parameter,
    name: str | None = None,
    short_help: str = "",
    context_settings: dict[str, bool] | None = None,
) -> Callable[[Callable[Arguments, object]], Command]:
    """Return a decorator that makes a function a `Command`; ``parameters`` come before its own."""
    return click.command(
        name,
        Command,
        params=[*parameters],
        short_help=short_help,
        context_settings=context_settings,
    )


def by_group(parameters: Sequence[click.Parameter]) -> Iterator[tuple[str, list[click.Option]]]:
    """Yield each group with its options; those without a group, such as --help, are Other."""
    options = [each for each in parameters if isinstance(each, click.Option)]
    options.sort(key=lambda option: _GROUPS.index(_group(option)))
    for group, members in groupby(options, key=_group):
        yield group, [*members]


def _group(option: click.Option) -> Group:
    return option.group if isinstance(option, Flag) else "Other"


def list_commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield all commands, also those of groups, with their words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        member = group.get_command(context, name)
        if isinstance(member, click.Group):
            yield from list_commands(member, (*path, name))
        elif member is not None:
            yield (*path, name), member


def visible_options(command: click.Command) -> list[click.Option]:
    """Return the options that `--help` lists, by name."""
    listed = (each for each in command.params if isinstance(each, click.Option))
    return sorted((each for each in listed if not each.hidden), key=long_name)


def long_name(option: click.Option) -> str:
    """Return the longest name of an option, such as ``--output``."""
    return max(option.opts, key=len)


def describe_value(option: click.Option) -> str:
    """Return what follows an option, such as ``DIR`` or ``text|json``; "" for one alone."""
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    return "" if option.is_flag else option.metavar or "|".join(choices)


def describe_default(option: click.Option) -> str:
    """Return the default that `--help` shows, or what describes it; "" where it shows none."""
    default = option.default if option.show_default is True else option.show_default
    return str(default or "")


def variables_of(option: click.Option) -> list[str]:
    """Return the environment variables of an option."""
    return [option.envvar] if isinstance(option.envvar, str) else [*(option.envvar or ())]


def duration(text: str) -> float:
    """Parse a duration as in Go, such as ``1m30s``, to seconds."""
    return _positive(quantities.parse_duration, text)


def size(text: str) -> int:
    """Parse a quantity as in Kubernetes, such as ``256Mi``, to bytes."""
    return _positive(quantities.parse_size, text)


def _positive(parse: Callable[[str], Number], text: str) -> Number:
    try:
        number = parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    if number <= 0:
        raise click.BadParameter(f'"{text}" must be more than 0')
    return number


def address(text: str) -> str:
    """Parse HOST:PORT; without a host, as in ``:9443``, it is every address of this machine."""
    host, colon, port = text.rpartition(":")
    if not (colon and port.isascii() and port.isdecimal() and _is_host(host)):
        raise click.BadParameter(
            f'"{text}" is not of the form HOST:PORT, such as 127.0.0.1:8080, [::]:8080 or :8080'
        )
    if len(port) > len(str(_MAX_PORT)) or int(port) > _MAX_PORT:
        raise click.BadParameter(f'"{text}": the port must be {_MAX_PORT} at most')
    return f"{host or '[::]'}:{int(port)}"


def _is_host(text: str) -> bool:
    """Report whether a text is empty, a name, an IPv4 address, or an IPv6 address in brackets."""
    if text.startswith("[") and text.endswith("]"):
        with suppress(OSError):
            socket.inet_pton(socket.AF_INET6, text[1:-1])
            return True
    is_name = _HOST_NAME.fullmatch(text) and len(text) <= _MAX_HOST_CHARACTERS
    return not text or bool(is_name)


def address_or_nothing(text: str) -> str:
    """Parse HOST:PORT or an empty text."""
    return address(text) if text else text


def operator(*, has_timeout: bool = False) -> list[click.Parameter]:
    """Return an operator's flags that decide a response, with the same variables in every command.

    ``has_timeout``: the command's --timeout is one of its own.
    """
    default_ttl = Flag(
        ["--default-ttl"],
        group="Input",
        type=_ttl,
        default=_format_duration(Limits().default_ttl_seconds),
        metavar="DURATION",
        envvar=[f"{PREFIX}_DEFAULT_TTL"],
        help="TTL of a step that waits for nothing, ±10% by XR, unless its input or program "
        "sets one.",
    )
    limits = (_limit(limit, has_timeout=has_timeout) for limit in LIMITS.values())
    return [*limits, default_ttl, *shared("--seed-file")]


def _limit(limit: Limit, *, has_timeout: bool) -> click.Option:
    """Return the flag of a limit, without the name that a --timeout of the command has."""
    unit = _UNITS[limit.unit]

    def parse(text: str) -> float:
        number = unit.parse(text)
        if number < limit.minimum:
            raise click.BadParameter(
                f'"{text}" is less than {unit.format(limit.minimum)}, in which no program runs'
            )
        return number

    names = [name for name in (limit.flag, limit.other_flag) if name]
    return Flag(
        [name for name in names if name != TIMEOUT or not has_timeout],
        group="Limits",
        type=parse,
        default=unit.format(getattr(Limits(), limit.field)),
        metavar=unit.metavar,
        envvar=[f"{PREFIX}_{_upper(name)}" for name in names],
        help=limit.meaning,
    )


def _count(text: str) -> int:
    """Parse a number of things."""
    if not (text.isascii() and text.isdecimal()):
        raise click.BadParameter(f'"{text}" is not a whole number')
    return _positive(int, text)


def _format_duration(seconds: float) -> str:
    return f"{round(seconds * 1000):g}ms" if seconds < 1 else f"{seconds:g}s"


def _format_size(size_bytes: float) -> str:
    kib = int(size_bytes) // 1024
    return f"{kib}Ki" if kib % 1024 else f"{kib // 1024}Mi"


class _Unit(NamedTuple):
    """The values of a flag: their parser, which raises BadParameter, metavar and format."""

    parse: Callable[[str], float]
    metavar: str
    format: Callable[[float], str]


_UNITS: Final = {
    "seconds": _Unit(duration, "DURATION", _format_duration),
    "bytes": _Unit(size, "SIZE", _format_size),
    "count": _Unit(_count, "N", str),
}


def read_limits(flags: Mapping[str, object]) -> Limits:
    """Return the limits that the flags of `operator` set; a command has flags of its own, too."""
    values = {
        limit.field: flags[limit.flag.removeprefix("--").replace("-", "_")]
        for limit in LIMITS.values()
    }
    values["default_ttl_seconds"] = flags["default_ttl"]
    return Limits(**values)  # type: ignore[arg-type] # each flag has the type of its field


def read_pool(flags: Mapping[str, object], limits: Limits | None = None) -> PoolOptions:
    """Return the options of the pool that the flags of `operator` set. Raises InputError.

    ``limits`` take the place of those of the flags.
    """
    from function_script.request.salt import SaltFile  # noqa: PLC0415 - slow to import
    from function_script.tools import local_pool  # noqa: PLC0415 - slow to import

    options = replace(local_pool.OPTIONS, limits=limits or read_limits(flags))
    path = flags["seed_file"]
    if not isinstance(path, Path):
        return options
    return replace(options, derive_seed=SaltFile(path).derive_seed)


def _ttl(text: str) -> float:
    try:
        seconds = quantities.parse_duration(text, is_signed=True)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    if seconds < 0:
        raise click.BadParameter(f'"{text}" must not be less than 0')
    return seconds


def timeout(subject: str, default: str = "1m") -> click.Option:
    """Return the flag of a command's own time limit, which is that of ``subject``."""
    return Flag(
        [TIMEOUT],
        group="Limits",
        type=duration,
        default=default,
        metavar="DURATION",
        help=f"Time limit of {subject}.",
    )


def program_root(default: str = "") -> click.Option:
    """Return the flag of the directory of programs; ``default`` describes its default."""
    return Flag(
        ["--program-root"],
        group="Input",
        show_default=default or None,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Directory with the programs of inputs with source FileSystem.",
    )


def shared(*names: str) -> list[click.Parameter]:
    """Return flags that several commands have, new ones for each command."""
    return [_SHARED[name]([name]) for name in names]


_SHARED: Final = {
    FLAG: partial(
        Flag,
        group="Input",
        multiple=True,
        metavar="PATH",
        help="File or directory outside of the project that links and paths in the project's files "
        "may lead to. May be repeated.",
    ),
    "--ignore": partial(
        Flag,
        group="Input",
        multiple=True,
        metavar="GLOB",
        help="Leave out files and folders of this name, or of this path below a directory; "
        "* also stands for /. May be repeated.",
    ),
    "--fetch": partial(
        Flag,
        group="Input",
        help="Fetch packages with schemas that the cache lacks, which Provider objects and the "
        "metadata of packages name.",
    ),
    "--seed-file": partial(
        Flag,
        group="Input",
        metavar="FILE",
        envvar=[f"{PREFIX}_SEED_FILE"],
        help="File with a salt: a secret of at least 16 bytes. Without it, whoever knows an XR's "
        "UID can compute the random values of programs. Read again when it changes.",
    ),
    "--function": partial(
        Flag,
        group="Functions",
        multiple=True,
        metavar="NAME=RUNTIME",
        help="Where function NAME runs: local, process, docker, skip, or the HOST:PORT where it is "
        "served in plain text. Wins over functions.yaml. May be repeated.",
    ),
    "--allow-addresses": partial(
        Flag,
        group="Functions",
        help="Call functions at the addresses that annotations in files name. Without it, only "
        "those of this machine's loopback are called.",
    ),
    "--strict-versions": partial(
        Flag,
        group="Functions",
        help="Refuse a built-in function of another version than functions.yaml names.",
    ),
    "--offline": partial(
        Flag,
        group="Functions",
        help="Take packages of functions and remote programs from the cache alone.",
    ),
    "--skip-xr-validation": partial(
        Flag,
        group="Validation",
        help="Do not compare XRs with their XRD's schema.",
    ),
    "--skip-validation": partial(
        Flag,
        group="Validation",
        help="Do not compare composed resources and the XR's status with the schemas at hand.",
    ),
}


def read_packages(*, is_offline: bool, is_quiet: bool = False) -> PackageOptions:
    """Return the choices about packages of functions."""
    return PackageOptions(
        pull="Never" if is_offline else "IfNotPresent",
        never_hint="run the command once without --offline",
        progress=partial(terminal.show_progress, is_quiet=is_quiet),
    )


def read_runtimes(texts: Iterable[str]) -> dict[str, str]:
    """Parse the values of --function. Raises UsageError."""
    from function_script.tools.render import functions  # noqa: PLC0415 - slow to import

    try:
        return dict(functions.parse_runtime(text) for text in texts)
    except ValueError as error:
        raise click.UsageError(f"--function: {error}") from error


class RenderingFlags(TypedDict):
    """The flags of `functions`, and the time of all steps if the command has a flag for it."""

    function: tuple[str, ...]
    allow_outside: tuple[Path, ...]
    allow_addresses: bool
    strict_versions: bool
    offline: bool
    timeout: NotRequired[float]


def functions() -> list[click.Parameter]:
    """Return the flags of a command that calls functions; `read_rendering` parses them."""
    names = (FLAG, "--function", "--allow-addresses", "--strict-versions", "--offline")
    return shared(*names)


def rendering() -> list[click.Parameter]:
    """Return the flags of a command that renders many XRs; `read_rendering` parses them."""
    return [*functions(), timeout("all steps of an XR together")]


def read_rendering(
    flags: RenderingFlags,
    *,
    is_quiet: bool = True,
    hides_packages: bool = False,
    retries: bool = False,
) -> renderer.Options:
    """Return the options of the renderer; ``is_quiet``: without notes. Raises UsageError.

    ``hides_packages``: the progress of packages is not shown, either. ``retries``: a function that
    could not start is tried again.
    """
    from function_script.tools.render import renderer  # noqa: PLC0415 - slow to import
    from function_script.tools.render.runtimes.servers import Servers  # noqa: PLC0415 - as above

    return renderer.Options(
        runtimes=read_runtimes(flags["function"]),
        is_strict=flags["strict_versions"],
        allows_addresses=flags["allow_addresses"],
        servers=Servers(
            read_packages(is_offline=flags["offline"], is_quiet=hides_packages), retries=retries
        ),
        timeout_seconds=flags.get("timeout", renderer.TIMEOUT_SECONDS),
        timeout_flag=TIMEOUT if "timeout" in flags else "",
        is_quiet=is_quiet,
    )


def quiet(what: str) -> click.Option:
    """Return the flag that omits ``what`` from stderr."""
    return Flag(["-q", "--quiet"], group="Output", help=f"Do not print {what}.")


def watch(meaning: str) -> Flag:
    """Return the flag --watch."""
    help_text = f"{meaning} again when a file changes. Ctrl-C ends it."
    return Flag(["--watch"], group="Output", help=help_text)


def output(*forms: str, short: str = "-o", what: str = "the report") -> click.Option:
    """Return the flag of the output format; the first of ``forms`` is the default."""
    return Flag(
        [name for name in (short, "--output") if name],
        group="Output",
        type=click.Choice(forms),
        default=forms[0],
        help=f"Format of {what}.",
    )


def reporting() -> list[click.Option]:
    """Return the flags of the form of problems, and of reports of bugs."""
    form = Flag(
        ["--diagnostics"],
        group="Output",
        type=click.Choice(get_args(Form)),
        default="text",
        callback=_remember,
        help="Form of errors and warnings: with their source, on one line each, or as JSON on one "
        "line each.",
    )
    return [form, debug()]


def check_forms(output: str, form: Form) -> None:
    """Raise UsageError for a form of problems beside another output than text."""
    if "text" not in {output, form}:
        raise click.UsageError("--diagnostics is for --output text: other outputs have them, too")


def debug(meaning: str = "Print the traceback of a bug of ours.") -> click.Option:
    """Return the flag --debug, whose value the report of a bug uses, too."""
    return Flag(["--debug"], group="Other", callback=_remember, help=meaning)


def _remember(context: click.Context, option: click.Parameter, value: object) -> object:
    if isinstance(context.obj, dict):
        context.obj[option.name] = value
    return value


def name_variables(name: str, command: click.Command, prefix: str = PREFIX) -> None:
    """Set the environment variable of every flag of a command, or below it, that declares none."""
    below = prefix if name in _SHARING else f"{prefix}_{_upper(name)}"
    if isinstance(command, click.Group):
        for member, each in command.commands.items():
            name_variables(member, each, below)
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            option.show_envvar = name in _SHARING
            if option.envvar is None:
                option.envvar = f"{below}_{_upper(long_name(option))}"


def _upper(name: str) -> str:
    return name.lstrip("-").replace("-", "_").replace(" ", "_").upper()
