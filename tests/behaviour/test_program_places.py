"""Programs and modules that stand in the context or in fetched objects.

The context has them in every language; how a program comes is the same for all.
"""

import json
from pathlib import Path

import pytest
from support import builders, programs

from function_script.engines.registry import LANGUAGES as REGISTRY
from function_script.engines.starlark import branches
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.request import PROBE
from function_script.request.values import Object
from function_script.tools.check import checker
from function_script.tools.check.report import render_json, render_text

KINDS = {name: language.kind for name, language in REGISTRY.items()}
FILES = {name: language.default_file for name, language in REGISTRY.items()}
FIELDS = {name: language.text_field for name, language in REGISTRY.items()}
META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Context\ndata:\n"
# Each says hello, and each with a module says the module's word.
PROGRAMS = {
    "starlark": 'def main(req):\n    return {"context": {"said": "hello"}}\n',
    "jinja": META + "  said: {{ 'hello' }}\n",
    "gotemplate": META + '  said: {{ "hello" }}\n',
}
WITH_MODULE = {
    "starlark": 'load("lib", "WORD")\ndef main(req):\n    return {"context": {"said": WORD}}\n',
    "jinja": "{% from 'lib' import WORD %}\n" + META + "  said: {{ WORD }}\n",
    "gotemplate": META + '  said: {{ template "lib" . }}\n',
}
MODULES = {
    "starlark": 'WORD = "module"\n',
    "jinja": "{% set WORD = 'module' %}",
    "gotemplate": "module",
}
BROKEN = {
    "starlark": "def main(req):\n    return nothing\n",
    "jinja": "a: 1\nb: {{ nothing.at.all }}\n",
    "gotemplate": "a: 1\nb: {{ nothing }}\n",
}
PLACES = {"starlark": "2:12", "jinja": "2:7", "gotemplate": "2:7"}
REFERENCE: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "name": "programs",
    "namespace": "platform",
}
NAME = "script.fn.crossplane.io/program"
LANGUAGES = pytest.mark.parametrize("language", list(KINDS))


def step(language: str, **fields: object) -> Object:
    """An input of the language with these fields."""
    return {"apiVersion": builders.API_VERSION, "kind": KINDS[language], **fields}  # type: ignore[dict-item] # tests pass plain values only


