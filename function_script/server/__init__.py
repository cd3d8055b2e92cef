"""The gRPC server: moves bytes between Crossplane and the sandbox, and owns the deadlines.

The command line calls ``serve``. Programs are never read or run in this process.
"""

from function_script.server.lifecycle import serve
from function_script.server.options import ServeOptions

__all__ = ["ServeOptions", "serve"]
