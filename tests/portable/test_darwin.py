"""The commands on a Python without what only Linux has, as on macOS.

`make test-portable` runs the tests of all tools on it; these show that its names are gone in every
process, and what is said there.
"""

import sys

import pytest
from portable.conftest import System
from support.paths import ROOT

EXAMPLE = "examples/starlark-robots"
NOTE = "note: programs run without a filter of system calls here, and their memory is watched"


def test_command_says_once_what_is_missing(darwin: System) -> None:
    """On stderr, unless it is to be quiet or runs no program; the result is the same everywhere."""
    result = darwin.call("render", EXAMPLE)
    assert result.stdout == (ROOT / EXAMPLE / "expected.yaml").read_text()
    assert result.stderr.count("note: ") == 1
    assert result.stderr.startswith(NOTE)
    assert NOTE not in darwin.call("test", EXAMPLE, "--quiet").stderr
    assert darwin.call("check", EXAMPLE, "--variants", "0").stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="it is the Linux that is compared")
def test_linux_has_no_note(here: System) -> None:
    """Nothing is missing there."""
    result = here.call("render", EXAMPLE)
    assert (result.returncode, result.stderr) == (0, "")


def test_serve_says_where_it_runs(darwin: System) -> None:
    """In one sentence, before anything is imported that is not there."""
    result = darwin.call("serve", "--insecure")
    assert (result.returncode, result.stdout) == (1, "")
    first, *others = result.stderr.splitlines()
    assert first.startswith("error: cannot serve: `serve` runs on Linux alone, and this system has")
    assert others == ["  = hint: run the image"]
