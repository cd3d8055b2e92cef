"""A real server with a salt: random values that only it can compute, and that nobody sees."""

from functools import partial
from pathlib import Path

import grpc
from e2e.serving import Server, call, serve_in_vain
from support import builders
from support.timing import wait_until

from function_script.request import capture
from function_script.request.objects import find_path
from function_script.request.values import Object

SCRIPT = (
    "def main(req):\n"
    '    status = {"id": stable_secret("password", 64)}\n'
    '    return {"desired": {"composite": {"resource": {"status": status}}}}\n'
)
# All that a script can ask for, and what it prints.
CURIOUS = (
    "def main(req):\n"
    "    print(json.encode(req), dir(req))\n"
    '    return {"desired": {"composite": {"resource": {"status": {"all": json.encode(req)}}}}}\n'
)


def value(channel: grpc.Channel, script: str = SCRIPT) -> object:
    """The status of an XR that asks to be captured."""
    annotations: Object = {capture.ANNOTATION: "true"}
    metadata: Object = {"name": "demo", "uid": "8a4c2f0e", "annotations": annotations}
    observed = {"composite": {"resource": {**builders.XR, "metadata": metadata}}}
    response = call(channel, builders.request(builders.starlark(script), observed=observed))
    assert not response.results
    return find_path(builders.to_dict(response), "desired.composite.resource.status")


def has_another_value(channel: grpc.Channel, first: object) -> bool:
    """Report whether the server has read another salt."""
    return value(channel) != first


def test_salt_decides_random_values_and_is_seen_by_nobody(tmp_path: Path) -> None:
    salt, cases = tmp_path / "salt", tmp_path / "cases"
    cases.mkdir()
    salt.write_text("the salt of this cluster")
    flags = ("--insecure", "--debug", "--seed-file", str(salt), "--capture-dir", str(cases))
    values = []
    for _ in range(2):
        with Server(*flags) as server, server.channel() as channel:
            values.append(value(channel))
            values.append(value(channel))
            seen = str(value(channel, CURIOUS))
            salt.with_name("new").write_text("another salt of this cluster")
            salt.with_name("new").rename(salt)
            with_new = partial(has_another_value, channel, values[0])
            wait_until(with_new, pause_seconds=0.1)
            server.stop()
            texts = [seen, *server.text, *(path.read_text() for path in cases.iterdir())]
        salt.write_text("the salt of this cluster")
        assert "of this cluster" not in "".join(texts)
        assert "using a new salt" in "".join(texts)
    assert len(set(map(str, values))) == 1


def test_salt_that_a_program_could_read_is_refused_at_the_start(tmp_path: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("the salt of this cluster")
    flags = ("--seed-file", str(salt), "--program-root", str(tmp_path))
    assert "a program could read it" in serve_in_vain("--insecure", *flags)
