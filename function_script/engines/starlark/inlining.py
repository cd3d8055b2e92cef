"""Find the position of an error in a small function, which the interpreter inlines.

The error then names the call. The script runs once more, briefly, with every return written so that
nothing is inlined; only the text of that run's error is of interest.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from function_script.program import Program
from function_script.source import Source

# A function with another statement before its return is not inlined.
_MORE: Final = "__=0;"
_RETURN: Final = re.compile(r"^([ \t]+|[ \t]*def .*:[ \t]*)(?=return\b)", re.MULTILINE)
_SPOT: Final = re.compile(
    r"^(?P<place> *--> (?P<name>.+):(?P<line>[0-9]+):)(?P<column>[0-9]+)$", re.MULTILINE
)
_EXCERPT: Final = re.compile(
    r"^[0-9]+ \| (?P<line>.*)\n *\| (?P<before> *)(?P<marks>\^+)$", re.MULTILINE
)
_HEAD: Final = re.compile(r"^error: ", re.MULTILINE)


def correct_position(text: str, program: Program, run: Callable[[Program], str]) -> str:
    """Return the text of an error with the position in the function that failed.

    ``run`` runs a program as it was run before and gives the text of its error, "" for none.
    """
    if not _names_a_call(text):
        return text
    modules = {name: _prevent_inlining(source) for name, source in program.modules.items()}
    exact = run(replace(program, main=_prevent_inlining(program.main), modules=modules))
    return (
        _SPOT.sub(_original_columns(program), exact) if _message(exact) == _message(text) else text
    )


def _names_a_call(text: str) -> bool:
    excerpts = list(_EXCERPT.finditer(text))
    if not excerpts:
        return False
    start = len(excerpts[-1]["before"])
    return excerpts[-1]["line"][start : start + len(excerpts[-1]["marks"])].endswith(")")


def _prevent_inlining(source: Source) -> Source:
    return Source(name=source.name, text=_RETURN.sub(rf"\1{_MORE}", source.text))


def _original_columns(program: Program) -> Callable[[re.Match[str]], str]:
    texts = {source.name: source.text for source in program.sources()}

    def correct(spot: re.Match[str]) -> str:
        lines = texts.get(spot["name"], "").split("\n")
        number, column = int(spot["line"]), int(spot["column"])
        line = lines[number - 1] if number <= len(lines) else ""
        match = _RETURN.match(line)
        if match is not None and column > match.end():
            column -= len(_MORE)
        return f"{spot['place']}{column}"

    return correct


def _message(text: str) -> str:
    """Return the message without positions."""
    head, spots = _HEAD.search(text), list(_SPOT.finditer(text))
    return text[head.end() : spots[-1].start()] if head is not None and spots else text
