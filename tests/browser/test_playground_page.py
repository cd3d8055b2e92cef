"""The playground in a real browser, as its author sees it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.browser import Browser, find

from function_script.cli import execute
from function_script.tools.playground import Playground

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAM = find()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium on PATH")
GOOD = 'document.querySelector("#state")?.dataset.state === "good"'
BAD = 'document.querySelector("#state")?.dataset.state === "bad"'


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser on the playground of two examples."""
    root = tmp_path_factory.mktemp("playground")
    for name in ("starlark-status", "filesystem-source"):
        shutil.copytree(EXAMPLES / name, root / name)
    directory = tmp_path_factory.mktemp("profile")
    with Playground(root) as playground, Browser(str(PROGRAM), directory) as browser:
        browser.resize(1366, 768)
        browser.open(playground.address)
        browser.wait_for(GOOD)
        browser.origin = f"http://{playground.authority}"
        yield browser


@pytest.fixture
def page(browser: Browser) -> Browser:
    """The page with starlark-status as it is in its folder."""
    choose(browser, "starlark-status")
    return browser


def choose(browser: Browser, name: str) -> None:
    """Start from another folder, and wait until it is rendered."""
    browser.evaluate('document.querySelector("#state").dataset.state = ""')
    browser.evaluate(
        f"""(() => {{ const folders = document.querySelector("#folders");
        folders.value = {json.dumps(name)}; folders.dispatchEvent(new Event("change")); }})()"""
    )
    browser.wait_for(GOOD)


def replace(browser: Browser, old: str, new: str) -> None:
    """Select ``old`` in the editor and type ``new`` over it."""
    browser.evaluate(
        f"""(() => {{ const area = document.querySelector("textarea");
        const at = area.value.indexOf({json.dumps(old)});
        area.focus(); area.setSelectionRange(at, at + {len(old)}); }})()"""
    )
    browser.evaluate('document.querySelector("#state").dataset.state = ""')
    browser.type(new)


def pane(browser: Browser, name: str) -> str:
    """The text of a pane of results."""
    browser.evaluate(f'document.querySelector("[data-pane={name}]").click()')
    return str(browser.evaluate('document.querySelector("#pane").innerText'))


def test_typing_renders(page: Browser) -> None:
    """Typing renders without a button, and the difference is shown."""
    replace(page, '"replicas": 2', '"replicas": 7')
    page.wait_for(GOOD)
    changes = pane(page, "changes").splitlines()
    assert [line.split() for line in changes if line.startswith(("+", "-"))] == [
        ["-", "replicas:", "2"],
        ["+", "replicas:", "7"],
    ]


def test_problems_are_marked(page: Browser) -> None:
    """A mistake is shown with its hint, its line has a mark, and its position is a link."""
    replace(page, '["image"]', '["imgae"]')
    page.wait_for(BAD)
    message = str(page.evaluate('document.querySelector("#problems").innerText'))
    assert 'key "imgae" is missing' in message
    assert 'did you mean "image"?' in message
    line = page.evaluate('document.querySelector(".gutter b").textContent')
    assert f"composition.yaml:{line}:" in message
    assert page.evaluate('document.querySelectorAll(".marks i").length') == 1
    page.evaluate('document.querySelector("#problems button").click()')
    at = page.evaluate(
        """(() => { const area = document.querySelector("textarea");
        return area.value.slice(area.selectionStart, area.selectionStart + 20); })()"""
    )
    assert str(at).startswith('xr["spec"]["imgae"]')


def test_mended_is_good_again(page: Browser) -> None:
    """After a correction, the mistake disappears."""
    replace(page, '["image"]', '["imgae"]')
    page.wait_for(BAD)
    replace(page, '["imgae"]', '["image"]')
    page.wait_for(GOOD)
    assert page.evaluate('document.querySelector("#problems").innerText') == ""
    assert page.evaluate('document.querySelectorAll(".marks i, .gutter b").length') == 0


