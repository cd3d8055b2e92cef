"""Results of the playground: functions elsewhere, other folders meanwhile, findings, the graph."""

import itertools
import json
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest
from browser.browser import Browser
from browser.conftest import EXAMPLES, at_each_size, open_playground
from browser.pages import (
    BAD,
    DONE,
    GOOD,
    TEXT,
    changed_lines,
    choose,
    file_names,
    open_file,
    pane,
    put_text,
    read_text,
    reload,
    replace,
    start_choosing,
)
from support.timing import wait_until

FOREIGN = """\
  - step: elsewhere
    functionRef:
      name: function-elsewhere
"""
DEVELOPMENT = """\
---
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: function-elsewhere
  annotations:
    render.crossplane.io/runtime: Development
    render.crossplane.io/runtime-development-target: {}
spec:
  package: registry.example.org/function-elsewhere:v1
"""
SLOW = """\
def main(req):
    n = 0
    for i in range(6000000):
        n += i
    return {"desired": {"resources": {"slow": {"resource": {
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"n": str(n)}}}}}}
"""
MANY = """\
def main(req):
    resources = {"r-0": {"resource": thing()}}
    for i in range(1, 300):
        resources["r-%d" % i] = {"resource": thing(), "depends_on": ["r-%d" % (i - 1)]}
    return {"desired": {"resources": resources}}

def thing():
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}
"""
ENDLESS = """\
def main(req):
    for i in range(1000000000):
        pass
"""
# The header has one row, and nothing of it is cut off.
FITS = """(() => { const header = document.querySelector("header");
    return header.scrollWidth <= header.clientWidth && header.clientHeight < 70; })()"""
READY = MANY.replace(', "depends_on": ["r-%d" % (i - 1)]', "")


def with_script(folder: Path, script: str) -> None:
    """Replace the script of an example."""
    file = folder / "composition.yaml"
    head = file.read_text().partition("script: |\n")[0]
    lines = "".join(f"        {line}\n" if line else "\n" for line in script.splitlines())
    file.write_text(f"{head}script: |\n{lines}")


def add_foreign_step(root: Path, functions: str = "") -> None:
    """Add a step of another function to the example's pipeline."""
    folder = root / "starlark-status"
    with (folder / "composition.yaml").open("a") as file:
        file.write(FOREIGN)
    with (folder / "functions.yaml").open("a") as file:
        file.write(functions)


def resource_names(page: Browser) -> list[str]:
    """Return the names in the pane of resources."""
    pane(page, "documents")
    names = page.evaluate(
        '[...document.querySelectorAll("#pane summary b")].map((b) => b.textContent)'
    )
    assert isinstance(names, list)
    return names


