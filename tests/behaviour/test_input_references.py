"""Inputs that are objects of the cluster, with every part of an input; each language has them."""

from pathlib import Path
from typing import cast

import pytest
from support import builders, one_step
from support.commands import Run
from support.core_model import Core

from function_script.engines.registry import LANGUAGES as REGISTRY
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.request import PROBE
from function_script.request.values import Object

KINDS = {name: language.kind for name, language in REGISTRY.items()}
FIELDS = {name: language.text_field for name, language in REGISTRY.items()}
META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Context\ndata:\n"
PROGRAMS = {
    "starlark": 'def main(req):\n    return {"context": {"text": json.encode(req["params"])}}\n',
    "jinja": META + "  text: {{ params | tojson | tojson }}\n",
    "gotemplate": META + "  text: {{ .params | toJson | toJson }}\n",
}
REFERENCE: Object = {"name": "network", "namespace": "platform"}
NAME = "script.fn.crossplane.io/input"
PROGRAM = "script.fn.crossplane.io/program"
LANGUAGES = pytest.mark.parametrize("language", list(KINDS))


def step(language: str, **fields: object) -> Object:
    """A step's input that names an object."""
    head = {"apiVersion": builders.API_VERSION, "kind": KINDS[language]}
    return {**head, "inputRef": REFERENCE, **fields}  # type: ignore[dict-item] # plain values


def stored(language: str, **fields: object) -> Object:
    """The object in the cluster, with a program."""
    head = {"apiVersion": builders.API_VERSION, "kind": KINDS[language]}
    metadata = {"name": "network", "namespace": "platform", "uid": "1", "generation": 3}
    text = {FIELDS[language]: PROGRAMS[language], "source": "Inline"}
    return {**head, "metadata": metadata, **text, **fields}  # type: ignore[dict-item] # plain values


def call(step_input: Object, *items: Object, **parts: object) -> pb.RunFunctionResponse:
    """The response to a request in which Crossplane has looked for the object."""
    fetched = builders.required(NAME, *items)
    required = {**fetched, **cast("dict[str, object]", parts.pop("required", {}))}
    return builders.call(builders.request(step_input, required_resources=required, **parts))


def text(response: pb.RunFunctionResponse) -> str:
    """The text that a program returned."""
    assert list(response.results) == []
    return str(response.context["text"])


@LANGUAGES
def test_input_is_fetched_before_it_runs(language: str) -> None:
    earlier = {"resources": {"a": {"resource": builders.composed("a")}}}
    waiting = builders.call(builders.request(step(language), desired=earlier))
    assert list(waiting.results) == []
    assert set(waiting.desired.resources) == {"a"}
    selector = waiting.requirements.resources[NAME]
    assert selector.api_version == builders.API_VERSION
    assert (selector.kind, selector.match_name) == (KINDS[language], "network")
    assert selector.namespace == "platform"
    response = call(step(language), stored(language))
    assert text(response) == "{}"
    # The requirement is repeated, so that Crossplane watches the object.
    assert NAME in response.requirements.resources
    assert set(response.requirements.resources) == set(waiting.requirements.resources)


def test_required_resource_of_an_input_kind_is_the_whole_input() -> None:
    reference = {"apiVersion": builders.API_VERSION, "kind": "StarlarkScript", **REFERENCE}
    value = step("starlark", source="RequiredResource", requiredResource=reference)
    del value["inputRef"]
    assert text(call(value, stored("starlark", params={"a": 1}))).replace(" ", "") == '{"a":1}'
    other = {**reference, "kind": "Other"}
    assert "input.requiredResource.kind: must be" in builders.fatal(
        call({**value, "requiredResource": other})  # type: ignore[dict-item] # plain values
    )
    newer = {**reference, "apiVersion": "script.fn.crossplane.io/v9"}
    assert "input.requiredResource.apiVersion: must be" in builders.fatal(
        call({**value, "requiredResource": newer})  # type: ignore[dict-item] # plain values
    )


