"""No output about a request contains its secrets, however the program fails."""

import base64

import pytest
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function
from function_script.step.telemetry import Answered
from function_script.texts import diagnostics, redaction

MARKER = 'hunter2-"marker"-of-a-secret: {[ %'
BASE64 = base64.b64encode(MARKER.encode()).decode()
SHORT = "k9x2"
SECRET: Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s"},
    "data": {"value": BASE64},
}


def answer(step_input: Object, secret: str = MARKER) -> Answered:
    """Handle a request with the secret in every place of secrets."""
    data = base64.b64encode(secret.encode()).decode()
    details = {"connectionDetails": {"value": data}}
    message = builders.request(
        {**step_input, "credentials": ["api"]},
        observed={
            "composite": {"resource": builders.XR, **details},
            "resources": {"db": {"resource": builders.composed("db"), **details}},
        },
        credentials={"api": {"credentialData": {"data": {"value": data}}}},
        requiredResources={"secret": {"items": [{"resource": SECRET}]}},
    )
    return function.handle(message.SerializeToString(), Limits(), lambda _: None)


def text_of(handler_result: Answered) -> str:
    """Return everything of a result that people and logs see."""
    response = pb.RunFunctionResponse.FromString(handler_result.response)
    assert [result.severity for result in response.results] == [pb.SEVERITY_FATAL]
    frames = [diagnostics.to_frame(problem) for problem in handler_result.diagnostics]
    facts = repr(handler_result.info)
    return "\n".join([*(result.message for result in response.results), *frames, facts])


STARLARK = 'def main(req):\n    secret = req["credentials"]["api"]["data"]["value"]\n    '
JINJA = '{% set secret = get_credential_data("api").value %}\n'
DETAILS = '{% set secret = get_composed_connection_details("db").value %}\n'
GO = '{{ $secret := index .credentials.api.credentialData.data "value" }}\n'
ERRORS = [
    pytest.param(builders.starlark(STARLARK + "fail(secret)\n"), id="starlark fail"),
    pytest.param(builders.starlark(STARLARK + 'return {}["x " + secret]\n'), id="starlark key"),
    pytest.param(builders.starlark(STARLARK + "return int(secret)\n"), id="starlark int"),
    pytest.param(builders.starlark(STARLARK + "return {secret: 1}\n"), id="starlark field"),
    pytest.param(
        builders.starlark(STARLARK + 'return {"results": [{"severity": secret}]}\n'),
        id="starlark choice",
    ),
    pytest.param(
        builders.starlark(STARLARK + "return from_json(secret)\n"), id="starlark from_json"
    ),
    pytest.param(
        builders.starlark(
            "def main(req):\n"
            '    fail(req["observed"]["composite"]["connection_details"]["value"])\n'
        ),
        id="starlark details of the XR",
    ),
    pytest.param(
        builders.starlark(
            "def main(req):\n"
            '    secret = req["required_resources"]["secret"]["items"][0]["resource"]\n'
            '    fail(secret["data"]["value"] + b64decode(secret["data"]["value"]))\n'
        ),
        id="starlark data of a Secret",
    ),
    pytest.param(builders.jinja(JINJA + "a: b: {{ secret }}\n"), id="jinja rendered line"),
    pytest.param(
        builders.jinja(JINJA + f"a: b: {'x' * 120} {{{{ secret }}}}\n"), id="jinja line cut in it"
    ),
    pytest.param(builders.jinja(JINJA + "kind: {{ secret | quote }}\n"), id="jinja kind"),
    pytest.param(builders.jinja(JINJA + "{{ secret | int }}\n"), id="jinja int"),
    pytest.param(builders.jinja(JINJA + "{{ fail(secret) }}\n"), id="jinja fail"),
    pytest.param(builders.jinja(DETAILS + "\t{{ secret }}: [\n"), id="jinja connection details"),
    pytest.param(builders.gotemplate(GO + "a: b: {{ $secret | b64dec }}\n"), id="go rendered line"),
    pytest.param(builders.gotemplate(GO + "{{ fail (b64dec $secret) }}\n"), id="go fail"),
    pytest.param(builders.gotemplate(GO + "{{ fail $secret }}\n"), id="go base64"),
    pytest.param(
        builders.gotemplate(GO + '{{ template "nothing" (b64dec $secret | fromJson) }}\n'),
        id="go json",
    ),
    pytest.param(builders.gotemplate(GO + "{{ index (dict) 1 $secret }}\n"), id="go index"),
]


