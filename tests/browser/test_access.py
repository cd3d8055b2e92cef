"""The playground by keyboard and by screen reader, and its room on the screen."""

import re
import shutil
from pathlib import Path

import pytest
from browser.browser import Browser
from browser.conftest import EXAMPLES, at_each_size, open_playground
from browser.pages import BAD, GOOD, choose, file_names, replace

FOCUS = "document.activeElement.id || document.activeElement.ariaLabel"


@at_each_size
def test_focus_goes_through_the_page_in_its_order(page: Browser) -> None:
    page.evaluate('document.querySelector("#folders").focus()')
    order = []
    for _ in range(7):
        order.append(page.evaluate(FOCUS))
        page.press("Escape")
        page.press("Tab")
    assert order == [
        *("folders", "case", "file-0", "add"),
        *("Text of composition.yaml", "tab-documents", "pane"),
    ]


@pytest.mark.parametrize("tabs", ["files", "panes"])
def test_arrows_move_between_tabs(page: Browser, tabs: str) -> None:
    page.evaluate(f'document.querySelector("#{tabs} [role=tab]").focus()')
    page.evaluate(f'document.querySelector("#{tabs} [role=tab]").click()')
    count = page.evaluate(f'document.querySelectorAll("#{tabs} [role=tab]").length')
    assert isinstance(count, int)
    chosen = (
        f'[...document.querySelectorAll("#{tabs} [role=tab]")].findIndex((tab) => '
        'tab.ariaSelected === "true" && tab === document.activeElement && tab.tabIndex === 0)'
    )
    for key, at in (
        ("ArrowRight", 1),
        ("End", count - 1),
        ("ArrowRight", 0),
        ("ArrowLeft", count - 1),
        ("Home", 0),
    ):
        page.press(key)
        assert page.evaluate(chosen) == at
    stops = page.evaluate(f"document.querySelectorAll('#{tabs} [tabindex=\"0\"]').length")
    assert stops == 1


def test_tabs_name_their_panels(page: Browser) -> None:
    assert page.evaluate(
        """[...document.querySelectorAll("[role=tab]")].every((tab) =>
        document.getElementById(tab.getAttribute("aria-controls")).role === "tabpanel")"""
    )
    assert page.evaluate(
        """[...document.querySelectorAll("[role=tabpanel]")].every((panel) =>
        document.getElementById(panel.getAttribute("aria-labelledby")).ariaSelected === "true")"""
    )


def test_everything_that_can_be_used_has_a_name(page: Browser) -> None:
    nameless = page.evaluate(
        """[...document.querySelectorAll("button, select, textarea, [role=tabpanel], section")]
        .filter((item) => !(item.ariaLabel || item.textContent.trim() || item.labels?.length ||
        item.getAttribute("aria-labelledby"))).map((item) => item.outerHTML)"""
    )
    assert nameless == []


def test_editor_tells_how_to_leave_it(page: Browser) -> None:
    text = page.evaluate(
        """document.getElementById(document.querySelector("textarea")
        .getAttribute("aria-describedby")).textContent"""
    )
    assert "Escape, then Tab" in str(text)


@at_each_size
def test_tabs_of_all_files_fit(window: Browser, root: Path) -> None:
    folder = root / "starlark-status"
    names = ("required", "credentials", "xrd", "definition")
    for name in names:
        (folder / f"{name}.yaml").write_text("")
    shutil.copytree(EXAMPLES / "filesystem-source" / "programs", folder / "programs")
    shutil.copytree(EXAMPLES / "program-in-context" / "context", folder / "context")
    with open_playground(window, root) as page:
        assert len(file_names(page)) >= 10
        assert page.evaluate(
            """(() => { const row = document.querySelector("#files");
            const { left, right, top, bottom } = row.getBoundingClientRect();
            return row.scrollWidth <= row.clientWidth && row.scrollHeight <= row.clientHeight + 1 &&
            [...row.children].every((tab) => { const box = tab.getBoundingClientRect();
            return box.left >= left && box.right <= right && box.top >= top - 1 &&
            box.bottom <= bottom + 1; }); })()"""
        )


def test_content_policy_stops_nothing(window: Browser, root: Path) -> None:
    with open_playground(window, root) as page:
        page.evaluate(
            'addEventListener("securitypolicyviolation", () => (document.body.dataset.stopped = 1))'
        )
        for name in ("documents", "changes", "graph", "events"):
            page.evaluate(f'document.querySelector("[data-pane={name}]").click()')
        choose(page, "starter: jinja")
        assert page.evaluate("document.body.dataset.stopped ?? null") is None
        html = str(page.evaluate('fetch("/").then((answer) => answer.text())'))
        assert re.findall(r"\s(?:on\w+|style)=|<style|<script>", html) == []


def test_screen_reader_hears_each_outcome_once(page: Browser) -> None:
    page.evaluate(
        """(() => { globalThis.heard = []; const host = document.querySelector("#announcement");
        new MutationObserver(() => heard.push(host.textContent)).observe(host, {childList: true});
        })()"""
    )
    for old, new in (("2", "3"), ("3", "4")):
        replace(page, f'"replicas": {old}', f'"replicas": {new}')
        page.wait_for(GOOD)
    replace(page, '["image"]', '["imgae"]')
    page.wait_for(BAD)
    assert page.evaluate("heard") == ["1 problem"]
    assert page.evaluate("document.querySelector('#announcement').role") == "status"