def test_text_field_of_an_input_is_a_program_as_of_any_object() -> None:
    place = {"apiVersion": builders.API_VERSION, "kind": "StarlarkScript", **REFERENCE}
    place["fieldPath"] = "script"
    value = step("starlark", source="RequiredResource", requiredResource=place)
    del value["inputRef"]
    required = builders.required(PROGRAM, stored("starlark", ttl="never"))
    assert text(builders.call(builders.request(value, required_resources=required))) == "{}"


def test_own_fields_of_the_step_win() -> None:
    """They are a JSON merge patch: objects merge, null removes, and the rest replaces."""
    whole = stored(
        "jinja",
        params={"size": 1, "region": "us", "tags": ["a"], "old": {"a": 1}, "zone": "a"},
        ttl="5m",
        limits={"timeout": "100ms"},
        status={},
    )
    params = {"region": "eu", "tags": ["b"], "old": {"a": None}, "size": None, "zone": {"a": 1}}
    response = call(step("jinja", params=params, ttl="1m"), whole)
    assert text(response) == '{"old":{},"region":"eu","tags":["b"],"zone":{"a":1}}'
    assert response.meta.ttl.ToTimedelta().total_seconds() == 60
    response = call(step("jinja", ttl=None), whole)
    assert response.meta.ttl.ToTimedelta().total_seconds() >= 3000
    response = call(step("jinja"), whole)
    assert response.meta.ttl.ToTimedelta().total_seconds() == 300
    assert text(call(step("jinja", inline=META + "  text: own\n"), whole)) == "own"


def test_requirements_modules_and_credentials_come_from_the_object() -> None:
    requirements = {
        "resources": {"zone": {"apiVersion": "v1", "kind": "ConfigMap", "matchName": "zone"}}
    }
    whole = stored("starlark", requirements=requirements)
    waiting = call(step("starlark"), whole)
    assert set(waiting.requirements.resources) == {NAME, "zone"}
    assert list(waiting.results) == []
    zone: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "zone"}}
    required = builders.required("zone", zone)
    assert text(call(step("starlark"), whole, required=required)) == "{}"
    missing = stored("starlark", credentials=["cloud"])
    message = builders.fatal(call(step("starlark"), missing))
    assert message.startswith("StarlarkScript platform/network: credentials[0]: the step has")


def test_program_of_the_object_may_be_elsewhere_again() -> None:
    place: Object = {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "namespace": "platform"}
    whole = stored("starlark", source="RequiredResource", requiredResource=place)
    del whole["script"]
    waiting = call(step("starlark"), whole)
    assert set(waiting.requirements.resources) - {PROBE} == {NAME, PROGRAM}
    config_map: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "p", "namespace": "platform"},
        "data": {"main.star": PROGRAMS["starlark"]},
    }
    required = builders.required(PROGRAM, config_map)
    assert text(call(step("starlark"), whole, required=required)) == "{}"


def test_error_of_the_program_names_the_object() -> None:
    whole = stored("starlark", script="def main(req):\n    return nothing\n")
    message = builders.fatal(call(step("starlark"), whole))
    assert "starlarkscript/platform/network[script]:2:" in message


def test_object_that_does_not_exist_is_fatal() -> None:
    message = builders.fatal(call(step("starlark")))
    assert message.startswith(
        "input.inputRef: cannot find StarlarkScript platform/network (its CRD must be installed"
    )


INVALID = {
    "a field": ({"limits": {"timeout": "long"}}, "limits.timeout: cannot"),
    "an unknown field": ({"sizes": 1}, "sizes: unknown field"),
    "a key": ({"modules": {"a b": "x"}}, 'modules["a b"]: must not be'),
    "no program": ({"script": None}, "script: is required when source is Inline"),
    "a reference": ({"inputRef": REFERENCE}, "inputRef: must not be set in an object"),
    "a required input": (
        {
            "source": "RequiredResource",
            "script": None,
            "requiredResource": {
                "apiVersion": builders.API_VERSION,
                "kind": "JinjaTemplate",
                **REFERENCE,
            },
        },
        "requiredResource: must not be set in an object",
    ),
}


