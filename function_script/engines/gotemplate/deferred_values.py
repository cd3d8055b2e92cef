"""The gaps that missing values left in a rendered text, described for the response."""

from collections.abc import Iterator
from typing import Final

from function_script.engines.gotemplate import diagnostics, programs
from function_script.engines.gotemplate.positions import SourcePart
from function_script.engines.gotemplate.programs import LoadedProgram
from function_script.engines.gotemplate.run import Run
from function_script.program import MissingValue

# Describing a gap takes time, so only the first ones are described.
_MAX_DESCRIBED: Final = 50


def list_missing(
    run: Run, pieces: list[str], loaded: LoadedProgram, parts: tuple[SourcePart, ...]
) -> Iterator[MissingValue]:
    """Yield the gaps of a finished run with the values that they wait for."""
    for number, (index, error) in enumerate(run.gaps):
        offset = len(programs.to_output(pieces[:index]))
        if number < _MAX_DESCRIBED:
            problem = diagnostics.missing_problem(error, loaded, parts)
            yield MissingValue(offset=offset, missing=problem.message, span=problem.span)
        else:
            yield MissingValue(offset=offset, missing="a value does not exist", span=None)
