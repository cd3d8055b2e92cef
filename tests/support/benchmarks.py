"""Run the scripts of benchmarks/, for a moment."""

import os
import subprocess
import sys

from support.paths import ROOT

BENCHMARKS = ROOT / "benchmarks"


def run(script: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run a script to its end."""
    # The whole suite may run with a path that leaves out the script's own directory.
    path = os.pathsep.join(filter(None, (str(BENCHMARKS), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, script, *flags],
        cwd=BENCHMARKS,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
