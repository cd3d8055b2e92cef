"""Secrets and texts that make the search expensive: it is linear, and it is bounded."""

import base64
import gzip
import json
import random
import string
from collections.abc import Callable
from functools import reduce

import pytest
from support import builders
from support.timing import is_within, taking_less

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import MIB, Limits
from function_script.sandbox.outcome import Reply
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step import function
from function_script.step.telemetry import Answered
from function_script.texts import redaction

# CPU time; what the worst of them takes on a quiet machine is a tenth of it.
MOST_SECONDS = 4.0
RANDOM = random.Random(7)  # noqa: S311 # for test data


def lines(count: int, length: int) -> str:
    """Return this number of random lines."""
    texts = RANDOM.choices(string.ascii_lowercase, k=count * length)
    return "\n".join(
        "".join(texts[start : start + length]) for start in range(0, count * length, length)
    )


def encoded(value: bytes, count: int) -> bytes:
    """Return base64 of base64, repeatedly."""
    return reduce(lambda text, _: base64.b64encode(text), range(count), value)


def request(*secrets: bytes) -> bytes:
    """Return a request with these credentials."""
    message = pb.RunFunctionRequest()
    for number, value in enumerate(secrets):
        message.credentials["api"].credential_data.data[str(number)] = value
    return message.SerializeToString()


