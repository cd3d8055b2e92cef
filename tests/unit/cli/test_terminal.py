"""Text of unknown origin on a terminal."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import function_script
from function_script.cli import terminal

COMMANDS = Path(function_script.__file__).parent / "cli"
HOSTILE = "a\x1b]0;title\x07\x9b31m\u202eb\x7f\ud800"


def test_command_prints_by_one_function() -> None:
    """Else a name in a file could control the terminal."""
    direct = {
        path.name
        for path in COMMANDS.glob("*.py")
        if re.search(r"click\.s?echo|\bprint\(", path.read_text())
    }
    assert direct == {"terminal.py"}


@given(st.text(st.characters(exclude_categories=())))
def test_escaped_text_controls_nothing(text: str) -> None:
    """It can be written as UTF-8, and JSON in it keeps its value."""
    escaped = terminal.escape(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", escaped)
    assert escaped.encode().decode() == escaped
    assert json.loads(terminal.escape(json.dumps(text, ensure_ascii=False))) == text


def test_our_own_colours_stay(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else does."""
    terminal.echo_coloured(f"\x1b[1;31m{HOSTILE}\x1b[0m\x1b[2J")
    escaped = "a\\u001b]0;title\\u0007\\u009b31m\\u202eb\\u007f\\ud800"
    assert capsys.readouterr().out == f"\x1b[1;31m{escaped}\x1b[0m\\u001b[2J\n"


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "pipe"])
def test_result_is_exact_in_a_pipe_only(*, is_terminal: bool) -> None:
    """What a template renders goes into files as it is."""
    program = "from function_script.cli import terminal; terminal.echo_exact('a\\x1b[2Jb')"
    if not is_terminal:
        process = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        assert process.stdout == b"a\x1b[2Jb"
        return
    reader, writer = os.openpty()
    try:
        subprocess.run([sys.executable, "-c", program], stdout=writer, check=True)
        assert os.read(reader, 100) == b"a\\u001b[2Jb"
    finally:
        os.close(writer)
        os.close(reader)
