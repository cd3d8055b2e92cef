"""Credentials of a step, and their scope."""

from __future__ import annotations

import base64
import json

import pytest

from function_script.request.remote import login
from function_script.request.remote.login import Login

HOST = "ghcr.io"


def config(**auths: object) -> bytes:
    return json.dumps(
        {"auths": {name.replace("_", "."): each for name, each in auths.items()}}
    ).encode()


ME = Login(user="me", password="secret")  # noqa: S106 - a test's
SECRETS = {
    "pair": ({"username": b"me", "password": b"secret\n"}, ME),
    "token": ({"token": b"secret"}, Login(user="x-access-token", password="secret")),  # noqa: S106 - same
    "token of a user": ({"token": b"secret", "username": b"me"}, ME),
    "docker": (
        {".dockerconfigjson": config(ghcr_io={"auth": base64.b64encode(b"me:secret").decode()})},
        ME,
    ),
    "docker with fields": (
        {"config.json": config(ghcr_io={"username": "me", "password": "secret"})},
        ME,
    ),
}


@pytest.mark.parametrize(("data", "expected"), SECRETS.values(), ids=SECRETS)
def test_login_is_read_from_a_secret(data: dict[str, bytes], expected: Login) -> None:
    assert login.of_step(data, HOST) == expected


REFUSED = {
    "nothing": ({}, "they have none of"),
    "user alone": ({"username": b"me"}, "they have none of"),
    "another host": (
        {".dockerconfigjson": config(quay_io={"auth": "eA=="})},
        "no entry for ghcr.io",
    ),
    "host as prefix": (
        {".dockerconfigjson": config(ghcr_io_evil_org={"username": "a", "password": "b"})},
        "no entry for ghcr.io",
    ),
    "no JSON": ({".dockerconfigjson": b"{"}, "is no JSON"),
    "no base64": ({".dockerconfigjson": config(ghcr_io={"auth": "%"})}, "no base64"),
    "bytes": ({"token": b"\xff"}, "is not UTF-8"),
}


@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED)
def test_secret_without_a_login_is_refused(data: dict[str, bytes], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        login.of_step(data, HOST)


def test_scope_differs_for_other_credentials() -> None:
    scopes = {
        login.scope(None),
        login.scope({}),
        login.scope({"a": b"bc"}),
        login.scope({"ab": b"c"}),
        login.scope({"a": b"b", "c": b""}),
    }
    assert len(scopes) == 5
    assert login.scope(None) == ""
