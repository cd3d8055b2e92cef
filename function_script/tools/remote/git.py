"""Commits of git repositories, by the command ``git`` without anything that runs code.

It gets an empty home, no configuration, no hooks and no prompt; it speaks HTTPS only, follows no
redirect, and checks nothing out. Objects are named by their hashes, which ``git`` computes.
"""

import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from function_script.request.remote.content import MAX_BYTES, Content
from function_script.request.remote.login import Login
from function_script.request.remote.reference import RemoteReference
from function_script.texts.diagnostics import cut
from function_script.tools.remote import selection
from function_script.tools.remote.selection import FetchError
from function_script.tools.xpkg import Trust
from function_script.tools.xpkg.references import is_loopback

LISTING: Final = ("ls-tree", "-r", "-l", "-z", "--full-tree")
"""The arguments that list a commit, which is to follow, for `read_listing`."""

_SECONDS: Final = 60.0
_MAX_LISTING_BYTES: Final = 16 << 20
_MAX_PACK_BYTES: Final = 64 << 20
_MAX_MEMORY_BYTES: Final = 1 << 30
_SHA1_DIGITS: Final = 40
_MAX_ERROR_BYTES: Final = 1 << 16
# Limits of this process and those that it starts, by the shell of the system: Python has no way to
# set them in a child without running code between fork and exec.
_LIMITS: Final = (
    f"ulimit -f {_MAX_PACK_BYTES // 512}; ulimit -v {_MAX_MEMORY_BYTES // 1024}; ulimit -c 0; "
    'exec "$@"'
)
_SETTINGS: Final = {
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "15",
    "http.emptyAuth": "false",
    "credential.helper": "",
    "core.hooksPath": os.devnull,
    "core.askPass": "",
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "transfer.bundleURI": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.version": "2",
}
_PROXIES: Final = ("http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY")
_INHERITED: Final = ("PATH", "LD_LIBRARY_PATH", *_PROXIES)
_NO_DIRECTORY_HINT: Final = (
    "mount an emptyDir at /tmp (docs/how-to/share-modules.md), or set TMPDIR to a directory that "
    "can be written"
)
_NO_GIT_HINT: Final = (
    "make an image with git (docs/how-to/share-modules.md), or push the files to a registry: "
    "function-script package push --module"
)


def fetch(reference: RemoteReference, trust: Trust) -> Content:
    """Fetch the files of a commit. Raises FetchError."""
    with _open(reference.location, trust) as git:
        commit = reference.version
        # The repository has the commit's kind of hashes.
        kind = [] if len(commit) == _SHA1_DIGITS else ["--object-format=sha256"]
        git.run("init", "--quiet", "--bare", "--template=", *kind)
        git.run(
            *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"),
            *("--no-write-fetch-head", "--no-auto-maintenance", "--", reference.location, commit),
        )
        return _read(git, reference)


def resolve(url: str, revision: str, trust: Trust) -> str:
    """Return the commit of a branch or a tag. Raises FetchError."""
    with _open(url, trust) as git:
        lines = git.run("ls-remote", "--", url).decode("utf-8", "replace").splitlines()
    commits = {name: commit for commit, _, name in (line.partition("\t") for line in lines)}
    names = (revision, f"refs/tags/{revision}^{{}}", f"refs/tags/{revision}")
    for name in (*names, f"refs/heads/{revision}"):
        if name in commits:
            return commits[name]
    raise FetchError(f'it has no branch and no tag "{revision}"')


@contextmanager
def _open(url: str, trust: Trust) -> Iterator["_Git"]:
    is_plain = url.startswith("http:")
    host = url.partition("://")[2].partition("/")[0]
    login = trust.find_login(host)
    if is_plain and not (trust.plain_http or is_loopback(host)):
        raise FetchError("its URL is not HTTPS")
    if is_plain and login is not None:
        raise FetchError("its URL is not HTTPS, and credentials are sent over TLS only")
    program = shutil.which("git")
    if program is None:
        raise FetchError("the command git is not installed", _NO_GIT_HINT)
    try:
        directory = tempfile.TemporaryDirectory(prefix="function-script-git-")
    except OSError as error:
        reason = "git needs a directory for temporary files, and there is none"
        raise FetchError(reason, _NO_DIRECTORY_HINT) from error
    with directory as name:
        yield _Git(program, Path(name), _environment(Path(name), url, login, trust.ca_file))


def _environment(
    directory: Path, url: str, login: Login | None, ca_file: Path | None
) -> dict[str, str]:
    """Return the environment of git, which has its settings, too: arguments can be read by all."""
    settings: dict[str, str] = {}
    if login is not None:
        settings[f"http.{url}.extraHeader"] = f"Authorization: {login.basic}"
    if authorities := _authorities(directory, ca_file):
        settings["http.sslCAInfo"] = authorities
    return {
        **isolate(directory, settings),
        "GIT_ALLOW_PROTOCOL": "http" if url.startswith("http:") else "https",
        "GIT_DIR": str(directory / "repository"),
    }


