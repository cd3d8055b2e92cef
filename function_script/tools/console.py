"""Diagnostics as text for terminals: frames, in colour where the terminal supports it."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from typing import Final, TextIO

from function_script.request.values import Readable
from function_script.texts import diagnostics

RED: Final = "\x1b[1;31m"
_YELLOW: Final = "\x1b[1;33m"
_BLUE: Final = "\x1b[1;34m"
_BOLD: Final = "\x1b[1m"
GREEN: Final = "\x1b[32m"
_DARK_RED: Final = "\x1b[31m"
_CYAN: Final = "\x1b[36m"
PLAIN: Final = "\x1b[0m"

# The coloured parts of a frame: margins in front of a line's text, and underlines.
_MARGIN: Final = re.compile(r"^( *\d* \| ?| *--> | *= (?:hint: )?)")
_UNDERLINE: Final = re.compile(r"\^+$")
_MESSAGE: Final = re.compile(r"^(error|warning): (.*)$")
_COLOURS: Final = {"error": RED, "warning": _YELLOW}


def is_colourful(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Report whether to use colours: on a capable terminal, unless a variable decides.

    NO_COLOR turns them off, and FORCE_COLOR, but not 0, turns them on where nothing is a terminal.
    """
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def columns_of(stream: TextIO) -> int | None:
    """Return the width of a terminal; None for a file or a pipe, which has room for any line."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def to_text(
    problems: Iterable[diagnostics.Diagnostic],
    *,
    colourful: bool = False,
    columns: int | None = None,
) -> str:
    """Return the problems' frames with an empty line between them; no newline at the end."""
    text = "\n\n".join(diagnostics.to_frame(problem, columns=columns) for problem in problems)
    return colour_frames(text) if colourful else text


def one_line(text: str) -> str:
    """Return a foreign name that can neither fake lines of a report nor colour them."""
    return " ".join(diagnostics.CONTROL.sub("", text).split())


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 XR``, ``2 XRs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def to_short(value: Readable, characters: int) -> str:
    """Return a value as JSON, cut after so many characters; None is a value that is not there."""
    if value is None:
        return "absent"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= characters else f"{text[:characters]}…"


def to_code(text: str) -> str:
    """Return a foreign text as code in Markdown, where nothing in it has a meaning."""
    plain = one_line(text).replace("`", "'")
    return f"`{plain}`"


def colour_diff(text: str) -> str:
    """Return a unified diff in colour."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("@@"):
            lines[number] = f"{_CYAN}{line}{PLAIN}"
        elif line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
            lines[number] = f"{GREEN if line.startswith('+') else _DARK_RED}{line}{PLAIN}"
    return "\n".join(lines)


def colour_frames(text: str) -> str:
    """Return frames in colour."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if message := _MESSAGE.match(line):
            severity = f"{_COLOURS[message[1]]}{message[1]}:{PLAIN}"
            lines[number] = f"{severity} {_BOLD}{message[2]}{PLAIN}"
        elif margin := _MARGIN.match(line):
            rest = line[margin.end() :]
            if _UNDERLINE.search(rest) and not rest.strip("^ "):
                rest = f"{RED}{rest}{PLAIN}"
            lines[number] = f"{_BLUE}{margin[0]}{PLAIN}{rest}"
    return "\n".join(lines)
