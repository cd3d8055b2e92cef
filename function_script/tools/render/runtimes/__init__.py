"""The ways to run a function, one row for each.

The order of the table is the order of choice where nothing selects one.
"""

from __future__ import annotations

from typing import Final

from function_script.tools.render.runtimes.address import RemoteKind
from function_script.tools.render.runtimes.contained import BuiltinKind
from function_script.tools.render.runtimes.container import ContainerKind
from function_script.tools.render.runtimes.local import LocalKind
from function_script.tools.render.runtimes.model import RuntimeKind
from function_script.tools.render.runtimes.process import ProcessKind
from function_script.tools.render.runtimes.skip import SkipKind

RUNTIMES: Final[tuple[RuntimeKind, ...]] = (
    RemoteKind(),
    LocalKind(),
    BuiltinKind(),
    ProcessKind(),
    ContainerKind(),
    SkipKind(),
)
