"""Failures of templates in Go's own words, positions included: conformance compares them.

Authors get diagnostics.py's words for the same failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from function_script.engines.gotemplate.compiler.code import Site
from function_script.engines.gotemplate.compiler.codegen import FILE
from function_script.engines.gotemplate.errors import CallError, TypeFieldError
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax.nodes import to_source

if TYPE_CHECKING:
    from function_script.engines.gotemplate.programs import BadSource, LoadedProgram


class GoPosition(NamedTuple):
    """A position in a source, counted as Go does: lines from 1, columns in bytes from 0."""

    line: int
    column: int


def go_position(text: str, position: int) -> GoPosition:
    """Convert a position in characters."""
    start = text.rfind("\n", 0, position) + 1
    column = len(text[start:position].encode("utf-8", "surrogateescape"))
    return GoPosition(text.count("\n", 0, position) + 1, column)


def parse_error(bad: BadSource) -> str:
    """Format the first error as Go does: ``template: manifests:1: unexpected EOF``."""
    error = bad.errors[0]
    line = go_position(bad.source.text, error.position or 0).line
    return f"template: {bad.name}:{line}: {error.text}"


def run_error(error: Exception, loaded: LoadedProgram) -> str:
    """Format ``template: manifests:1:3: executing "manifests" at <.a.b>: nil pointer …``."""
    sites = sites_of(error, loaded)
    outer = "".join(
        f"{_format_site(site, loaded)}error calling include: "
        for site in sites[:-1]
        if site.function == "include"
    )
    if not sites:
        return str(error)
    return f"{outer}{_format_site(sites[-1], loaded)}{run_text(error, sites[-1])}"


def run_text(error: Exception, site: Site) -> str:
    """Return the error without its place."""
    if isinstance(error, CallError) and site.function is not None:
        return f"error calling {site.function}: {error.text}"
    if isinstance(error, TypeFieldError) and error.index == 0:
        # An int comes from a range over an int, where Go knows the type; data has int64.
        is_type_known = not site.element or error.kind == "int"
        return (
            error.text
            if is_type_known
            else f"can't evaluate field {error.name} in type interface {{}}"
        )
    return str(error)


def sites_of(error: BaseException, loaded: LoadedProgram) -> list[Site]:
    """Return the sites of the generated code that was running, the outermost first."""
    sites = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            site = loaded.program.sites[trace.tb_lineno]
            if site is not None:
                sites.append(site)
        trace = trace.tb_next
    return sites


def _format_site(site: Site, loaded: LoadedProgram) -> str:
    line, column = go_position(loaded.origins[site.template].text, site.node.position)
    where = f"template: {MAIN}:{line}:{column}"
    return f"{where}: executing {quote(site.template)} at <{to_source(site.node)}>: "
