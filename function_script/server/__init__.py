"""The gRPC server: it passes requests to the sandbox, and enforces deadlines and memory bounds.

Programs are not read or run in this process.
"""

from function_script.server.lifecycle import ServeFlags, serve

__all__ = ["ServeFlags", "serve"]
