"""The playground: a page in the browser that renders while you type, served by this machine alone.

Called by the command line. Programs run in the sandbox of production; nothing leaves the machine.
"""

from function_script.tools.playground.server import Playground

__all__ = ["Playground"]
