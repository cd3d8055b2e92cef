"""Every character that a text can have survives the functions that write it for YAML and JSON."""

import json

import pytest
from support import builders

from function_script.request.values import Object

# Those with characters of their own, and the last one; the others are empty or alike.
PLANES = (0, 1, 14, 16)
DOCUMENT = (
    "apiVersion: v1\nkind: ConfigMap\n"
    f"metadata: {{annotations: {{{builders.NAME_KEY}: a}}}}\n"
    "data:\n  text: %s\n"
)


def characters(plane: int) -> str:
    """All characters of a plane, each between letters."""
    codes = range(plane << 16, (plane + 1) << 16)
    return "a" + "a".join(chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF) + "a"


def written(step_input: Object, text: str) -> object:
    """The text of the ConfigMap that a step composes."""
    answer = builders.call(builders.request({**step_input, "params": {"text": text}}))
    assert not [result.message for result in answer.results]
    return builders.to_dict(answer)["desired"]["resources"]["a"]["resource"]["data"]["text"]  # type: ignore[index, call-overload] # the shape of a response


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize(
    "expression",
    [
        "{{ params.text | quote }}",
        "{{ params.text | to_json }}",
        "{{ (params | to_pretty_json | from_yaml).text | quote }}",
        "{{ ({'text': params.text} | string | from_yaml).text | quote }}",
        "{{ params.text | to_yaml | nindent(4) }}",
    ],
)
def test_text_in_jinja_is_read_back_by_yaml(expression: str, plane: int) -> None:
    text = characters(plane)
    assert written(builders.jinja(DOCUMENT % expression), text) == text


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("function", ["quote", "to_json", "to_pretty_json"])
def test_text_is_read_back_by_json(function: str, plane: int) -> None:
    text = characters(plane)
    block = "|-\n    {{ params.text | " + function + " }}"
    assert json.loads(str(written(builders.jinja(DOCUMENT % block), text))) == text


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("function", ["quote", "to_json", "to_pretty_json", "to_yaml"])
def test_text_in_starlark_is_read_back_by_yaml(function: str, plane: int) -> None:
    text = characters(plane)
    script = (
        "def main(req):\n"
        f"    text = from_yaml({function}(req['params']['text']))\n"
        "    rsp = response()\n"
        "    rsp.resource('a', {'apiVersion': 'v1', 'kind': 'ConfigMap', 'data': {'text': text}})\n"
        "    return rsp\n"
    )
    assert written(builders.starlark(script), text) == text


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("expression", ["{{ quote .params.text }}", "{{ toYaml .params.text }}"])
def test_text_in_go_is_read_back_by_yaml(expression: str, plane: int) -> None:
    text = characters(plane)
    assert written(builders.gotemplate(DOCUMENT % expression), text) == text
