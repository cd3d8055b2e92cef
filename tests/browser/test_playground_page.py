"""The playground in a real browser, as its author sees it."""

import json
import shutil
from pathlib import Path

import pytest
from browser.browser import Browser
from browser.conftest import EXAMPLES, at_each_size
from browser.pages import BAD, GOOD, choose, file_names, open_file, pane, replace

from function_script.cli import execute


@at_each_size
def test_problems_are_marked(page: Browser) -> None:
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


@pytest.mark.parametrize("before", ["\\t", "\u6f22\u5b57", "\U0001f600e\u0301"], ids=ascii)
def test_mark_is_at_its_text(page: Browser, before: str) -> None:
    """A tab and a wide character are not as wide as others."""
    replace(page, '["image"]', f'["image"] + "{before}".imgae')
    page.wait_for(BAD)
    assert page.evaluate(
        """(() => {
        const texts = document.createTreeWalker(document.querySelector(".sheet pre"), 4);
        while (!texts.nextNode().data.includes("imgae"));
        const range = new Range(), mark = document.querySelector(".marks u");
        range.setStart(texts.currentNode, texts.currentNode.data.indexOf("imgae"));
        const left = (part) => part.getBoundingClientRect().left;
        return Math.abs(left(mark) - left(range)) < 1 && mark.textContent === "imgae"; })()"""
    )


def test_mended_is_good_again(page: Browser) -> None:
    replace(page, '["image"]', '["imgae"]')
    page.wait_for(BAD)
    replace(page, '["imgae"]', '["image"]')
    page.wait_for(GOOD)
    assert page.evaluate('document.querySelector("#problems").innerText') == ""
    assert page.evaluate('document.querySelectorAll(".marks i, .gutter b").length') == 0


def test_graph(page: Browser) -> None:
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
    assert "is not yet ready" in pane(page, "events")


def test_copied_case_passes(page: Browser, tmp_path: Path) -> None:
    page.permit("clipboardReadWrite", "clipboardSanitizedWrite")
    page.evaluate('document.querySelector("#case").click()')
    copied = page.wait_for("/opied/.exec(document.querySelector('#case').textContent)?.input")
    assert copied == "Copied", page.evaluate('document.querySelector("#state").textContent')
    text = str(page.evaluate("navigator.clipboard.readText()"))
    folder = tmp_path / "starlark-status"
    shutil.copytree(EXAMPLES / folder.name, folder)
    (folder / "copied.case.yaml").write_text(text)
    assert execute(["test", "--ci", str(folder), "--run", "copied"]) == 0


def test_programs_in_files(browser: Browser) -> None:
    choose(browser, "filesystem-source")
    program = next(name for name in file_names(browser) if name.startswith("programs/"))
    open_file(browser, program)
    browser.evaluate('document.querySelector("textarea").setSelectionRange(0, 0)')
    browser.evaluate('document.querySelector("textarea").focus()')
    browser.type("{{ nothing. }}\n)")
    browser.wait_for(BAD)
    bad = browser.evaluate('document.querySelector("#files .error").textContent')
    assert bad == program


@pytest.mark.parametrize(("width", "height"), [(390, 844), (320, 568), (1366, 768), (1920, 1080)])
def test_content_stays_within_the_edge(page: Browser, width: int, height: int) -> None:
    """On a phone, a laptop and a large screen, the page is as wide as the window, in both views."""
    page.resize(width, height, is_phone=width < 800)
    try:
        for view in ("edit", "result"):
            page.evaluate(f"document.body.dataset.view = {json.dumps(view)}")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.evaluate("document.documentElement.scrollHeight") == height
    finally:
        page.resize(*page.size)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1366, 768), (1920, 1080)])
def test_graph_is_seen_at_a_glance(page: Browser, width: int, height: int) -> None:
    page.resize(width, height, is_phone=width < 800)
    try:
        page.evaluate('document.body.dataset.view = "result"')
        page.evaluate("document.querySelector('[data-pane=graph]').click()")
        assert page.wait_for('document.querySelectorAll("#pane rect").length > 1')
        boxes = '[...document.querySelectorAll("#pane rect")]'
        edges = page.evaluate(f"{boxes}.map((box) => box.getBoundingClientRect().right)")
        assert isinstance(edges, list)
        assert max(edges) < width
        assert page.evaluate('document.querySelectorAll("#pane .legend span").length') == 2
    finally:
        page.resize(*page.size)
        page.evaluate("document.querySelector('[data-pane=documents]').click()")


def test_head_has_two_rows_on_a_phone(page: Browser) -> None:
    page.resize(390, 844, is_phone=True)
    try:
        assert page.evaluate('document.querySelector("header").offsetHeight < 90')
    finally:
        page.resize(*page.size)


def test_page_loads_nothing_from_elsewhere(page: Browser) -> None:
    loaded = page.evaluate('performance.getEntriesByType("resource").map((entry) => entry.name)')
    assert isinstance(loaded, list)
    assert loaded
    assert {name.rpartition("/")[0].partition("/api")[0] for name in loaded} == {page.origin}
