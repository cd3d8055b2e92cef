"""Templates that no author means: each gets an error of the template, and none is a bug."""

import pytest
from support import builders

from function_script.engines.gotemplate import yaml
from function_script.engines.gotemplate.errors import CallError
from function_script.request.limits import Limits
from function_script.request.values import Object

DIGITS = '{{ $x := fromYaml (print "a: " (repeat 4301 "1")) }}{{ len $x.a }}'
RANGE = '{{ range fromYaml "18446744073709551615" }}{{ fail "a turn" }}{{ else }}{{ end }}'
DATE = "{{ $date := now }}{{ $date.AddDate %s }}"
ODD = [
    pytest.param(DIGITS, "a document must be an object, not an integer", id="digits"),
    pytest.param(r'{{ fromYaml "\xff" }}', "yaml: the text is not UTF-8", id="not UTF-8"),
    pytest.param('{{ b64dec "/w==" }}', 'cannot evaluate b64dec "/w==": the text has', id="bytes"),
    pytest.param('a{{ trunc 1 "é" }}', "inline:1:5: cannot evaluate trunc", id="half"),
    pytest.param('{{ include "" 1 }}', 'no template "" associated with template', id="no name"),
    pytest.param(RANGE, "a turn", id="uint64"),
    pytest.param(DATE % "-9223372036854775808 0 0", "the year is out of range", id="years"),
    pytest.param(DATE % "0 9223372036854775807 0", "the year is out of range", id="months"),
    pytest.param(DATE % "0 0 9223372036854775807", "the year is out of range", id="days"),
]


def fatal(step: Object, limits: Limits) -> str:
    """Return the message of the one FATAL result."""
    observed = {"composite": {"resource": {"apiVersion": "v1", "kind": "XR"}}}
    return builders.fatal(builders.call(builders.request(step, observed=observed), limits))


@pytest.mark.parametrize(("template", "message"), ODD)
def test_odd_template_is_an_error_of_the_template(template: str, message: str) -> None:
    step = builders.gotemplate(template, options={"stableValues": True})
    text = fatal(step, Limits())
    assert message in text
    assert "internal error" not in text


@pytest.mark.parametrize("data", [b"\xff", b"a: b\nc: \xff\n", b"\xc3a", b"a: \xe2\x82"], ids=str)
def test_invalid_utf8_is_refused(data: bytes) -> None:
    with pytest.raises(CallError, match="yaml: the text is not UTF-8"):
        yaml.from_yaml(Limits(), data.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1" * 4301, "1" * 4301),
        ("0b" + "0" * 4301 + "1", 1),
        ("0x" + "f" * 16, 2**64 - 1),
        ("-" + "9" * 5000, "-" + "9" * 5000),
        ("0", 0),
        ("007", 7),
    ],
    ids=lambda value: str(value)[:8],
)
def test_numbers_of_any_length(text: str, value: object) -> None:
    """A number beyond 64 bits is a string, as in Go."""
    assert yaml.resolve(text) == value
