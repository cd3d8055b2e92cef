"""The configuration that a zygote or a plain worker gets on its command line, and its first step.

``load_handler`` warms the process up as configured.
"""

from __future__ import annotations

import ast
import gc
import importlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from function_script.request.limits import Limits

if TYPE_CHECKING:
    from function_script.sandbox.worker import Handle


@dataclass(frozen=True, slots=True, kw_only=True)
class ZygoteConfig:
    """The configuration of a zygote and its workers.

    ``module`` has ``handle(data, limits, on_limits, seed)``; ``preload`` are modules that it
    imports later. ``warmup_requests`` are handled once before the first worker is forked: every
    worker inherits what the first request of its kind has to load. ``capacity_bytes`` bounds a
    request, and a response together with its report.
    """

    module: str
    preload: tuple[str, ...]
    warmup_requests: tuple[bytes, ...]
    limits: Limits
    max_runs: int
    capacity_bytes: int

    def to_literal(self) -> str:
        """Return one line, a literal of Python."""
        return repr(asdict(self))

    @classmethod
    def from_literal(cls, text: str) -> ZygoteConfig:
        """Parse what ``to_literal`` returned."""
        fields = ast.literal_eval(text)
        return cls(**fields | {"limits": Limits(**fields["limits"])})


def load_handler(config: ZygoteConfig) -> Handle:
    """Import the handler, and handle the warm-up requests; garbage collection is off afterwards."""
    gc.disable()
    handle = cast("Handle", importlib.import_module(config.module).handle)
    for name in config.preload:
        importlib.import_module(name)
    for request in config.warmup_requests:
        handle(request, config.limits, lambda _: None, b"")
    if config.warmup_requests:
        # Imports alone leave hardly any garbage, and looking for it takes 10 ms.
        gc.collect()
    # Collections in workers skip frozen objects, so their pages stay shared.
    gc.freeze()
    return handle
