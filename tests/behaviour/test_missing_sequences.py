"""A misspelt path changes nothing in a cluster: the step stops in every language."""

import pytest
from support.builders import API_VERSION, gotemplate, jinja, peer, starlark
from support.core_model import Core

from function_script.engines.library import FUNCTIONS
from function_script.request.values import Object

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XThing",
    "metadata": {"name": "demo", "namespace": "here"},
    "spec": {"count": 2, "zones": ["a", "b"], "color": {"name": "red"}},
}
DOCUMENT = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    NAME
data: {color: COLOR}
"""


def go_text(loop: str, color: str = ".color.name") -> str:
    """A template with a document for each turn of a loop."""
    document = DOCUMENT.replace("NAME", '{{ setResourceNameAnnotation (print "map-" $each) }}')
    color = f"{{{{ $.observed.composite.resource.spec{color} }}}}"
    return f"{{{{ range $each := {loop} }}}}\n{document.replace('COLOR', color)}{{{{ end }}}}\n"


def jinja_text(loop: str) -> str:
    """The same in Jinja."""
    annotation = '{{ set_resource_name_annotation("map-" ~ each) }}'
    document = DOCUMENT.replace("NAME", annotation).replace("COLOR", "{{ spec.color.name }}")
    return f"{{% for each in {loop} %}}\n{document}{{% endfor %}}\n"


def script(loop: str) -> str:
    """The same in Starlark."""
    return f"""
def main(req):
    xr = req["observed"]["composite"]["resource"]
    rsp = response()
    for each in {loop}:
        data = {{"color": xr["spec"]["color"]["name"]}}
        rsp.resource("map-%s" % each, {{"apiVersion": "v1", "kind": "ConfigMap", "data": data}})
    return rsp
"""


def refusal(cluster: Core, step: Object) -> str:
    """The message of a step that stops."""
    (result,) = cluster.run_step(step)
    assert result["severity"] == "SEVERITY_FATAL"
    return str(result["message"])


SPEC = ".observed.composite.resource.spec"
LOOPS = [
    pytest.param(
        gotemplate(go_text(f"until (int {SPEC}.count)")),
        gotemplate(go_text(f"until (int {SPEC}.conut)")),
        f'inline:1:30: cannot evaluate {SPEC}.conut: it does not exist (did you mean "count"?)',
        id="go-count",
    ),
    pytest.param(
        gotemplate(go_text(f"{SPEC}.zones")),
        gotemplate(go_text(f"{SPEC}.zoens")),
        f'inline:1:19: cannot evaluate {SPEC}.zoens: it does not exist (did you mean "zones"?)',
        id="go-list",
    ),
    pytest.param(
        gotemplate(go_text(f"{SPEC}.zones")),
        gotemplate(go_text(f"{SPEC}.placement.zones")),
        f"inline:1:19: cannot evaluate {SPEC}.placement.zones: {SPEC}.placement does not exist",
        id="go-below-what-is-missing",
    ),
    pytest.param(
        gotemplate(go_text(f'index {SPEC} "zones"')),
        gotemplate(go_text(f'index {SPEC} "zoens"')),
        f'inline:1:19: cannot evaluate index {SPEC} "zoens": {SPEC}.zoens does not exist',
        id="go-index",
    ),
    pytest.param(
        gotemplate(f"{{{{ $zones := {SPEC}.zones }}}}\n{go_text('$zones')}"),
        gotemplate(f"{{{{ $zones := {SPEC}.zoens }}}}\n{go_text('$zones')}"),
        f"inline:2:19: cannot evaluate $zones: {SPEC}.zoens does not exist",
        id="go-variable",
    ),
    pytest.param(
        jinja(jinja_text("range(spec.count)")),
        jinja(jinja_text("range(spec.conut)")),
        'inline:1:27: cannot render template: spec.conut is undefined (did you mean "count"?)',
        id="jinja-count",
    ),
    pytest.param(
        jinja(jinja_text("spec.zones")),
        jinja(jinja_text("spec.zoens")),
        'inline:1:21: cannot render template: spec.zoens is undefined (did you mean "zones"?)',
        id="jinja-list",
    ),
    pytest.param(
        jinja(jinja_text("spec.zones")),
        jinja(jinja_text("spec.placement.zones")),
        "inline:1:21: cannot render template: spec.placement.zones is undefined",
        id="jinja-below-what-is-missing",
    ),
    pytest.param(
        starlark(script('range(xr["spec"]["count"])')),
        starlark(script('range(xr["spec"]["conut"])')),
        'script:5:23: cannot run main: key "conut" is missing',
        id="starlark-count",
    ),
    pytest.param(
        starlark(script('get(xr, "spec.zones")')),
        starlark(script('get(xr, "spec.zoens")')),
        "script:5:17: cannot run main: a value of type NoneType has no items",
        id="starlark-list",
    ),
    pytest.param(
        starlark(script('xr["spec"].get("zones")')),
        starlark(script('xr["spec"].get("zoens")')),
        "script:5:17: cannot run main: a value of type NoneType has no items",
        id="starlark-get",
    ),
]


@pytest.mark.parametrize(("sound", "misspelt", "said"), LOOPS)
def test_loop_over_a_misspelt_path_deletes_nothing(
    sound: Object, misspelt: Object, said: str
) -> None:
    cluster = Core(xr=XR)
    assert cluster.run_step(sound) == []
    before = cluster.objects()
    assert len(before) == 2
    assert refusal(cluster, misspelt).startswith(said)
    assert cluster.objects() == before
    assert cluster.run_step(sound) == []
    assert cluster.objects() == before


@pytest.mark.parametrize("loop", ["until (int SPEC.conut)", "SPEC.zoens"])
def test_go_deletes_them_where_that_is_wanted(loop: str) -> None:
    """function-go-templating deletes resources here; the model of a cluster shows it."""
    loop = loop.replace("SPEC", SPEC)
    for lenient in (
        gotemplate(go_text(loop), options={"missingKey": "Default"}),
        peer(go_text(loop)),
    ):
        cluster = Core(xr=XR)
        sound = go_text(f"{SPEC}.zones")
        cluster.run_step(gotemplate(sound) if lenient["apiVersion"] == API_VERSION else peer(sound))
        assert len(cluster.objects()) == 2
        cluster.run_step(lenient)
        assert cluster.objects() == {}


@pytest.mark.parametrize("arguments", ["MISSING", 'MISSING, "a"', 'MISSING, ["a"]'])
@pytest.mark.parametrize("name", sorted({function.name for function in FUNCTIONS}))
def test_library_functions_make_no_empty_loop_of_a_missing_sequence(
    name: str, arguments: str
) -> None:
    """What takes a missing value for an empty object gives no list and no object that is empty."""
    turns = """\
{% for each in CALL %}
---
apiVersion: v1
kind: Note
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: "note-{{ loop.index }}"}
{% endfor %}
"""
    given = arguments.replace("MISSING", "spec.zoens")
    cluster = Core(xr=XR)
    results = cluster.run_step(jinja(turns.replace("CALL", f"{name}({given})")))
    assert results or cluster.objects()
    given = arguments.replace("MISSING", 'get(xr, "spec.zoens")')
    loop = f"{name}({given})"
    cluster = Core(xr=XR)
    results = cluster.run_step(starlark(script(f"range(len([0 for _ in {loop}]))")))
    assert results or cluster.objects()
