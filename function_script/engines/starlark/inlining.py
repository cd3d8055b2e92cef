"""Where a small function failed: the interpreter inlines it and blames its caller.

Called by the engine when a run has failed. The script is run once more with its returns written
so that nothing is inlined; that run is a short one, and only its error's text is of interest.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.program import Program

# A function that does more than return an expression is not inlined.
_MORE: Final = "__=0;"
_RETURN: Final = re.compile(r"^([ \t]+|[ \t]*def .*:[ \t]*)(?=return\b)", re.MULTILINE)
_SPOT: Final = re.compile(
    r"^(?P<place> *--> (?P<name>.+):(?P<line>[0-9]+):)(?P<column>[0-9]+)$", re.MULTILINE
)
_EXCERPT: Final = re.compile(
    r"^[0-9]+ \| (?P<line>.*)\n *\| (?P<before> *)(?P<marks>\^+)$", re.MULTILINE
)
_HEAD: Final = re.compile(r"^error: ", re.MULTILINE)


def exactly(said: str, program: Program, run: Callable[[Program], str]) -> str:
    """The text of an error with the place in the function that failed; ``said`` if that is it.

    ``run`` runs a program as it was run before and gives the text of its error, "" for none.
    """
    if not _blames_a_call(said):
        return said
    again = run(_without_inlining(program))
    return _SPOT.sub(_moved_back(program), again) if _message(again) == _message(said) else said


def _blames_a_call(said: str) -> bool:
    found = list(_EXCERPT.finditer(said))
    if not found:
        return False
    start = len(found[-1]["before"])
    return found[-1]["line"][start : start + len(found[-1]["marks"])].endswith(")")


def _without_inlining(program: Program) -> Program:
    modules = {name: _changed(source) for name, source in program.modules.items()}
    return replace(program, main=_changed(program.main), modules=modules)


def _changed(source: Source) -> Source:
    return Source(name=source.name, text=_RETURN.sub(rf"\1{_MORE}", source.text))


def _moved_back(program: Program) -> Callable[[re.Match[str]], str]:
    texts = {source.name: source.text for source in (program.main, *program.modules.values())}

    def moved(spot: re.Match[str]) -> str:
        lines = texts.get(spot["name"], "").split("\n")
        number, column = int(spot["line"]), int(spot["column"])
        line = lines[number - 1] if number <= len(lines) else ""
        found = _RETURN.match(line)
        if found is not None and column > found.end():
            column -= len(_MORE)
        return f"{spot['place']}{column}"

    return moved


def _message(said: str) -> str:
    """What went wrong, without where."""
    head, spot = _HEAD.search(said), None
    for found in _SPOT.finditer(said):
        spot = found
    if head is None or spot is None:
        return said
    return said[head.end() : spot.start()]
