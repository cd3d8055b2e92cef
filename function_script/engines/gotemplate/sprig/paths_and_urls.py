"""sprig's functions on paths, and ``urlParse`` and ``urlJoin``, by Go's package net/url.

The separator of paths is a slash on every system. URLs are maps of their parts. They are parsed and
written byte by byte: all texts but those of the functions are "narrow", with one character for each
byte.
"""

import ipaddress
import posixpath
import re
import string
import urllib.parse
from typing import Final, NamedTuple

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.sprig.lists import NIL_POINTER
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
_HOST_CHARACTERS: Final = frozenset(f"{string.ascii_letters}{string.digits}-._~{_HOST}")

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_USERINFO: Final = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
# A character of a host, or what may be an escape.
_HOST_PART: Final = re.compile("%.{0,2}|[^%]", re.DOTALL)
_ESCAPE: Final = re.compile("%([0-9A-Fa-f]{2})")
_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PERCENT: Final = "%25"
_IPV4: Final = 4
_FIRST_NON_ASCII: Final = 0x80


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
    quoted = plain
    try:
        url = _parse(plain)
        quoted = text
        return url._replace(fragment=unescape(fragment))
    except CallError as error:
        raise CallError(f"parse {quote(to_wide(quoted))}: {error.text}") from error


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
    if "[" in text:
        return _address(text)
    strict = scheme in {"http", "https"}
    _, colon, port = text.partition(":") if strict else text.rpartition(":")
    _check_port(colon + port if colon else "")
    return _unescape_host(text)


def _address(text: str) -> str:
    """Return an IPv6 address in brackets, perhaps with a zone, and a port."""
    if text.rindex("["):
        raise CallError("invalid IP-literal")
    name, bracket, port = text.removeprefix("[").rpartition("]")
    if not bracket:
        raise CallError("missing ']' in host")
    _check_port(port)
    address, zone, _ = name.partition(_PERCENT)
    address = _unescape_host(address)
    if zone:
        address += _unescape_host(name[name.index(_PERCENT) :], zone=True)
    try:
        version = ipaddress.ip_address(address).version
    except ValueError as error:
        cause = f"ParseAddr({quote(to_wide(address))}): unable to parse IP"
        raise CallError(f"invalid host: {cause}") from error
    if version == _IPV4:
        raise CallError("invalid IP-literal")
    return f"[{address}]{port}"


def _check_port(text: str) -> None:
    if _PORT.fullmatch(text) is None:
        raise CallError(f"invalid port {quote(to_wide(text))} after host")


# Escapes


def escape(text: str, allowed: str) -> str:
    """Replace every character that is not allowed with ``%`` and two digits."""
    return urllib.parse.quote(text, safe=allowed, encoding="latin-1")


def unescape(text: str) -> str:
    """Decode ``%`` and two digits; raises CallError."""
    if bad := _BAD_ESCAPE.search(text):
        raise _bad_escape(bad[0])
    return urllib.parse.unquote(text, encoding="latin-1")


def _unescape_host(text: str, *, zone: bool = False) -> str:
    """Decode a host: escapes stand for non-ASCII bytes, in zones also for allowed ones."""
    for part in _HOST_PART.findall(text):
        if not part.startswith("%"):
            if part not in _HOST_CHARACTERS and ord(part) < _FIRST_NON_ASCII:
                raise CallError(f"invalid character {quote(part)} in host name")
            continue
        match = _ESCAPE.fullmatch(part)
        byte = chr(int(match[1], 16)) if match is not None else ""
        is_valid = byte in _HOST_CHARACTERS or byte == " " if zone else byte >= "\x80"
        if not is_valid and part != _PERCENT:
            raise _bad_escape(part)
    return unescape(text)


def _bad_escape(text: str) -> CallError:
    return CallError(f"invalid URL escape {quote(to_wide(text))}")


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
    if value is None:
        raise CallError(NIL_POINTER)
    if not isinstance(value, str):
        problem = f"must be of type string, but {go_kind(value)} found"
        raise CallError(f"unable to parse {key} key, {problem}")
    return to_narrow(value)
