"""The secret values of a request, and the parts that are secret alone."""

import pytest
from support import builders
from support.secret_places import MARKER, PLACES, TEXT, to_base64

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.step import function
from function_script.texts import redaction


def credential(value: bytes) -> bytes:
    """Return a request with this credential."""
    message = pb.RunFunctionRequest()
    message.credentials["api"].credential_data.data["value"] = value
    return message.SerializeToString()


def redact(text: str, secret: str) -> str:
    """Return the text without this credential."""
    return redaction.redact_text(text, credential(secret.encode()))


@pytest.mark.parametrize(
    "parts", [*PLACES, pytest.param({"input": {"secret": TEXT["resource"]}}, id="Secret in input")]
)
def test_place_of_secrets_is_known(parts: dict[str, object]) -> None:
    """Programs also read Secrets in manifests of other resources."""
    data = builders.request(**parts).SerializeToString()
    assert redaction.redact_text(f"a {MARKER} b", data) == "a [secret] b"


@pytest.mark.parametrize("size", [b"\x06", b"\x86\x00", b"\x86\x80\x80\x00"])
def test_kind_is_known_however_its_size_is_encoded(size: bytes) -> None:
    """The wire format allows a padded size."""

    def entry(key: bytes, value: bytes) -> bytes:
        body = b"\x0a" + bytes([len(key)]) + key + b"\x12" + bytes([len(value)]) + value
        return b"\x0a" + bytes([len(body)]) + body

    marker = b"\x1a" + bytes([len(MARKER)]) + MARKER.encode()
    member = entry(b"value", marker)
    struct = entry(b"kind", b"\x1a" + size + b"Secret") + entry(
        b"stringData", b"\x2a" + bytes([len(member)]) + member
    )
    message = pb.RunFunctionRequest()
    message.observed.composite.ParseFromString(b"\x0a" + bytes([len(struct)]) + struct)
    head = b"\x12" + bytes([len(struct) + 4]) + b"\x0a" + bytes([len(struct) + 2])
    data = head + b"\x0a" + bytes([len(struct)]) + struct
    assert pb.RunFunctionRequest.FromString(data).observed == message.observed
    assert redaction.redact_text(f"a {MARKER} b", data) == "a [secret] b"


PARTS = [
    pytest.param('{"user": "bob42", "key": "hunter2"}', "hunter2", id="JSON"),
    pytest.param('{"a": {"token": ["hunter2"]}}', "hunter2", id="JSON, nested"),
    pytest.param('{"key": "a\\nhunter2-marker"}', "hunter2-marker", id="a line in JSON"),
    pytest.param("[default]\nsecret_key = hunter2\n", "hunter2", id="INI"),
    pytest.param("users:\n- token: hunter2\n", "hunter2", id="YAML"),
    pytest.param("export KEY='hunter2'", "hunter2", id="environment"),
    pytest.param("postgres://u:hunter2@db", "hunter2", id="URL"),
    pytest.param("mysql://u:hunt%40er2@db", "hunt@er2", id="URL, decoded"),
    pytest.param('{"dsn": "postgres://admin:hunter2@db"}', "hunter2", id="URL in JSON"),
    pytest.param("u:hunter2@tcp(db)/x", "hunter2", id="MySQL"),
    pytest.param("host=db password=hunter2 x=y", "hunter2", id="libpq"),
    pytest.param("Server=db;Password=hunter2;", "hunter2", id="ADO"),
    pytest.param(to_base64("hunter2-marker"), "hunter2-marker", id="base64"),
    pytest.param(f"key: {to_base64('hunter2-marker')}", "hunter2-marker", id="base64 in YAML"),
    pytest.param("  hunter2-marker \n", "hunter2-marker", id="blanks around it"),
]


@pytest.mark.parametrize(("secret", "part"), PARTS)
def test_part_is_known_alone(secret: str, part: str) -> None:
    """Programs extract parts of a secret."""
    assert redact(f"bad {part}.", secret) == "bad [secret]."


WORDS = [
    pytest.param(
        "a: Config\nb: 5432\n", "a Config at 5432", id="short texts without telling names"
    ),
    pytest.param("true", "it is true", id="true"),
    pytest.param("null", "null", id="null"),
    pytest.param("", "nothing", id="empty"),
    pytest.param("a", "a cat", id="one letter"),
    pytest.param("the", "the cat", id="three letters"),
    pytest.param("this", "thistle, _this", id="four letters in a word"),
]


@pytest.mark.parametrize(("secret", "text"), WORDS)
def test_words_of_any_message_stay(secret: str, text: str) -> None:
    """Otherwise messages could not be read."""
    assert redact(text, secret) == text


def test_half_of_a_surrogate_pair_is_a_character() -> None:
    """JSON allows a lone surrogate, and so do strings of programs."""
    text = redact("x hunter2-\ud800-x \udfff", '{"key": "hunter2-\\ud800-x"}')
    assert text == "x [secret] \udfff"


def test_request_with_a_broken_part_withholds_the_text() -> None:
    """A program may have read the other parts."""
    message = builders.request(
        builders.starlark(f"def main(req):\n    fail('it is {MARKER}')\n"),
        observed={"composite": {"resource": builders.XR}, "resources": {"s": TEXT}},
    )
    # The wire format's check of a text is made when it is read.
    whole = f"\x05value\x12\x10\x1a\x0e{MARKER}".encode()
    data = message.SerializeToString()
    assert data.count(whole) == 1
    broken = data.replace(whole, whole[:-1] + b"\xff")
    (problem,) = function.handle(broken, Limits(), lambda _: None).diagnostics
    assert problem.message == redaction.WITHHELD
    assert problem.span is not None


def test_request_that_is_broken_says_where() -> None:
    """The error quotes no value, so it needs no search."""
    step = builders.starlark("def main(req):\n    return {'context': dict(req['context'])}\n")
    message = builders.request(step, context={"made": TEXT["resource"]})
    data = message.SerializeToString()
    broken = data.replace(MARKER.encode(), MARKER[:-1].encode() + b"\xff")
    (problem,) = function.handle(broken, Limits(), lambda _: None).diagnostics
    assert problem.message.startswith("cannot read the request: string at byte ")


def test_warning_tells_no_secret() -> None:
    """It quotes a rendered document, and becomes an event."""
    template = (
        '{{ $v := index .credentials.api.credentialData.data "v" | b64dec }}'
        "apiVersion: v1\nkind: A\n"
        "metadata:\n  labels: {a: {{ $v | quote }}}\n"
        "  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: a}\n"
        "{{ $v }}: 1\n{{ $v }}: 2\n"
    )
    data = {"credentialData": {"data": {"v": to_base64("hunter2 /marker")}}}
    message = builders.request(builders.peer(template), credentials={"api": data})
    response = builders.call(message)
    texts = [result.message for result in response.results]
    assert {result.severity for result in response.results} == {pb.SEVERITY_WARNING}
    assert len(texts) == 2
    assert all("[secret]" in text and "hunter2" not in text for text in texts)
