"""An error of a value that is not there yet names `missing: Defer` where that lets it wait."""

import pytest
from support.builders import document, gotemplate, jinja, starlark
from support.readiness_steps import condition, desired, fatal, observed, run

from function_script.engines import missing_values
from function_script.request.values import Object

VPC = "observed.resources.vpc.resource.status.id"
JINJA_WAITS = [
    f"spec:\n  id: {{{{ {VPC} }}}}\n",
    f'spec:\n  id: "x-{{{{ {VPC} | upper }}}}"\n',
    f"spec:\n  id: {{{{ spec.gone | default(1) }}}}-{{{{ {VPC} }}}}\n",
    'spec:\n  id: {{ get_composed_resource("vpc").status.id }}\n',
    f"{{% set id = {VPC} %}}\nspec:\n  id: {{{{ id }}}}\n",
    f"{{% if true %}}\nspec:\n  id: {{{{ {VPC} }}}}\n{{% endif %}}\n",
    f"spec:\n  ids:\n  - {{{{ {VPC} }}}}\n",
]
JINJA_FAILS = [
    f"{{% if {VPC} > 3 %}}\nspec: {{}}\n{{% endif %}}\n",
    f"{{% for each in {VPC} %}}\nspec: {{}}\n{{% endfor %}}\n",
    f"spec:\n  id: {{% set x %}}{{{{ {VPC} }}}}{{% endset %}}\n",
    f"  labels: {{script.fn.crossplane.io/moved-from: {{{{ {VPC} }}}} }}\n",
    f"---\nkind: {{{{ {VPC} }}}}\n",
    f"---\n{{{{ {VPC} }}}}\n",
    "spec:\n  id: {{ spec.gone }}\n",
    # It is the document's own, or a misspelt one.
    "spec:\n  id: {{ observed.resources.a.resource.status.id }}\n",
    f"spec:\n  id: {{{{ {VPC}.x }}}}\n".replace("vpc", "databse") + document("database"),
    # Another mistake comes first.
    "spec:\n  id: {{ observed.resource.vpc }}\n",
]
GO_WAITS = [
    f"spec:\n  id: {{{{ .{VPC} }}}}\n",
    f"spec:\n  id: {{{{ .{VPC} | quote }}}}\n",
    'spec:\n  id: {{ (getComposedResource . "vpc").status.id }}\n',
    '{{ $vpc := getComposedResource . "vpc" }}\nspec:\n  id: {{ $vpc.status.id }}\n',
    '{{ $vpc := index .observed.resources "vpc" }}\nspec:\n  id: {{ $vpc.resource.status.id }}\n',
    'spec:\n  id: {{ index .observed.resources "vpc" "resource" "status" }}\n',
]
GO_FAILS = [
    f"{{{{ if gt .{VPC} 3 }}}}\nspec: {{}}\n{{{{ end }}}}\n",
    f"{{{{ range .{VPC} }}}}\nspec: {{}}\n{{{{ end }}}}\n",
    f"---\nkind: {{{{ .{VPC} }}}}\n",
    f'{{{{ $d := dict }}}}\nspec:\n  id: {{{{ set $d "a" .{VPC} }}}}\n',
    f'{{{{ $d := dict }}}}\nspec:\n  id: {{{{ .{VPC} | set $d "a" }}}}\n',
    "spec:\n  id: {{ .observed.composite.resource.spec.gone }}\n",
    # It is the document's own.
    "spec:\n  id: {{ .observed.resources.a.resource.status.id }}\n",
    'spec:\n  id: {{ (getComposedResource . "a").status.id }}\n',
    'spec:\n  id: {{ (index .observed.resources "a").resource.status.id }}\n',
]


@pytest.mark.parametrize("text", JINJA_WAITS)
def test_jinja_names_it_where_the_document_waits(text: str) -> None:
    _check_that_it_waits(jinja(document("a", text)))


@pytest.mark.parametrize("text", GO_WAITS)
def test_go_names_it_where_the_document_waits(text: str) -> None:
    _check_that_it_waits(gotemplate(document("a", text)))