@pytest.fixture
def dead_address() -> Iterator[str]:
    """An address at which a connection is accepted, and nothing is ever answered."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield f"127.0.0.1:{silent.getsockname()[1]}"


def test_function_that_does_not_answer_is_told_beside_the_results(
    window: Browser, root: Path, dead_address: str
) -> None:
    add_foreign_step(root, DEVELOPMENT.format(dead_address))
    with open_playground(window, root) as page:
        started = time.monotonic()
        reload(page)
        assert time.monotonic() - started < 5
        problems = str(page.evaluate('document.querySelector("#problems").innerText'))
        assert f"no function answers at {dead_address}" in problems
        assert "--function function-elsewhere=skip" in problems
        assert resource_names(page) == ["the XR", "deployment", "service"]


@at_each_size
def test_function_without_a_place_is_told_beside_the_results(window: Browser, root: Path) -> None:
    add_foreign_step(root)
    with open_playground(window, root) as page:
        problems = str(page.evaluate('document.querySelector("#problems").innerText'))
        assert "--function function-elsewhere=" in problems
        assert resource_names(page) == ["the XR", "deployment", "service"]


@pytest.mark.parametrize("runtime", ["skip", "local", "HOST:PORT"])
def test_flag_says_where_a_function_runs(
    window: Browser, root: Path, dead_address: str, runtime: str
) -> None:
    add_foreign_step(root, DEVELOPMENT.format("127.0.0.1:1"))
    place = dead_address if runtime == "HOST:PORT" else runtime
    with open_playground(window, root, {"function-elsewhere": place}) as page:
        problems = str(page.evaluate('document.querySelector("#problems").innerText'))
        expected = {"skip": "", "local": "input: is required", "HOST:PORT": dead_address}[runtime]
        assert (expected in problems) if expected else problems == ""
        assert "127.0.0.1:1 " not in problems


@at_each_size
def test_another_folder_meanwhile_shows_its_own_result(window: Browser, root: Path) -> None:
    shutil.copytree(root / "starlark-status", root / "slow")
    with_script(root / "slow", SLOW)
    with open_playground(window, root) as page:
        choose(page, "starlark-status")
        start_choosing(page, "slow")
        page.wait_for('document.querySelector("#result").ariaBusy === "true"')
        page.wait_for('document.querySelector("#state").textContent === "rendering…"')
        choose(page, "starlark-status")
        assert resource_names(page) == ["the XR", "deployment", "service"]
        # The page has got the slow answer too, once a later one of the same server is there.
        choose(page, "slow", DONE)
        choose(page, "starlark-status")
        assert resource_names(page) == ["the XR", "deployment", "service"]
        assert page.evaluate('document.querySelector("#result").ariaBusy') == "false"


def test_render_begun_before_another_folder_is_ignored(browser: Browser) -> None:
    """Questions about the old folder that are answered late change nothing in the new one."""
    choose(browser, "filesystem-source")
    browser.evaluate(
        """(() => { const ask = fetch, waits = {"/api/folder": 1000, "/api/digests": 1500};
        window.fetch = (path, options) => new Promise((resolve) =>
        setTimeout(resolve, waits[path] ?? 0)).then(() => ask(path, options)); })()"""
    )
    start_choosing(browser, "starlark-status")
    replace(browser, "apiVersion", "apiversion")
    expected = ["composition.yaml", "xr.yaml", "observed.yaml", "functions.yaml"]
    browser.wait_for(f"{GOOD} && {TEXT}.includes('starlark-status')")
    # A question about changes on disk that began before is answered within 1.5 s.
    end = time.monotonic() + 2
    while time.monotonic() < end:
        assert file_names(browser) == expected
        assert browser.evaluate('document.querySelectorAll("#files .edited").length') == 0
    assert resource_names(browser) == ["the XR", "deployment", "service"]
    browser.evaluate("localStorage.clear()")
    browser.reload()
    browser.wait_for(DONE)


def test_context_and_required_resources_are_those_of_render(browser: Browser) -> None:
    choose(browser, "program-in-context")
    assert resource_names(browser) == ["the XR", "bucket"]
    open_file(browser, "context/example.org/modules.yaml")
    replace(browser, "workshop", "studio") if "workshop" in str(
        browser.evaluate('document.querySelector("textarea").value')
    ) else replace(browser, "}}", "}}-studio")
    browser.wait_for(DONE)
    assert "studio" in json.dumps(changed_lines(browser))


def test_example_renders(window: Browser) -> None:
    with open_playground(window, EXAMPLES) as page:
        folders = page.evaluate(
            '[...document.querySelectorAll("#folders option")].map((o) => o.value)'
        )
        assert isinstance(folders, list)
        for folder in folders:
            choose(page, folder, DONE)
            is_good = page.evaluate(GOOD)
            assert is_good is not folder.startswith("error-"), folder


@at_each_size
@pytest.mark.parametrize("way", ["button", "key"])
def test_rendering_is_cancelled(window: Browser, root: Path, way: str) -> None:
    with open_playground(window, root) as page:
        text = read_text(page)
        names = resource_names(page)
        put_text(page, text.partition("script: |\n")[0] + f"script: |\n{indent(ENDLESS, ' ' * 8)}")
        page.wait_for('!document.querySelector("#cancel").hidden')
        assert page.evaluate(FITS)
        if way == "button":
            page.evaluate('document.querySelector("#cancel").click()')
        else:
            page.press("Escape")
        page.wait_for('document.querySelector("#state").textContent.startsWith("cancelled")')
        assert page.evaluate('document.querySelector("#cancel").hidden')
        assert resource_names(page) == names
        put_text(page, text)
        page.wait_for(GOOD)


@at_each_size
def test_changes_are_those_since_the_folder_was_opened(page: Browser) -> None:
    for old, new in (("2", "7"), ("7", "8")):
        replace(page, f'"replicas": {old}', f'"replicas": {new}')
        page.wait_for(GOOD)
    assert changed_lines(page) == [["-", "replicas:", "2"], ["+", "replicas:", "8"]]


@at_each_size
def test_findings_of_check_are_marks_with_messages(page: Browser) -> None:
    """A warning does not hide the result; its message is at the pointer and in the list."""
    replace(
        page,
        "      script: |",
        "      modules:\n        a.star: |\n          b = 1\n      script: |",
    )
    page.wait_for(GOOD)
    assert len(resource_names(page)) == 3
    button = 'document.querySelector("#problems button.warning")'
    message = str(page.wait_for(f"{button}?.querySelector('strong').lastChild.textContent"))
    assert "a.star" in message
    line = page.evaluate('+document.querySelector(".gutter b.warning").textContent')
    assert f"composition.yaml:{line}" in str(page.evaluate(f"{button}.innerText"))
    x, y = page.evaluate(
        """(() => { const { x, y, height } =
        document.querySelector(".marks i.warning").getBoundingClientRect();
        return [x + 2, y + height / 2]; })()"""
    )  # type: ignore[misc] # two numbers
    page.move(x, y)
    page.wait_for('!document.querySelector("#hover").hidden')
    assert message in str(page.evaluate('document.querySelector("#hover").textContent'))
    page.move(x, y + 200)
    page.wait_for('document.querySelector("#hover").hidden')


def test_error_of_the_run_is_not_told_twice(page: Browser) -> None:
    put_text(page, "kind: [")
    page.wait_for(BAD)
    assert page.evaluate('document.querySelectorAll("#problems button").length') == 1


def boxes(page: Browser) -> list[list[float]]:
    """Return left, top, right and bottom of the graph's boxes."""
    pane(page, "graph")
    rows = page.evaluate(
        """[...document.querySelectorAll("#pane rect")].map((box) => {
        const { left, top, right, bottom } = box.getBoundingClientRect();
        return [left, top, right, bottom]; })"""
    )
    assert isinstance(rows, list)
    return rows


