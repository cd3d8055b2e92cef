"""The ways to run a function.

The order is that of choice where nothing selects one.
"""

from typing import Final

from function_script.tools.render.runtimes.address import Remote
from function_script.tools.render.runtimes.container import Container
from function_script.tools.render.runtimes.local import Builtin, Local, Skip
from function_script.tools.render.runtimes.model import Runtime
from function_script.tools.render.runtimes.process import Process

RUNTIMES: Final[tuple[type[Runtime], ...]] = (Remote, Local, Builtin, Process, Container, Skip)
