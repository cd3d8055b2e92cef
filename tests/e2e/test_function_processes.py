"""Functions of packages, from a registry through cache and process to the answer."""

import ast
import itertools
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from e2e.scripted_registry import Registry, serving
from support.commands import Run
from support.function_images import (
    archive,
    find_processes,
    member,
    put_image,
    put_server,
    python_layer,
    server_layer,
)
from support.timing import wait_until

from function_script.cli import execute
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools import manifests
from function_script.tools.processes import probe
from function_script.tools.processes.cache import CachedImage, load_package
from function_script.tools.processes.options import PackageOptions
from function_script.tools.processes.server import FunctionServer
from function_script.tools.render.renderer import Options
from function_script.tools.render.requirements import StepCall
from function_script.tools.render.runtimes.model import FunctionCaller
from function_script.tools.render.runtimes.process import Process
from function_script.tools.render.runtimes.servers import Servers
from function_script.tools.render.steps import Step

REFUSAL = probe.find_refusal()
pytestmark = pytest.mark.skipif(bool(REFUSAL), reason=f"no namespaces: {REFUSAL}")

_MARKS = itertools.count()
# All processes of the machine are looked at, beside those that are waited for.
_PAUSE_SECONDS = 0.03
STEP = Step(index=0, name="a", function="f", input=None, credentials={}, resources={}, schemas={})


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    """A registry with the tests' function."""
    with serving() as served:
        put_server(served)
        yield served


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's directory of caches."""
    root = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(root))
        patch.setenv("DOCKER_CONFIG", str(root))
        yield root / "function-script"


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the command lines of a test's functions, none of which runs after the test."""
    word = f"test-{os.getpid()}-{next(_MARKS)}"
    yield word
    wait_until(lambda: not find_processes(word), pause_seconds=_PAUSE_SECONDS)


class Place(NamedTuple):
    """A registry, the caches, and the word in the command lines of a test's functions."""

    registry: Registry
    cache: Path
    mark: str

    def load(self, tag: str) -> CachedImage:
        reference = f"{self.registry.name}/team/function-test:{tag}"
        options = PackageOptions(root=self.cache, pull="Always")
        return load_package("function-test", reference, options)

    def configure(self, tag: str, **config: Value) -> CachedImage:
        """Return the image of a tag, unpacked once for all, as if it had that configuration."""
        image = self.load(tag)
        inner: Object = {
            **manifests.object_at(image.config, "config"),
            "Cmd": [f"--mark={self.mark}"],
            **config,
        }
        return replace(image, config={**image.config, "config": inner})

    def start(self, mode: str, *, seconds: float = 30.0) -> FunctionServer:
        """Return the server of a function, before it listens."""
        image = self.configure("v1", Env=[f"MODE={mode}"])
        return FunctionServer("function-test", image, start_seconds=seconds)


@pytest.fixture
def place(registry: Registry, cache: Path, mark: str) -> Place:
    return Place(registry, cache, mark)


def request(size: int = 1) -> fnv1.RunFunctionRequest:
    value = fnv1.RunFunctionRequest()
    value.desired.resources["a"].resource["text"] = "x" * size
    return value


@contextmanager
def waiting(server: FunctionServer) -> Iterator[FunctionServer]:
    """Wait until a server listens, and end it with the block."""
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def failure(server: FunctionServer, *, call_seconds: float = 10.0) -> Diagnostic:
    """Return the problem of a function that does not answer."""
    try:
        with waiting(server):
            response = server.call(request(), call_seconds)
    except InputError as error:
        (problem,) = error.diagnostics
        return problem
    pytest.fail(f"it answered {response}")


def look_around(server: FunctionServer) -> dict[str, Any]:
    """Run a function, and return its surroundings as it sees them."""
    with waiting(server):
        response = server.call(request(), 10)
    assert response.desired == request().desired
    return dict(ast.literal_eval(response.results[0].message))