@at_each_size
@pytest.mark.parametrize(("script", "state"), [(MANY, "waiting"), (READY, "unready")])
def test_three_hundred_boxes_are_in_columns(
    window: Browser, root: Path, script: str, state: str
) -> None:
    with_script(root / "starlark-status", script)
    (root / "starlark-status" / "observed.yaml").unlink()
    with open_playground(window, root) as page:
        places = boxes(page)
        assert len(places) == 301
        assert page.evaluate(f'document.querySelectorAll("#pane g.{state}").length') in {299, 301}
        right = page.evaluate('document.querySelector("#pane").getBoundingClientRect().right')
        assert isinstance(right, (int, float))
        assert max(place[2] for place in places) < right
        columns = {place[0] for place in places[1:]}
        assert len(columns) == (3 if page.size[0] == 1366 else 4)
        ordered = sorted(places[1:])
        assert all(
            one[0] != other[0] or one[3] < other[1] for one, other in itertools.pairwise(ordered)
        )
        assert page.evaluate(
            """(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
            scrollHeight > clientHeight && scrollWidth <= clientWidth)
            (document.querySelector("#pane"))"""
        )


@at_each_size
def test_waiting_resources_are_drawn_and_listed(window: Browser, root: Path) -> None:
    shutil.copytree(EXAMPLES / "starlark-order", root / "starlark-order")
    with open_playground(window, root) as page:
        choose(page, "starlark-order")
        pane(page, "graph")
        waiting = page.evaluate('document.querySelector("#pane g.waiting title").textContent')
        assert waiting == "instance: waiting for subnets"
        assert "1 waiting" in str(page.evaluate('document.querySelector(".legend").textContent'))
        assert page.evaluate(
            """[...document.querySelectorAll("#pane path.reference")]
            .some((path) => path.dataset.ends === '["resource/instance","resource/subnets"]')"""
        )
        assert "for subnets" in pane(page, "documents")


