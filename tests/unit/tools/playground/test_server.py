"""Access to the playground, and its responses."""

import contextlib
import http.client
import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.paths import ROOT
from support.timing import PATIENCE_SECONDS

from function_script.texts.errors import InputError
from function_script.tools.playground import folders, server
from function_script.tools.playground.server import Playground
from function_script.tools.project import Project

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """A playground of two examples."""
    root = tmp_path_factory.mktemp("root")
    for name in ("starlark-robots", "filesystem-source"):
        shutil.copytree(EXAMPLES / name, root / name)
    with Playground(root) as served:
        yield served


class Visitor:
    """Somebody who sends requests to a playground."""

    def __init__(self, playground: Playground) -> None:
        self.authority = playground.authority
        self.headers = {
            "Origin": f"http://{playground.authority}",
            "Content-Type": "application/json",
        }

    def send(
        self, method: str, path: str, body: str | None = None, **headers: str
    ) -> tuple[int, str, http.client.HTTPMessage]:
        """Status, text and headers of the answer."""
        connection = http.client.HTTPConnection(self.authority, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, body, {**self.headers, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()

    def enter(self, playground: Playground) -> None:
        """Open the address that the command printed, and keep the cookie."""
        self.used = "/?" + urlsplit(playground.address).query
        status, _, headers = self.send("GET", self.used)
        assert (status, headers["Location"]) == (303, "/")
        self.headers["Cookie"] = headers["Set-Cookie"].partition(";")[0]

    def ask(self, path: str, query: object) -> tuple[int, str]:
        """Send a request like the page's."""
        status, text, _ = self.send("POST", path, json.dumps(query))
        return status, text

    def load(self, name: str) -> dict[str, str]:
        """Return the texts of a folder, by file."""
        folder = json.loads(self.ask("/api/folder", {"folder": name})[1])
        return {file: content["text"] for file, content in folder["files"].items()}

    def render(self, files: dict[str, str]) -> Any:
        """Render texts as the page does."""
        status, text = self.ask("/api/render", {"folder": "starter: jinja", "files": files})
        assert status == 200
        return json.loads(text)


@pytest.fixture(scope="module")
def guest(playground: Playground) -> Visitor:
    """Somebody who came by the address that was printed."""
    visitor = Visitor(playground)
    visitor.enter(playground)
    return visitor


def test_strangers_stay_outside(playground: Playground) -> None:
    stranger = Visitor(playground)
    assert stranger.send("GET", "/")[0] == 403
    assert stranger.send("GET", "/?token=wrong")[0] == 403
    assert stranger.ask("/api/folders", {})[0] == 403


def test_token_is_good_once(playground: Playground, guest: Visitor) -> None:
    assert Visitor(playground).send("GET", guest.used)[0] == 403
    assert guest.send("GET", "/")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Origin": "https://example.org"}, id="another-origin"),
        pytest.param({"Origin": "null"}, id="no-origin"),
        pytest.param({"Host": "example.org"}, id="another-name-for-this-address"),
        pytest.param({"Content-Type": "text/plain"}, id="a-form"),
    ],
)
def test_other_sites_are_refused(guest: Visitor, headers: dict[str, str]) -> None:
    """A page from elsewhere in the same browser gets no answer, though it has the cookie."""
    for path in ("/api/folders", "/api/save"):
        assert guest.send("POST", path, "{}", **headers)[0] == 403


def test_page_may_load_nothing_else(guest: Visitor) -> None:
    """Every answer says so, and none is kept."""
    _, _, headers = guest.send("GET", "/app.js")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/nothing", "/../server.py", "/page/app.js", "/%2e%2e/server.py"])
