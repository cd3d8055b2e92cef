"""One template with any data, and failures in Go's words: `template --plain` and conformance."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from function_script.engines.gotemplate import diagnostics, printing, programs, registry, values
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.language import DELIMS
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import ProgramError
from function_script.texts.source import Source, Span

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
        raise GoFailure("parse", parse_error(failure.sources[0])) from failure
    loaded = programs.load(_sources(template, programs.Settings(delims, _missing_key(options))))
    run = Run(loaded.program, Limits(), "")
    run.is_random_zero = True
    parts: list[str] = []
    try:
        run.render(data, parts)
    except (GoError, LimitExceededError, RecursionError) as error:
        text = run_error(error, run.error_sites(), loaded)
        raise GoFailure("execute", text, programs.to_output(parts)) from error
    return programs.to_output(parts)


def render_program(program: Program, data: Object) -> str:
    """Render a program's main source as Go's engine does; raises ProgramError with Go's words."""
    main, delims = program.main, programs.read_settings(program.options).delims
    # Go has no option "checked".
    key = program.options["missingkey"]
    missing = "default" if key == "checked" else key
    try:
        return render_text(main.text, data, delims=delims, options=(f"missingkey={missing}",))
    except GoFailure as failure:
        match = _GO_POSITION.match(failure.text)
        if match is None:
            raise ProgramError.of(f"cannot render {main.name}: {failure.text}") from failure
        # Go counts columns in bytes, from 0; lines alone are known while a template is parsed.
        column = None if match["column"] is None else int(match["column"]) + 1
        span = Span(name=main.name, line=int(match["line"]), column=column)
        message = f"cannot render {main.name}: {failure.text[match.end() :]}"
        raise ProgramError(Diagnostic(message=message).at(main, span)) from failure


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


# Failures in Go's own words, positions included. Authors get diagnostics.py's words for the same.


def parse_error(bad: programs.BadSource) -> str:
    """Format the first error as Go does: ``template: manifests:1: unexpected EOF``."""
    error = bad.errors[0]
    line = bad.source.text.count("\n", 0, error.position or 0) + 1
    return f"template: {bad.name}:{line}: {error.text}"


def run_error(error: Exception, sites: Sequence[Site], loaded: programs.LoadedProgram) -> str:
    """Format ``template: manifests:1:3: executing "manifests" at <.a.b>: nil pointer …``."""
    outer = "".join(
        f"{_format_site(site, loaded)}error calling include: "
        for site in sites[:-1]
        if site.function == "include"
    )
    if not sites:
        return str(error)
    return f"{outer}{_format_site(sites[-1], loaded)}{diagnostics.run_text(error, sites[-1])}"


def _format_site(site: Site, loaded: programs.LoadedProgram) -> str:
    text, position = loaded.origins[site.template].text, site.node.position
    line = text.count("\n", 0, position) + 1
    # Go counts columns in bytes, from 0.
    column = len(values.to_bytes(text[text.rfind("\n", 0, position) + 1 : position]))
    where = f"template: {MAIN}:{line}:{column}"
    return f"{where}: executing {printing.quote(site.template)} at <{nodes.to_source(site.node)}>: "
