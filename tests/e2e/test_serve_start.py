"""The start of a server: what it costs, and how soon it can be ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from e2e.serving import ROOT, Server

from function_script import documents, objects
from function_script.source import Source

CONTAINER = "spec.deploymentTemplate.spec.template.spec.containers[0]"
# Others may be busy on the node, which may be slower than this machine.
MARGIN = 4


def container(path: str) -> object:
    """A value of the function's container in the DeploymentRuntimeConfig."""
    file = ROOT / "examples" / "install" / "deploymentruntimeconfig.yaml"
    (document,) = documents.read_source(Source(name=file.name, text=file.read_text()))
    return objects.find_path(document.value, f"{CONTAINER}.{path}")


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.serial
def test_a_start_fits_into_the_startup_probe_with_the_cpu_that_is_requested(
    tmp_path: Path,
) -> None:
    """With a margin, and although no module is compiled: images of Python come without."""
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    with Server("--insecure", env=env) as server:
        cost = sum(map(cpu_seconds, server.family()))
    millis = str(container("resources.requests.cpu"))
    assert millis.endswith("m")
    needed = cost / (int(millis.removesuffix("m")) / 1000)
    period, threshold = (
        container(f"startupProbe.{name}") for name in ("periodSeconds", "failureThreshold")
    )
    assert isinstance(period, int)
    assert isinstance(threshold, int)
    assert needed * MARGIN < period * threshold
