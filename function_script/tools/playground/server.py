"""The playground's HTTP server: loopback only, one session, opened with a token.

The first visit with the token in the address gets a cookie, and the token expires. Every response
forbids the page to load anything from elsewhere. A request that renders or saves must come from the
page itself: with the cookie, from the page's origin, as JSON.
"""

import hmac
import json
import secrets
import tempfile
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Final, Self
from urllib.parse import parse_qs, urlsplit

from function_script.engines.registry import ENGINE_MODULES, LANGUAGES
from function_script.request.values import Object
from function_script.sandbox.pool import PoolOptions
from function_script.texts.errors import FatalError, InputError, cause_of
from function_script.tools import bounded, local_pool, manifests
from function_script.tools.playground import folders
from function_script.tools.playground.workbench import RenderSession
from function_script.tools.project import Project
from function_script.tools.render import renderer

_OPTIONS: Final = renderer.Options()
_HOST: Final = "127.0.0.1"
_COOKIE: Final = "function-script-playground"
_MAX_BODY_BYTES: Final = 8 << 20
_IDLE_SECONDS: Final = 30
# All steps together have the time on the clock that one step may have.
_WALL_CLOCK_FACTOR: Final = 10
# The ports that no service has of its own.
_FIRST_PORT: Final = 49_152
_PORTS: Final = 16_384
_PAGES: Final = {
    "/": ("index.html", "text/html"),
    "/style.css": ("style.css", "text/css"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript")
        for name in (
            *("app", "difference", "drafts", "editor", "graph", "highlight", "history"),
            *("indent", "notices", "panes", "server", "tabs"),
        )
    },
}
_LANGUAGES_PAGE: Final = "/languages.js"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Playground:
    """Serves folders at and below ``root`` from construction until the ``with`` block ends.

    ``port`` None takes the directory's own, or a free one. ``options`` are those of renderings,
    except for their time; ``pool`` are those of the sandbox. ``allowed`` are files and directories
    that the folders' files may lead to. Raises InputError if there is no such directory, or the
    port is in use.
    """

    def __init__(
        self,
        root: Path,
        port: int | None = None,
        options: renderer.Options = _OPTIONS,
        pool: PoolOptions = local_pool.OPTIONS,
        *,
        allowed: Sequence[Path] = (),
    ) -> None:
        self._root = root.resolve()
        project = Project([root], allowed=allowed)
        self._folders = folders.find(root, project)
        self._token: str | None = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(24)
        # Before the sandbox starts: the port may be in use.
        self._server = _listen(self._root, port)
        self._directory = tempfile.TemporaryDirectory(prefix="function-script-")
        mirror = folders.Mirror(Path(self._directory.name) / "folder")
        limits = pool.limits.with_root(mirror.programs)
        self._pool = local_pool.open_pool(ENGINE_MODULES, replace(pool, limits=limits))
        self._pool.prefork()
        # The page has no flag for the time of all steps.
        seconds = pool.limits.timeout_seconds * _WALL_CLOCK_FACTOR
        options = replace(options, timeout_seconds=seconds)
        self._servers = options.servers
        self._render_session = RenderSession(self._pool, mirror, options)
        self._server.playground = self
        self._thread = threading.Thread(target=self._server.serve_forever, name="playground")
        self._thread.start()

    @property
    def address(self) -> str:
        """The page's address, with the token that is valid for one visit."""
        return f"http://{self.authority}/?token={self._token}"

    @property
    def authority(self) -> str:
        """Host and port."""
        return f"{_HOST}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # First, so that no request comes to what is closed below.
        self._server.shutdown()
        self._thread.join()
        self._servers.close()
        self._server.server_close()
        self._pool.close()
        self._directory.cleanup()

    def redeem(self, token: str) -> str | None:
        """Exchange the token for the session's secret, once; return None for any other token."""
        if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        # What a terminal or a browser's history shows of the address opens nothing any more.
        self._token = None
        return self._session

    def is_session(self, session: str) -> bool:
        """Report whether a request belongs to the session."""
        return hmac.compare_digest(session.encode(), self._session.encode())

    def handle(self, path: str, query: Object) -> Object | None:
        """Handle a request of the page; None if there is no such thing. Raises FatalError."""
        session = self._render_session
        folder = self._folders.get(str(query.get("folder")))
        match path, folder:
            case "/api/folders", _:
                # The page keeps drafts by the directory, since another one may be served here.
                return {"root": str(self._root), "folders": [*self._folders]}
            case "/api/folder", folders.Folder():
                return _load(folder)
            case "/api/digests", folders.Folder():
                return {"digests": {**folder.compute_digests()}}
            case "/api/render", folders.Folder():
                return session.render(_texts(query), folder)
            case "/api/writers", _ if isinstance(number := query.get("run"), int):
                return session.find_writers(number)
            case "/api/cancel", _:
                self._pool.cancel()
                return {}
            case "/api/case", folders.Folder():
                return {"case": session.to_case(_texts(query), folder)}
            case "/api/save", folders.Folder():
                return _save(folder, query)
            case _:
                return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Several tabs load at once; a connection without a place waits a second, or is reset.
    request_queue_size = 128
    playground: Playground

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: a broken connection concerns only its browser."""


class _Handler(BaseHTTPRequestHandler):
    """Handles one connection."""

    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "function-script"
    sys_version = ""
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:  # the protocol of BaseHTTPRequestHandler
        """Serve the page's own files."""
        try:
            address = urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "the address cannot be read")
            return
        token = parse_qs(address.query).get("token", [""])[0]
        if not self._is_local():
            self._refuse(HTTPStatus.FORBIDDEN, "not for other hosts")
        elif address.path == "/" and token:
            self._open_session(token)
        elif not self._has_session():
            self._refuse(HTTPStatus.FORBIDDEN, "open the address that the command printed")
        elif address.path == _LANGUAGES_PAGE:
            self._send(HTTPStatus.OK, "text/javascript; charset=utf-8", _languages().encode())
        elif page := _PAGES.get(address.path):
            name, kind = page
            content = resources.files(__package__).joinpath("page", name).read_bytes()
            self._send(HTTPStatus.OK, f"{kind}; charset=utf-8", content)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:  # the protocol of BaseHTTPRequestHandler
        """Serve the page's requests, JSON in both directions."""
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= _MAX_BODY_BYTES:
            # The body stays unread, and would be taken for the next request.
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large, or of unknown length")
            return
        # Before any refusal, for the same reason.
        body = self.rfile.read(length)
        # A page of another origin can send requests here, but never with our own in this header.
        is_same_origin = self.headers.get("Origin") == f"http://{self.headers.get('Host')}"
        # A form of another page cannot have this type.
        is_json = self.headers.get_content_type() == "application/json"
        if not (self._is_local() and is_same_origin and self._has_session() and is_json):
            self._refuse(HTTPStatus.FORBIDDEN, "open the address that the command printed")
            return
        try:
            query = bounded.read_object(body)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
            return
        self._handle(query)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the base class's
        """Log nothing: the terminal belongs to the author."""

    def _handle(self, query: Object) -> None:
        try:
            content = self.server.playground.handle(self.path, query)
        except FatalError as error:
            self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
            return
        except Exception as error:  # noqa: BLE001 - the page shows a bug, whatever it is
            text = f"bug: {type(error).__name__}: {error}: please report it"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, text)
            return
        if content is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such thing")
        else:
            self._send(HTTPStatus.OK, "application/json", json.dumps(content).encode())

    def _open_session(self, token: str) -> None:
        """Exchange the token for a cookie, and remove it from the address."""
        session = self.server.playground.redeem(token)
        # A browser that opens a used address again has the cookie.
        if session is None and not self._has_session():
            text = "this address was used before: start the playground again for a new one"
            self._refuse(HTTPStatus.FORBIDDEN, text)
            return
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "/")
        if session is not None:
            self.send_header("Set-Cookie", f"{self._cookie}={session}; HttpOnly; SameSite=Strict")
        self.send_header("Content-Length", "0")
        self.end_headers()

    @property
    def _cookie(self) -> str:
        """The cookie's name, with the port: browsers send cookies to all ports of a host."""
        return f"{_COOKIE}-{self.server.server_address[1]}"

    def _is_local(self) -> bool:
        """Report whether the request is for our own host name: foreign names may resolve to us."""
        port = self.server.server_address[1]
        return self.headers.get("Host") in {f"{_HOST}:{port}", f"localhost:{port}"}

    def _has_session(self) -> bool:
        pairs = (part.strip().partition("=") for part in self.headers.get("Cookie", "").split(";"))
        is_session = self.server.playground.is_session
        return any(name == self._cookie and is_session(value) for name, _, value in pairs)

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{text}\n".encode("utf-8", "replace"))

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(content)


