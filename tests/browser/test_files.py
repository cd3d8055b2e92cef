"""Drafts, saving, and files that change on disk while they are open."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser.browser import Browser
from browser.conftest import at_each_size
from browser.pages import (
    BAD,
    GOOD,
    answer,
    changed_lines,
    choose,
    file_names,
    notice,
    open_file,
    pane,
    read_text,
    reload,
    replace,
    select,
)
from support import http_server
from support.timing import wait_until

# The page asks for changes on disk only while it is visible.
LOOK_AWAY = 'Object.defineProperty(document, "hidden", {value: true, configurable: true})'
SAVED = 'document.querySelector("#state").textContent.startsWith("saved")'
CHOSEN = """[...document.querySelectorAll("[role=tab][aria-selected=true]")]
    .map((tab) => tab.dataset.file ?? tab.dataset.pane)"""
EDITED = 'document.querySelectorAll("#files .edited").length'


@pytest.fixture
def composition(own_page: Browser, own_root: Path) -> Path:
    """The file as it is when the page is open."""
    del own_page
    return own_root / "starlark-status" / "composition.yaml"


def edit(page: Browser) -> None:
    """Make an edit that changes the result."""
    replace(page, '"replicas": 2', '"replicas": 7')
    page.wait_for(GOOD)


def write_outside(file: Path) -> str:
    """Change a file as another editor would, and return its text."""
    text = file.read_text() + "# from outside\n"
    file.write_text(text)
    return text


@at_each_size
def test_draft_survives_a_reload(own_page: Browser, composition: Path) -> None:
    before = composition.read_text()
    edit(own_page)
    reload(own_page)
    assert '"replicas": 7' in read_text(own_page)
    assert own_page.evaluate(EDITED) == 1
    assert changed_lines(own_page) == [["-", "replicas:", "2"], ["+", "replicas:", "7"]]
    assert composition.read_text() == before


def test_draft_survives_another_folder(own_page: Browser) -> None:
    edit(own_page)
    choose(own_page, "starter: jinja")
    assert own_page.evaluate(EDITED) == 0
    choose(own_page, "starlark-status")
    assert '"replicas": 7' in read_text(own_page)


def test_draft_of_an_older_version_is_offered(own_page: Browser, composition: Path) -> None:
    edit(own_page)
    own_page.evaluate(LOOK_AWAY)
    text = write_outside(composition)
    reload(own_page)
    assert read_text(own_page) == text
    assert "There is a draft of composition.yaml" in notice(own_page)
    answer(own_page, "Use the draft")
    assert '"replicas": 7' in read_text(own_page)
    assert composition.read_text() == text
    reload(own_page)
    assert '"replicas": 7' in read_text(own_page)


def test_offered_draft_outlives_new_edits(own_page: Browser, composition: Path) -> None:
    edit(own_page)
    own_page.evaluate(LOOK_AWAY)
    write_outside(composition)
    reload(own_page)
    notice(own_page)
    replace(own_page, '"replicas": 2', '"replicas": 3')
    reload(own_page)
    assert '"replicas": 3' in read_text(own_page)
    assert "There is a draft" in notice(own_page)
    answer(own_page, "Discard the draft")
    reload(own_page)
    assert '"replicas": 3' in read_text(own_page)
    assert own_page.evaluate('document.querySelector("#notices").innerText') == ""


@pytest.mark.parametrize("way", ["button", "keys"])
def test_saving_writes_the_file(own_page: Browser, composition: Path, way: str) -> None:
    composition.chmod(0o640)
    before = composition.read_text()
    edit(own_page)
    if way == "keys":
        own_page.press("s", "Control")
    else:
        own_page.evaluate('document.querySelector("#save").click()')
    own_page.wait_for(SAVED)
    assert composition.read_text() == before.replace('"replicas": 2', '"replicas": 7')
    assert composition.stat().st_mode & 0o777 == 0o640
    assert own_page.evaluate(EDITED) == 0
    assert own_page.evaluate('document.querySelector("#save").disabled')
    assert own_page.evaluate("Object.keys(localStorage).length") == 0
    assert [item.name for item in composition.parent.iterdir() if item.name[0] == "."] == []


TITLE = 'document.querySelector("#save").title'


@pytest.mark.parametrize(
    ("folder", "is_edited", "reason"),
    [
        pytest.param("starlark-status", False, "This file is as it is on disk", id="unchanged"),
        pytest.param("starter: starlark", False, "A starter is no folder on disk", id="starter"),
        pytest.param("starter: starlark", True, "A starter is no folder on disk", id="edited"),
    ],
)
def test_why_a_file_cannot_be_saved_is_shown(
    own_page: Browser, folder: str, is_edited: bool, reason: str
) -> None:
    choose(own_page, folder)
    if is_edited:
        replace(own_page, "\n", "\n")
        own_page.type("# mine\n")
        own_page.wait_for(EDITED)
    assert own_page.evaluate('document.querySelector("#save").disabled')
    assert str(own_page.evaluate(TITLE)).startswith(reason)


@pytest.mark.parametrize("name", ["changes", "graph", "events"])
def test_reload_opens_the_same_file_and_pane(own_page: Browser, name: str) -> None:
    open_file(own_page, "xr.yaml")
    shown = pane(own_page, name)
    text = read_text(own_page)
    reload(own_page)
    assert read_text(own_page) == text
    assert own_page.evaluate(CHOSEN) == ["xr.yaml", name]
    assert own_page.evaluate('document.querySelector("#pane").innerText') == shown


def test_reload_of_a_file_that_is_gone_opens_the_first(own_page: Browser, own_root: Path) -> None:
    extra = own_root / "starlark-status" / "required.yaml"
    extra.write_text("# nothing\n")
    wait_until(lambda: extra.name in file_names(own_page))
    open_file(own_page, extra.name)
    own_page.evaluate(LOOK_AWAY)
    extra.unlink()
    reload(own_page)
    assert own_page.evaluate(CHOSEN) == ["composition.yaml", "documents"]


def test_saving_keeps_the_line_ends_of_the_file(own_page: Browser, composition: Path) -> None:
    data = composition.read_bytes().replace(b"\n", b"\r\n")
    composition.write_bytes(data)
    reload(own_page)
    edit(own_page)
    own_page.press("s", "Control")
    own_page.wait_for(SAVED)
    assert composition.read_bytes() == data.replace(b'"replicas": 2', b'"replicas": 7')


def test_new_file_is_saved(own_page: Browser, composition: Path) -> None:
    own_page.evaluate(
        """(() => { const add = document.querySelector("#add");
        add.value = "required.yaml"; add.dispatchEvent(new Event("change")); })()"""
    )
    assert own_page.evaluate("document.activeElement.ariaLabel") == "Text of required.yaml"
    own_page.type("# nothing yet\n")
    own_page.press("s", "Control")
    own_page.wait_for(SAVED)
    assert composition.with_name("required.yaml").read_text() == "# nothing yet\n"


def test_saving_refuses_a_file_that_changed(own_page: Browser, composition: Path) -> None:
    own_page.evaluate(LOOK_AWAY)
    edit(own_page)
    text = write_outside(composition)
    own_page.press("s", "Control")
    shown = notice(own_page)
    assert "was changed on disk" in shown
    assert "It was not saved" in shown
    assert "- # from outside" in shown
    assert '"replicas": 7' in shown
    assert composition.read_text() == text
    answer(own_page, "Save mine all the same")
    own_page.wait_for(SAVED)
    assert composition.read_text() == read_text(own_page)


def test_deleted_file_can_be_saved_again(own_page: Browser, composition: Path) -> None:
    edit(own_page)
    composition.unlink()
    assert "was deleted on disk" in notice(own_page)
    answer(own_page, "Keep mine")
    own_page.press("s", "Control")
    own_page.wait_for(SAVED)
    assert '"replicas": 7' in composition.read_text()


@at_each_size
def test_change_on_disk_is_followed(own_page: Browser, composition: Path) -> None:
    select(own_page, 20, 20)
    composition.write_text(composition.read_text().replace('"replicas": 2', '"replicas": 5'))
    own_page.wait_for("document.querySelector('textarea').value.includes('\"replicas\": 5')")
    own_page.wait_for(GOOD)
    assert changed_lines(own_page) == [["-", "replicas:", "2"], ["+", "replicas:", "5"]]
    assert own_page.evaluate('document.querySelector("textarea").selectionStart') == 20


def test_new_file_on_disk_is_followed(own_page: Browser, composition: Path) -> None:
    composition.with_name("required.yaml").write_text("")
    wait_until(lambda: "required.yaml" in file_names(own_page))
    composition.with_name("required.yaml").unlink()
    wait_until(lambda: "required.yaml" not in file_names(own_page))


@pytest.mark.parametrize(
    ("choice", "is_mine"), [("Keep mine", True), ("Take the one on disk", False)]
)
def test_edit_is_not_overwritten(
    own_page: Browser, composition: Path, choice: str, is_mine: bool
) -> None:
    edit(own_page)
    mine = read_text(own_page)
    text = write_outside(composition)
    assert "while you edited it" in notice(own_page)
    assert read_text(own_page) == mine
    answer(own_page, choice)
    assert read_text(own_page) == (mine if is_mine else text)
    if is_mine:
        own_page.press("s", "Control")
        own_page.wait_for(SAVED)
        assert composition.read_text() == mine


def test_taken_version_can_be_undone(own_page: Browser, composition: Path) -> None:
    edit(own_page)
    mine = read_text(own_page)
    write_outside(composition)
    notice(own_page)
    answer(own_page, "Take the one on disk")
    select(own_page, 0, 0)
    own_page.press("z", "Control")
    assert read_text(own_page) == mine


def test_reverting_goes_back_to_the_disk(own_page: Browser, composition: Path) -> None:
    edit(own_page)
    mine = read_text(own_page)
    reload(own_page)
    own_page.evaluate('document.querySelector("#revert").click()')
    assert read_text(own_page) == composition.read_text()
    assert own_page.evaluate("Object.keys(localStorage).length") == 0
    assert own_page.evaluate('document.querySelector("#revert").disabled')
    select(own_page, 0, 0)
    own_page.press("z", "Control")
    assert read_text(own_page) == mine


def test_reverting_takes_a_new_file_away(own_page: Browser) -> None:
    own_page.evaluate(
        """(() => { const add = document.querySelector("#add");
        add.value = "required.yaml"; add.dispatchEvent(new Event("change")); })()"""
    )
    own_page.type("# nothing yet")
    own_page.evaluate('document.querySelector("#revert").click()')
    assert "required.yaml" not in file_names(own_page)


def test_changes_since_the_last_save(own_page: Browser) -> None:
    edit(own_page)
    own_page.press("s", "Control")
    own_page.wait_for(SAVED)
    replace(own_page, '"replicas": 7', '"replicas": 9')
    own_page.wait_for(GOOD)
    assert changed_lines(own_page) == [["-", "replicas:", "2"], ["+", "replicas:", "9"]]
    own_page.evaluate(
        """(() => { const since = document.querySelector("#since");
        since.value = "saved"; since.dispatchEvent(new Event("change")); })()"""
    )
    assert changed_lines(own_page) == [["-", "replicas:", "7"], ["+", "replicas:", "9"]]


def test_starter_is_not_saved(own_page: Browser) -> None:
    choose(own_page, "starter: starlark")
    select(own_page, 0, 0)
    own_page.type("# note\n")
    own_page.press("s", "Control")
    own_page.wait_for(f'{BAD} && document.querySelector("#state").textContent.includes("init")')


ATTACK = """<!doctype html><meta charset="utf-8"><body><script>
const target = TARGET, query = QUERY;
const json = JSON.stringify(query);
const ways = [
  () => fetch(target, { method: "POST", mode: "no-cors", credentials: "include", body: json }),
  () => fetch(target, { method: "POST", credentials: "include", body: json,
                        headers: { "Content-Type": "application/json" } }),
  () => navigator.sendBeacon(target, new Blob([json], { type: "application/json" })),
  () => { const form = document.createElement("form");
          Object.assign(form, { method: "post", action: target, target: "frame" });
          form.enctype = "text/plain";
          const field = document.createElement("input");
          field.name = json.slice(0, -1) + ',"x":"'; field.value = '"}';
          form.append(field); document.body.append(form); form.submit(); },
];
(async () => {
  for (const way of ways) await Promise.resolve().then(way).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 300));
  document.title = "over";
})();
</script><iframe name="frame"></iframe>
"""  # fmt: skip


@contextmanager
def foreign_site(page: str) -> Iterator[str]:
    """A site on another port of this host, to which the browser sends the same cookies."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *args: object) -> None:
            pass

    with http_server.running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/"


