"""Load the handler, and have it practise, before a worker is given its first request."""

from __future__ import annotations

import gc
import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from function_script.sandbox.worker import Handle
    from function_script.sandbox.zygote_config import ZygoteConfig


def load(settings: ZygoteConfig) -> Handle:
    """Import what runs will need, and handle the rehearsals; the collector is off from then on."""
    gc.disable()
    handle = cast("Handle", importlib.import_module(settings.module).handle)
    for name in settings.preload:
        importlib.import_module(name)
    for request in settings.rehearsals:
        handle(request, settings.limits, lambda _: None)
    if settings.rehearsals:
        # Imports alone leave next to nothing to collect, and looking for it takes 10 ms.
        gc.collect()
    # What is frozen is not visited by collections in workers, so its pages stay shared.
    gc.freeze()
    return handle