@pytest.mark.parametrize(("fields", "problem"), INVALID.values(), ids=INVALID)
def test_error_in_the_object_is_at_its_field(fields: Object, problem: str) -> None:
    message = builders.fatal(call(step("starlark"), stored("starlark", **fields)))
    assert f"StarlarkScript platform/network: {problem}" in message


def test_error_in_the_steps_own_field_is_at_that_field() -> None:
    own = step("starlark", limits={"memory": "huge"}, ttl="soon")
    for message in (
        builders.fatal(builders.call(builders.request(own))),
        builders.fatal(call(own, stored("starlark", limits={"timeout": "long"}))),
    ):
        assert "input.limits.memory: cannot" in message
        assert "input.ttl: cannot" in message
    assert "StarlarkScript platform/network: limits.timeout: cannot" in message


def test_object_of_another_name_or_namespace_is_no_answer() -> None:
    """It was fetched for an earlier input of the step."""
    elsewhere = stored("starlark")
    elsewhere["metadata"] = {"name": "network", "namespace": "other"}
    response = call(step("starlark"), elsewhere)
    assert list(response.results) == []
    assert NAME in response.requirements.resources
    assert "text" not in response.context


def test_caller_that_does_not_know_namespaces_gets_an_error() -> None:
    """It would take an answer without resources as final; its answer to a probe shows its age."""
    waiting = builders.call(builders.request(step("starlark")))
    assert set(waiting.requirements.extra_resources) == {PROBE}
    probed = builders.request(step("starlark"), extra_resources={PROBE: {}})
    assert "cannot require" in builders.fatal(builders.call(probed))
    stated: Object = {"tag": "a", "capabilities": ["CAPABILITY_CAPABILITIES"]}
    message = builders.fatal(builders.call(builders.request(step("starlark"), meta=stated)))
    assert "CAPABILITY_REQUIRED_RESOURCES" in message


def test_program_does_not_see_the_object_among_required_resources() -> None:
    script = (
        'def main(req):\n    return {"context": {"text": str(list(req["required_resources"]))}}\n'
    )
    assert text(call(step("starlark"), stored("starlark", script=script))) == "[]"


def test_random_values_and_moves_work_in_an_object() -> None:
    """A step that moves a resource is read twice."""
    document = (
        "apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n"
        "    script.fn.crossplane.io/composition-resource-name: new\n"
        "    script.fn.crossplane.io/moved-from: old\n"
        "spec: {names: {{ observed.resources | list | tojson }}, size: {{ params.size }}}\n"
    )
    old = {"resource": builders.composed("old")}
    observed = {"composite": {"resource": builders.XR}, "resources": {"old": old}}
    whole = stored("jinja", inline=document, params={"size": 2})
    response = call(step("jinja"), whole, observed=observed)
    assert list(response.desired.resources) == ["old"]
    spec = cast("Object", builders.to_dict(response)["desired"])
    assert "'names': ['new']" in str(spec)


def test_input_of_function_go_templating_cannot_refer() -> None:
    value = builders.peer("a: 1", inputRef=REFERENCE)
    assert "input.inputRef: unknown field" in builders.fatal(builders.call(builders.request(value)))


COMPOSING = (
    "def main(req):\n"
    '    spec = {"size": req["params"]["size"]}\n'
    '    body = {"apiVersion": "example.org/v1", "kind": "Thing", "spec": spec}\n'
    '    return {"desired": {"resources": {"r%d" % i: {"resource": body} for i in range(5)}}}\n'
)


def sizes(core: Core) -> set[object]:
    """The sizes of all resources."""
    resources = [cast("Object", entry["resource"]) for entry in core.resources.values()]
    return {cast("Object", each["spec"])["size"] for each in resources}


