"""A real server with remote programs: registries and git servers over real sockets."""

from __future__ import annotations

import base64
import itertools
import os
import threading
import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest
from e2e.authority import Authority
from e2e.remote_sources import (
    FILES,
    GitServer,
    commit,
    make_repository,
    needs_git,
    put_module,
    serving_git,
)
from e2e.scripted_registry import BASIC, ELSEWHERE, Registry, require, serving, status
from e2e.serving import NOTHING, Server, call, method
from support import builders
from support.builders import fatal
from support.core_model import Core
from support.timing import PATIENCE_SECONDS, wait_until

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.remote import content
from function_script.request.remote.reference import Allowlist, RemoteReference
from function_script.request.remote.store import ContentStore, FetchKey
from function_script.server import rpc
from function_script.server.remote_programs import RemotePrograms
from function_script.step.telemetry import Answered
from function_script.tools.xpkg import archives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import grpc

    from function_script.request.values import Object

    Served = tuple[Registry, Server, grpc.Channel]

NAMES = {f"thing-{i}" for i in range(5)}
_NUMBERS = itertools.count()
# Each call runs a program, beside the fetch that it waits for.
_PAUSE_SECONDS = 0.03


class Hosts(NamedTuple):
    """Registries and git servers for tests, and what one server for all of them is told of them."""

    registry: Registry
    narrow: Registry
    """Other repositories of it than those of tests are allowed."""
    private: Registry
    with_login: Registry
    """The operator has a login for it. This and the two beside it have TLS."""
    storage: Registry
    """It is not allowed."""
    git: GitServer
    private_git: GitServer
    other_git: GitServer
    """The two have TLS, and one directory."""
    flags: tuple[str, ...]


@pytest.fixture(scope="module")
def all_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    root = tmp_path_factory.mktemp("remote")
    authority = Authority("registry")
    here, there = authority.server("localhost"), authority.server(ELSEWHERE)
    (root / "ca.pem").write_bytes(here.authority)
    for name in ("git", "private-git"):
        (root / name).mkdir()
    with ExitStack() as stack:
        start = stack.enter_context
        registry, narrow = start(serving()), start(serving())
        private = start(serving("localhost", here, root / "private"))
        with_login = start(serving("localhost", here, root / "known"))
        storage = start(serving(ELSEWHERE, there, root / "storage"))
        git_server = start(serving_git(root / "git"))
        private_git, other_git = (
            start(serving_git(root / "private-git", "localhost", here)) for _ in range(2)
        )
        login = base64.b64encode(b"me:secret").decode()
        (root / "logins.json").write_text(
            f'{{"auths": {{"{with_login.name}": {{"auth": "{login}"}}}}}}'
        )
        allowed = (
            *(
                registry.name,
                private.name,
                with_login.name,
                f"{git_server.name}/lib",
                private_git.name,
            ),
            *(f"{narrow.name}/{path}" for path in ("team-evil", "team/lib/deeper", "tea")),
        )
        flags = (
            *("--remote-ca-file", str(root / "ca.pem"), "--remote-cache", str(root / "cache")),
            *("--remote-credentials", str(root / "logins.json")),
            *itertools.chain.from_iterable(("--remote-allow", each) for each in allowed),
        )
        registries = (registry, narrow, private, with_login, storage)
        yield Hosts(*registries, git_server, private_git, other_git, flags)


@pytest.fixture
def hosts(all_hosts: Hosts) -> Iterator[Hosts]:
    """The same, with registries that answer as registries do and have had no request."""
    yield all_hosts
    for each in all_hosts[:5]:
        each.hooks.clear()
        each.seen.clear()


@pytest.fixture(scope="module")
def server(all_hosts: Hosts) -> Iterator[Server]:
    """A server that may fetch from them."""
    with Server("--insecure", *all_hosts.flags) as server:
        yield server


@pytest.fixture
def remote(hosts: Hosts, server: Server, channel: grpc.Channel) -> Served:
    """The registry that needs no login, the server, and a channel to it."""
    return hosts.registry, server, channel


