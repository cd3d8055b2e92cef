"""One browser, as large as a small screen, and playgrounds of copied examples.

Tests of the layout run on a large screen, too: they have the mark `at_each_size`.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from browser import pages
from browser.browser import Browser, find
from support.paths import ROOT

from function_script.tools.playground.server import Playground
from function_script.tools.render import renderer

EXAMPLES = ROOT / "examples"
SIZES = [(1366, 768), (1920, 1080)]


class Serve(Protocol):
    """Opens a playground of a directory in the browser."""

    def __call__(self, root: Path, runtimes: Mapping[str, str] | None = None) -> Browser: ...


at_each_size = pytest.mark.parametrize(
    "window", SIZES, indirect=True, ids=lambda size: f"{size[0]}x{size[1]}"
)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser with an empty page."""
    program = find()
    if program is None:
        pytest.skip("there is no Chromium on PATH")
    with Browser(program, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def window(request: pytest.FixtureRequest, chromium: Browser) -> Browser:
    """The browser at the size of the test's screen."""
    size = getattr(request, "param", SIZES[0])
    if chromium.size != size:
        chromium.size = size
        chromium.resize(*size)
    return chromium


@contextmanager
def open_playground(
    window: Browser, root: Path, runtimes: Mapping[str, str] | None = None
) -> Iterator[Browser]:
    """Serve a directory and open it, with a record of what the content policy stopped."""
    options = renderer.Options(runtimes=runtimes or {})
    with Playground(root, 0, options) as playground:
        window.origin = f"http://{playground.authority}"
        window.open(playground.address)
        window.wait_for(f'location.origin === "{window.origin}" && {pages.DONE}')
        yield window
        window.open("about:blank")


@pytest.fixture(scope="module")
def home(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of a playground of three examples."""
    root = tmp_path_factory.mktemp("playground")
    for name in ("starlark-status", "filesystem-source", "program-in-context"):
        shutil.copytree(EXAMPLES / name, root / name)
    with open_playground(chromium, root) as page:
        yield page.origin


@pytest.fixture
def browser(window: Browser, home: str) -> Browser:
    """A browser on the playground of three examples."""
    if window.evaluate("location.origin") != home:
        window.origin = home
        window.open(home)
        window.wait_for(f'location.origin === "{home}" && {pages.DONE}')
    return window


@pytest.fixture
def page(browser: Browser) -> Browser:
    """The page with starlark-status as it is in its folder."""
    browser.evaluate("localStorage.clear()")
    pages.choose(browser, "starlark-status")
    return browser


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with starlark-status, of which a test may change the files."""
    directory = tmp_path / "root"
    shutil.copytree(EXAMPLES / "starlark-status", directory / "starlark-status")
    return directory


@pytest.fixture(scope="module")
def own_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the playground of `own_page`, which has starlark-status alone."""
    directory = tmp_path_factory.mktemp("own") / "root"
    shutil.copytree(EXAMPLES / "starlark-status", directory / "starlark-status")
    return directory


@pytest.fixture(scope="module")
def own_home(chromium: Browser, own_root: Path) -> Iterator[str]:
    """The origin of the playground of `own_root`."""
    with open_playground(chromium, own_root) as page:
        yield page.origin


@pytest.fixture
def own_page(window: Browser, own_root: Path, own_home: str) -> Browser:
    """The page as on a first visit, with files that a test may change: they are copied anew."""
    window.open("about:blank")
    window.wait_for('location.href === "about:blank"')
    window.forget(own_home)
    folder = own_root / "starlark-status"
    shutil.rmtree(folder)
    shutil.copytree(EXAMPLES / "starlark-status", folder)
    window.origin = own_home
    window.open(own_home)
    window.wait_for(f'location.origin === "{own_home}" && {pages.DONE}')
    pages.choose(window, "starlark-status")
    return window