def isolate(home: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for git without the user's: it starts no other program.

    ``settings`` are added to those that keep it from that, and win over a repository's own. It
    speaks no protocol until ``GIT_ALLOW_PROTOCOL`` names one.
    """
    settings = {**_SETTINGS, **settings}
    pairs = {
        name: text
        for number, (key, value) in enumerate(settings.items())
        for name, text in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", value))
    }
    return {
        **{name: os.environ[name] for name in _INHERITED if name in os.environ},
        **pairs,
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "LC_ALL": "C",
    }


def _authorities(directory: Path, ca_file: Path | None) -> str:
    """Return a file with the system's authorities and those of a file; "" for git's default."""
    own = os.environ.get("SSL_CERT_FILE", "")
    if ca_file is None:
        return own
    system = own or ssl.get_default_verify_paths().cafile or ""
    path = directory / "authorities.pem"
    try:
        texts = [Path(name).read_bytes() for name in (system, ca_file) if name]
    except OSError as error:
        raise FetchError(f"cannot read authorities: {error.strerror}") from error
    path.write_bytes(b"\n".join(texts))
    return str(path)


class _Git:
    """The command in an empty repository, with one time limit for all calls."""

    def __init__(self, program: str, directory: Path, environment: Mapping[str, str]) -> None:
        self._program = program
        self._directory = directory
        self._environment = environment
        self._deadline = time.monotonic() + _SECONDS

    def run(self, *args: str, max_bytes: int = _MAX_LISTING_BYTES) -> bytes:
        """Run git, and return what it prints. Raises FetchError."""
        command = ["/bin/sh", "-c", _LIMITS, "sh", self._program, *args]
        # A file: two pipes would need a thread. The limit of a file's size is that of its errors.
        with tempfile.TemporaryFile(dir=self._directory) as errors:
            try:
                process = subprocess.Popen(  # noqa: S603 - git itself; references are no options
                    command,
                    cwd=self._directory,
                    env=dict(self._environment),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                raise FetchError(f"cannot start git: {error.strerror}") from error
            timer = threading.Timer(max(self._deadline - time.monotonic(), 0.0), _kill, [process])
            timer.start()
            with process:
                try:
                    output = b"" if process.stdout is None else process.stdout.read(max_bytes + 1)
                    if len(output) > max_bytes:
                        raise selection.too_large()
                    code = process.wait()
                finally:
                    timer.cancel()
                    _kill(process)
            errors.seek(0)
            text = errors.read(_MAX_ERROR_BYTES).decode("utf-8", "replace")
        if time.monotonic() >= self._deadline:
            raise FetchError(f"it did not arrive within {_SECONDS:.0f} s")
        if code:
            raise _explain(code, text)
        return output


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill git and the processes that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def read_fatal(text: str) -> str:
    """Return the last line of git's errors, without its mark; "" when git says nothing."""
    lines = [line.removeprefix("fatal: ") for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if line), "")


def _explain(code: int, text: str) -> FetchError:
    fatal = read_fatal(text)
    if "index-pack" in text:
        # The limit of file sizes ends it without a word.
        return FetchError(f"the commit has more than {_MAX_PACK_BYTES >> 20} MiB, or is broken")
    if "not our ref" in text:
        return FetchError("the repository does not have the commit")
    if "Authentication failed" in text or "could not read Username" in text or "403" in fatal:
        return FetchError("the server refuses access", "are the credentials right?")
    if "not found" in fatal or "404" in fatal:
        return FetchError("there is no repository, or no access without credentials")
    if "returned error: 30" in text or "unable to update url base from redirection" in text:
        return FetchError("the server redirects, which is not followed", "write its new URL")
    return FetchError(f"git says: {cut(fatal)}" if fatal else f"git ended with exit code {code}")


class Entry(NamedTuple):
    """A file or a link of a commit, whose target is its content; ``blob`` is its hash."""

    name: bytes
    blob: str
    size_bytes: int
    is_link: bool


def read_listing(listing: bytes) -> Iterator[Entry]:
    """Yield the files and links of a commit from what `LISTING` prints; no submodules."""
    for line in filter(None, listing.split(b"\0")):
        meta, _, name = line.partition(b"\t")
        mode, kind, blob, size = meta.split()
        if kind == b"blob":
            # The repository may lack the content; then the size is a word.
            size_bytes = int(size) if size.isdigit() else 0
            yield Entry(name, blob.decode(), size_bytes, is_link=mode == b"120000")


def _read(git: _Git, reference: RemoteReference) -> Content:
    """Return the texts of a commit that was fetched."""
    if git.run("cat-file", "-t", reference.version).strip() != b"commit":
        raise FetchError("it is no commit")
    sizes: dict[str, tuple[str, int]] = {}
    for entry in read_listing(git.run(*LISTING, reference.version)):
        if not entry.is_link:
            path = selection.check_name(entry.name.decode("utf-8", "replace"))
            sizes[path] = (entry.blob, entry.size_bytes)
    selected = selection.select_names(sizes, reference.path)
    if sum(sizes[path][1] for path in selected.values()) > MAX_BYTES:
        raise selection.too_large()
    return selection.read_texts(
        selected,
        reference.path,
        lambda path: git.run("cat-file", "blob", sizes[path][0], max_bytes=MAX_BYTES),
    )
