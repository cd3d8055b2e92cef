"""Docker's and Podman's command lines, recorded by a stand-in for the command on PATH."""

import sys
from pathlib import Path

import pytest
from support.docker_command import Answer, DockerCommand

from function_script.texts.errors import InputError, ProgramError
from function_script.tools.render.renderer import Options
from function_script.tools.render.runtimes.container import Container, RunningContainer
from function_script.tools.render.runtimes.model import FunctionCaller, FunctionReference
from function_script.tools.render.steps import Step

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the stand-in is a script with an interpreter's line"
)

IMAGE = "registry.example.org/team/function-other:v1.0.0"
PREFIX = "render.crossplane.io/runtime-docker-"
PORT = (["port"], 0, "127.0.0.1:49153\n[::1]:49153\n", "")
NO_IMAGE = (["image", "inspect"], 1, "", "Error response from daemon: No such image: x\n")
NO_CONTAINER = (["container", "inspect"], 1, "", "Error: No such container: kept\n")


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DockerCommand:
    return DockerCommand.install(tmp_path, monkeypatch)


def container(*, allows_addresses: bool = True, **annotations: str) -> Container:
    """The container of a Function; annotations without their prefix and with _ for -."""
    step = Step(
        index=0, name="a", function="f", input=None, credentials={}, resources={}, schemas={}
    )
    function = FunctionReference(
        step=step,
        package=IMAGE,
        own={PREFIX + key.replace("_", "-"): text for key, text in annotations.items()},
        options=Options(allows_addresses=allows_addresses),
    )
    return Container.build(function)


def open_with(docker: DockerCommand, runtime: Container, *answers: Answer) -> RunningContainer:
    docker.set_answers(*answers)
    return runtime.open(FunctionCaller(None, Options()))


INSPECT = f"image inspect --format {{{{.Id}}}} {IMAGE}"
RUN = "run --detach --name NAME --publish 127.0.0.1::9443"
START = f"{RUN} {IMAGE} --insecure"
ASK = "port NAME 9443/tcp"
REMOVE = "rm --force NAME"

COMMAND_LINES = {
    "defaults": ({}, (PORT,), [INSPECT, START, ASK, REMOVE]),
    "image-is-pulled": (
        {},
        (NO_IMAGE, PORT),
        [INSPECT, f"pull --quiet {IMAGE}", START, ASK, REMOVE],
    ),
    "always-pulled-and-stopped": (
        {"pull_policy": "Always", "cleanup": "Stop"},
        (PORT,),
        [f"pull --quiet {IMAGE}", START, ASK, "stop NAME"],
    ),
    "environment-and-orphan": (
        {"cleanup": "Orphan", "env": "A=1,B=x=y,bad"},
        (PORT,),
        [INSPECT, f"{RUN} --env A=1 --env B=x=y {IMAGE} --insecure", ASK],
    ),
    "name-is-reused": (
        {"name": "kept", "cleanup": "Orphan"},
        (PORT,),
        ["container inspect --format {{.Id}} kept", "start kept", "port kept 9443/tcp"],
    ),
    "name-is-new": (
        {"name": "kept", "cleanup": "Orphan"},
        (NO_CONTAINER, PORT),
        [
            "container inspect --format {{.Id}} kept",
            INSPECT,
            f"run --detach --name kept --publish 127.0.0.1::9443 {IMAGE} --insecure",
            "port kept 9443/tcp",
        ],
    ),
    "address-and-image": (
        {"publish_address": "::1", "image": "other:v2"},
        (PORT,),
        [
            "image inspect --format {{.Id}} other:v2",
            "run --detach --name NAME --publish [::1]::9443 other:v2 --insecure",
            ASK,
            REMOVE,
        ],
    ),
    "network": (
        {"network": "ci"},
        (),
        [INSPECT, f"run --detach --name NAME --network ci {IMAGE} --insecure", REMOVE],
    ),
}


