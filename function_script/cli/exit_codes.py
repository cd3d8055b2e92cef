"""Turn exceptions into exit codes and messages on stderr.

0 success, 1 input error, 2 wrong usage, 3 bug of this program, 130 interrupted.
"""

import errno
import platform
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

import click

from function_script import __version__
from function_script.cli import terminal
from function_script.texts import spelling
from function_script.texts.diagnostics import Form
from function_script.texts.errors import FatalError, InputError, cause_of

OK: Final = 0
PROBLEM: Final = 1
USAGE: Final = 2
BUG: Final = 3
REPORTED: Final = 10
"""The report has what ``--fail-on`` names."""
INTERRUPTED: Final = 130
# A full disk, a quota, a file that is too large, a broken device: whatever was written, the system
# refused it.
_OUTPUT_ERRORS: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
# A path that this machine refuses: it is the author's to change.
_PATH_ERRORS: Final = {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EROFS, errno.ELOOP}


def guard(command: Callable[[], int], flags: Mapping[str, object]) -> int:
    """Run ``command``, report what it raises, and return the exit code.

    ``flags`` has ``debug`` and ``diagnostics`` after the command line of a command with these flags
    has been parsed.
    """
    try:
        return command()
    except FatalError as error:
        return report_problem(error, _form(flags))
    except click.ClickException as error:
        _drop_unlikely(error)
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except OSError as error:
        problem = _to_problem(error)
        if problem is not None:
            return report_problem(problem, _form(flags))
        return _report_bug(error, debug=flags.get("debug"))
    except Exception as error:  # noqa: BLE001 - any other exception is a bug
        return _report_bug(error, debug=flags.get("debug"))


def _drop_unlikely(error: click.ClickException) -> None:
    """Leave out the names that click finds similar, and that are no other spelling of a name."""
    names: list[str] = getattr(error, "possibilities", None) or []
    name: str = getattr(error, "option_name", "") or getattr(error, "command_name", "")
    names[:] = [
        each
        for each in names
        # Shorter ones begin with the same letters by chance, as --xr and --xrd.
        if spelling.nearest(name, [each]) or (len(name) > len("--all") and each.startswith(name))
    ]


def _form(flags: Mapping[str, object]) -> Form | None:
    return cast("Form | None", flags.get("diagnostics"))


def _to_problem(error: OSError) -> InputError | None:
    """Return the problem of this machine that an error is; None for one that may be a bug."""
    cause = cause_of(error)
    if error.errno in _OUTPUT_ERRORS:
        return InputError.of(f"cannot write the output: {cause}")
    if error.errno in _PATH_ERRORS and isinstance(error.filename, str):
        return InputError.of(f'cannot access "{error.filename}": {cause}')
    if error.errno == errno.ENOENT and error.filename is None and not _has_directory():
        return InputError.of("cannot read the current directory: it was removed")
    return None


def _has_directory() -> bool:
    """Report whether the current directory is there still."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def report_problem(error: FatalError, form: Form | None = None) -> int:
    """Print every diagnostic in its form, by default that of the command. Return the exit code."""
    *others, last = error.diagnostics
    for problem in others:
        terminal.echo_problem(problem, "error", form)
    terminal.echo_problem(last, "error", form, is_last=True)
    return PROBLEM


def _report_bug(error: Exception, *, debug: object) -> int:
    if debug:
        traceback.print_exception(error)
    terminal.echo(
        f"bug: function-script {__version__} on Python {platform.python_version()}: "
        f"{type(error).__name__}: {error}\n"
        "  = this is our mistake, not yours: please report it"
        + (
            "\n  = the same command with --debug prints the traceback to attach"
            if debug is False
            else ""
        ),
        err=True,
    )
    return BUG
