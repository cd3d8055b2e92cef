"""Where programs run: warm worker processes that can be killed without hurting anyone else.

The server and the local tools use ``Pool``. Nothing in here knows gRPC, Crossplane or a language:
a pool moves bytes to ``function.handle`` in a worker and bytes back, and explains deaths.
"""

from function_script.sandbox.outcome import Answered, Failed, Reply
from function_script.sandbox.pool import Load, Pool, PoolOptions

__all__ = ["Answered", "Failed", "Load", "Pool", "PoolOptions", "Reply"]
