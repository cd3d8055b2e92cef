"""The ways to run a function, one row for each.

The order of the table is the order of choice where nothing selects one.
"""

from typing import Final

from function_script.tools.render.runtimes.address import REMOTE
from function_script.tools.render.runtimes.container import DOCKER
from function_script.tools.render.runtimes.local import BUILTIN, LOCAL, SKIP
from function_script.tools.render.runtimes.model import RuntimeKind
from function_script.tools.render.runtimes.process import PROCESS

RUNTIMES: Final[tuple[RuntimeKind, ...]] = (
    REMOTE,
    LOCAL,
    BUILTIN,
    PROCESS,
    DOCKER,
    SKIP,
)
