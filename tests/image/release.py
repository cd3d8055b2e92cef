"""Build the default image of a release without Docker: an OCI archive, and its bill of materials.

``python -m image.release DIRECTORY REVISION SECONDS``, called by package/release.py. The files of
the base come from Debian's packages, so the digest is not that of the published image.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from image import bases, machine
from image.stages import ARCHITECTURE, TARGET, Builder, DockerfileError


def main() -> int:
    """Build both into a directory; the exit code is not 0 when something failed."""
    directory, revision, seconds = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    missing = ["root on Linux"] if os.geteuid() else machine.install_programs()
    if missing:
        sys.stderr.write(f"cannot build the image without Docker: there is no {missing}\n")
        return 1
    try:
        bases.make()
        arguments = {"REVISION": revision, "SOURCE_DATE_EPOCH": seconds}
        builder = Builder(TARGET / "release", arguments, quick=False)
        bill = builder.build("sbom")
        builder.build("image")
    except (DockerfileError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"cannot build the image: {error}\n")
        return 1
    name = f"function-script-runtime-linux-{ARCHITECTURE}"
    builder.write_archive("image", directory / f"{name}.tar", int(seconds))
    shutil.copy(bill.root / "sbom.cdx.json", directory / f"{name}.cdx.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
