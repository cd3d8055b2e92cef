"""One template with any data, and failures in Go's words: `template --plain` and conformance."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from function_script.engines.gotemplate import go_messages, programs, registry
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.language import DELIMS
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.errors import ProgramError
from function_script.limits import Limits
from function_script.program import Program
from function_script.source import Source, Span, excerpt
from function_script.values import Object

_GO_POSITION: Final = re.compile(rf"template: {MAIN}:(?P<line>\d+)(?::(?P<column>\d+))?: ")
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
        programs.load(_sources(template, programs.Settings(delims)))
    except programs.ProgramFailure as failure:
        raise GoFailure("parse", go_messages.parse_error(failure.sources[0])) from failure
    loaded = programs.load(_sources(template, programs.Settings(delims, _missing_key(options))))
    run = Run(loaded.program, Limits(), "")
    run.is_random_zero = True
    parts: list[str] = []
    try:
        run.render(data, parts)
    except (GoError, LimitExceededError, RecursionError) as error:
        text = go_messages.run_error(error, loaded)
        raise GoFailure("execute", text, programs.to_output(parts)) from error
    return programs.to_output(parts)


def render_program(program: Program, data: Object) -> str:
    """Render a program's main source as Go's engine does; raises ProgramError with Go's words."""
    main, delims = program.main, programs.read_settings(program.options).delims
    # Go has no option "checked".
    option = program.options["missingkey"]
    missing = "missingkey=default" if option == "checked" else f"missingkey={option}"
    try:
        return render_text(main.text, data, delims=delims, options=(missing,))
    except GoFailure as failure:
        raise _program_error(failure.text, main) from failure


def _program_error(text: str, main: Source) -> ProgramError:
    match = _GO_POSITION.match(text)
    if match is None:
        return ProgramError.of(f"cannot render {main.name}: {text}")
    # Go counts columns in bytes, from 0; lines alone are known while a template is parsed.
    column = None if match["column"] is None else int(match["column"]) + 1
    span = Span(name=main.name, line=int(match["line"]), column=column)
    message = f"cannot render {main.name}: {text[match.end() :]}"
    return ProgramError.of(message, span=span, excerpt=excerpt(main, span))


def _sources(template: str, settings: programs.Settings) -> programs.Sources:
    everything = settings._replace(allowed=frozenset(registry.OPTIONS))
    return programs.Sources(((MAIN, Source(name=MAIN, text=template)),), everything)


def _missing_key(options: Sequence[str]) -> MissingKey:
    missing: MissingKey = "default"
    for option in options:
        if option not in _MISSING:
            raise GoFailure("option", f"unrecognized option: {option}")
        missing = _MISSING[option]
    return missing