def _check_that_it_waits(step: Object) -> None:
    assert missing_values.DOCUMENT_WAITS in fatal(run(step))
    response = run({**step, "missing": "Defer"})
    assert desired(response) == {}
    assert "Waiting: a because" in str(condition(response)["message"])


@pytest.mark.parametrize("text", JINJA_FAILS)
def test_jinja_does_not_name_it_elsewhere(text: str) -> None:
    assert "missing: Defer" not in fatal(run(jinja(document("a", text))))


@pytest.mark.parametrize("text", GO_FAILS)
def test_go_does_not_name_it_elsewhere(text: str) -> None:
    assert "missing: Defer" not in fatal(run(gotemplate(document("a", text))))


def test_entry_has_its_object_below_resource() -> None:
    """To wait for a path that leads past the object would be to wait for ever."""
    vpc = {"vpc": observed(status={})}
    text = "spec:\n  id: {{ observed.resources.vpc.status.id }}\n"
    expected = "the object is below resource: write observed.resources.vpc.resource.status"
    assert expected in fatal(run(jinja(document("a", text)), vpc))
    text = "spec:\n  id: {{ .observed.resources.vpc.status.id }}\n"
    assert "write resource.status" in fatal(run(gotemplate(document("a", text)), vpc))
    text = 'def main(req):\n    return req["observed"]["resources"]["vpc"]["status"]\n'
    assert 'below it, ["resource"]["status"]' in fatal(run(starlark(text), vpc))


SCRIPT = """\
def main(req):
    rsp = response()
    vpc = get_observed(req, "vpc")
    {}
    return rsp
"""


@pytest.mark.parametrize(
    "statement",
    [
        'rsp.resource("a", {"spec": vpc["status"]["id"]})',
        'id = vpc["status"]["id"]; rsp.resource("a", {"spec": id})',
        'v = req["observed"]["resources"].get("vpc", {}); rsp.resource("a", {"spec": v["status"]})',
        'id = "x-" + get_observed(req, "vpc", "status.id"); rsp.resource("a", {"spec": id})',
    ],
)
def test_script_learns_of_functions(statement: str) -> None:
    script = SCRIPT.format(statement)
    assert missing_values.FUNCTION_WAITS in fatal(run(starlark(script)))
    deferring = fatal(run(starlark(script, missing="Defer")))
    assert missing_values.FUNCTION_WAITS_NOW in deferring
    assert missing_values.FUNCTION_WAITS not in deferring


def test_script_with_a_function_needs_the_field_alone() -> None:
    body = '{"apiVersion": "e.org/v1", "kind": "T", "spec": vpc["status"]["id"]}'
    script = SCRIPT.format(f'rsp.resource("a", lambda: {body})')
    assert missing_values.RESOURCE_WAITS in fatal(run(starlark(script)))
    assert desired(run(starlark(script, missing="Defer"))) == {}


def test_resource_waits_for_one_whose_name_is_computed() -> None:
    """A condition has neither a pattern of names nor words of the interpreter."""
    name = 'get_observed(req, "-".join(["vpc", "a"]))'
    body = f'{{"apiVersion": "e.org/v1", "kind": "T", "spec": {name}["status"]}}'
    script = SCRIPT.format(f'rsp.resource("a", lambda: {body})')
    message = str(condition(run(starlark(script, missing="Defer")))["message"])
    assert message.startswith("Waiting: a because a value that it reads is None")


@pytest.mark.parametrize(
    "statement",
    [
        'if vpc["status"]["id"] == 1: rsp.remove("a")',
        'for each in vpc["status"]["ids"]: rsp.remove("a")',
        'x = req["context"]["gone"]',
        'rsp.set_status("id", vpc["status"]["id"])',
        'rsp.resource("vpc", {"spec": vpc["status"]["id"]})',
        'id = vpc["status"]["id"]; rsp.resource("vpc", {"spec": id})',
    ],
)
def test_script_does_not_learn_of_it_elsewhere(statement: str) -> None:
    assert "missing: Defer" not in fatal(run(starlark(SCRIPT.format(statement))))