def put_new(registry: Registry, files: Mapping[str, str] = FILES, **parts: str) -> str:
    """Add an artifact that the server of all tests does not have in its cache."""
    return put_module(registry, {**files, "number": str(next(_NUMBERS))}, **parts)


def step(remote: object, **fields: object) -> Object:
    value: Object = {
        "apiVersion": builders.API_VERSION,
        "kind": "StarlarkScript",
        "source": "Remote",
        "remote": remote,  # type: ignore[dict-item] # tests pass plain values only
    }
    return {**value, **fields}  # type: ignore[dict-item] # same


def oci(ref: str, **fields: object) -> Object:
    return step({"oci": {"ref": ref}, **fields})


def settle(channel: grpc.Channel, step_input: Object, **parts: object) -> pb.RunFunctionResponse:
    """Call until the program runs."""
    responses: list[pb.RunFunctionResponse] = []

    def runs() -> bool:
        responses.append(call(channel, builders.request(step_input, **parts)))
        return not responses[-1].results

    wait_until(runs, pause_seconds=_PAUSE_SECONDS)
    return responses[-1]


def failure(channel: grpc.Channel, step_input: Object, **parts: object) -> str:
    """Call until the fetch has failed; return the message."""
    messages: list[str] = []

    def has_failed() -> bool:
        messages.append(fatal(call(channel, builders.request(step_input, **parts))))
        return "waiting for" not in messages[-1]

    wait_until(has_failed, pause_seconds=_PAUSE_SECONDS)
    return messages[-1]


def credentials(**data: str) -> dict[str, object]:
    return {"credentials": {"pull": secret(**data)}}


def secret(**data: str) -> dict[str, object]:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {"credentialData": {"data": encoded}}


def gets(registry: Registry, path: str) -> int:
    return sum(path in each.path for each in registry.seen if each.method == "GET")


def test_artifact_runs_after_it_was_fetched_and_until_then_nothing_is_deleted(
    remote: Served,
) -> None:
    registry, _, channel = remote
    ref = put_new(registry)
    desired = {"resources": {"earlier": {"resource": builders.composed("earlier")}}}
    first = call(channel, builders.request(oci(ref), desired=desired))
    location, _, digest = ref.partition("@")
    assert fatal(first) == (
        f"input.remote: waiting for oci {location}@{digest}, which is being fetched"
    )
    assert set(first.desired.resources) == {"earlier"}
    response = settle(channel, oci(ref))
    assert set(response.desired.resources) == NAMES
    for _ in range(3):
        settle(channel, oci(ref))
    assert gets(registry, "/manifests/") == 1


@pytest.mark.parametrize("is_in_front", [True, False])
def test_texts_that_a_client_sends_are_not_read(plain_server: Server, *, is_in_front: bool) -> None:
    """Nobody has verified that they are those of the digest."""
    version = f"sha256:{'a' * 64}"
    location = "registry.example.org/a"
    reference = RemoteReference(transport="oci", location=location, version=version)
    payload = content.encode(content.Content(texts={"main.star": NOTHING}))
    texts = content.attach(b"", [(reference, payload)])
    request = builders.request(oci(f"{location}@{version}")).SerializeToString()
    with plain_server.channel() as channel:
        run = channel.unary_unary(
            f"/{rpc.SERVICES[0]}/{rpc.METHOD}",
            response_deserializer=pb.RunFunctionResponse.FromString,
        )
        response = run(
            texts + request if is_in_front else request + texts, timeout=PATIENCE_SECONDS
        )
    assert "no host is allowed" in fatal(response)


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [("none", "no host is allowed"), ("others", " is not allowed")],
    ids=["none", "others"],
)
def test_prefix_that_is_not_allowed_names_the_flag(
    hosts: Hosts, server: Server, plain_server: Server, allowed: str, expected: str
) -> None:
    with (server if allowed == "others" else plain_server).channel() as channel:
        text = fatal(call(channel, builders.request(oci(put_new(hosts.narrow)))))
    assert expected in text
    assert "--remote-allow" in text
    assert not hosts.narrow.seen


