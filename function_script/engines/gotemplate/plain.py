"""One template with any data, and failures in Go's words: `template --plain` and conformance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from function_script.engines.gotemplate import go_messages, programs, registry
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.programs import (
    DELIMS,
    ProgramFailure,
    Settings,
    Sources,
    load,
)
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.limits import Limits
from function_script.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from function_script.engines.gotemplate.access import MissingKey
    from function_script.values import Object

_MISSING: Final[dict[str, MissingKey]] = {
    "missingkey=default": "default",
    "missingkey=invalid": "default",
    "missingkey=zero": "zero",
    "missingkey=error": "error",
}


class GoFailure(Exception):  # noqa: N818 # as Go's: a stage, a text, what was written before
    """A template that Go refuses; ``output`` is the text written until then."""

    def __init__(
        self, stage: Literal["parse", "option", "execute"], text: str, output: str = ""
    ) -> None:
        super().__init__(text)
        self.stage = stage
        self.text = text
        self.output = output


def render_text(
    template: str,
    data: Object,
    *,
    delims: tuple[str, str] = DELIMS,
    options: Sequence[str] = (),
) -> str:
    """Return the text that Go renders; raises GoFailure. Every function may be called.

    ``data`` is changed by templates that change it. Every random number is 0.
    """
    try:
        load(_sources(template, Settings(delims)))
    except ProgramFailure as failure:
        raise GoFailure("parse", go_messages.parse_error(failure.sources[0])) from failure
    loaded = load(_sources(template, Settings(delims, _missing_key(options))))
    run = Run(loaded.program, Limits(), "")
    run.is_random_zero = True
    parts: list[str] = []
    try:
        run.render(data, parts)
    except (GoError, LimitExceededError, RecursionError) as error:
        text = go_messages.run_error(error, loaded)
        raise GoFailure("execute", text, programs.to_output(parts)) from error
    return programs.to_output(parts)


def _sources(template: str, settings: Settings) -> Sources:
    everything = settings._replace(allowed=frozenset(registry.OPTIONS))
    return Sources(((MAIN, Source(name=MAIN, text=template)),), everything)


def _missing_key(options: Sequence[str]) -> MissingKey:
    missing: MissingKey = "default"
    for option in options:
        if option not in _MISSING:
            raise GoFailure("option", f"unrecognized option: {option}")
        missing = _MISSING[option]
    return missing
