"""The marks behind a request that asks a worker of the author's tools for more than a response.

A mark is a field that no message has, so that another handler answers as if it were not there. They
are no part of `local_pool`, whose imports a zygote does not need.
"""

from typing import Final

POSITIONS: Final = b"\xf8\xff\xff\xff\x0f\x01"
TEXT: Final = b"\xf8\xff\xff\xff\x0f\x02"
BRANCHES: Final = b"\xf8\xff\xff\xff\x0f\x03"
