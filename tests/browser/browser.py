"""A headless Chromium, told what to do over a pipe: the DevTools protocol without a library."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Self

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE_SECONDS = 60.0
# By key: its Windows code, and the text it types.
_KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "End": (35, ""),
    "Home": (36, ""),
    "ArrowLeft": (37, ""),
    "ArrowRight": (39, ""),
}
_MODIFIERS = {"Control": 2, "Shift": 8}


def find() -> str | None:
    """The browser's path, if there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One page in a browser of its own, with a profile in ``directory``."""

    def __init__(self, program: str, directory: Path) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        flags = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            f"--user-data-dir={directory}",
            "--remote-debugging-pipe",
            "about:blank",
        )
        # The protocol's pipes are descriptors 3 and 4, whatever numbers they have here.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, program, *flags],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._replies = os.fdopen(self._in, "rb")
        self._number = 0
        self._rest = b""
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self._ask("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]

    _session: str | None = None
    origin = ""
    size = (0, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        self._replies.close()

    def open(self, address: str) -> None:
        """Go to a page."""
        self._ask("Page.navigate", url=address)

    def reload(self) -> None:
        """Load the page again."""
        self._ask("Page.reload")

    def forget(self, origin: str) -> None:
        """Delete what pages of an origin have in the local storage."""
        self._ask("Storage.clearDataForOrigin", origin=origin, storageTypes="local_storage")

    def resize(self, width: int, height: int, *, is_phone: bool = False) -> None:
        """The window's size in CSS pixels."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=is_phone,
        )

    def evaluate(self, script: str) -> object:
        """The value of a JavaScript expression."""
        found = self._ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def wait_for(self, script: str) -> object:
        """The value of the expression as soon as it is true; fails when that takes too long."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            if found := self.evaluate(script):
                return found
            time.sleep(0.02)
        page = self.evaluate("document.body.innerText")
        raise AssertionError(f"never true: {script}\n{page}")

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self._ask("Input.insertText", text=text)

    def press(self, key: str, *modifiers: str) -> None:
        """Press and release a key, with Control or Shift."""
        code, text = _KEYS[key] if key in _KEYS else (ord(key.upper()), key)
        held = sum(_MODIFIERS[name] for name in modifiers)
        event: dict[str, object] = {
            "key": key,
            "code": key if key in _KEYS else f"Key{key.upper()}",
            "windowsVirtualKeyCode": code,
            "modifiers": held,
        }
        is_text = text and not held & ~_MODIFIERS["Shift"]
        down = {"type": "keyDown", "text": text} if is_text else {"type": "rawKeyDown"}
        self._ask("Input.dispatchKeyEvent", **event, **down)
        self._ask("Input.dispatchKeyEvent", **event, type="keyUp")

    def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """Move the pointer, press and release its button."""
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def permit(self, *permissions: str) -> None:
        """Grant permissions for which a user would be asked."""
        self._ask("Browser.grantPermissions", permissions=[*permissions])
        self._ask("Page.bringToFront")

    def _ask(self, method: str, **params: object) -> dict:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._reply()
            if reply.get("id") == self._number:
                assert "error" not in reply, (method, reply["error"])
                return reply["result"]

    def _reply(self) -> dict:
        while b"\0" not in self._rest:
            data = self._replies.read1(1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)
