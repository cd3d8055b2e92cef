"""Commits of git repositories, by the command ``git`` without anything that runs code.

It gets an empty home, no configuration, no hooks and no prompt; it speaks HTTPS only, follows no
redirect, and checks nothing out. Objects are named by their hashes, which ``git`` computes.
"""

import io
import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from function_script.request.remote.content import MAX_BYTES, Content
from function_script.request.remote.login import Login
from function_script.request.remote.reference import RemoteReference
from function_script.texts.diagnostics import cut
from function_script.texts.errors import cause_of
from function_script.tools.remote import selection
from function_script.tools.remote.selection import FetchError
from function_script.tools.xpkg.credentials import Trust
from function_script.tools.xpkg.references import is_loopback

_SECONDS: Final = 60.0
_MAX_OUTPUT_BYTES: Final = 16 << 20
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
def _open(url: str, trust: Trust) -> Iterator["Git"]:
    is_plain = url.startswith("http:")
    host = url.partition("://")[2].partition("/")[0]
    login = trust.find_login(host)
    if is_plain and not (trust.plain_http or is_loopback(host)):
        raise FetchError("its URL is not HTTPS")
    if is_plain and login is not None:
        raise FetchError("its URL is not HTTPS, and credentials are sent over TLS only")
    program = find_program()
    try:
        directory = tempfile.TemporaryDirectory(prefix="function-script-git-")
    except OSError as error:
        reason = "git needs a directory for temporary files, and there is none"
        raise FetchError(reason, _NO_DIRECTORY_HINT) from error
    with directory as name:
        environment = _environment(Path(name), url, login, trust.ca_file)
        command = ("/bin/sh", "-c", _LIMITS, "sh", program)
        try:
            yield Git(command, Path(name), environment, _MAX_OUTPUT_BYTES)
        except FetchError as error:
            reason = error.reason if login is None else login.mask(error.reason)
            raise FetchError(reason, error.hint) from error


def find_program() -> str:
    """Return the path of git. Raises FetchError."""
    program = shutil.which("git")
    if program is None:
        raise FetchError("the command git is not installed", _NO_GIT_HINT)
    return program


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
        raise FetchError(f"cannot read authorities: {cause_of(error)}") from error
    path.write_bytes(b"\n".join(texts))
    return str(path)


class Entry(NamedTuple):
    """A file, link or submodule of a commit; ``blob`` is the hash of its content.

    The content of a link is its target, and that of a submodule is in another repository.
    """

    name: bytes
    blob: str
    size_bytes: int
    is_link: bool
    is_submodule: bool


class Git:
    """The command in a directory, with one time limit for all calls.

    It prints at most ``max_bytes``. All methods raise FetchError.
    """

    def __init__(
        self,
        command: Iterable[str],
        directory: Path,
        environment: Mapping[str, str],
        max_bytes: int,
    ) -> None:
        self._command = [*command]
        self._directory = directory
        self._environment = environment
        self._max_bytes = max_bytes
        self._deadline = time.monotonic() + _SECONDS

    def run(self, *args: str, stdin: bytes = b"") -> bytes:
        """Run git, and return what it prints."""
        # Files: pipes would need threads. The limit of a file's size is that of its output, too.
        with (
            tempfile.TemporaryFile() as question,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            question.write(stdin)
            question.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - git itself; references are no options
                    [*self._command, *args],
                    cwd=self._directory,
                    env=dict(self._environment),
                    stdin=question,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                raise FetchError(f"cannot start git: {cause_of(error)}") from error
            try:
                code = process.wait(max(self._deadline - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired as error:
                raise FetchError(f"it did not arrive within {_SECONDS:.0f} s") from error
            finally:
                # The processes that git has started, too.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if os.fstat(output.fileno()).st_size > self._max_bytes:
                raise FetchError(f"git prints more than {self._max_bytes >> 20} MiB")
            if code:
                errors.seek(0)
                raise _explain(code, errors.read(_MAX_ERROR_BYTES).decode("utf-8", "replace"))
            output.seek(0)
            return output.read()

    def list_files(self, commit: str, *names: str) -> Iterator[Entry]:
        """Yield the entries of a commit, or those below ``names``."""
        listing = self.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *names)
        for line in filter(None, listing.split(b"\0")):
            meta, _, name = line.partition(b"\t")
            mode, kind, blob, size = meta.split()
            # The repository may lack the content; then the size is a word.
            size_bytes = int(size) if size.isdigit() else 0
            is_link, is_submodule = mode == b"120000", kind == b"commit"
            yield Entry(name, blob.decode(), size_bytes, is_link, is_submodule)

    def read_files(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Yield the contents of files and links."""
        entries = [*entries]
        hashes = "".join(f"{each.blob}\n" for each in entries).encode()
        output = io.BytesIO(self.run("cat-file", "--batch", stdin=hashes))
        for entry in entries:
            if output.readline().split()[1:2] != [b"blob"]:
                name = os.fsdecode(entry.name)
                raise FetchError(f'the repository lacks the content of "{name}"')
            yield entry, output.read(entry.size_bytes + 1)[:-1]


def _explain(code: int, text: str) -> FetchError:
    lines = [line.removeprefix("fatal: ") for line in text.splitlines() if line.strip()]
    fatal = next((line for line in reversed(lines) if line), "")
    if "index-pack" in text:
        # The limit of file sizes ends it without a word.
        return FetchError(f"the commit has more than {_MAX_PACK_BYTES >> 20} MiB, or is broken")
    if "not our ref" in text:
        return FetchError("the repository does not have the commit")
    if (
        "Authentication failed" in text
        or "could not read Username" in text
        or "error: 403" in fatal
    ):
        return FetchError("the server refuses access", "are the credentials right?")
    if "not found" in fatal or "error: 404" in fatal:
        return FetchError("there is no repository, or no access without credentials")
    if "returned error: 30" in text or "unable to update url base from redirection" in text:
        return FetchError("the server redirects, which is not followed", "write its new URL")
    return FetchError(f"git says: {cut(fatal)}" if fatal else f"git ended with exit code {code}")


def _read(git: Git, reference: RemoteReference) -> Content:
    """Return the texts of a commit that was fetched."""
    if git.run("cat-file", "-t", reference.version).strip() != b"commit":
        raise FetchError("it is no commit")
    entries = git.list_files(reference.version)
    texts = (each for each in entries if not (each.is_link or each.is_submodule))
    files = {each.name.decode("utf-8", "replace"): each for each in texts}
    selected = selection.select_names(files, reference.path)
    blobs = [files[selection.check_name(path)] for path in selected.values()]
    if sum(blob.size_bytes for blob in blobs) > MAX_BYTES:
        raise selection.too_large()
    contents = dict(git.read_files(blobs))
    return selection.read_texts(selected, reference.path, lambda path: contents[files[path]])
