"""sprig's functions on paths, and ``urlParse`` and ``urlJoin``, by Go's package net/url.

The separator of paths is a slash on every system. URLs are maps of their parts. They are parsed and
written byte by byte: all texts but those of the functions are "narrow", with one character for each
byte.
"""

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

# With an authority a path begins with a slash, and without a scheme its first part has no colon.
_URL: Final = re.compile(
    r"(?![^#]*[\x00-\x1f\x7f])(?:(?P<scheme>[a-z][a-z0-9+.-]*):(?P<opaque>[^/?#][^?#]*)?)?"
    r"(?:(?(scheme)//|//(?!/))(?:(?P<user>[\w.:~!$&'()*+,;=%@-]*)@)?"
    r"(?P<host>(?:\[[0-9a-f.]*:[0-9a-f:.]*\]|[\w.~\x80-\xff!\"$&'()*+,;<=>-]*)(?::[0-9]*)?)"
    r"(?P<below>/[^?#]*)?|(?P<path>(?!//|[^/?#]*:)[^?#]*))"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
    re.ASCII | re.DOTALL | re.IGNORECASE,
)
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


def parse_url(text: str) -> Url:
    """Return a URL's parts; raises CallError."""
    match = _URL.fullmatch(text)
    if match is None:
        raise CallError(f"{quote(to_wide(text))} is no URL")
    parts = {name: part or "" for name, part in match.groupdict().items()}
    name, colon, password = parts["user"].partition(":")
    user = escape(unescape(name), _USER) + colon + escape(unescape(password), _USER)
    return Url(
        parts["scheme"].lower(),
        parts["opaque"],
        None if match["user"] is None else user,
        parts["host"],
        unescape(parts["below"] + parts["path"]),
        parts["query"],
        unescape(parts["fragment"]),
    )


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
    url = parse_url(to_narrow(text))
    parts = url._asdict()
    hostname = re.sub(":[0-9]*$", "", url.host).strip("[]")
    parts |= {"hostname": hostname, "userinfo": parts.pop("user") or ""}
    return {name: to_wide(part) for name, part in parts.items()}


@FUNCTIONS.add("urlJoin")
def url_join(parts: dict[str, object]) -> str:
    """The URL of a map of parts."""
    names = ("scheme", "host", "path", "query", "opaque", "fragment")
    url = Url(**{name: _part(parts, name) for name in names})
    userinfo = _part(parts, "userinfo")
    if userinfo:
        url = url._replace(user=parse_url(f"proto://{userinfo}@host").user)
    return to_wide(write_url(url))


def _part(parts: dict[str, object], key: str) -> str:
    value = parts.get(key, "")
    if not isinstance(value, str):
        problem = f"must be of type string, but {go_kind(value)} found"
        raise CallError(f"unable to parse {key} key, {problem}")
    return to_narrow(value)