def test_foreign_page_cannot_save(own_page: Browser, composition: Path) -> None:
    before = composition.read_text()
    digest = own_page.evaluate(
        """fetch("/api/folder", {method: "POST", headers: {"Content-Type": "application/json"},
        body: '{"folder": "starlark-status"}'}).then((answer) => answer.json())
        .then(({files}) => files["composition.yaml"].digest)"""
    )
    query = {
        "folder": "starlark-status",
        "file": "composition.yaml",
        "text": "stolen",
        "digest": digest,
    }
    attack = ATTACK.replace("TARGET", json.dumps(f"{own_page.origin}/api/save"))
    with foreign_site(attack.replace("QUERY", json.dumps(query))) as address:
        own_page.open(address)
        own_page.wait_for('document.title === "over"')
    assert composition.read_text() == before
    # The same request of the page itself is good.
    own_page.open(own_page.origin)
    own_page.wait_for(GOOD)
    query_text = json.dumps(json.dumps({**query, "text": before + "# saved\n"}))
    own_page.evaluate(
        f"""fetch("/api/save", {{method: "POST", body: {query_text},
        headers: {{"Content-Type": "application/json"}}}}).then((answer) => answer.json())"""
    )
    assert composition.read_text() == before + "# saved\n"


def test_file_that_is_not_text_is_left_alone(own_page: Browser, composition: Path) -> None:
    data = bytes(range(256))
    (composition.parent / "programs").mkdir()
    (composition.parent / "programs" / "picture.bin").write_bytes(data)
    reload(own_page)
    assert "programs/picture.bin is used as it is" in notice(own_page)
    assert "programs/picture.bin" not in file_names(own_page)
    open_file(own_page, "xr.yaml")
    assert (composition.parent / "programs" / "picture.bin").read_bytes() == data