def _listen(root: Path, port: int | None) -> _Server:
    """Listen on a port; without one, on the same for the directory each time, if it is free.

    Browsers keep drafts by host and port. Raises InputError if the port is in use.
    """
    if port is None:
        own_port = _FIRST_PORT + zlib.crc32(str(root).encode("utf-8", "replace")) % _PORTS
        with suppress(OSError):
            return _Server((_HOST, own_port), _Handler)
        port = 0
    try:
        return _Server((_HOST, port), _Handler)
    except OSError as error:
        raise InputError.of(
            f"cannot listen on {_HOST}:{port}: {cause_of(error)}", hint="choose another --port"
        ) from error


def _load(folder: folders.Folder) -> Object:
    files, unfit = folder.load()
    return {
        "files": {name: _to_page(file) for name, file in files.items()},
        "unfit": {**unfit},
        "digests": {**folder.compute_digests()},
        "addable": [*folders.ADDABLE],
        "isWritable": folder.directory is not None,
    }


def _save(folder: folders.Folder, query: Object) -> Object | None:
    name, text, digest = query.get("file"), query.get("text"), query.get("digest")
    if not isinstance(name, str) or not isinstance(text, str):
        return None
    saved, current = folder.save(name, text, digest if isinstance(digest, str) else None)
    if saved is None:
        return {"conflict": None if current is None else _to_page(current), "digest": None}
    return {"digest": saved}


def _to_page(file: folders.File) -> Object:
    return {"text": file.text, "digest": file.digest}


def _languages() -> str:
    """Return a JavaScript module with the properties of languages that the page needs."""
    languages = [
        {
            "textField": language.text_field,
            "extensions": language.extensions,
            "highlight": language.highlight,
        }
        for language in LANGUAGES.values()
    ]
    return f"export const LANGUAGES = {json.dumps(languages)};\n"


def _texts(query: Object) -> dict[str, str]:
    """Return the page's texts by name; raises InputError."""
    files, texts = query.get("files"), manifests.texts_at(query, "files")
    if not isinstance(files, dict) or files.keys() != texts.keys():
        raise InputError.of("files: must be texts by name")
    return texts