def test_modules_come_from_an_artifact_too(remote: Served) -> None:
    registry, _, channel = remote
    module = {"remote": {"oci": {"ref": put_new(registry), "path": "lib/names.star"}}}
    script = 'load("names.star", "name")\ndef main(req):\n    return {"context": {"n": name(7)}}\n'
    response = settle(channel, builders.starlark(script, modulesFrom=[module]))
    assert response.context["n"] == "thing-7"


def test_new_digest_of_one_of_two_modules_is_used(remote: Served) -> None:
    """The request brings the other one from before, and its worker reports both."""
    registry, _, channel = remote
    loads = 'load("a.star", "a")\nload("b.star", "b")\n'
    script = f'{loads}def main(req):\n    return {{"context": {{"n": a + b}}}}\n'

    def modules(*texts: str) -> list[Object]:
        refs = [put_new(registry, {f"{text[0]}.star": text}) for text in texts]
        return [
            {"remote": {"oci": {"ref": ref, "path": f"{text[0]}.star"}}}
            for ref, text in zip(refs, texts, strict=True)
        ]

    first, former = modules("a = 1", "b = 2")
    (renewed,) = modules("b = 3")
    for second, total in ((former, 3), (renewed, 4), (former, 3)):
        response = settle(channel, builders.starlark(script, modulesFrom=[first, second]))
        assert response.context["n"] == total


def test_steps_of_one_identity_have_their_own_remote_programs() -> None:
    """Each has its content in advance, whichever of them was called last, so it runs once."""
    store = ContentStore(lambda *_: None)
    remote_programs = RemotePrograms(store, Allowlist(["example.org"]), 1_000_000)
    requests: list[bytes] = []
    for digit in "abcdef":
        version = f"sha256:{digit * 64}"
        data = builders.request(oci(f"example.org/a@{version}")).SerializeToString()
        reference = RemoteReference(transport="oci", location="example.org/a", version=version)
        store.settle(FetchKey(reference, ""), digit.encode())
        reply = Answered(response=b"", missing=(("input.remote", reference),))
        whole = remote_programs.resolve(data, reply)
        assert isinstance(whole, bytes)
        assert remote_programs.attach(data) == whole != data
        requests.append(data)
    # The oldest are forgotten.
    assert [remote_programs.attach(data) != data for data in requests] == [False] * 2 + [True] * 4


def test_two_hundred_requests_at_once_are_one_fetch(remote: Served) -> None:
    registry, _, channel = remote
    release = threading.Event()
    registry.hook("GET", "/manifests/", lambda _: not release.wait(PATIENCE_SECONDS))
    program = oci(put_new(registry))
    request = builders.request(program)
    first = call(channel, request)
    started = [method(channel).future(request) for _ in range(200)]
    texts = {fatal(future.result()) for future in started} | {fatal(first)}
    # A step without a remote program is answered meanwhile.
    plain = "def main(req):\n    return {}\n"
    assert not call(channel, builders.request(builders.starlark(plain))).results
    release.set()
    assert len(texts) == 1
    settle(channel, program)
    assert gets(registry, "/manifests/") == 1
    assert gets(registry, "/blobs/") == 1


def test_content_of_another_digest_is_refused(remote: Served) -> None:
    registry, _, channel = remote
    ref = put_new(registry)
    digest = ref.partition("@")[2]
    registry.manifests[digest] = registry.manifests[digest] + b" "
    assert "has the digest sha256:" in failure(channel, oci(ref))
    other = put_new(registry, {"main.star": "def main(req):\n    return {}\n"})
    layers = [blob for blob in registry.blobs if registry.blobs[blob] != b"{}"]
    registry.blobs[layers[-1]] = archives.gzip_compressed(b"evil")
    assert "instead of" in failure(channel, oci(other))


