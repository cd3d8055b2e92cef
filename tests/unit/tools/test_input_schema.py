"""Our own inputs by their CRDs: jsonschema, the walk of `validate` and the parsers agree."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from conformance import input_corpus
from support import one_step
from support.commands import Run
from support.notes import without_note

from function_script import inputs
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError
from function_script.tools import input_schema, step_inputs, structural_schema
from function_script.tools.validate import catalog, openapi

FILES = sorted(input_corpus.CORPUS.rglob("*.yaml"))
WRONG_VALUES: list[Value] = [
    *(None, True, 0, -1, 1.5, 1 << 60, 1 << 70),
    *("", "x", "-1", "0", "1Gi", "10s", " ", "x" * 40),
    *([], [1], ["a", "a"], {}, {"a": 1}, {"": "x"}),
]
MAX_INTEGER = (1 << 53) - 1
# The only inputs that a CRD refuses and a parser accepts, by the path and text of their problem.
KNOWN_DIFFERENCES = re.compile(
    # JSON loses digits of integers above 2^53.
    r"limits\.\w+: must (be an integer (of at most 53 bits|or a string)|match one of the .*)"
    # The parser treats a null as absent in maps, too.
    r"|requirements\.resources\.\w+\.fromFieldPath\.matchLabels\.\w+: must be of type string"
    # To the parser an empty namespace is none.
    r"|(modulesFrom\[\d\]\.)?requiredResource\.namespace: must not be empty"
)


SCHEMAS = [*map(structural_schema.properties, catalog.read_schemas(catalog.INPUTS).values())]
# Fields whose schemas are equal get their wrong values in one kind of inputs.
COMMON = {
    name
    for name, field in SCHEMAS[0].items()
    if all(fields.get(name) == field for fields in SCHEMAS)
}


def mutations(value: Value, tried: set[str], kind: str, path: str = "") -> Iterator[Value]:
    """Yield copies of a value with one part removed, added or replaced by a wrong one.

    A field gets its wrong values once for all values that share what was ``tried``.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            owner = "" if not path and key in COMMON else kind
            for other in mutations(part, tried, owner, f"{path}.{key}"):
                yield {**value, key: other}
            yield {name: each for name, each in value.items() if name != key}
        yield {**value, "unknown": 1}
    elif isinstance(value, list):
        for index, part in enumerate(value):
            for other in mutations(part, tried, kind, f"{path}[]"):
                yield [*value[:index], other, *value[index + 1 :]]
    if kind + path not in tried:
        tried.add(kind + path)
        yield from WRONG_VALUES


@cache
def corpus() -> dict[Path, list[Object]]:
    """The inputs of each file that have a CRD, and their mutations, each in one file only."""
    tried: set[str] = set()
    texts: set[str] = set()
    result: dict[Path, list[Object]] = {path: [] for path in FILES}
    for path, cases in result.items():
        for value in [case.value for case in input_corpus.read_file(path)]:
            for other in (value, *mutations(value, tried, str(value.get("kind")))):
                text = json.dumps(other, sort_keys=True)
                if text in texts or not isinstance(other, dict):
                    continue
                texts.add(text)
                if input_schema.find_schema(other) is not None:
                    cases.append(other)
    return result


def parser_accepts(value: Object) -> bool:
    """Report whether the parser accepts an input."""
    try:
        inputs.parse_without_sources(value)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_jsonschema_the_walk_and_the_parser_agree(path: Path) -> None:
    """The walk has the same problems, in the same words and order, and the parser refuses.

    An input that the parser alone refuses needs CEL: tests/conformance/test_input_crds.py.
    """
    for case in corpus()[path]:
        schema = input_schema.find_schema(case)
        value = structural_schema.complete(case, schema)
        problems = input_schema.check(case)
        paths = {each.path for each in problems if each.text != "unknown field"}
        walked = {each.path for each in openapi.check(value, schema)[0]}
        assert paths == walked, case
        if problems and parser_accepts(case):
            texts = [str(problem) for problem in problems]
            assert [each for each in texts if not KNOWN_DIFFERENCES.fullmatch(each)] == []


def test_problem_has_the_path_of_its_field() -> None:
    """Authors' tools find the position of a field by it."""
    value: Object = {
        "apiVersion": "script.fn.crossplane.io/v1beta1",
        "kind": "StarlarkScript",
        "script": "def main(req): pass",
        "credentials": ["a", ""],
        "limits": {"steps": MAX_INTEGER + 1},
        "wrong": None,
    }
    with pytest.raises(InputError) as caught:
        step_inputs.validate(value)
    assert [diagnostic.message for diagnostic in caught.value.diagnostics] == [
        "input.credentials[1]: must not be empty",
        "input.limits.steps: must be an integer of at most 53 bits",
        "input.wrong: unknown field",
    ]


@pytest.mark.parametrize("command", [("check",), ("render", "xr.yaml")], ids=["check", "render"])
def test_commands_report_the_problem_at_its_field(
    here: Path, run: Run, command: tuple[str, ...]
) -> None:
    """The parser accepts this input, its CRD does not."""
    (here / "xr.yaml").write_text(one_step.XR)
    limits = f"limits: {{steps: {MAX_INTEGER + 1}}}\n"
    text = one_step.composition("JinjaTemplate", "# no document", fields=limits)
    (here / "composition.yaml").write_text(text)
    printed = run(*command, "composition.yaml", code=1)
    first, second = without_note(printed.text).splitlines()[:2]
    assert first == "error: input.limits.steps: must be an integer of at most 53 bits"
    assert second.strip() == "--> composition.yaml:13:16"


def test_input_of_another_group_is_not_validated() -> None:
    """function-go-templating's inputs have no CRD of ours."""
    step_inputs.validate({"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "x"})


@pytest.mark.linux
def test_jsonschema_is_imported_only_where_an_input_is_validated() -> None:
    """Neither the server and its workers nor the start of a command pay for it."""
    modules = ("cli", "step.function", "sandbox.worker", "server.lifecycle", "tools.check")
    modules += ("tools.render", "tools.validate.command", "tools.editor", "tools.playground.server")
    imports = ", ".join(f"function_script.{module}" for module in modules)
    code = f"import sys, {imports}; print('jsonschema' in sys.modules)"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert completed.stdout == b"False\n"
