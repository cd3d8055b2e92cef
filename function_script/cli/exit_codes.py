"""Turn exceptions into exit codes and messages on stderr.

0 success, 1 input error, 2 wrong usage, 3 bug of this program, 130 interrupted.
"""

import errno
import platform
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click

from function_script import __version__
from function_script.cli import terminal
from function_script.errors import FatalError, InputError

OK: Final = 0
PROBLEM: Final = 1
USAGE: Final = 2
BUG: Final = 3
INTERRUPTED: Final = 130
# A full disk, a quota, a file that is too large, a broken device: whatever was written, the system
# refused it.
_OUTPUT_ERRORS: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
# A path that this machine refuses: it is the author's to change.
_PATH_ERRORS: Final = {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EROFS, errno.ELOOP}


def guard(command: Callable[[], int], flags: Mapping[str, object]) -> int:
    """Run ``command``, report what it raises, and return the exit code.

    ``flags`` has ``debug`` after the command line has been parsed.
    """
    try:
        return command()
    except FatalError as error:
        return report_problem(error)
    except click.ClickException as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except OSError as error:
        problem = _to_problem(error)
        if problem is not None:
            return report_problem(problem)
        return _report_bug(error, debug=bool(flags.get("debug")))
    except Exception as error:  # noqa: BLE001 - any other exception is a bug
        return _report_bug(error, debug=bool(flags.get("debug")))


def _to_problem(error: OSError) -> InputError | None:
    """Return the problem of this machine that an error is; None for one that may be a bug."""
    cause = (error.strerror or str(error)).lower()
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


def report_problem(error: FatalError) -> int:
    """Print every diagnostic with the source around it. Return the exit code."""
    from function_script.tools import console  # noqa: PLC0415 - only failures need it

    text = console.to_text(
        error.diagnostics,
        colourful=console.is_colourful(sys.stderr),
        columns=console.columns_of(sys.stderr),
    )
    terminal.echo_coloured(text, err=True)
    return PROBLEM


def _report_bug(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    terminal.echo(
        f"bug: function-script {__version__} on Python {platform.python_version()}: "
        f"{type(error).__name__}: {error}\n"
        "  = this is our mistake, not yours: please report it"
        + ("" if debug else "\n  = the same command with --debug prints the traceback to attach"),
        err=True,
    )
    return BUG
