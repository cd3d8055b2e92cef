"""The report of a server about the confinement of its workers, in restricted containers."""

import subprocess
import sys
from pathlib import Path

import pytest
from e2e.serving import GOOD, Server, call, serve_in_vain
from support import rejections

METRIC = "function_script_worker_confinement"


def test_confined_server_says_so(plain_server: Server) -> None:
    (_, page), (_, metrics) = plain_server.fetch("/readyz"), plain_server.fetch("/metrics")
    (line,) = plain_server.lines("serving")
    assert (line["system_calls"], line["confinement"]) == ("filtered", "full")
    assert page == "ok\nconfinement: full\n"
    assert f'{METRIC}{{measure="system_calls"}} 1.0' in metrics
    assert f"{METRIC}{{" in metrics
    assert not [line for line in metrics.splitlines() if METRIC in line and line.endswith(" 0.0")]


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        pytest.param("seccomp=EPERM", "Operation not permitted", id="refused"),
        pytest.param("seccomp=0", "it has no effect", id="ignored"),
    ],
)
def test_server_without_a_filter_says_so(tmp_path: Path, refused: str, reason: str) -> None:
    python = rejections.write_wrapper(tmp_path / "python", refused)
    with Server("--insecure", python=python) as server, server.channel() as channel:
        assert not call(channel, GOOD).results
        (_, page), (_, metrics) = server.fetch("/readyz"), server.fetch("/metrics")
        server.stop()
    (line,) = server.lines("serving")
    assert line["system_calls"] == f"not filtered: {reason}"
    assert str(line["confinement"]).startswith(f"partial: without system_calls ({reason})")
    assert page.startswith(f"ok\nconfinement: partial: without system_calls ({reason})")
    assert f'{METRIC}{{measure="system_calls"}} 0.0' in metrics
    assert f'{METRIC}{{measure="memory"}} 1.0' in metrics
    assert [line for line in server.log if line["level"] == "warning"]


STARTS = [
    pytest.param(
        *("seccomp=EPERM", ["--require-sandbox"]),
        *("required by --require-sandbox", "without system_calls (Operation not permitted)"),
        id="no filter where one is required",
    ),
    pytest.param(
        *("pidfd_open=ENOSYS", []),
        *("the system refused pidfd_open (Function not implemented)", "must allow pidfd_open"),
        id="no pidfd_open",
    ),
    pytest.param(
        *("setpgid=EPERM", []),
        *("the system refused setpgid (Operation not permitted)", "must allow setpgid"),
        id="no setpgid",
    ),
]


@pytest.mark.parametrize(("refused", "flags", "first", "second"), STARTS)
def test_server_that_cannot_start_says_what_was_refused(
    tmp_path: Path, refused: str, flags: list[str], first: str, second: str
) -> None:
    python = rejections.write_wrapper(tmp_path / "python", refused)
    error = serve_in_vain("--insecure", *flags, python=python)
    assert "error: cannot start a worker: " in error
    assert first in error
    assert second in error


def test_processes_of_the_same_user_read_nothing_of_a_server(plain_server: Server) -> None:
    """They, and so workers, can read neither server nor zygote nor workers."""
    command = [sys.executable, rejections.__file__, "none", "head", "--quiet", "--bytes=1"]
    for pid in plain_server.family():
        files = [f"/proc/{pid}/{name}" for name in ("environ", "mem", "maps")]
        reader = subprocess.run([*command, *files], capture_output=True, check=False)
        assert reader.stdout == b""
        assert reader.stderr.count(b"ermission denied") == len(files)
