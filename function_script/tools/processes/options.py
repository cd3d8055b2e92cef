"""The choices of a command about packages, and the error of one whose function cannot run.

This module imports nothing that is slow or of Linux.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from function_script.texts.errors import InputError
from function_script.tools.progress import Progress

PullPolicy: TypeAlias = Literal["Always", "IfNotPresent", "Never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageOptions:
    """The use of the cache and of registries.

    ``pull`` is as in a Pod: ``IfNotPresent`` resolves a tag once, ``Always`` each time, ``Never``
    takes what the cache has; ``never_hint`` says who has set this. ``progress`` opens a display for
    one package. ``root`` is the cache's directory, None for `default_root`. A fetch ends early when
    ``is_cancelled``.
    """

    root: Path | None = None
    pull: PullPolicy = "IfNotPresent"
    never_hint: str | None = None
    progress: Callable[[], AbstractContextManager[Progress]] = lambda: nullcontext(Progress())
    is_cancelled: Callable[[], bool] = lambda: False


def default_root() -> Path:
    """Return the user's directory of the cache. Raises InputError for a user without one."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if Path(base).is_absolute():
        return Path(base, "function-script")
    try:
        return Path.home() / ".cache" / "function-script"
    except RuntimeError as error:
        raise InputError.of(
            "cannot find a directory for packages: this user has no home directory",
            hint="name one: XDG_CACHE_HOME=DIRECTORY",
        ) from error


def cannot_run(
    function: str, cause: str, *, hint: str | None = None, notes: tuple[str, ...] = ()
) -> InputError:
    """Build the error of a function that cannot be run as a process."""
    return InputError.of(f'cannot run function "{function}": {cause}', hint=hint, notes=notes)
