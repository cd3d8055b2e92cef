"""`render --watch`: a real process, real files, and what it shows when they change."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import one_step
from support.timing import PATIENCE_SECONDS
from support.watching import watching

from function_script.request.values import Object
from function_script.tools.render import output


def test_change_is_shown_as_a_difference(tmp_path: Path) -> None:
    with watching(tmp_path) as watch:
        watch.wait_for("stderr", "watching: Ctrl-C ends it\n")
        watch.replace("xr.yaml", "name: demo", "name: other")
        text = watch.wait_for("stdout", "+++ nothing")
        assert "+    crossplane.io/composite: other\n" in text
        assert "\x1b" not in text
        assert f"{tmp_path / 'xr.yaml'}: changed" in watch.wait_for("stderr", "xr.yaml: changed")
        path = tmp_path / "composition.yaml"
        path.write_text(f"# A comment.\n{path.read_text()}")
        # Somebody who saved a file wants to know that it was seen.
        watch.wait_for("stderr", "composition.yaml: changed, and nothing is different")
        watch.replace("composition.yaml", "def main(req):", "def main(req)")
        text = watch.wait_for("stderr", "error: ")
        assert text.index("composition.yaml: changed\n") < text.index("error: ")
        assert re.search(r"^\d\d:\d\d:\d\d ", text, re.MULTILINE)
        watch.replace("composition.yaml", "def main(req)", "def main(req):")
        watch.wait_for("stderr", "nothing is different")
        # What comes after is compared with what was before the error.
        watch.replace("xr.yaml", "name: other", "name: third")
        assert "-    crossplane.io/composite: other\n" in watch.wait_for("stdout", "+++ nothing")
        # A directory may lose what it had, and get it again.
        observed = tmp_path / "observed.yaml"
        text = observed.read_text()
        observed.unlink()
        watch.wait_for("stderr", "changed")
        watch.wait_for("stdout", "@@")
        observed.write_text(text)
        watch.wait_for("stdout", "@@")


def test_quiet_only_shows_differences_until_an_interrupt(tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal; no traceback is left behind."""
    with watching(tmp_path, "--quiet") as watch:
        watch.replace("xr.yaml", "name: demo", "name: other")
        watch.wait_for("stdout", "+++ nothing")
        os.killpg(watch.process.pid, signal.SIGINT)
        _, stderr = watch.process.communicate(timeout=PATIENCE_SECONDS)
        assert watch.process.returncode == 130
        assert stderr.strip() == b""


CRD = one_step.crd(
    """\
spec:
  type: object
  properties:
    forProvider: {type: object, properties: {color: {type: string, enum: [purple, red]}}}""",
    "Robot",
    "iam.dummy.upbound.io",
    "v1alpha1",
)


def test_render_is_validated_again(tmp_path: Path) -> None:
    crd = tmp_path / "crds" / "robot.yaml"
    crd.parent.mkdir()
    crd.write_text(CRD)
    flags = ("--validate", "--crds", str(crd.parent))
    with watching(tmp_path / "given", *flags, begin="0 failure cases") as watch:
        watch.replace("composition.yaml", '"color": "purple"', '"color": "pink"')
        assert "[x] schema validation error" in watch.wait_for("stdout", "2 failure cases")
        crd.write_text(CRD.replace("purple", "pink"))
        watch.wait_for("stderr", "robot.yaml: changed\n")
        watch.wait_for("stdout", "0 failure cases")
        watch.replace("composition.yaml", "purple. :)", "pink.")
        watch.wait_for("stderr", "changed, and nothing is different")


# Of a Python that does nothing, on a machine with nothing else to do.
START_SECONDS = 0.015


@pytest.mark.serial
def test_change_is_shown_at_once(tmp_path: Path) -> None:
    """At most 150 ms pass from the write to the difference, when nobody else is in the way.

    How much others are in the way is measured beside, by a process that only starts and ends.
    """
    seconds = []
    with watching(tmp_path) as watch:
        for number in range(20):
            old, new = (f"name: demo{n or ''}" for n in (number, number + 1))
            watch.replace("xr.yaml", old, new)
            begin = time.perf_counter()
            watch.wait_for("stdout", "+++ nothing")
            seconds.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
            delay = max(1.0, (time.perf_counter() - begin) / START_SECONDS)
            if seconds[-1] < 0.15 * delay:
                return
    pytest.fail(f"none of {seconds} s is short enough")


A: Object = {"kind": "A", "metadata": {"name": "a"}, "spec": {"x": 1}}
B: Object = {"kind": "B", "metadata": {"name": "b", "namespace": "n"}}

DIFFERENCES = [
    pytest.param([A, B], [A, B], "", id="none"),
    pytest.param([A], [A, B], "--- nothing\n+++ B n/b\n", id="new"),
    pytest.param([A, B], [A], "--- B n/b\n+++ nothing\n", id="gone"),
    pytest.param([A], [{**A, "spec": {"x": 2}}], "--- A a\n+++ A a\n", id="changed"),
    pytest.param([B], [A, B], "--- nothing\n+++ A a\n", id="in-between"),
    pytest.param([A, A], [A, {**A, "spec": {}}], "--- A a 2\n+++ A a 2\n", id="same-name"),
]


@pytest.mark.parametrize(("before", "after", "head"), DIFFERENCES)
def test_documents_are_compared_by_what_they_are(
    before: list[Object], after: list[Object], head: str
) -> None:
    """A new one does not make all that follow it differ."""
    text = output.diff(before, after)
    assert text.startswith(head)
    assert text.count("--- ") == (1 if head else 0)
