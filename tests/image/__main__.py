"""Carry out package/Dockerfile without Docker and test the image; run by ``make test-image``.

The image is that of the Dockerfile's defaults, with its bill of materials. Its tests run in a
network of their own. `.ci/image` has Docker build the others.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

from image import bases, machine
from image.container import Container, Settings
from image.stages import BUILT, REVISION, TARGET, Builder, DockerfileError, Image
from support.paths import ROOT

_LIMITS: Final = """\
Not done here, for only a registry has base images: nothing is pulled, and no digest is known.
Debian's Python takes their place, moved to /usr/local, where Python's own image has its own.
The wheel's C code is compiled by `cc -O0`, which takes a tenth of the time: the image is slower."""


def main() -> int:
    """Do everything; the exit code is not 0 when something failed."""
    began = time.monotonic()
    missing = ["root on Linux"] if os.geteuid() else machine.install_programs()
    if missing:
        sys.stderr.write(f"cannot test the image: there is no {', '.join(missing)}\n")
        return 1
    print(_LIMITS, flush=True)
    try:
        bases.make()
        builder = Builder(TARGET / "stages", {"REVISION": REVISION}, quick=True)
        builder.build("sbom")
        image = builder.build("image")
    except (DockerfileError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"cannot build the image: {error}\n")
        return 1
    BUILT.write_text(json.dumps({**asdict(image), "root": str(image.root)}))
    obstacle = _obstacle()
    left_out = ["--ignore=tests/image/test_container.py"] if obstacle else []
    if obstacle:
        print(f"SKIPPED: containers cannot run on this machine: {obstacle}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "--timeout=300", "tests/image", *left_out]
    prefix = [] if obstacle else ["unshare", "--net"]
    code = subprocess.run([*prefix, *command], check=False, cwd=ROOT).returncode
    # As the Makefile has it for other tests.
    for _ in os.environ.get("RETRIES", "").split():
        if code:
            again = [*prefix, *command, "--last-failed"]
            code = subprocess.run(again, check=False, cwd=ROOT).returncode
    print(f"{time.monotonic() - began:.0f} s")
    return code


def _obstacle() -> str:
    """Say why containers cannot run here: in a word of the program that refused."""
    result = subprocess.run(
        ["unshare", "--net", "true"], check=False, capture_output=True, text=True
    )
    if result.returncode:
        return result.stderr.strip()
    # Of a base image: a mistake in ours must not look like a machine without containers.
    bare = Image(root=bases.BARE, environment={}, labels={}, entrypoint=[], user="2000:2000")
    settings = Settings(entrypoint=("/usr/bin/python3.13", "-c", "pass"))
    with (
        tempfile.TemporaryDirectory() as directory,
        Container(bare, Path(directory), settings) as container,
    ):
        return container.text.strip() if container.wait() else ""


if __name__ == "__main__":
    sys.exit(main())
