"""A wrong call stops the program, in every language: a name for a resource has no silent answer."""

import pytest
from support import builders

from function_script.request.values import Object

GO = """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    {{ setResourceNameAnnotation "a" }}
data: {value: {{ %s | quote }}}
"""
OBSERVED: Object = {
    "composite": {"resource": {"spec": {"name": "db"}}},
    "resources": {"db": {"resource": {"kind": "Db", "status": {"conditions": []}}}},
}
# The name is a value that only a run knows.
STARLARK = 'get_xr(req, "spec.name")'
JINJA = "spec.name"
GO_NAME = ".observed.composite.resource.spec.name"
OBJECT = "must be an object, not a string"


def fatal(input_: Object) -> str:
    """The message with which a step stops; "" if it does not."""
    response = builders.call(builders.request(input_, observed=OBSERVED))
    return "".join(each.message for each in response.results if each.severity == 1)


def script(expression: str) -> Object:
    return builders.starlark(f'def main(req):\n    return {{"context": {{"a": {expression}}}}}\n')


def jinja(expression: str) -> Object:
    return builders.jinja(f"# {{{{ {expression} }}}}\n")


def go_template(expression: str) -> Object:
    return builders.gotemplate(GO % expression)


# Functions of a resource, and their other arguments.
OF_A_RESOURCE = {
    "is_ready": "",
    "get_condition": ', "Ready"',
    "is_deleting": "",
    "get_external_name": "",
    "get_annotation": ', "a"',
    "get_label": ', "a"',
    "unready_reason": "",
}
CALLS = [
    *(
        pytest.param(script(f"{name}({STARLARK}{others})"), name, OBJECT, id=f"starlark-{name}")
        for name, others in OF_A_RESOURCE.items()
    ),
    *(
        pytest.param(jinja(f"{name}({JINJA}{others})"), name, OBJECT, id=f"jinja-{name}")
        for name, others in OF_A_RESOURCE.items()
    ),
    pytest.param(
        jinja(f'get_resource_condition("Ready", {JINJA}).status'),
        "get_resource_condition",
        OBJECT,
        id="jinja-get_resource_condition",
    ),
    *(
        pytest.param(
            jinja(f"{name}({value}) | default(1)"), name, message, id=f"jinja-{name}-{value}"
        )
        for name, value, message in (
            ("get_composed_resource", "spec", "name: must be a string, not an object"),
            ("get_composed_connection_details", "[1]", "name: must be a string, not a list"),
            ("get_required_resources", "none", "name: must be a string, not null"),
            ("get_credential_data", "true", "name: must be a string, not a boolean"),
            ("has_capability", "none", "name: must be a string, not null"),
        )
    ),
    *(
        pytest.param(go_template(f"{name} {GO_NAME}"), name, OBJECT, id=f"go-{name}")
        for name in ("unreadyReason", "isDeleting", "getExternalName")
    ),
]


@pytest.mark.parametrize(("input_", "name", "message"), CALLS)
def test_wrong_argument_stops_the_program(input_: Object, name: str, message: str) -> None:
    text = fatal(input_)
    assert name in text
    assert message in text


@pytest.mark.parametrize(
    "input_",
    [
        pytest.param(script("is_ready(None)"), id="starlark-null"),
        pytest.param(script('is_ready(req["observed"]["resources"]["db"])'), id="starlark-wrapper"),
        pytest.param(script('unready_reason(get_observed(req, "x"))'), id="starlark-not-there"),
        pytest.param(jinja('is_ready(get_composed_resource("x"))'), id="jinja-not-there"),
        pytest.param(jinja("is_ready(observed.resources.db)"), id="jinja-wrapper"),
        pytest.param(jinja("is_ready(none)"), id="jinja-null"),
        pytest.param(jinja("get_composed_resource(1) | default(2)"), id="jinja-number-as-a-name"),
        pytest.param(go_template('unreadyReason (getComposedResource "x")'), id="go-not-there"),
        pytest.param(go_template("unreadyReason .observed.resources.db"), id="go-wrapper"),
        pytest.param(go_template("isDeleting nil"), id="go-null"),
    ],
)
def test_resource_and_nothing_are_right(input_: Object) -> None:
    assert not fatal(input_)
