"""A captured request has no secret in any encoding; a mask is encoded as its secret was."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from support import builders
from support.secret_places import PLAIN, captured, replayed, to_base64

from function_script import documents
from function_script.request.values import Object
from function_script.texts.source import Source
from function_script.tools.cases.verdicts import Status

SECRET = 'hunter2 "marker"/é%'  # noqa: S105 # not a real one


def with_secret(secret: str) -> Object:
    """Return the part of a request with this credential."""
    return {"api": {"credential_data": {"data": {"value": to_base64(secret)}}}}


def context(secret: str, text: str) -> str:
    """Return this text from the context of a case with a credential."""
    message = builders.request(
        builders.starlark(PLAIN), credentials=with_secret(secret), context={"text": text}
    )
    (document,) = documents.read_source(Source(name="case", text=captured(message)))
    request = document.value["request"]
    assert isinstance(request, dict)
    context = request["context"]
    assert isinstance(context, dict)
    return str(context["text"])


USER_DATA = f"#cloud-config\npassword: {SECRET}\nrun: [a, b]\n"
MASKED_USER_DATA = USER_DATA.replace(SECRET, "redacted1")
JSON = json.dumps({"a": [f"x {SECRET} y"]})
MASKED_JSON = json.dumps({"a": ["x redacted1 y"]})
ENCODED = [
    pytest.param(to_base64(USER_DATA), to_base64(MASKED_USER_DATA), id="user data"),
    pytest.param(to_base64(JSON), to_base64(MASKED_JSON), id="JSON in base64"),
    pytest.param(
        json.dumps({"b": to_base64(JSON)}),
        json.dumps({"b": to_base64(MASKED_JSON)}),
        id="JSON in base64 in JSON",
    ),
    pytest.param(JSON, MASKED_JSON, id="JSON"),
    pytest.param(json.dumps({"j": JSON}), json.dumps({"j": MASKED_JSON}), id="JSON in JSON"),
    pytest.param(
        to_base64(to_base64(f"a{SECRET}")), to_base64(to_base64("aredacted1")), id="base64 twice"
    ),
    pytest.param(
        base64.urlsafe_b64encode(f"??>{SECRET}".encode()).decode(),
        base64.urlsafe_b64encode(b"??>redacted1").decode(),
        id="base64 for URLs",
    ),
    pytest.param(
        f"/opt/{to_base64(SECRET).rstrip('=')}/x",
        f"/opt/{to_base64('redacted1').rstrip('=')}/x",
        id="base64 in a path",
    ),
    pytest.param(f"{SECRET}!".encode().hex(), b"redacted1!".hex(), id="hex"),
    pytest.param(SECRET.encode().hex().upper(), b"redacted1".hex().upper(), id="HEX"),
    pytest.param(f"u:{quote(SECRET, safe='')}@db", "u:redacted1@db", id="URL"),
    pytest.param(SECRET.upper(), "REDACTED1", id="upper case"),
    pytest.param(f"a {SECRET.title()}".replace("É", "é"), "a redacted1", id="another case"),
]


@pytest.mark.parametrize(("text", "masked"), ENCODED)
def test_word_is_encoded_as_its_secret_was(text: str, masked: str) -> None:
    """A program that decodes it reads the mask, and the rest is unchanged."""
    assert context(SECRET, text) == masked


def test_bytes_are_known_in_base64() -> None:
    """A key that is not UTF-8 has no textual form."""
    key = bytes(range(128, 160))
    data = {"credential_data": {"data": {"value": base64.b64encode(key).decode()}}}
    text = base64.b64encode(key).decode()
    message = builders.request(
        builders.starlark(PLAIN), credentials={"api": data}, context={"text": f"k={text}"}
    )
    case = captured(message)
    assert text.rstrip("=") not in case
    assert f"k={to_base64('redacted1')}" in case


PROGRAM = """\
def main(req):
    key = get_credentials(req, "api")["value"]
    return {"context": {
        "a": b64encode("#cloud-config: " + key + " etc."),
        "b": b64encode(b64encode(key)),
        "c": hex_encode("k=" + key),
        "d": b64url_encode("??>" + to_json({"key": key})),
        "e": "u:" + url_quote(key) + "@db",
        "f": to_json({"j": to_json({"k": key})}),
        "g": key.upper(),
        "h": quote(key),
    }}
"""


@pytest.mark.parametrize(
    "secret", ["hunter2-marker", "hunter2\\marker's", "hunter2\tmärker", SECRET]
)
def test_program_that_encodes_secrets_gives_the_same_again(secret: str, tmp_path: Path) -> None:
    """It encodes the mask, and the case expects the result."""
    step = builders.starlark(PROGRAM, credentials=["api"])
    text = captured(builders.request(step, credentials=with_secret(secret)))
    assert "hunter2" not in text.lower()
    verdict = replayed(text, tmp_path)
    assert [problem.message for problem, _ in verdict.problems] == []
    assert verdict.status is Status.PASSED


def _nested(encode: Callable[[str], str], count: int) -> str:
    text = SECRET
    for _ in range(count):
        text = encode(text)
    return text


def test_more_encodings_of_each_other_are_not_undone() -> None:
    """The documentation states the depth."""
    assert (
        "redacted1"
        in base64.b64decode(
            base64.b64decode(
                base64.b64decode(base64.b64decode(context(SECRET, _nested(to_base64, 4))))
            )
        ).decode()
    )
    text = _nested(to_base64, 5)
    assert context(SECRET, text) == text