def test_failed_fetch_is_explained_and_tried_again_after_a_pause(remote: Served) -> None:
    registry, _, channel = remote
    ref = put_new(registry)
    digest = ref.partition("@")[2]
    manifest = registry.manifests.pop(digest)
    text = failure(channel, oci(ref))
    assert "HTTP 404" in text
    for _ in range(20):
        assert fatal(call(channel, builders.request(oci(ref)))) == text
    assert gets(registry, "/manifests/") == 1
    registry.manifests[digest] = manifest
    assert set(settle(channel, oci(ref)).desired.resources) == NAMES


HOSTILE = {
    "parent": {"../../etc/evil.star": "x"},
    "absolute": {"/etc/evil.star": "x"},
}


@pytest.mark.parametrize("files", HOSTILE.values(), ids=HOSTILE)
def test_file_outside_of_the_artifact_is_refused(remote: Served, files: dict[str, str]) -> None:
    registry, _, channel = remote
    text = failure(channel, oci(put_new(registry, files)))
    assert "which is outside of it" in text


def test_huge_artifact_is_refused(remote: Served) -> None:
    """A hundred megabytes of zeros are less than one compressed."""
    registry, _, channel = remote
    bomb = put_module(registry, archive=bytes(100 << 20))
    assert "expands to more than 64 MiB" in failure(channel, oci(bomb))
    large = put_new(registry, {"main.star": FILES["main.star"], "a.txt": "x" * (9 << 20)})
    assert "it has more than 8 MiB" in failure(channel, oci(large))


def test_team_with_many_references_to_a_slow_repository_delays_no_other(remote: Served) -> None:
    """Seventy XRs name seventy paths; another team's new reference is fetched at once."""
    registry, _, channel = remote
    release = threading.Event()
    registry.hook("GET", "slow", lambda _: not release.wait(PATIENCE_SECONDS))
    slow = put_new(registry, repository="team/slow")
    for number in range(70):
        request = builders.request(
            step({"oci": {"ref": slow, "path": f"{number}.star"}}),
            observed=builders.observed(f"xr-{number}"),
        )
        assert "waiting for" in fatal(call(channel, request))
    began = time.monotonic()
    settle(channel, oci(put_new(registry, repository="other/quick")))
    assert time.monotonic() - began < PATIENCE_SECONDS / 2
    release.set()


def test_redirect_to_another_host_gets_no_credentials(hosts: Hosts, channel: grpc.Channel) -> None:
    registry, storage = hosts.private, hosts.storage
    require(registry, "Basic", BASIC)
    ref = put_new(registry)
    storage.blobs |= registry.blobs
    registry.hook(
        "GET",
        "/blobs/",
        lambda handler: handler.send(307, Location=f"{storage.url}{handler.path}"),
    )
    login = credentials(username="me", password="secret")  # noqa: S106 - a test's
    response = settle(channel, oci(ref, credentials="pull"), **login)
    assert set(response.desired.resources) == NAMES
    assert registry.authorizations("GET", "/manifests/") == {"", BASIC}
    assert storage.authorizations("GET") == {""}


def test_credentials_are_not_sent_without_tls() -> None:
    with (
        serving(ELSEWHERE) as registry,
        Server("--insecure", "--remote-plain-http", "--remote-allow", registry.name) as server,
        server.channel() as channel,
    ):
        require(registry, "Basic", BASIC)
        login = credentials(username="me", password="secret")  # noqa: S106 - a test's
        text = failure(channel, oci(put_module(registry), credentials="pull"), **login)
        assert "credentials are sent over TLS only" in text
        assert {each.authorization for each in registry.seen} == {""}


