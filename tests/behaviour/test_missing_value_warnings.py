"""Warnings of missing values name what the author wrote, and where it ended up."""

import pytest
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb

DOCUMENT = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {{annotations: {{gotemplating.fn.crossplane.io/composition-resource-name: {name}}}}}
data: {{colour: "{value}"}}
"""


def warn(template: str) -> list[str]:
    """The warnings of a step of function-go-templating."""
    results = builders.call(builders.request(builders.peer(template))).results
    assert {result.severity for result in results} == {pb.SEVERITY_WARNING}
    return [result.message.partition(" (")[0] for result in results]


XR_PATH = ".observed.composite.resource"
CASES = (
    (f"{{{{ {XR_PATH}.sepc }}}}", f'{XR_PATH}.sepc does not exist (did you mean "spec"?)'),
    (
        f"{{{{ {XR_PATH}.status.x }}}}",
        f"{XR_PATH}.status.x: {XR_PATH}.status does not exist (it has apiVersion, kind, metadata",
    ),
    ("{{ .Values.region }}", f"(Helm's values are {XR_PATH}.spec here)"),
    ('{{ index .observed "compsite" }}', 'did you mean "composite"?'),
    ("{{ $x := .observed.compsite }}{{ $x }}", "$x: .observed.compsite does not exist (did you"),
    ('{{ with dict "a" nil }}{{ .a }}{{ end }}', ".a is null (check the path"),
    # The place and the expression are in the template that has the mistake.
    (
        '{{ define "x" }}{{ .compsite }}{{ end }}{{ include "x" .observed }}',
        ".compsite does not exist",
    ),
    (
        '{{ define "x" }}{{ .no }}{{ end }}{{ $x := include "x" . }}a{{ $x }}',
        '"<no value>" was written: .no does not exist',
    ),
    # The dot keeps its value where the variable that it came from gets another one.
    (
        '{{ $x := dict "a" (dict "b" 1) }}{{ with $x.a }}{{ $x = dict }}{{ .c }}{{ end }}',
        '"<no value>" was written: .c does not exist (it has b;',
    ),
    ("{{ range list 1 }}{{ $.spec }}{{ end }}", "write $.observed.composite.resource.spec"),
)


@pytest.mark.parametrize(("value", "words"), CASES, ids=[value for value, _ in CASES])
def test_warning_has_the_cause_and_the_hint_of_our_own_kind(value: str, words: str) -> None:
    request = builders.request(builders.peer(DOCUMENT.format(name="a", value=value)))
    (result,) = builders.call(request).results
    assert words in result.message.replace(', in resource "a"', "")


@pytest.mark.parametrize(
    "use", ["{{ include `x` . | sha256sum }}", "{{ if include `x` . }}{{ end }}"]
)
@pytest.mark.parametrize("end", ["", "\n# end"])
def test_value_that_is_not_written_has_no_warning(use: str, end: str) -> None:
    text = "# {{ define `x` }}{{ .no }}{{ end }}" + use + end
    step_input = builders.peer(DOCUMENT.format(name="a", value="b") + text)
    assert not builders.call(builders.request(step_input)).results


def test_expression_and_resource_are_named() -> None:
    text = DOCUMENT.format(name="a", value="red") + DOCUMENT.format(
        name="b", value='{{ "x" }}-{{ .no.colour }}'
    )
    (warning,) = warn(text)
    assert warning == (
        'inline.template:10:30: "<no value>" was written: .no.colour: .no does not exist, '
        'in resource "b"'
    )


def test_turns_of_a_loop_name_their_resources() -> None:
    loop = '{{ range $name := list "one" "two" }}'
    document = DOCUMENT.format(name="{{ $name }}", value="{{ $.no.colour }}")
    assert [text.rpartition(", in ")[2] for text in warn(f"{loop}\n{document}{{{{ end }}}}")] == [
        'resource "one"',
        'resource "two"',
    ]


NO, NONE = "{{ define `x` }}{{ .no }}{{ end }}", "{{ define `y` }}{{ .none }}{{ end }}"
TWO = DOCUMENT.format(name="a", value="{{ .no }}") + DOCUMENT.format(name="b", value="{{ .none }}")


@pytest.mark.parametrize(
    ("template", "resources"),
    [
        (f"{{{{ define `x` }}}}{TWO}{{{{ end }}}}{{{{ include `x` . }}}}", ['"a"', '"b"']),
        # Nobody knows which of the two texts is in which resource.
        (
            f"{NO}{NONE}{{{{ $x := include `x` . }}}}{{{{ $y := include `y` . }}}}\n"
            + TWO.replace(".none", "$x").replace(".no", "$y"),
            ["", ""],
        ),
    ],
    ids=["documents", "variables"],
)
def test_text_of_a_template_names_its_resources(template: str, resources: list[str]) -> None:
    warnings = warn(template)
    assert [text.partition(", in resource ")[2] for text in warnings] == resources


def test_document_of_the_xr_names_the_expression_alone() -> None:
    head = "apiVersion: example.org/v1\nkind: XThing\n"
    (warning,) = warn(head + "status: {colour: '{{ .no.colour }}'}\n")
    assert warning.endswith("was written: .no.colour: .no does not exist")


@pytest.mark.parametrize("blank", [" ", "\n  "])
def test_long_expression_is_cut(blank: str) -> None:
    path = ".no" + f"{blank}| default nil" * 30
    (warning,) = warn(DOCUMENT.format(name="a", value=f"{{{{ {path} }}}}"))
    assert '… does not exist, in resource "a"' in warning
    assert "\n" not in warning