# Built when a test asks for them: every process that runs tests reads this file.
SECRETS = {
    "100,000 lines of six letters": lambda: lines(100_000, 6).encode(),
    "700,000 lines": lambda: b"abcde\nfghij\n" * 350_000,
    "lines that begin alike": lambda: b"\n".join(b"a" * 8 + b"%d" % n for n in range(100_000)),
    "lines of each length": lambda: b"\n".join(b"a" * n + b"b" for n in range(8, 2_000)),
    "lines in each other": lambda: b"\n".join(b"a" * n for n in range(8, 2_000)),
    "one of 10 MB": lambda: b"a" * (10 * MIB),
    "bytes at random": lambda: RANDOM.randbytes(MIB),
    "assignments": lambda: b"\n".join(b"k%d=v%07d" % (n, n) for n in range(30_000)),
    "assignments in one line": lambda: b"key=,password:" * 70_000,
    "colons": lambda: b":" * MIB,
    "one assignment in another": lambda: b"a:" * 500_000,
    "schemes": lambda: b"//a:" * 250_000,
    "ats": lambda: b":aaaa@" * 170_000,
    "empty lines": lambda: b"\n" * MIB,
    "blanks": lambda: b" " * MIB,
    "deep JSON": lambda: b"[" * MIB,
    "long JSON": lambda: json.dumps([f"value-{n}" for n in range(50_000)]).encode(),
    "base64 of base64": lambda: encoded(b"x" * 200_000, 6),
    "dots": lambda: b"\n".join(b"." * n for n in range(8, 2_000)),
    "nothing": lambda: b"",
}
WIDTH = 64 * 1024
TEXTS = {
    "short": lambda: "cannot do it: no way",
    "words": lambda: lines(WIDTH // 7, 6),
    "one letter": lambda: "a" * WIDTH,
    "base64": lambda: base64.b64encode(RANDOM.randbytes(48_000)).decode(),
    "base64 of base64": lambda: encoded(b"a" * 9_000, 6).decode()[:WIDTH],
    "base64 of itself": lambda: "QUFB" * (WIDTH // 4),
    "hex": lambda: "61" * (WIDTH // 2),
    "backslashes": lambda: "\\" * WIDTH,
    "escapes": lambda: "\\u0061" * (WIDTH // 6),
    "percents": lambda: "%25" * (WIDTH // 3),
    "percents of percents": lambda: "%2525253225" * (WIDTH // 11),
    "apostrophes": lambda: "'" * WIDTH,
    "dots": lambda: "." * WIDTH,
    "cut everywhere": lambda: ("a" * 20 + "…") * (WIDTH // 21),
    "line breaks": lambda: "aaaaaa\n" * (WIDTH // 7),
    "blanks": lambda: "aaaaaa\n" + " " * WIDTH,
    "gzip": lambda: base64.b64encode(gzip.compress(bytes(40 * MIB), mtime=0)).decode(),
    "many gzips": lambda: base64.b64encode(gzip.compress(b"a" * 1000, mtime=0) * 1000).decode(),
    "of 8 MB": lambda: "a b\\n%41" * MIB,
}


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_are_redacted_quickly(secret: str) -> None:
    """A text is withheld if the search would take too long."""
    assert_is_quick(TEXTS["cut everywhere"](), request(SECRETS[secret]()))


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_redacted_quickly(text: str) -> None:
    assert_is_quick(TEXTS[text](), request(SECRETS["lines in each other"]()))


def assert_is_quick(text: str, data: bytes) -> None:
    """Assert that the search ends soon."""
    with taking_less(MOST_SECONDS):
        redacted = redaction.redact_text(text, data)
    assert redacted == redaction.WITHHELD or len(redacted) <= 4 * len(text)


def searching(count: int, text: str) -> Callable[[], None]:
    """A search for this number of secrets."""
    data = request(lines(count, 6).encode(), lines(count // 4, 20).encode())

    def search() -> None:
        assert redaction.redact_text(text, data) != redaction.WITHHELD

    return search


@pytest.mark.serial
def test_search_is_linear_in_the_secrets() -> None:
    """Four times as many take four times as long, and not sixteen times."""
    text = TEXTS["words"]()
    assert is_within(8, searching(100_000, text), of=searching(25_000, text))


@pytest.mark.serial
def test_search_is_linear_in_the_text() -> None:
    text = TEXTS["words"]()
    assert is_within(8, searching(10_000, text), of=searching(10_000, text[: len(text) // 4]))


FAIL = builders.starlark("def main(req):\n    fail('no way, it is ' + req['context']['x'])\n")


def answer_with(secret: bytes, memory_bytes: int) -> Reply:
    """Return a worker's reply to a program that fails in a request with a Secret."""
    data = {"value": base64.b64encode(secret).decode()}
    resource = {"resource": {"apiVersion": "v1", "kind": "Secret", "data": data}}
    message = builders.request(
        FAIL,
        observed={"composite": {"resource": builders.XR}, "resources": {"s": resource}},
        context={"x": secret[:6].decode()},
    )
    limits = Limits(memory_bytes=memory_bytes)
    with Pool(PoolOptions(limits=limits, workers=1)) as pool:
        return pool.run(message.SerializeToString())


ANSWERS = [
    pytest.param((100_000, 6), 256, "no way, it is [secret]", id="700 KB"),
    pytest.param((700_000, 5), 256, redaction.WITHHELD, id="4 MB"),
    pytest.param(
        *((300_000, 6), 96, redaction.WITHHELD),
        id="more than the memory",
        # Elsewhere, memory that runs out is not refused: the worker is ended.
        marks=pytest.mark.linux,
    ),
]


@pytest.mark.parametrize(("size", "memory_mib", "text"), ANSWERS)
def test_worker_keeps_its_error(size: tuple[int, int], memory_mib: int, text: str) -> None:
    """The text may be withheld; the response has the position."""
    secret = lines(*size)
    reply = answer_with(secret.encode(), memory_mib * MIB)
    assert isinstance(reply, Answered)
    (problem,) = reply.diagnostics
    assert (problem.message, str(problem.span)) == (text, "script:2:5")
    response = pb.RunFunctionResponse.FromString(reply.response)
    assert response.context["x"] == secret[:6]


def test_too_many_texts_are_withheld() -> None:
    """The first problems of an error with thousands are shown."""
    step = builders.jinja(
        "{% for i in range(4000) %}\n---\nkind: {{ 'x' * 300 }}{{ i }}\n{% endfor %}"
    )
    data = builders.request(
        step, credentials={"api": {"credentialData": {"data": {"v": "aHVudGVyMi1tYXJrZXI="}}}}
    ).SerializeToString()
    with taking_less(MOST_SECONDS):
        answer = function.handle(data, Limits(), lambda _: None)
    texts = [problem.message for problem in answer.diagnostics]
    shown_count = len(texts) - texts.count(redaction.WITHHELD)
    assert len(texts) == 4_000
    assert 100 < shown_count < 1_000
    assert "xxx" in "".join(texts[:shown_count])
    assert set(texts[shown_count:]) == {redaction.WITHHELD}