@pytest.fixture(scope="module")
def facts(registry: Registry, cache: Path) -> dict[str, Any]:
    """The surroundings as a function sees them."""
    # An open file of this process that programs inherit.
    leak = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(leak, True)  # noqa: FBT003 - positional alone
    try:
        return look_around(Place(registry, cache, "facts").start("serve"))
    finally:
        os.close(leak)


def test_function_gets_its_arguments_and_nothing_of_the_users_environment(
    facts: dict[str, Any],
) -> None:
    assert facts["arguments"] == ["--mark=facts", "--insecure"]
    environment = facts["environment"]
    # Python itself sets the last one.
    assert set(environment) <= {"PATH", "HOME", "MODE", "LC_CTYPE"}
    assert (environment["HOME"], environment["MODE"]) == ("/tmp", "serve")  # noqa: S108 - its own
    assert facts["directory"] == "/tmp"  # noqa: S108 - its own


_PASSWD = (
    b"root:x:0:0:root:/root:/bin/sh\nme:x:2000:2000::/home/me:/bin/sh\nnew:x:3:3::/home/new:\n"
)


@pytest.mark.parametrize(
    ("user", "home"),
    [
        pytest.param("me", "/home/me", id="name"),
        pytest.param("2000:2000", "/home/me", id="number"),
        pytest.param("new", "/tmp", id="empty home"),  # noqa: S108 - its own
        pytest.param("root", "/tmp", id="root"),  # noqa: S108 - its own
        pytest.param("other", "/tmp", id="unknown"),  # noqa: S108 - its own
    ],
)
def test_home_with_files_is_that_of_the_images_user(place: Place, user: str, home: str) -> None:
    """Python finds modules there that were installed for this user alone."""
    files = [
        member("etc/passwd", _PASSWD),
        member("home/me/.local/lib/a.py"),
        member("home/new", type=tarfile.DIRTYPE),
        member("root/.profile"),
    ]
    put_image(
        place.registry,
        (python_layer(), server_layer(), archive(files)),
        "home",
    )
    surroundings = look_around(FunctionServer("f", place.configure("home", User=user)))
    assert surroundings["environment"]["HOME"] == home


def test_entrypoint_is_found_by_path_arguments_and_working_directory(place: Place) -> None:
    files = [
        member("first/function", type=tarfile.DIRTYPE),
        member("work", type=tarfile.SYMTYPE, linkname="srv/app"),
        member("srv/app/bin/function", type=tarfile.LNKTYPE, linkname="function"),
    ]
    put_image(
        place.registry,
        (python_layer(), server_layer(), archive([]), archive(files)),
        "path",
        entrypoint=["function", f"--mark={place.mark}"],
        environment={"PATH": "/missing:/first:bin"},
        WorkingDir="/work",
    )
    surroundings = look_around(FunctionServer("f", place.load("path")))
    assert surroundings["directory"] == "/srv/app"
    assert surroundings["arguments"] == [f"--mark={place.mark}", "--insecure"]


def test_function_sees_its_image_alone(facts: dict[str, Any]) -> None:
    root = facts["root"]
    # The top of the paths of this interpreter and its libraries.
    tops = {Path(sys.executable).resolve().parts[1], Path(sys.base_prefix).parts[1]}
    assert set(root) <= {"dev", "etc", "function", "lib", "lib64", "proc", "tmp", "usr", *tops}
    devices = "fd full null random shm stderr stdin stdout urandom zero"
    assert facts["devices"] == devices.split()
    assert facts["interfaces"] == ["lo"]
    assert facts["user"] == 65532


def test_function_sees_its_own_processes_alone(facts: dict[str, Any]) -> None:
    """The supervisor, the function, its child for the connection, and the one before it."""
    numbers = facts["processes"]
    assert numbers[0] == 1
    assert len(numbers) <= 4
    # Standard streams, its sockets, and the directory that it reads.
    descriptors = facts["descriptors"]
    assert len(descriptors) <= 6


