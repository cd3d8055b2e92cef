"""What a pool tells its zygote on the command line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from function_script.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``module`` has ``handle(data, limits, on_limits)``; ``preload`` modules serve it later.

    A preloaded module may have ``warm_up()``, which is called once, before any worker exists.
    """

    module: str
    preload: tuple[str, ...]
    limits: Limits
    max_runs: int

    def to_json(self) -> str:
        """One line of text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """The settings in the text that ``to_json`` wrote."""
        document = json.loads(text)
        return cls(
            module=document["module"],
            preload=tuple(document["preload"]),
            limits=Limits(**document["limits"]),
            max_runs=document["max_runs"],
        )
