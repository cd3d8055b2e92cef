"""Text of unknown origin on a terminal."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import function_script
from function_script.cli import terminal

COMMANDS = Path(function_script.__file__).parent / "cli"
HOSTILE = "a\x1b]0;title\x07\x9b31m\u2028\u202eb\x7f\ud800"


def test_command_prints_by_one_function() -> None:
    """A name in a file could control the terminal."""
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
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", escaped)
    assert escaped.encode().decode() == escaped
    assert json.loads(terminal.escape(json.dumps(text, ensure_ascii=False))) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("error: a\n::error::forged", id="line"),
        pytest.param("::stop-commands::x", id="first-line"),
        pytest.param("a\n \t::add-mask::a", id="indented"),
        pytest.param("a ##[error]forged", id="old-form"),
        pytest.param("\u202e\r::error::forged", id="after-a-control-character"),
    ],
)
def test_text_cannot_command_a_ci_system(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    for print_text in (terminal.echo, terminal.echo_coloured):
        print_text(text, err=True)
        printed = capsys.readouterr().err
        assert not re.search(r"(?m)^\s*::|##\[", printed)
        assert terminal.escape(json.dumps({"a": text})).count("::") == text.count("::")


def test_our_own_colours_stay(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing else of the text stays as it is."""
    terminal.echo_coloured(f"\x1b[1;31m{HOSTILE}\x1b[0m\x1b[2J")
    escaped = "a\\u001b]0;title\\u0007\\u009b31m\\u2028\\u202eb\\u007f\\ud800"
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


SLOW = {
    "pipe": (("check",), False),
    "quiet": (("check", "--quiet"), True),
    # The last to start, so that the others have waited as long when it shows its seconds.
    "terminal": (("check",), True),
}


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """What commands that wait for their input write until one of them has shown its seconds."""
    readers, processes, shown = {}, [], b""
    for name, (arguments, is_terminal) in SLOW.items():
        readers[name], writer = os.openpty() if is_terminal else os.pipe()
        command = [sys.executable, "-m", "function_script", *arguments, "-"]
        processes.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=writer, stdout=writer)
        )
        os.close(writer)
    while b"check: " not in shown:
        shown += os.read(readers["terminal"], 10_000)
    for process in processes:
        assert process.poll() is None
        process.communicate(b"")
    texts = {name: read_to_the_end(reader).decode() for name, reader in readers.items()}
    return {**texts, "terminal": shown.decode() + texts["terminal"]}


def read_to_the_end(reader: int) -> bytes:
    """Return what is left in a pipe, or in a terminal that nobody writes to any more."""
    content = b""
    with os.fdopen(reader, "rb", buffering=0) as file, suppress(OSError):
        while data := file.read(10_000):
            content += data
    return content


def test_long_command_shows_its_seconds_on_a_terminal(written: dict[str, str]) -> None:
    line, separator, result = written["terminal"].rpartition("\r\x1b[K")
    assert re.search(r"\r\x1b\[Kcheck: \d+ s", line + separator)
    assert "check: " not in result
    assert "cannot check -" in result


@pytest.mark.parametrize("name", ["pipe", "quiet"])
def test_long_command_shows_nothing_elsewhere(written: dict[str, str], name: str) -> None:
    """A file and a quiet run have nothing but the result."""
    assert re.search(r"check: \d+ s|\x1b\[K", written[name]) is None
    assert "cannot check -" in written[name]