def test_five_resources_stay_while_the_object_comes_goes_and_changes() -> None:
    """A cold start, an object that is deleted, invalid, replaced, and a change that is seen."""
    whole = stored("starlark", script=COMPOSING, params={"size": 1})
    core = Core(pipeline=[step("starlark")], required=[whole])
    core.run(10.0)
    assert len(core.created) == 5
    for required in (
        [],
        [{**whole, "kind": "JinjaTemplate"}],
        [{**whole, "limits": {"timeout": "long"}}],
        [{**whole, "script": "def main(req)\n"}],
        [{**whole, "inputRef": REFERENCE}],
        [{**whole, "params": {}}],
    ):
        core.required = cast("list[Object]", required)
        before = len(core.events)
        core.run(5.0)
        assert any(event.kind == "Fatal" for event in core.events[before:])
        assert len(core.resources) == 5
    core.required = [{**whole, "params": {"size": 2}}]
    core.run(5.0)
    assert sizes(core) == {2}
    assert not core.deleted
    assert len(core.created) == 5


COMPOSITION = one_step.HEAD.removesuffix("    input:\n")
INPUT = """\
    input:
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: JinjaTemplate
      inputRef: {name: network, namespace: platform}
      params: {region: eu}
"""
OBJECT = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: JinjaTemplate
metadata: {name: network, namespace: platform}
params: {region: us, size: 3}
inline: |
  apiVersion: example.org/v1
  kind: XThing
  status: {text: "{{ params.region }}-{{ params.size }}"}
"""
CASE = "xr: xr.yaml\ncomposition: composition.yaml\nrequired: input.yaml\nexpect:\n"


def project(path: Path, beside: str = INPUT) -> None:
    """A folder with a Composition, an XR and the object."""
    (path / "composition.yaml").write_text(COMPOSITION + beside)
    (path / "xr.yaml").write_text(one_step.XR)
    (path / "input.yaml").write_text(OBJECT)


def test_author_tools_know_references(here: Path, run: Run) -> None:
    project(here)
    render = ["render", "xr.yaml", "composition.yaml"]
    assert "text: eu-3" in run(*render, "--required-resources", "input.yaml").out
    assert "cannot find JinjaTemplate platform/network" in run(*render, code=1).err
    (here / "a.case.yaml").write_text(CASE + "  xr: {status: {text: eu-3}}\n")
    run("test", "--ci")
    run("check", "composition.yaml", "input.yaml")
    run("validate", "composition.yaml", "composition.yaml,input.yaml")


CONFLICTS = {
    "field": (
        "      source: FileSystem\n      fileSystem: {dirPath: a}\n",
        "inline: must not be set",
    ),
    "chain": ("", "inputRef: must not be set in an object that a step names"),
}


@pytest.mark.parametrize(("own", "problem"), CONFLICTS.values(), ids=CONFLICTS)
def test_step_with_an_object_among_the_files_is_judged(
    tmp_path: Path, run: Run, own: str, problem: str
) -> None:
    project(tmp_path, INPUT + own)
    if not own:
        chain = OBJECT.replace("params: {", "inputRef: {name: b, namespace: c}\nparams: {")
        (tmp_path / "input.yaml").write_text(chain)
    composition, value = tmp_path / "composition.yaml", tmp_path / "input.yaml"
    checked = run("check", tmp_path, code=1).text
    assert f"JinjaTemplate platform/network: {problem}" in checked
    assert "composition.yaml:" in checked
    validated = run("validate", composition, f"{composition},{value}", code=1).out
    assert f"inputRef: JinjaTemplate platform/network: {problem}" in validated
    # Without the object, only a request brings the rest.
    run("check", composition)
    run("validate", composition, composition)


MODULES = """\
      modules:
        names: |
          {% macro region() %}{{ params.region | nope }}{% endmacro %}
