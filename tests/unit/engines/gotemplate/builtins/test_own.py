"""Functions of the library in Go templates of our own kind."""

import ast
import json
import re

import pytest
from support import programs

from function_script.engines import library
from function_script.engines.gotemplate import engine as gotemplate
from function_script.engines.gotemplate import registry
from function_script.request.limits import Limits
from function_script.texts.errors import FatalError

DELETING = {"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}}
CREATING = {
    "kind": "Bucket",
    "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Creating"}]},
}
IN_GO = {row.go_name: row for row in library.FUNCTIONS if row.go_name}


def render(template: str, **params: object) -> str:
    program = programs.program(template, dialect="script", missingkey="checked")
    scope = programs.scope(params, observed={"composite": {"resource": {}}, "resources": {}})  # type: ignore[arg-type] # plain values
    return gotemplate.evaluate(program, scope, Limits()).text


def test_function_with_a_name_in_go_is_there_under_this_name() -> None:
    assert (
        {"isDeleting", "unreadyReason", "cidrHost"} <= IN_GO.keys() <= registry.OWN_FUNCTIONS.keys()
    )


@pytest.mark.parametrize("name", IN_GO)
def test_function_of_the_library_gives_its_example_in_go(name: str) -> None:
    row = IN_GO[name]
    arguments = [ast.literal_eval(each) for each in ast.parse(row.example).body[0].value.args]  # type: ignore[attr-defined] # a call
    words = " ".join(f"(index .params.a {index})" for index in range(len(arguments)))
    assert json.loads(render(f"{{{{ {name} {words} | toJson }}}}", a=arguments)) == row.result


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('cidrHost "10.0.0.0" 1', "cidrHost: cidr: '10.0.0.0' has no prefix length"),
        ('cidrHost "10.0.0.0/8" "1"', "cidrHost: index: must be an integer, not a string"),
        ('cidrHost "10.0.0.0/8" .params.null', "params.null: it is null"),
        ('cidrHost "10.0.0.0/8" .params.none', "params.none: it does not exist"),
        ("cidrHost 8 1", "expected string; found 8"),
        ('cidrSubnets "10.0.0.0/8" (list "1")', "new_bits: must be an integer, not a string"),
    ],
)
def test_function_of_the_library_refuses_other_arguments_in_go(call: str, message: str) -> None:
    with pytest.raises(FatalError, match=re.escape(message)):
        render(f"{{{{ {call} }}}}", null=None)


@pytest.mark.parametrize("resource", [DELETING, {"resource": DELETING}])
def test_resource_or_its_wrapper_is_deleting(resource: object) -> None:
    assert render("{{ isDeleting .params.r }}", r=resource) == "true"


@pytest.mark.parametrize("value", [None, {}, {"metadata": None}])
def test_nothing_is_not_deleting_and_has_no_kind(value: object) -> None:
    text = render("{{ isDeleting .params.r }} {{ unreadyReason .params.r }}", r=value)
    assert text.startswith("false ")


@pytest.mark.parametrize("value", [[], "metadata", 1, 1.5, True])
@pytest.mark.parametrize("name", ["isDeleting", "unreadyReason", "getExternalName"])
def test_other_value_is_a_wrong_argument(name: str, value: object) -> None:
    with pytest.raises(FatalError, match="resource: must be an object, not a"):
        render(f"{{{{ {name} .params.r }}}}", r=value)


@pytest.mark.parametrize("value", [CREATING, {"resource": CREATING}, {}, {"metadata": {}}])
def test_reason_is_the_one_of_the_library(value: dict[str, object]) -> None:
    (row,) = (row for row in library.FUNCTIONS if row.name == "unready_reason")
    expected = row.call(json.loads(json.dumps(value)))
    assert render("{{ unreadyReason .params.r }}", r=value) == expected


@pytest.mark.parametrize("expression", ["isDeleting", "isDeleting 1 2", "unreadyReason"])
def test_wrong_number_of_arguments_is_an_error(expression: str) -> None:
    with pytest.raises(FatalError, match="wrong number of args"):
        render(f"{{{{ {expression} }}}}")