def config_map(data: Object, **metadata: object) -> Object:
    """The ConfigMap of REFERENCE."""
    named = {"name": "programs", "namespace": "platform", **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": data}  # type: ignore[dict-item] # as above


def fetched(*items: Object) -> Object:
    """The required resources of a request: the objects with the program."""
    return builders.required(NAME, *items)


def call(step_input: Object, **parts: object) -> pb.RunFunctionResponse:
    return builders.call(builders.request(step_input, **parts))


def said(response: pb.RunFunctionResponse) -> str:
    """Return the word that the program printed."""
    assert list(response.results) == []
    return str(response.context["said"])


def environment(value: object) -> Object:
    """A context whose environment has this value as `programs`."""
    return {"apiextensions.crossplane.io/environment": {"programs": value}}  # type: ignore[dict-item] # as above


@LANGUAGES
def test_program_in_the_environment(language: str) -> None:
    """Function-environment-configs can bring it: as a text, or with its modules."""
    text = step(language, source="Environment", environment={"key": "programs"})
    assert said(call(text, context=environment(PROGRAMS[language]))) == "hello"
    whole = {FILES[language]: WITH_MODULE[language], "lib": MODULES[language], "size": 3}
    assert said(call(text, context=environment(whole))) == "module"


@LANGUAGES
def test_program_in_the_context(language: str) -> None:
    """Any key of the context, and a path below it; `main` names the text to run."""
    at = {"key": "example.org/all", "fieldPath": "files.network", "main": "run"}
    texts = {"run": WITH_MODULE[language], "lib": MODULES[language]}
    context = {"example.org/all": {"files": {"network": texts}}}
    assert said(call(step(language, source="Context", context=at), context=context)) == "module"


def test_program_in_a_config_map() -> None:
    """The function asks for it, waits, and then runs it with its modules.

    The caller does not say what it can do. Crossplane before 2.0 would ignore the requirement, so
    that the step would wait for good; its answer to a probe shows that it is not so old.
    """
    remote = step("starlark", source="RequiredResource", requiredResource=REFERENCE)
    waiting = call(remote)
    assert list(waiting.results) == []
    selector = waiting.requirements.resources[NAME]
    assert (selector.kind, selector.match_name, selector.namespace) == (
        "ConfigMap",
        "programs",
        "platform",
    )
    texts = {"main.star": WITH_MODULE["starlark"], "lib": MODULES["starlark"]}
    assert set(waiting.requirements.extra_resources) == {PROBE}
    program = fetched(config_map(texts))
    response = call(remote, required_resources=program, extra_resources={PROBE: {}})
    assert said(response) == "module"
    assert response.requirements == waiting.requirements


def test_field_of_any_object_may_be_the_program() -> None:
    reference = {"apiVersion": "e.org/v1", "kind": "Program", "name": "p", "fieldPath": "spec.text"}
    program: Object = {
        "apiVersion": "e.org/v1",
        "kind": "Program",
        "metadata": {"name": "p"},
        "spec": {"text": PROGRAMS["starlark"]},
    }
    remote = step("starlark", source="RequiredResource", requiredResource=reference)
    assert said(call(remote, required_resources=fetched(program))) == "hello"


@LANGUAGES
def test_errors_name_the_object_and_its_key(language: str) -> None:
    remote = step(
        language, source="RequiredResource", requiredResource={**REFERENCE, "main": "script"}
    )
    found = fetched(config_map({"script": BROKEN[language]}))
    place = f"configmap/platform/programs[data.script]:{PLACES[language]}: "
    assert builders.fatal(call(remote, required_resources=found)).startswith(place)


@LANGUAGES
def test_errors_in_a_module_name_it(language: str) -> None:
    broken = {
        "starlark": "WORD = nothing\n",
        "jinja": "{% set WORD = nothing.at.all + 1 %}",
        "gotemplate": "{{ nothing }}",
    }
    place = {
        "modulesFrom": [{"context": {"key": "lib"}}],
        FIELDS[language]: WITH_MODULE[language],
    }
    response = call(step(language, **place), context={"lib": {"lib": broken[language]}})
    assert "context[lib][lib]:1:" in builders.fatal(response)


@pytest.mark.parametrize("place", ["fileSystem", "environment", "context", "requiredResource"])
def test_modules_come_from_everywhere(place: str, tmp_path: Path) -> None:
    (tmp_path / "lib").write_text(MODULES["starlark"])
    texts = {"lib": MODULES["starlark"]}
    sections: dict[str, object] = {
        "fileSystem": {"dirPath": "."},
        "environment": {"key": "programs"},
        "context": {"key": "programs"},
        "requiredResource": REFERENCE,
    }
    message = builders.request(
        builders.starlark(WITH_MODULE["starlark"], modulesFrom=[{place: sections[place]}]),
        context={**environment(texts), "programs": texts},
        required_resources=builders.required(
            "script.fn.crossplane.io/modules-0", config_map(texts)
        ),
    )
    assert said(builders.call(message, Limits(program_root=str(tmp_path)))) == "module"


MISSING: list[object] = [
    pytest.param(
        {"source": "Environment", "environment": {"key": "program"}},
        'input.environment.key: cannot find a program: "program" is not in the environment '
        '(did you mean "programs"?)',
        id="key of the environment",
    ),
    pytest.param(
        {"source": "Context", "context": {"key": "a", "fieldPath": "b.c"}},
        "input.context.key: cannot find a program: there is no context[a][b.c]",
        id="key of the context",
    ),
    pytest.param(
        {"source": "Environment", "environment": {"key": "programs", "main": "main.staar"}},
        'input.environment.main: cannot find "main.staar" in "programs" '
        '(did you mean "main.star"?)',
        id="main",
    ),
    pytest.param(
        {"source": "Environment", "environment": {"key": "number"}},
        "input.environment: cannot read a program: environment[number] is an integer",
        id="no text",
    ),
    pytest.param(
        {"source": "Environment", "environment": {"key": "text", "main": "a"}},
        "input.environment.main: must not be set, for environment[text] is a text",
        id="main of a text",
    ),
    pytest.param(
        {"source": "Environment", "environment": {"key": "empty"}},
        'input.environment.main: "environment[empty]" must not be empty',
        id="blanks",
    ),
    pytest.param(
        {"script": "pass", "modulesFrom": [{"environment": {"key": "text"}}]},
        "input.modulesFrom[0]: must be an object of texts, but environment[text] is a text",
        id="module without a name",
    ),
    pytest.param(
        {
            "script": "pass",
            "modules": {"main.star": "x = 1"},
            "modulesFrom": [{"environment": {"key": "programs"}}],
        },
        'input.modulesFrom[0]: duplicate module "main.star"',
        id="module twice",
    ),
]


@pytest.mark.parametrize(("fields", "message"), MISSING)
def test_missing_source_is_reported_by_its_name(fields: Object, message: str) -> None:
    found: Object = {
        "apiextensions.crossplane.io/environment": {
            "programs": {"main.star": PROGRAMS["starlark"]},
            "number": 3,
            "text": "x = 1",
            "empty": " \n",
        }
    }
    assert builders.fatal(call(step("starlark", **fields), context=found)) == message


def test_object_that_is_not_there_is_told_by_its_name() -> None:
    remote = step("starlark", source="RequiredResource", requiredResource=REFERENCE)
    assert builders.fatal(call(remote, required_resources=fetched())) == (
        "input.requiredResource: cannot find ConfigMap platform/programs "
        "(correct its name, or create it with apiVersion: v1)"
    )


def test_object_without_the_field_is_told_by_its_name() -> None:
    reference = {**REFERENCE, "fieldPath": "data.script"}
    remote = step("starlark", source="RequiredResource", requiredResource=reference)
    assert builders.fatal(call(remote, required_resources=fetched(config_map({"other": "x"})))) == (
        "input.requiredResource.fieldPath: cannot find a program: "
        'configmap/platform/programs has no "data.script"'
    )


def test_object_of_another_name_is_not_run() -> None:
    """Resources of an earlier reconcile may be in the first request."""
    remote = step("starlark", source="RequiredResource", requiredResource=REFERENCE)
    old = config_map({"main.star": "fail('old')"}, name="old")
    response = call(remote, required_resources=fetched(old))
    assert list(response.results) == []
    assert response.requirements.resources[NAME].match_name == "programs"


def test_check_lists_a_program_whose_modules_only_a_request_brings(tmp_path: Path) -> None:
    """Nothing parses a text without all its modules: a mistake in it is not found."""
    (tmp_path / "input.yaml").write_text("""\
apiVersion: script.fn.crossplane.io/v1beta1
kind: StarlarkScript
source: Inline
script: def main(
modulesFrom: [{context: {key: a}}]
""")
    report = checker.check([str(tmp_path / "input.yaml")])
    assert report.findings == []
    assert "Not looked at: 1 program that only a request brings\n" in render_text(report)
    assert ": modules in modulesFrom" in render_text(report)
    (program,) = json.loads(render_json(report))["notLookedAt"]["programs"]
    assert (program["source"], program["line"]) == ("modulesFrom", 5)


def test_file_that_no_load_leads_to_hides_no_branch() -> None:
    text = "def main(req):\n    return {}\n"
    program = programs.program(text, {"README.md": "It's a text."})
    assert len(branches.find(program, programs.scope(), Limits())) == 1
