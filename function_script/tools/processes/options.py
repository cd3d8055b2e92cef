"""The choices of a command about packages; this module imports nothing that is slow or of Linux."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    # Its package imports the client of registries.
    from function_script.tools.xpkg.progress import Progress

PullPolicy: TypeAlias = Literal["Always", "IfNotPresent", "Never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageOptions:
    """The use of the cache and of registries.

    ``pull`` is as in a Pod: ``IfNotPresent`` resolves a tag once, ``Always`` each time, ``Never``
    takes what the cache has. ``progress`` opens a display for one package. ``root`` is the cache's
    directory, None for the user's own. A fetch ends early when ``is_cancelled``.
    """

    root: Path | None = None
    pull: PullPolicy = "IfNotPresent"
    progress: Callable[[], AbstractContextManager[Progress]] | None = None
    is_cancelled: Callable[[], bool] | None = None