def test_text_of_others_is_shown_in_its_order(page: Browser) -> None:
    """A character turns the rest of its line around."""
    line = "def main(req):"
    replace(page, line, line + "\n            fail('a\\u202eb\\u2028c')")
    page.wait_for(BAD)
    text = page.evaluate('document.querySelector("#problems").innerText')
    assert "a\\u202eb\\u2028c" in str(text)


def test_resources_out_of_view_are_not_laid_out(window: Browser, root: Path) -> None:
    with_script(root / "starlark-status", READY)
    with open_playground(window, root) as page:
        pane(page, "documents")
        assert page.evaluate(
            """[...document.querySelectorAll("#pane pre")]
            .filter((text) => text.checkVisibility({ contentVisibilityAuto: true })).length < 30"""
        )


def test_unfinished_text_is_painted_at_once(page: Browser) -> None:
    """Thirty escapes, which a pattern could read in a thousand million ways."""
    assert page.evaluate(
        r"""import("/highlight.js").then(({ highlight }) => { const start = performance.now();
        highlight('a: "' + "\\n".repeat(30)); return performance.now() - start < 3000; })"""
    )


def test_playground_that_has_ended_is_told(window: Browser, root: Path) -> None:
    with open_playground(window, root) as page:
        page.evaluate('window.fetch = () => Promise.reject(new TypeError("over"))')
        wait_until(
            lambda: (
                "has ended" in str(page.evaluate('document.querySelector("#state").textContent'))
            )
        )


def click(page: Browser, expression: str) -> None:
    """Click with the pointer in the middle of an element's first characters."""
    x, y = page.evaluate(
        f"""(() => {{ const element = {expression}; element.scrollIntoView({{ block: "center" }});
        const {{ x, y, height }} = element.getBoundingClientRect(); return [x + 30, y + height / 2];
        }})()"""
    )  # type: ignore[misc] # two numbers
    page.click(x, y)


def row(text: str) -> str:
    """Return the script of the line of a document that begins with a text."""
    return (
        '[...document.querySelectorAll("details pre span[data-line]")]'
        f".find((row) => row.textContent.trim().startsWith({json.dumps(text)}))"
    )


WRITER = 'document.querySelector("#writer").textContent'
MARKED = '[...document.querySelectorAll("#pane .written")].map((row) => row.textContent.trim())'


@at_each_size
def test_clicked_value_marks_the_line_that_wrote_it(page: Browser) -> None:
    pane(page, "documents")
    open_file(page, "xr.yaml")
    click(page, row("replicas:"))
    writer = str(page.wait_for(WRITER))
    number = 1 + next(
        at for at, line in enumerate(read_text(page).splitlines()) if '"replicas"' in line
    )
    assert writer == f'Written by step "app" at composition.yaml:{number}.'
    assert page.evaluate(MARKED) == ["replicas: 2"]
    top = page.evaluate('document.querySelector(".marks .line").style.top')
    assert top == f"calc(1em * var(--line) * {number - 1})" or str(number - 1) in str(top)
    replace(page, '"replicas": 2', '"replicas": 3')
    assert page.evaluate(MARKED) == []
    page.wait_for(GOOD)
    assert page.evaluate(WRITER) == ""


def test_clicked_line_marks_its_values(page: Browser) -> None:
    pane(page, "documents")
    start = read_text(page).index('"replicas"')
    page.evaluate(f"""(() => {{ const area = document.querySelector("textarea");
        area.setSelectionRange({start}, {start}); area.click(); }})()""")
    page.wait_for(f"{WRITER}.includes('wrote what is marked')")
    assert page.evaluate(MARKED) == ["replicas: 2"]
    page.evaluate("""(() => { const area = document.querySelector("textarea");
        area.setSelectionRange(0, 0); area.click(); })()""")
    assert str(page.wait_for(f"{WRITER}.startsWith('No value is known') && {WRITER}")).endswith(
        "composition.yaml:1 wrote."
    )
    assert page.evaluate(MARKED) == []


def test_value_without_a_line_says_so(page: Browser) -> None:
    pane(page, "documents")
    click(page, row("crossplane.io/composite:"))
    assert page.wait_for(WRITER) == "Written by Crossplane, or by no step."
    put_text(page, "kind: [")
    page.wait_for(BAD)
    click(page, row("replicas:"))
    assert str(page.wait_for(WRITER)).startswith("Not known")