def test_function_has_no_privileges(facts: dict[str, Any]) -> None:
    status = facts["status"]
    sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    assert {int(status[name], 16) for name in sets} == {0}
    assert status["NoNewPrivs"] == "1"
    answers = facts["answers"]
    # A signal to the supervisor is sent, and has no effect: the function has answered.
    assert answers == {"unshare": -1, "mount": -1, "ptrace": -1, "chmod": -1, "kill": 0}


def test_function_writes_into_memory_alone(facts: dict[str, Any]) -> None:
    assert facts["writable"] == ["/tmp", "/dev/shm"]  # noqa: S108 - its own


@pytest.mark.parametrize(
    ("mode", "cause"),
    [
        ("crash", "its process ended with exit code 4"),
        ("flood", "its log has no end"),
        ("hang", "it did not listen on port 9443 within 0.5 s"),
        ("elsewhere", "it listens on port 8080 and not on 9443"),
        ("silent", "it listens, but does not answer in gRPC without TLS"),
        ("memory", "its process ended with exit code 1"),
        ("crash-at-request", "its process was ended by SIGKILL"),
        ("hang-at-request", "it did not answer within 0.5 s"),
    ],
)
def test_function_that_misbehaves_is_ended_with_an_error(
    place: Place, mode: str, cause: str
) -> None:
    """Its log is shown without control characters, and cut."""
    # Where it must be up to fail so, a busy machine has time to start it.
    seconds = {"hang": 0.5, "elsewhere": 2, "silent": 2}.get(mode, 30)
    server = place.start(mode, seconds=seconds)
    problem = failure(server, call_seconds=0.5 if mode == "hang-at-request" else 30)
    assert problem.message == f'cannot run function "function-test": {cause}'
    if mode == "crash":
        assert problem.notes == ("log: starting", "log: no \\u001b[31mconfiguration")
    assert sum(len(str(note)) for note in problem.notes) < 10_000
    assert find_processes(place.mark) == []


def test_function_writes_no_more_into_memory_than_its_tmp_has(place: Place) -> None:
    problem = failure(place.start("disk"))
    assert problem.notes == ("log: 256 MiB: No space left on device",)


@pytest.mark.parametrize(
    ("content", "entrypoint", "cause"),
    [
        pytest.param(b"", "/missing", "cannot be executed: no such file or directory", id="none"),
        pytest.param(b"", "missing", "cannot be executed: no such file or directory", id="PATH"),
        pytest.param(b"text", "/function", "is no program for this machine", id="text"),
        pytest.param(b"\x7fELF", "/function", "is no program for this machine", id="machine"),
        pytest.param(
            b"#!/bin/sh\n",
            "/function",
            "needs an interpreter that the image does not have",
            id="interpreter",
        ),
    ],
)
def test_entrypoint_that_is_no_program_is_an_error(
    place: Place, content: bytes, entrypoint: str, cause: str
) -> None:
    put_image(
        place.registry, [archive([member("function", content)])], "v2", entrypoint=[entrypoint]
    )
    problem = failure(FunctionServer("f", place.load("v2")))
    assert problem.message == f'cannot run function "f": its entrypoint "{entrypoint}" {cause}'