def test_server_serves_only_the_page(guest: Visitor, path: str) -> None:
    assert guest.send("GET", path)[0] == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param("[]", 400, id="no-object"),
        pytest.param("{", 400, id="no-json"),
        pytest.param("[" * 100_000, 400, id="nested"),
        pytest.param('{"files": {"\\ud800": ""}}', 400, id="half-a-surrogate"),
        pytest.param('{"folder": "starter: jinja", "files": 3}', 422, id="no-files"),
        pytest.param('{"folder": "starter: jinja", "files": {"xr.yaml": 3}}', 422, id="no-text"),
    ],
)
def test_bad_questions_are_told(guest: Visitor, body: str, status: int) -> None:
    result, text, _ = guest.send("POST", "/api/render", body)
    assert (result, bool(text.strip())) == (status, True)


@pytest.mark.parametrize(
    "name",
    ["", ".", "/", "a\0b", "x" * 300, "programs", "programs/a\0b", "programs/" + "x" * 300],
    ids=lambda name: name[:14].replace("\0", "NUL") or "empty",
)
def test_request_of_any_file_name_is_answered(
    guest: Visitor, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    result = guest.render({**guest.load("starlark-robots"), name: "text"})
    problems = [problem["message"] for problem in result["problems"]]
    assert capfd.readouterr().err == ""
    expected = ["cannot write 'programs/"] * name.startswith("programs/")
    assert [problem[:23] for problem in problems] == expected


def test_aliases_are_not_multiplied(guest: Visitor) -> None:
    levels = ["  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 13)]
    files = guest.load("starlark-robots")
    bomb = files["xr.yaml"] + "\nbomb:\n" + "\n".join(levels) + "\n"
    (problem,) = guest.render({**files, "xr.yaml": bomb})["problems"]
    assert "values with aliases expanded" in problem["message"]
    assert problem["file"] == "xr.yaml"
    assert guest.render(files)["problems"] == []


def test_address_that_cannot_be_read(
    playground: Playground, capfd: pytest.CaptureFixture[str]
) -> None:
    host, _, port = playground.authority.partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(
            f"GET http://[ HTTP/1.1\r\nHost: {playground.authority}\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    assert capfd.readouterr().err == ""


def test_playground_has_its_own_cookie(playground: Playground, guest: Visitor) -> None:
    """Browsers keep cookies by host, so that a second playground would take the first one's."""
    with Playground(EXAMPLES / "starlark-robots") as other:
        visitor = Visitor(other)
        visitor.enter(other)
        names = {each.headers["Cookie"].partition("=")[0] for each in (guest, visitor)}
        assert len(names) == 2
        both = "; ".join(each.headers["Cookie"] for each in (guest, visitor))
        for served in (playground, other):
            assert Visitor(served).send("GET", "/", Cookie=both)[0] == 200


def test_endless_body_is_refused(guest: Visitor) -> None:
    """More than the page would send is not read."""
    assert guest.send("POST", "/api/render", "", **{"Content-Length": str(1 << 40)})[0] == 413


def test_tabs_that_load_at_once_are_not_turned_away(tmp_path: Path) -> None:
    """Each opens six connections; nothing takes them from the queue here."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(server._listen(tmp_path, 0))
        for _ in range(40):
            stack.enter_context(socket.create_connection(listening.server_address[:2], timeout=0.9))
        with pytest.raises(InputError, match=r"cannot listen on .*: address already in use"):
            server._listen(tmp_path, listening.server_address[1])


def test_programs_in_files_cannot_leave(guest: Visitor, tmp_path: Path) -> None:
    files = guest.load("filesystem-source")
    files["programs/../../../escaped.txt"] = "text"
    result = guest.render(files)
    assert "leads out of its folder" in result["problems"][0]["message"]
    assert not list(tmp_path.rglob("escaped.txt"))


def test_starters_are_offered(tmp_path: Path) -> None:
    result = folders.find(tmp_path, Project([tmp_path]))
    assert list(result) == ["starter: starlark", "starter: jinja", "starter: gotemplate"]
    assert {"composition.yaml", "xr.yaml"} <= set(result["starter: jinja"].load()[0])


def test_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it is not a directory"):
        folders.find(tmp_path / "nothing", Project())