def test_graph(page: Browser) -> None:
    """The graph has the XR and all that it composes, with their state."""
    pane(page, "graph")
    output = page.evaluate(
        '[...document.querySelectorAll("svg g")].map((g) => [g.textContent, g.className.baseVal])'
    )
    assert output == [
        ["App web: not ready yetwebApp", "unready"],
        ["Deployment deployment: not ready yetdeploymentDeployment", "unready"],
        ["Service service: readyserviceService", "ready"],
    ]


def test_events(page: Browser) -> None:
    """Events are listed."""
    assert "is not yet ready" in pane(page, "events")


def test_copied_case_passes(page: Browser, tmp_path: Path) -> None:
    """The button "Copy as case" puts a passing case on the clipboard."""
    page.permit("clipboardReadWrite", "clipboardSanitizedWrite")
    page.evaluate('document.querySelector("#case").click()')
    copied = page.wait_for("/opied/.exec(document.querySelector('#case').textContent)?.input")
    assert copied == "Copied", page.evaluate('document.querySelector("#state").textContent')
    text = str(page.evaluate("navigator.clipboard.readText()"))
    (tmp_path / "copied.case.yaml").write_text(text)
    assert execute(["test", "--ci", str(tmp_path)]) == 0


def test_programs_in_files(browser: Browser) -> None:
    """Programs in files are on the page, and a mistake in one is marked in its own text."""
    choose(browser, "filesystem-source")
    names = browser.evaluate(
        '[...document.querySelectorAll("#files button")].map((b) => b.textContent)'
    )
    assert isinstance(names, list)
    program = next(name for name in names if name.startswith("programs/"))
    browser.evaluate(
        f"""[...document.querySelectorAll("#files button")]
        .find((b) => b.textContent === {json.dumps(program)}).click()"""
    )
    browser.evaluate('document.querySelector("textarea").setSelectionRange(0, 0)')
    browser.evaluate('document.querySelector("textarea").focus()')
    browser.type("{{ nothing. }}\n)")
    browser.wait_for(BAD)
    bad = browser.evaluate('document.querySelector("#files .bad").textContent')
    assert bad == program


@pytest.mark.parametrize(("width", "height"), [(390, 844), (320, 568), (1366, 768)])
def test_nothing_runs_over_the_edge(page: Browser, width: int, height: int) -> None:
    """On a phone and on a laptop, the page is as wide as the window, in both views."""
    page.resize(width, height, is_phone=width < 800)
    try:
        for view in ("edit", "result"):
            page.evaluate(f"document.body.dataset.view = {json.dumps(view)}")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.evaluate("document.documentElement.scrollHeight") == height
    finally:
        page.resize(1366, 768)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1366, 768)])
def test_the_graph_is_seen_at_a_glance(page: Browser, width: int, height: int) -> None:
    """On a phone, too, its boxes are inside of the window, next to a legend of the colours."""
    page.resize(width, height, is_phone=width < 800)
    try:
        page.evaluate('document.body.dataset.view = "result"')
        page.evaluate("document.querySelector('[data-pane=graph]').click()")
        assert page.wait_for('document.querySelectorAll("#pane rect").length > 1')
        boxes = '[...document.querySelectorAll("#pane rect")]'
        edges = page.evaluate(f"{boxes}.map((box) => box.getBoundingClientRect().right)")
        assert isinstance(edges, list)
        assert max(edges) < width
        assert page.evaluate('document.querySelectorAll("#pane .empty span").length') == 3
    finally:
        page.resize(1366, 768)
        page.evaluate("document.querySelector('[data-pane=documents]').click()")


def test_the_head_has_two_rows_on_a_phone(page: Browser) -> None:
    """However long the state's words are."""
    page.resize(390, 844, is_phone=True)
    try:
        assert page.evaluate('document.querySelector("header").offsetHeight < 90')
    finally:
        page.resize(1366, 768)


def test_nothing_from_elsewhere(page: Browser) -> None:
    """All that the page loaded came from its own address."""
    loaded = page.evaluate('performance.getEntriesByType("resource").map((entry) => entry.name)')
    assert isinstance(loaded, list)
    assert loaded
    assert {name.rpartition("/")[0].partition("/api")[0] for name in loaded} == {page.origin}