def test_content_of_credentials_is_not_for_a_step_without_them(
    hosts: Hosts, channel: grpc.Channel
) -> None:
    require(hosts.private, "Basic", BASIC)
    ref = put_new(hosts.private)
    login = credentials(username="me", password="secret")  # noqa: S106 - a test's
    settle(channel, oci(ref, credentials="pull"), **login)
    assert "HTTP 401" in failure(channel, oci(ref))
    wrong = credentials(username="me", password="guess")  # noqa: S106 - a test's
    assert "HTTP 401" in failure(channel, oci(ref, credentials="pull"), **wrong)
    absent = fatal(call(channel, builders.request(oci(ref, credentials="pull"))))
    assert 'the step has no credentials "pull"' in absent
    # Others of the step may be of any size.
    right = secret(username="me", password="secret")  # noqa: S106 - a test's
    both = {"pull": right, "other": secret(text="x" * (1 << 20))}
    settle(channel, oci(ref, credentials="pull"), credentials=both)
    large = credentials(username="me", text="x" * (1 << 20))
    message = fatal(call(channel, builders.request(oci(ref, credentials="pull"), **large)))
    assert message == (
        "input.remote: cannot read the step's credentials: they have more than 1 MiB together "
        "(name a Secret that has a login and nothing else)"
    )


def test_operators_credentials_are_for_their_host(hosts: Hosts, channel: grpc.Channel) -> None:
    for each in (hosts.with_login, hosts.private):
        require(each, "Basic", BASIC)
    settle(channel, oci(put_new(hosts.with_login)))
    assert "HTTP 401" in failure(channel, oci(put_new(hosts.private)))
    assert {each.authorization for each in hosts.private.seen} == {""}