def test_command_that_is_interrupted_ends_a_start_at_once(project: Path, place: Place) -> None:
    put_server(place.registry, "hang", "interrupted", place.mark)
    functions = project / "functions.yaml"
    functions.write_text(functions.read_text().replace(":render", ":interrupted"))
    with subprocess.Popen(
        [sys.executable, "-m", "function_script", "render", str(project)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as command:
        wait_until(lambda: find_processes(place.mark), pause_seconds=_PAUSE_SECONDS)
        command.send_signal(signal.SIGINT)
        # Less than a function has to listen.
        assert command.wait(20) == 130
    assert find_processes(place.mark) == []


def test_processes_that_a_function_starts_end_with_it(place: Place) -> None:
    with waiting(place.start("children")):
        assert len(find_processes(place.mark)) >= 2
    assert find_processes(place.mark) == []


def test_function_is_called_several_times_at_once(place: Place) -> None:
    sizes = range(1, 6)
    # All responses together fit into HTTP/2's first window, which the server does not watch.
    with waiting(place.start("serve")) as server, ThreadPoolExecutor(4) as executor:
        calls = [executor.submit(server.call, request(size), 30) for size in sizes]
        responses = [call.result() for call in calls]
    assert [response.desired for response in responses] == [request(size).desired for size in sizes]


def test_function_that_ends_is_the_same_error_for_all_of_its_calls(place: Place) -> None:
    put_server(place.registry, "stop-at-request", "stop", place.mark)
    process = Process(function="f", package=f"{place.registry.name}/team/function-test:stop")
    message = 'cannot run function "f": its process was ended by SIGTERM'
    with Servers(PackageOptions(root=place.cache)) as servers, ThreadPoolExecutor(4) as executor:
        caller = FunctionCaller(None, Options(servers=servers))
        server = process.find_server(caller)
        assert isinstance(server, FunctionServer)
        server.wait()
        calls = [executor.submit(server.call, request(), 30) for _ in range(4)]
        assert {str(call.exception()) for call in calls} == {message}
        # The first call discards it, and the second one has another process.
        for _ in range(2):
            with pytest.raises(InputError, match=message):
                process.call(StepCall(STEP, request(), 30), caller)


_COMMAND = """
import sys, time
from pathlib import Path
from function_script.tools.processes.cache import load_package
from function_script.tools.processes.options import PackageOptions
from function_script.tools.processes.server import FunctionServer
image = load_package("f", sys.argv[2], PackageOptions(root=Path(sys.argv[1])))
server = FunctionServer("f", image)
server.wait()
print("ready", flush=True)
time.sleep(60)
"""


def test_processes_end_with_a_command_that_is_killed(place: Place) -> None:
    put_server(place.registry, "children", "killed", place.mark)
    reference = f"{place.registry.name}/team/function-test:killed"
    with subprocess.Popen(
        [sys.executable, "-c", _COMMAND, str(place.cache), reference], stdout=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == b"ready\n"
        assert len(find_processes(place.mark)) >= 2
        command.send_signal(signal.SIGKILL)
    wait_until(lambda: not find_processes(place.mark), pause_seconds=_PAUSE_SECONDS)


def test_function_that_ended_between_two_calls_is_started_again(place: Place) -> None:
    put_server(place.registry, "serve", "again", place.mark)
    process = Process(function="f", package=f"{place.registry.name}/team/function-test:again")
    with Servers(PackageOptions(root=place.cache)) as servers:
        caller = FunctionCaller(None, Options(servers=servers))
        process.start(caller)
        process.wait(caller)
        process.call(StepCall(STEP, request(), 30), caller)
        (first, *_) = find_processes(place.mark)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: not find_processes(place.mark), pause_seconds=_PAUSE_SECONDS)
        process.wait(caller)
        response = process.call(StepCall(STEP, request(), 30), caller).response
    assert response.desired == request().desired


@pytest.mark.skipif(os.getuid() != 0, reason="another user is needed")
def test_other_users_cannot_call_a_function(place: Place) -> None:
    connect = (
        "import os, socket, sys\nos.setuid(int(sys.argv[2]))\ns = socket.socket(socket.AF_UNIX)\n"
        "s.connect('\\0' + sys.argv[1])\ns.sendall(b'PRI * HTTP/2.0')\nprint(len(s.recv(9)))"
    )
    # Its own user gets the frame SETTINGS; sockets of others are closed.
    preface = connect.replace("HTTP/2.0", "HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n")
    with waiting(place.start("serve")) as server:
        name = server.address.partition(":")[2]
        command = [sys.executable, "-c", preface, name]
        answers = [
            subprocess.run([*command, user], capture_output=True, text=True, check=False)
            for user in ("0", "1000")
        ]
    assert answers[0].stdout == "9\n"
    assert answers[1].stdout in {"", "0\n"}


@pytest.fixture
def project(tmp_path: Path, registry: Registry, mark: str) -> Path:
    """A pipeline of one function of a package."""
    put_server(registry, "serve", "render", mark)
    (tmp_path / "xr.yaml").write_text(
        "apiVersion: example.org/v1\nkind: App\nmetadata: {name: a}\n"
    )
    (tmp_path / "composition.yaml").write_text(
        "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: a}\n"
        "spec:\n  compositeTypeRef: {apiVersion: example.org/v1, kind: App}\n  mode: Pipeline\n"
        "  pipeline: [{step: one, functionRef: {name: function-test}}]\n"
    )
    (tmp_path / "functions.yaml").write_text(
        "apiVersion: pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: function-test}\n"
        f'spec: {{package: "{registry.name}/team/function-test:render"}}\n'
    )
    return tmp_path


def test_render_runs_a_package_and_takes_it_from_the_cache_offline(
    project: Path, registry: Registry, run: Run
) -> None:
    assert "is not in the cache" in run("render", project, "--offline", code=1).err
    registry.seen.clear()
    assert "kind: App" in run("render", project).out
    assert registry.seen
    registry.seen.clear()
    run("render", project, "--offline")
    assert registry.seen == []


def test_check_and_validate_run_nothing(project: Path, registry: Registry) -> None:
    registry.seen.clear()
    execute(["check", str(project)])
    execute(["validate", str(project), str(project)])
    assert registry.seen == []


def test_run_calls_the_function_of_a_package(project: Path, registry: Registry, run: Run) -> None:
    (project / "request.json").write_text(
        json.dumps({"desired": {"resources": {"a": {"resource": {"kind": "ConfigMap"}}}}})
    )
    reference = f"{registry.name}/team/function-test:render"
    response = json.loads(run("run", project / "request.json", "--function", reference).out)
    assert response["desired"] == {"resources": {"a": {"resource": {"kind": "ConfigMap"}}}}


# A user namespace in which no other one may be made.
_FORBID = """
import ctypes, os, sys
if ctypes.CDLL(None).unshare(0x10000000):
    sys.exit("no namespace")
with open("/proc/sys/user/max_user_namespaces", "w") as file:
    file.write("0")
from function_script.cli import execute
sys.exit(execute(sys.argv[1:]))
"""


def run_unconfined(
    directory: Path, function: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Call a function with an empty request where no process can be confined."""
    (directory / "request.json").write_text("{}")
    arguments = ["run", str(directory / "request.json"), "--function", function]
    return subprocess.run(
        [sys.executable, "-c", _FORBID, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | variables,
    )


def test_function_that_cannot_be_confined_runs_if_the_command_line_says_so(
    project: Path, registry: Registry
) -> None:
    reference = f"{registry.name}/team/function-test:render"
    environment = {"HOME": "/home/me", "SSH_AUTH_SOCK": "/agent", "AWS_PROFILE": "me"}
    refusal = run_unconfined(project, reference, **environment)
    assert refusal.returncode == 1
    assert "this system does not let us confine it" in refusal.stderr
    assert f"--function {reference}=process" in refusal.stderr
    answer = run_unconfined(project, f"{reference}=process", **environment)
    assert answer.returncode == 0, answer.stderr
    facts = ast.literal_eval(json.loads(answer.stdout)["results"][0]["message"])
    assert set(facts["environment"]) <= {"PATH", "HOME", "MODE", "LC_CTYPE"}
    assert facts["environment"]["HOME"] == "/nonexistent"
    assert facts["status"]["NoNewPrivs"] == "1"
    assert int(facts["status"]["CapEff"], 16) == 0
    assert facts["arguments"][-1].startswith("--address=127.0.0.1:")


def test_function_that_takes_no_address_cannot_run_unconfined(place: Place, tmp_path: Path) -> None:
    put_server(place.registry, "no-address", "no-address", place.mark)
    reference = f"{place.registry.name}/team/function-test:no-address=process"
    result = run_unconfined(tmp_path, reference)
    assert result.returncode == 1
    assert "its process ended with exit code 1" in result.stderr
    assert "log: unknown flag --address" in result.stderr
