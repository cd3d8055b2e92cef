"""Processes of commands with --watch, and what they print."""

import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.paths import ROOT
from support.timing import PATIENCE_SECONDS


class Watch:
    """A process that watches; reads what it prints as it comes."""

    def __init__(self, process: subprocess.Popen[bytes], directory: Path) -> None:
        self.process = process
        self.directory = directory
        self._selector = selectors.DefaultSelector()
        self._read = {"stdout": b"", "stderr": b""}
        for name in self._read:
            self._selector.register(getattr(process, name), selectors.EVENT_READ, name)

    def wait_for(self, stream: str, text: str) -> str:
        """Everything on a stream since the last call, once ``text`` is there."""
        end = time.monotonic() + PATIENCE_SECONDS
        while text.encode() not in self._read[stream]:
            assert time.monotonic() < end, self._read
            for key, _ in self._selector.select(timeout=0.1):
                self._read[key.data] += os.read(key.fd, 1 << 16)
        found = self._read[stream].decode()
        self._read[stream] = b""
        return found

    def replace(self, name: str, old: str, new: str) -> None:
        """Save a file as an editor does."""
        path = self.directory / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@contextmanager
def interruptible() -> Iterator[None]:
    """Programs begun within hear Ctrl-C, also when the tests run in a shell's background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def watching(directory: Path, *flags: str, begin: str = "robot-2\n") -> Iterator[Watch]:
    """An example that is watched until the block ends, after ``begin`` was shown."""
    shutil.copytree(ROOT / "examples" / "starlark-robots", directory, dirs_exist_ok=True)
    with watching_command(["render", str(directory), *flags], directory, begin=begin) as watch:
        yield watch


@contextmanager
def watching_command(
    args: Sequence[str], directory: Path, *, begin: str, stream: str = "stdout"
) -> Iterator[Watch]:
    """A command with --watch, run until the block ends, after it printed ``begin``."""
    command = [sys.executable, "-m", "function_script.cli", *args, "--watch"]
    with (
        interruptible(),
        subprocess.Popen(
            command,
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        try:
            watch = Watch(process, directory)
            watch.wait_for(stream, begin)
            yield watch
        finally:
            if process.poll() is None:
                process.kill()