"""
CALLING = OBJECT.replace("inline: |", "inline: |\n  {% from 'names' import region, zone %}")
# The step's own fields, the object, and the place and text of what is found.
MERGED = {
    "object": ("", OBJECT.replace("params.size", "params.size | nope"), "input.yaml:8:56", "nope"),
    "both": (
        MODULES.replace(" | nope", ""),
        CALLING,
        "input.yaml:6:34",
        'module "names" defines no "zone"',
    ),
    "step": (MODULES, CALLING, "composition.yaml:17:50", "nope"),
}


@pytest.mark.parametrize(("own", "text", "place", "problem"), MERGED.values(), ids=MERGED)
def test_merged_program_is_compiled_and_its_problem_is_at_its_file(
    here: Path,
    run: Run,
    own: str,
    text: str,
    place: str,
    problem: str,
) -> None:
    project(here, INPUT + own)
    (here / "input.yaml").write_text(text)
    validated = run("validate", "composition.yaml", "composition.yaml,input.yaml", code=1).out
    checked = run("check", ".", code=1).out
    for printed in (validated, checked):
        assert place in printed
        assert printed.count(problem) - printed.count(f"| {problem}") >= 1
    # The step has the program: it is neither told twice nor called one that only a request brings.
    assert "Checked 2 steps in 2 files: 1 error" in checked
    assert "Not looked at" not in checked


def test_object_of_two_steps_is_judged_with_both_and_told_once(tmp_path: Path, run: Run) -> None:
    other = "  - step: other\n    functionRef: {name: function-script}\n"
    project(tmp_path, f"{INPUT}{other}{INPUT}")
    (tmp_path / "input.yaml").write_text(OBJECT.replace("params.size", "params.size | nope"))
    assert "Checked 3 steps in 2 files: 1 error" in run("check", tmp_path, code=1).out


def test_object_whose_modules_are_the_steps_is_fine(tmp_path: Path, run: Run) -> None:
    own = MODULES.replace(" | nope", "").replace("endmacro %}", "endmacro %}{% set zone = 1 %}")
    project(tmp_path, INPUT + own)
    (tmp_path / "input.yaml").write_text(CALLING.replace("{{ params.region }}", "{{ zone }}"))
    composition, value = tmp_path / "composition.yaml", tmp_path / "input.yaml"
    run("check", composition, value)
    run("validate", composition, f"{composition},{value}")
    # Alone, the object has no such module.
    assert 'there is no module "names"' in run("check", value, code=1).out


def test_check_reports_a_mistake_of_the_object_once(tmp_path: Path, run: Run) -> None:
    project(tmp_path)
    (tmp_path / "input.yaml").write_text(f"{OBJECT}limits: {{timeout: long}}\n")
    assert run("check", tmp_path, code=1).text.count("limits.timeout") == 1


BESIDE = {
    "step": "    inputRef: {kind: JinjaTemplate, name: network}\n",
    "function reference": "    functionRef: {name: a, inputRef: {name: network}}\n",
}


@pytest.mark.parametrize("command", ["check", "validate", "render"])
@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
def test_reference_beside_the_input_is_an_error_that_shows_the_right_place(
    here: Path, run: Run, beside: str, command: str
) -> None:
    project(here, beside)
    if "functionRef" in beside:
        whole = COMPOSITION.replace("    functionRef: {name: function-script}\n", "") + beside
        (here / "composition.yaml").write_text(whole)
    arguments = {
        "check": ["composition.yaml"],
        "validate": ["composition.yaml", "composition.yaml"],
        "render": ["xr.yaml", "composition.yaml"],
    }
    printed = " ".join(run(command, *arguments[command], code=1).text.split())
    assert "inputRef: a step of Crossplane has no such field" in printed
    kind = "JinjaTemplate" if "JinjaTemplate" in beside else "KIND"
    example = f"kind: {kind}, inputRef: {{name: network, namespace: NAMESPACE}}"
    assert f"input: {{apiVersion: script.fn.crossplane.io/v1beta1, {example}}}" in printed
