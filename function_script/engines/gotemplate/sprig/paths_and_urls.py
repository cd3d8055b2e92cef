"""sprig's functions on paths, and ``urlParse`` and ``urlJoin``, by Go's package net/url.

The separator of paths is a slash on every system. URLs are maps of their parts. They are parsed and
written byte by byte: all texts but those of the functions are "narrow", with one character for each
byte.
"""

import ipaddress
import posixpath
import re
import urllib.parse
from typing import Final, NamedTuple

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.values import go_kind, to_narrow, to_wide

FUNCTIONS: Final = FunctionTable()

# Paths. Functions with "os" in front are the same on Linux.


@FUNCTIONS.add("base", "osBase")
def base(path: str) -> str:
    """The last part of a path."""
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


@FUNCTIONS.add("dir", "osDir")
def dir_(path: str) -> str:
    """The path without its last part."""
    folder, slash, _ = path.rpartition("/")
    return clean(folder + slash)


@FUNCTIONS.add("clean", "osClean")
def clean(path: str) -> str:
    """The path without . and .. parts.

    It is the shortest equal path: without ``.``, ``//`` and, as far as possible, ``..``.
    """
    # POSIX lets two slashes at the start differ from one.
    return posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path)


@FUNCTIONS.add("ext", "osExt")
def ext(path: str) -> str:
    """The extension of a path."""
    _, point, extension = path.rpartition("/")[2].rpartition(".")
    return point + extension if point else ""


@FUNCTIONS.add("isAbs", "osIsAbs")
def is_absolute(path: str) -> bool:
    """True if the path begins at the root."""
    return path.startswith("/")


# URLs

# Characters that need no escape beside letters, digits and -._~, by the part of a URL.
PATH: Final = "$&+,/:;=@"
FRAGMENT: Final = "!$&()*+,/:;=?@"
_USER: Final = "$&+,;="
_HOST: Final = "!\"$&'()*+,:;<=>[]"

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_USERINFO: Final = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
# A character that no host has. Go lets some be escaped in a host and in the zone of an address.
_NOT_OF_HOST: Final = re.compile(rf"[^\w.~\x80-\xff{re.escape(_HOST)}-]", re.ASCII)
_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


class Url(NamedTuple):
    """The parts of a URL, decoded but for the query and the opaque part; ``user`` is encoded."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    host: str = ""
    path: str = ""
    query: str = ""
    fragment: str = ""

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        name, colon, port = self.host.rpartition(":")
        if not colon or not _PORT.fullmatch(colon + port):
            name = self.host
        return name[1:-1] if name.startswith("[") and name.endswith("]") else name


def parse_url(text: str) -> Url:
    """Return a URL's parts; raises CallError with Go's text."""
    plain, _, fragment = text.partition("#")
    try:
        return _parse(plain)._replace(fragment=unescape(fragment))
    except CallError as error:
        raise CallError(f"parse {quote(to_wide(text))}: {error.text}") from error


def _parse(text: str) -> Url:
    if _CONTROL.search(text) is not None:
        raise CallError("net/url: invalid control character in URL")
    if text.startswith(":"):
        raise CallError("missing protocol scheme")
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match is not None else ""
    rest, _, query = text[match.end() if match is not None else 0 :].partition("?")
    if scheme and not rest.startswith("/"):
        return Url(scheme=scheme, opaque=rest, query=query)
    if ":" in rest.partition("/")[0]:
        raise CallError("first path segment in URL cannot contain colon")
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest.removeprefix("//").partition("/")
        userinfo, at, host = authority.rpartition("@")
        host = _host(scheme, host)
        if at and _USERINFO.fullmatch(userinfo) is None:
            raise CallError("net/url: invalid userinfo")
        name, colon, password = userinfo.partition(":")
        user = escape(unescape(name), _USER) + colon + escape(unescape(password), _USER)
        return Url(scheme, "", user if at else None, host, unescape(slash + path), query)
    return Url(scheme=scheme, path=unescape(rest), query=query)


def _host(scheme: str, text: str) -> str:
    if bad := _NOT_OF_HOST.search(text):
        raise CallError(f"invalid character {quote(to_wide(bad[0]))} in host name")
    name, bracket, port = text.rpartition("]")
    if bracket:
        try:
            ipaddress.IPv6Address(name.removeprefix("["))
        except ValueError as error:
            raise CallError(f"invalid host {quote(to_wide(text))}") from error
    else:
        is_strict = scheme in {"http", "https"}
        _, colon, port = text.partition(":") if is_strict else text.rpartition(":")
        port = colon + port if colon else ""
    if "[" in text[1:] or (text[:1] == "[") != bool(bracket) or _PORT.fullmatch(port) is None:
        raise CallError(f"invalid host or port {quote(to_wide(text))}")
    return text


# Escapes


def escape(text: str, allowed: str) -> str:
    """Replace every character that is not allowed with ``%`` and two digits."""
    return urllib.parse.quote(text, safe=allowed, encoding="latin-1")


def unescape(text: str) -> str:
    """Decode ``%`` and two digits; raises CallError."""
    if bad := _BAD_ESCAPE.search(text):
        raise CallError(f"invalid URL escape {quote(to_wide(bad[0]))}")
    return urllib.parse.unquote(text, encoding="latin-1")


# Writing


def write_url(url: Url) -> str:
    """Return the text of a URL; what needs it is escaped."""
    text = f"{url.scheme}:" if url.scheme else ""
    if url.opaque:
        text += url.opaque
    else:
        if url.host or url.user is not None or (url.scheme and url.path):
            user = f"{url.user}@" if url.user is not None else ""
            text += f"//{user}{escape(url.host, _HOST)}"
        path = url.path if url.path == "*" else escape(url.path, PATH)
        if path and not path.startswith("/") and url.host:
            text += "/"
        elif not text and ":" in path.partition("/")[0]:
            # A colon in the first segment would make it a scheme.
            text += "./"
        text += path
    if url.query:
        text += f"?{url.query}"
    return f"{text}#{escape(url.fragment, FRAGMENT)}" if url.fragment else text


# Functions


@FUNCTIONS.add("urlParse")
def url_parse(text: str) -> dict[str, object]:
    """The parts of a URL, as a map."""
    try:
        url = parse_url(to_narrow(text))
    except CallError as error:
        raise CallError(f"unable to parse url: {error.text}") from error
    parts = url._asdict()
    parts |= {"hostname": url.hostname, "userinfo": parts.pop("user") or ""}
    return {name: to_wide(part) for name, part in parts.items()}


@FUNCTIONS.add("urlJoin")
def url_join(parts: dict[str, object]) -> str:
    """The URL of a map of parts."""
    names = ("scheme", "host", "path", "query", "opaque", "fragment")
    url = Url(**{name: _part(parts, name) for name in names})
    userinfo = _part(parts, "userinfo")
    if userinfo:
        try:
            url = url._replace(user=parse_url(f"proto://{userinfo}@host").user)
        except CallError as error:
            raise CallError(f"unable to parse userinfo in dict: {error.text}") from error
    return to_wide(write_url(url))


def _part(parts: dict[str, object], key: str) -> str:
    value = parts.get(key, "")
    if not isinstance(value, str):
        problem = f"must be of type string, but {go_kind(value)} found"
        raise CallError(f"unable to parse {key} key, {problem}")
    return to_narrow(value)