def test_server_that_restarts_offline_has_its_cache_on_disk(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with serving() as registry:
        flags = ("--insecure", "--remote-allow", registry.name, "--remote-cache", str(cache))
        ref = put_module(registry)
        cut = put_new(registry, tag="v2")
        with Server(*flags) as server, server.channel() as channel:
            settle(channel, oci(ref))
            before = set(cache.iterdir())
            settle(channel, oci(cut))
    (entry,) = set(cache.iterdir()) - before
    entry.write_bytes(entry.read_bytes()[:-1])
    with Server(*flags) as server, server.channel() as channel:
        assert set(settle(channel, oci(ref)).desired.resources) == NAMES
        assert "connection refused" in failure(channel, oci(cut))


def is_refused(core: Core) -> bool:
    """Reconcile once; report whether a step refused."""
    core.reconcile()
    return any(each["severity"] == "SEVERITY_FATAL" for each in core.results)


def test_cold_cache_deletes_no_observed_resource(remote: Served) -> None:
    """Five resources exist, a new server answers, and its registry is gone and then slow."""
    registry, _, warm = remote
    core = Core(pipeline=[oci(put_new(registry))], function=partial(call, warm))
    wait_until(lambda: not is_refused(core), pause_seconds=_PAUSE_SECONDS)
    assert len(core.resources) == 5
    release = threading.Event()
    registry.hook("GET", "/manifests/", status(404))
    with (
        Server("--insecure", "--remote-allow", registry.name) as server,
        server.channel() as cold,
    ):
        core.function = partial(call, cold)
        for _ in range(10):
            assert is_refused(core)
            time.sleep(0.02)
        registry.hook("GET", "/manifests/", lambda _: not release.wait(PATIENCE_SECONDS))
        for _ in range(10):
            assert is_refused(core)
        registry.hooks.clear()
        release.set()
        wait_until(lambda: not is_refused(core), pause_seconds=_PAUSE_SECONDS)
    assert core.deleted == []
    assert len(core.resources) == 5


def test_fetcher_that_dies_is_replaced(remote: Served) -> None:
    registry, server, channel = remote
    release = threading.Event()
    registry.hook("GET", "/manifests/", lambda _: not release.wait(PATIENCE_SECONDS))
    ref = put_new(registry)
    assert "waiting for" in fatal(call(channel, builders.request(oci(ref))))
    wait_until(lambda: gets(registry, "/manifests/"))
    (fetcher,) = [pid for pid in server.family() if is_fetcher(pid)]
    os.kill(fetcher, 9)
    assert "the process that fetches ended" in failure(channel, oci(ref))
    release.set()
    settle(channel, oci(ref))


def is_fetcher(pid: int) -> bool:
    with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - of another process
        return b"tools.remote" in file.read()


def test_metrics_count_fetches_failures_and_hits(remote: Served) -> None:
    registry, server, channel = remote
    before = server.metrics()
    # Steps of one size share what is attached in advance; no other test has one of this size.
    ref = put_new(registry, repository="team/that-is-counted")
    settle(channel, oci(ref))
    settle(channel, oci(ref))
    failure(channel, oci(f"{registry.name}/none@sha256:{'0' * 64}"))
    after = server.metrics()
    for event, count in {"fetch": 2, "failure": 1, "hit": 2}.items():
        name = f'function_script_remote_programs_total{{event="{event}"}}'
        assert after[name] - before.get(name, 0) == count


def git_step(url: str, revision: str, path: str = "", **fields: object) -> Object:
    section = {"url": url, "commit": revision} | ({"path": path} if path else {})
    return step({"git": section, **fields})


class Git(NamedTuple):
    """A repository that is served, its directory and first commit, and a channel to a server."""

    url: str
    directory: Path
    first: str
    channel: grpc.Channel


@pytest.fixture(scope="module")
def git(all_hosts: Hosts, channel: grpc.Channel) -> Git:
    served = all_hosts.git
    return Git(served.url, served.directory, make_repository(served.directory), channel)


@needs_git
def test_commit_runs_and_a_moved_branch_changes_nothing(git: Git) -> None:
    (git.directory / "work/main.star").write_text("def main(req):\n    fail()\n")
    commit(git.directory)
    url = f"{git.url}/lib.git"
    assert set(settle(git.channel, git_step(url, git.first)).desired.resources) == NAMES
    assert "does not have the commit" in failure(git.channel, git_step(url, "0" * 40))
    assert 'no file and no folder "x"' in failure(git.channel, git_step(url, git.first, "x"))
    assert "not allowed" in failure(git.channel, git_step(f"{git.url}/other", git.first))


@needs_git
def test_huge_commit_is_refused(git: Git) -> None:
    large = git.directory / "work/large.txt"
    large.write_text("x" * (9 << 20))
    revision = commit(git.directory)
    large.unlink()
    assert "it has more than 8 MiB" in failure(
        git.channel, git_step(f"{git.url}/lib.git", revision)
    )


@needs_git
def test_link_in_a_commit_is_left_out(git: Git) -> None:
    (git.directory / "work/passwords.star").symlink_to("/etc/passwd")
    step_input = git_step(f"{git.url}/lib.git", commit(git.directory), "passwords.star")
    assert "no file and no folder" in failure(git.channel, step_input)


@needs_git
def test_git_server_with_tls_gets_a_token_and_a_redirect_is_not_followed(
    all_hosts: Hosts, channel: grpc.Channel
) -> None:
    served = all_hosts.private_git
    revision = make_repository(served.directory)
    token = base64.b64encode(b"x-access-token:secret").decode()
    served.authorization = f"Basic {token}"
    url = f"{served.url}/lib.git"
    assert "refuses access" in failure(channel, git_step(url, revision))
    login = credentials(token="secret")  # noqa: S106 - a test's
    private = git_step(url, revision, credentials="pull")
    assert set(settle(channel, private, **login).desired.resources) == NAMES
    served.redirect = all_hosts.other_git.url
    moved = git_step(url, revision, "lib/names.star", credentials="pull")
    assert "the server redirects" in failure(channel, moved, **login)
    assert not all_hosts.other_git.seen


def test_input_in_an_object_may_have_a_remote_program(remote: Served) -> None:
    registry, _, channel = remote
    metadata: Object = {"name": "things", "namespace": "platform"}
    program: Object = {**oci(put_new(registry)), "metadata": metadata}
    reference: Object = {
        "apiVersion": builders.API_VERSION,
        "kind": "StarlarkScript",
        "inputRef": metadata,
    }
    first = call(channel, builders.request(reference))
    (name,) = first.requirements.resources
    answer = {name: {"items": [{"resource": program}]}}
    response = settle(channel, reference, requiredResources=answer)
    assert set(response.desired.resources) == NAMES
