"""sprig's ``urlParse`` and ``urlJoin``: URLs as maps of their parts."""

from __future__ import annotations

from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.sprig.characters import to_narrow, to_wide
from function_script.engines.gotemplate.sprig.lists import NIL_POINTER
from function_script.engines.gotemplate.sprig.urls import Url, parse_url, write_url
from function_script.engines.gotemplate.values import go_kind


def _url_parse(text: str) -> dict[str, object]:
    try:
        url = parse_url(to_narrow(text))
    except CallError as error:
        raise CallError(f"unable to parse url: {error.text}") from error
    parts = {
        "scheme": url.scheme,
        "host": url.host,
        "hostname": url.hostname,
        "path": url.path,
        "query": url.query,
        "opaque": url.opaque,
        "fragment": url.fragment,
        "userinfo": url.user or "",
    }
    return {name: to_wide(part) for name, part in parts.items()}


def _url_join(parts: dict[str, object]) -> str:
    url = Url(
        scheme=_part(parts, "scheme"),
        host=_part(parts, "host"),
        path=_part(parts, "path"),
        query=_part(parts, "query"),
        opaque=_part(parts, "opaque"),
        fragment=_part(parts, "fragment"),
    )
    return to_wide(write_url(url._replace(user=_user(_part(parts, "userinfo")))))


def _part(parts: dict[str, object], key: str) -> str:
    value = parts.get(key, "")
    if value is None:
        raise CallError(NIL_POINTER)
    if not isinstance(value, str):
        found = f"must be of type string, but {go_kind(value)} found"
        raise CallError(f"unable to parse {key} key, {found}")
    return to_narrow(value)


def _user(text: str) -> str | None:
    if not text:
        return None
    try:
        return parse_url(f"proto://{text}@host").user
    except CallError as error:
        raise CallError(f"unable to parse userinfo in dict: {error.text}") from error


FUNCTIONS: Final = (
    Function(name="urlParse", takes="string", call=_url_parse),
    Function(name="urlJoin", takes="map", call=_url_join, gives="string"),
)
