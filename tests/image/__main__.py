"""Build package/Dockerfile without Docker and test the result; run by ``make test-image``.

First all that needs package indexes, then containers, in a network of their own.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from image import build, machine
from image.container import Container, Settings
from image.dockerfile import DockerfileError
from support.paths import ROOT

_LIMITS: Final = """\
Not done here, for only a registry has base images: nothing is pulled, and no digest is known.
Debian's Python takes their place, moved to /usr/local, where Python's own images have theirs."""
_TESTS: Final = Path(__file__).parent


def main() -> int:
    """Do everything; the exit code is not 0 when something failed."""
    began = time.monotonic()
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        return _fail("root on Linux is needed to make root file systems")
    missing = machine.install_programs()
    if missing:
        return _fail(f"this machine has no {', '.join(missing)}")
    _say(_LIMITS)
    try:
        build.build(_say)
    except DockerfileError as error:
        return _fail(str(error))
    code = _test("-n", "2", str(_TESTS), f"--ignore={_TESTS / 'containers'}")
    obstacle = _obstacle()
    if obstacle:
        _say(f"SKIPPED: containers cannot run on this machine: {obstacle}")
    else:
        code = _test(str(_TESTS / "containers"), prefix=("unshare", "--net")) or code
    _say(f"{time.monotonic() - began:.0f} s")
    return code


def _obstacle() -> str:
    """Say why containers cannot run here: in a word of the program that refused."""
    result = subprocess.run(
        ["unshare", "--net", "true"], check=False, capture_output=True, text=True
    )
    if result.returncode:
        return result.stderr.strip()
    settings = Settings(entrypoint=("/usr/local/bin/python3", "-c", "pass"))
    with tempfile.TemporaryDirectory() as directory:
        # Of a base image: a mistake in ours must not look like a machine without containers.
        image = build.read_image("slim-image")
        image.root = build.TARGET / "bases" / "python-slim"
        with Container(image, Path(directory), settings) as container:
            return container.text.strip() if container.wait() else ""


def _test(*arguments: str, prefix: tuple[str, ...] = ()) -> int:
    command = [*prefix, sys.executable, "-m", "pytest", "-q", "--timeout=300", *arguments]
    return subprocess.run(command, check=False, cwd=ROOT).returncode


def _fail(reason: str) -> int:
    sys.stderr.write(f"cannot test the image: {reason}\n")
    return 1


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
