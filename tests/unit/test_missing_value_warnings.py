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


def test_expression_and_resource_are_named() -> None:
    text = DOCUMENT.format(name="a", value="red") + DOCUMENT.format(
        name="b", value='{{ "x" }}-{{ .no.colour }}'
    )
    (warning,) = warn(text)
    assert warning == (
        'inline.template:10:30: "<no value>" was written for .no.colour, which is missing, '
        'in resource "b"'
    )


def test_turns_of_a_loop_name_their_resources() -> None:
    loop = '{{ range $name := list "one" "two" }}'
    document = DOCUMENT.format(name="{{ $name }}", value="{{ $.no.colour }}")
    assert [text.rpartition(", in ")[2] for text in warn(f"{loop}\n{document}{{{{ end }}}}")] == [
        'resource "one"',
        'resource "two"',
    ]


def test_document_of_the_xr_names_the_expression_alone() -> None:
    head = "apiVersion: example.org/v1\nkind: XThing\n"
    (warning,) = warn(head + "status: {colour: '{{ .no.colour }}'}\n")
    assert warning.endswith("was written for .no.colour, which is missing")


@pytest.mark.parametrize("blank", [" ", "\n  "])
def test_long_expression_is_cut(blank: str) -> None:
    path = ".no" + f"{blank}| default nil" * 30
    (warning,) = warn(DOCUMENT.format(name="a", value=f"{{{{ {path} }}}}"))
    assert '…, which is missing, in resource "a"' in warning
    assert "\n" not in warning