@pytest.mark.parametrize(
    ("annotations", "answers", "lines"), COMMAND_LINES.values(), ids=COMMAND_LINES
)
def test_container_is_run_and_cleaned_up(
    docker: DockerCommand,
    annotations: dict[str, str],
    answers: tuple[Answer, ...],
    lines: list[str],
) -> None:
    open_with(docker, container(**annotations), *answers).stop()
    assert docker.read_calls() == lines


@pytest.mark.parametrize(
    ("annotations", "port", "address"),
    [
        pytest.param({}, "127.0.0.1:49153\n", "127.0.0.1:49153", id="loopback"),
        pytest.param({}, "0.0.0.0:49153\n[::]:49153\n", "127.0.0.1:49153", id="everywhere"),
        pytest.param({"target": "far"}, "0.0.0.0:49153\n", "far:49153", id="target"),
    ],
)
def test_container_is_called_where_it_is_published(
    docker: DockerCommand, annotations: dict[str, str], port: str, address: str
) -> None:
    assert open_with(docker, container(**annotations), (["port"], 0, port, "")).address == address


def test_container_on_a_network_is_called_by_its_name(docker: DockerCommand) -> None:
    assert open_with(docker, container(network="ci", name="fn")).address == "fn:9443"


DAEMON = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?\n"
FAILURES = {
    "daemon": (
        {},
        (["image"], 1, "", DAEMON),
        "docker does not answer",
        "start it, or select another way with --function f=…",
    ),
    "image-not-found": (
        {"pull_policy": "Always"},
        (["pull"], 1, "", "Error response from daemon: manifest unknown\n"),
        f"docker cannot pull {IMAGE}",
        None,
    ),
    "never-pulled": (
        {"pull_policy": "Never"},
        NO_IMAGE,
        f"there is no image {IMAGE}, and the pull policy is Never",
        f"pull it with: docker pull {IMAGE}",
    ),
    "run": (
        {},
        (["run"], 125, "", "docker: invalid publish opts format\n"),
        '"docker run" failed',
        None,
    ),
    "no-port": ({}, (["port"], 0, "", ""), "its container publishes no port for 9443", None),
}


@pytest.mark.parametrize(
    ("annotations", "answer", "message", "hint"), FAILURES.values(), ids=FAILURES
)
def test_failure_of_the_command_is_an_error(
    docker: DockerCommand,
    annotations: dict[str, str],
    answer: Answer,
    message: str,
    hint: str | None,
) -> None:
    with pytest.raises(ProgramError) as caught:
        open_with(docker, container(**annotations), answer)
    (problem,) = caught.value.diagnostics
    assert problem.message == f'cannot start function "f": {message}'
    assert problem.hint == hint
    if answer[3] and annotations.get("pull_policy") != "Never":
        assert answer[3].strip() in problem.notes
    assert docker.read_calls()[-1] == REMOVE


def test_log_has_both_streams(docker: DockerCommand) -> None:
    server = open_with(docker, container(), PORT, (["logs"], 0, "out\n", "err\n"))
    assert server.read_log() == "out\nerr"
    assert docker.read_calls()[-1] == "logs --tail 20 NAME"


REFUSED = [
    pytest.param({"target": "far"}, 'a file names the address "far"', id="target"),
    pytest.param({"network": "ci", "name": "far"}, 'a file names the address "far"', id="network"),
    *(pytest.param({key: "Sometimes"}, "be one of", id=key) for key in ("cleanup", "pull_policy")),
    *(
        pytest.param({key: "--volume=/:/host"}, "must not begin with -", id=f"flag-in-{key}")
        for key in ("image", "name", "network")
    ),
]


@pytest.mark.usefixtures("docker")
@pytest.mark.parametrize(("annotations", "message"), REFUSED)
def test_annotation_that_cannot_be_followed_is_an_error(
    annotations: dict[str, str], message: str
) -> None:
    """An address may be far only if the command line names it."""
    with pytest.raises(InputError, match=message):
        container(allows_addresses=False, **annotations)
