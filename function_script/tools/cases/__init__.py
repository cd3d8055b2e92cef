"""Cases: what a Composition is to make of an XR, checked without a cluster.

Called by the command line and by `function_script.testing`. Steps run in the sandbox of
production; a case never sees the clock, the network or the environment.
"""

from __future__ import annotations