@pytest.mark.parametrize("step_input", ERRORS)
def test_errors_never_contain_a_secret(step_input: Object) -> None:
    text = text_of(answer(step_input))
    for part in ("hunter2", "marker", "-of-a-", BASE64[:12], BASE64[12:24]):
        assert part not in text


def test_secret_of_several_lines_is_known_by_each() -> None:
    """Templates render the lines of a key one by one."""
    lines = ["-----BEGIN KEY-----", "abcdefghijklmnop", "-----END KEY-----"]
    template = builders.jinja(JINJA + "a: |\n  b\n {{ secret | indent(1) }}\n")
    assert "abcdefgh" not in text_of(answer(template, "\n".join(lines)))


def test_short_secrets_are_words() -> None:
    """Four characters match as a whole word; shorter values are not secrets."""
    text = text_of(answer(builders.starlark(STARLARK + 'fail("pin " + secret + " xk9x2x")'), SHORT))
    assert "pin [secret] xk9x2x" in text
    assert "pin abc" in text_of(
        answer(builders.starlark(STARLARK + 'fail("pin " + secret)'), "abc")
    )


CUT = [
    pytest.param("dial https://db.example.org", "dial [secret]", id="whole"),
    pytest.param("dial https://db.exam…", "dial [secret]…", id="cut with a mark"),
    pytest.param("dial https://db.ex", "dial [secret]", id="cut at the end"),
    pytest.param("see https://docs.example.org", "see https://docs.example.org", id="another"),
]


@pytest.mark.parametrize(("printed", "expected"), CUT)
def test_secret_that_was_cut_is_known_by_its_beginning(printed: str, expected: str) -> None:
    """A text with only a similar beginning stays."""
    message = builders.request(
        observed={
            "composite": {
                "resource": builders.XR,
                "connection_details": {"url": base64.b64encode(b"https://db.example.org").decode()},
            }
        }
    )
    text = redaction.redact_text(printed, message.SerializeToString())
    assert text.startswith(expected)
    assert "db.ex" not in text


def respond(step_input: Object, **parts: object) -> pb.RunFunctionResponse:
    """Return the response to a request with two credentials."""
    data = {"credentialData": {"data": {"value": BASE64}}}
    return builders.call(
        builders.request(step_input, credentials={"api": data, "other": data}, **parts)
    )


META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Context\ndata:\n"
LISTING: dict[str, Object] = {
    "starlark": builders.starlark(
        'def main(req):\n    return {"context": {"names": list(req["credentials"].keys())}}\n'
    ),
    "jinja": builders.jinja(META + "  names: {{ credentials.keys() | list }}\n"),
    "gotemplate": builders.gotemplate(
        META + "  names: [{{ range $name, $_ := .credentials }}{{ $name }}{{ end }}]\n"
    ),
}


@pytest.mark.parametrize("language", LISTING)
@pytest.mark.parametrize("names", [(), ("api",)])
def test_program_sees_the_credentials_its_input_names(
    language: str, names: tuple[str, ...]
) -> None:
    """Without a list it sees none."""
    step = {**LISTING[language], "credentials": list(names)}
    response = respond(step if names else LISTING[language])
    assert list(response.results) == []
    assert list(response.context["names"]) == list(names)


def test_credentials_that_the_step_lacks_are_an_error() -> None:
    """The pipeline's step does not provide what the input names."""
    (result,) = respond({**LISTING["jinja"], "credentials": ["api", "apj"]}).results
    assert result.message == (
        'input.credentials[1]: the step has no credentials "apj" (there are api, other)'
    )
