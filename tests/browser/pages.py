"""The playground's page in a browser, as its author uses it."""

import json

from browser.browser import Browser

GOOD = 'document.querySelector("#state")?.dataset.state === "good"'
BAD = 'document.querySelector("#state")?.dataset.state === "bad"'
DONE = '["good", "bad"].includes(document.querySelector("#state")?.dataset.state)'
CARET = "‸"
TEXT = 'document.querySelector("textarea").value'


def choose(browser: Browser, name: str, state: str = GOOD) -> None:
    """Open another folder, and wait until it is rendered."""
    start_choosing(browser, name)
    browser.wait_for(state)


def start_choosing(browser: Browser, name: str) -> None:
    """Open another folder, and do not wait."""
    browser.evaluate(
        f"""(() => {{ const folders = document.querySelector("#folders");
        document.querySelector("#state").dataset.state = "";
        folders.value = {json.dumps(name)}; folders.dispatchEvent(new Event("change")); }})()"""
    )


def select(browser: Browser, start: int, end: int) -> None:
    """Select characters of the editor."""
    browser.evaluate(
        f"""(() => {{ const area = document.querySelector("textarea");
        area.focus(); area.setSelectionRange({start}, {end}); }})()"""
    )


def replace(browser: Browser, old: str, new: str) -> None:
    """Select ``old`` in the editor and type ``new`` over it."""
    start = read_text(browser).index(old)
    select(browser, start, start + len(old))
    browser.evaluate('document.querySelector("#state").dataset.state = ""')
    browser.type(new)


def put_text(browser: Browser, marked: str) -> None:
    """Replace the editor's text; `CARET` is the caret, two of them are the ends of a selection."""
    first, *rest = marked.split(CARET)
    text = first + "".join(rest)
    browser.evaluate(
        f"""(() => {{ const area = document.querySelector("textarea");
        area.focus(); area.value = {json.dumps(text)};
        area.dispatchEvent(new InputEvent("input")); }})()"""
    )
    end = len(first) + len(rest[0]) if len(rest) > 1 else len(first)
    select(browser, len(first), end)


def read_text(browser: Browser) -> str:
    """Return the editor's text."""
    return str(browser.evaluate(TEXT))


def read_marked(browser: Browser) -> str:
    """Return the editor's text with `CARET` at the ends of the selection."""
    return str(
        browser.evaluate(
            f"""(() => {{ const {{ value, selectionStart: a, selectionEnd: b }} =
            document.querySelector("textarea");
            return value.slice(0, a) + "{CARET}" + (a === b ? "" : value.slice(a, b) + "{CARET}")
            + value.slice(b); }})()"""
        )
    )


def open_file(browser: Browser, name: str) -> None:
    """Click the tab of a file."""
    browser.evaluate(f"document.querySelector('#files [data-file=\"{name}\"]').click()")


def file_names(browser: Browser) -> list[str]:
    """Return the names on the tabs of files."""
    names = browser.evaluate(
        '[...document.querySelectorAll("#files [role=tab]")].map((tab) => tab.dataset.file)'
    )
    assert isinstance(names, list)
    return names


def pane(browser: Browser, name: str) -> str:
    """Open a pane of results and return its text."""
    browser.evaluate(f'document.querySelector("[data-pane={name}]").click()')
    return str(browser.evaluate('document.querySelector("#pane").innerText'))


def changed_lines(browser: Browser) -> list[list[str]]:
    """Return the words of the lines that the pane of changes marks."""
    lines = pane(browser, "changes").splitlines()
    return [line.split() for line in lines if line.startswith(("+", "-"))]


def notice(browser: Browser) -> str:
    """Wait for a notice and return the text of all."""
    return str(browser.wait_for('document.querySelector("#notices").innerText.trim()'))


def answer(browser: Browser, label: str) -> None:
    """Click a button of a notice."""
    browser.evaluate(
        f"""[...document.querySelectorAll("#notices button")]
        .find((button) => button.textContent === {json.dumps(label)}).click()"""
    )


def reload(browser: Browser) -> None:
    """Load the page again, as F5 does, and wait until it has rendered."""
    browser.evaluate('document.body.dataset.old = "old"')
    browser.reload()
    browser.wait_for(f"!document.body?.dataset.old && {DONE}")
