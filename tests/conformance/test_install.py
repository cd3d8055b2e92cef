"""What is installed fits together: image, manifests and the server's own flags."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from function_script import documents, objects, quantities
from function_script.cli.serve import serve
from function_script.source import Source

if TYPE_CHECKING:
    from function_script.values import Object

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = "spec.deploymentTemplate.spec.template.spec.containers[0]"


def load(name: str) -> Object:
    """A manifest of examples/install."""
    path = ROOT / "examples" / "install" / name
    (document,) = documents.read_source(Source(name=name, text=path.read_text()))
    return document.value


def container() -> Object:
    """The function's container in the DeploymentRuntimeConfig."""
    found = objects.find_path(load("deploymentruntimeconfig.yaml"), CONTAINER)
    assert isinstance(found, dict)
    return found


def arguments() -> dict[str, str]:
    """The flags the manifest gives the server."""
    found = container()["args"]
    assert isinstance(found, list)
    return dict(re.fullmatch(r"(--[a-z-]+)=(.+)", str(item)).groups() for item in found)


def flag(name: str) -> click.Option:
    """A flag of `serve`."""
    (option,) = [
        option
        for option in serve.params
        if isinstance(option, click.Option) and name in option.opts
    ]
    return option


def test_the_function_uses_the_runtime_config() -> None:
    """By its name; the package has a registry and a tag, which Crossplane asks for."""
    function, config = load("function.yaml"), load("deploymentruntimeconfig.yaml")
    reference = objects.find_path(function, "spec.runtimeConfigRef")
    assert reference == {
        "apiVersion": config["apiVersion"],
        "kind": config["kind"],
        "name": objects.find_path(config, "metadata.name"),
    }
    package = str(objects.find_path(function, "spec.package"))
    assert re.fullmatch(r"[a-z0-9.-]+\.[a-z]+/function-script:v[0-9.]+", package)


def test_every_argument_is_a_flag_of_the_server() -> None:
    """A misspelt one would keep the function from starting."""
    for name, value in arguments().items():
        option = flag(name)
        option.type.convert(value, option, None)


def test_kubelet_probes_the_health_port() -> None:
    """The plain one; the port that Crossplane calls asks for certificates."""
    default = str(flag("--health-address").default).rpartition(":")[2]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert objects.find_path(container(), f"{probe}.grpc.port") == int(default)
    assert objects.find_path(container(), "ports[0].containerPort") == int(default)


def test_the_memory_limit_holds_every_worker() -> None:
    """All at their own limit at once, and the server."""
    size = quantities.parse_size(arguments()["--memory-limit"])
    limit = quantities.parse_size(str(objects.find_path(container(), "resources.limits.memory")))
    assert limit > int(arguments()["--workers"]) * size + quantities.parse_size("150Mi")


def test_the_container_can_do_as_little_as_it_needs() -> None:
    """No escalation, no capabilities, nothing to write."""
    assert container()["name"] == "package-runtime"
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_image_is_what_crossplane_expects() -> None:
    """User and group 2000, port 9443, and the one argument `--insecure` starts it."""
    lines = (ROOT / "package" / "Dockerfile").read_text().splitlines()
    last = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM")) :]
    assert "USER 2000:2000" in last
    assert "EXPOSE 9443" in last
    assert 'ENTRYPOINT ["/venv/bin/function-script"]' in last


def test_the_image_is_built_from_files_that_exist() -> None:
    """What the Dockerfile copies from the checkout is there and is not ignored."""
    folder = ROOT / "package"
    text = (folder / "Dockerfile").read_text()
    kept = (folder / "Dockerfile.dockerignore").read_text()
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists(), name
            assert f"!{name.rstrip('/')}\n" in kept
