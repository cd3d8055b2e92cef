"""The ways to run a function, one row for each.

The order of the table is the order of choice where nothing selects one.
"""

from typing import Final

from function_script.tools.render.runtimes.address import RemoteKind
from function_script.tools.render.runtimes.container import ContainerKind
from function_script.tools.render.runtimes.local import BuiltinKind, LocalKind, SkipKind
from function_script.tools.render.runtimes.model import RuntimeKind
from function_script.tools.render.runtimes.process import ProcessKind

RUNTIMES: Final[tuple[RuntimeKind, ...]] = (
    RemoteKind(),
    LocalKind(),
    BuiltinKind(),
    ProcessKind(),
    ContainerKind(),
    SkipKind(),
)
