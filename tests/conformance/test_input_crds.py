"""The input CRDs and the parser accept and refuse the same documents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from function_script import documents, inputs, objects, quantities
from function_script.errors import InputError
from function_script.inputs import program_source
from function_script.source import Source
from function_script.tools import structural_schema
from function_script.tools.validate import openapi, packages, rules
from function_script.tools.validate.catalog import Catalog
from function_script.tools.validate.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.values import Object

CORPUS = Path(__file__).parent / "inputs"
CRDS = Path(__file__).resolve().parents[2] / "input_crds"
CATALOG = Catalog(document.value for document in packages.bundled())
# One process for all tests.
EVALUATOR = Evaluator()


@pytest.fixture(scope="module", autouse=True)
def _end_of_evaluator() -> Iterator[None]:
    """End the process after the last test."""
    with EVALUATOR:
        yield


def corpus(folder: str) -> list[object]:
    """The documents of a folder, each with the comment it begins with."""
    found = []
    for path in sorted((CORPUS / folder).glob("*.yaml")):
        source = Source(name=path.name, text=path.read_text())
        for document in documents.read_source(source):
            said = re.match(r"\s*# (.*)", document.text)
            assert said, f"{path.name} document {document.number} begins with no comment"
            case_id = f"{path.stem}-{document.number}"
            found.append(pytest.param(document.value, said[1], id=case_id))
    return found


def parser_problems(value: Object) -> list[str]:
    """What the parser refuses; programs elsewhere are not looked for."""
    try:
        inputs.parse_without_sources(value)
    except InputError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


def schema_problems(value: Object) -> list[str]:
    """What the CRD refuses, by its schema and by its rules."""
    schema = CATALOG.find(*objects.api_version_and_kind(value))
    if schema is None:
        return ["no schema"]
    copy: Object = {key: objects.deep_copy(part) for key, part in value.items()}
    structural_schema.add_defaults(copy, schema)
    structural_schema.drop_nulls(copy, schema)
    broken, unevaluated = rules.check(copy, schema, EVALUATOR)
    assert unevaluated == []
    problems = [problem.message for problem in (*openapi.problems(copy, schema), *broken)]
    return problems + [path for path, _ in structural_schema.unknown_fields(copy, schema)]


ACCEPTED, REFUSED, PARSER_ONLY = map(corpus, ("accepted", "refused", "parser-only"))


def test_the_corpus_is_large_enough() -> None:
    """A corpus that lost its files would prove nothing."""
    assert len(ACCEPTED) >= 35
    assert len(REFUSED) >= 80


@pytest.mark.parametrize(("value", "_said"), ACCEPTED)
def test_both_accept(value: Object, _said: str) -> None:
    """What the parser runs, the CRD allows."""
    assert (parser_problems(value), schema_problems(value)) == ([], [])


@pytest.mark.parametrize(("value", "said"), REFUSED)
def test_both_refuse(value: Object, said: str) -> None:
    """What the CRD forbids, the parser tells, and the other way round."""
    assert [problem for problem in parser_problems(value) if problem.startswith(unescaped(said))]
    assert schema_problems(value) != []


@pytest.mark.parametrize(("value", "said"), PARSER_ONLY)
def test_only_the_parser_refuses(value: Object, said: str) -> None:
    """The list of what a CRD cannot say is complete: these the CRD accepts."""
    assert [problem for problem in parser_problems(value) if problem.startswith(said)]
    assert schema_problems(value) == []


def unescaped(comment: str) -> str:
    """A comment's text; control characters are written as in JSON."""
    return comment.replace("\\n", "\n")


def crds() -> list[Object]:
    """Our CRDs, as they are packaged."""
    paths = sorted(CRDS.glob("*.yaml"))
    return [
        document.value
        for path in paths
        for document in documents.read_source(Source(name=path.name, text=path.read_text()))
    ]


def at(crd: Object, path: str) -> Object:
    """An object in a CRD."""
    found = objects.find_path(crd, path)
    assert isinstance(found, dict)
    return found


def schema_of(crd: Object) -> Object:
    """The schema of a CRD's only version."""
    return at(crd, "spec.versions[0].schema.openAPIV3Schema")


def test_every_kind_of_ours_has_its_crd() -> None:
    """Names, version and category follow the conventions for inputs."""
    ours = [kind for api_version, kind in inputs.KINDS if api_version.startswith("script.")]
    assert sorted(str(at(crd, "spec.names")["kind"]) for crd in crds()) == sorted(ours)
    for crd in crds():
        names, version = at(crd, "spec.names"), at(crd, "spec.versions[0]")
        assert at(crd, "metadata")["name"] == f"{names['plural']}.script.fn.crossplane.io"
        assert names["categories"] == ["crossplane"]
        assert (version["name"], version["served"], version["storage"]) == ("v1beta1", True, True)


def test_kinds_share_their_fields() -> None:
    """A field that all kinds have is described and checked alike everywhere."""
    first, *others = [at(schema_of(crd), "properties") for crd in crds()]
    for name in ("source", "params", "ttl", "limits", "metadata"):
        for other in others:
            assert other[name] == first[name]


def test_every_field_is_described() -> None:
    """The reference is made from the descriptions: none may be missing."""

    def undescribed(schema: Object, path: str) -> list[str]:
        found = [] if schema.get("description") else [path]
        for name, field in structural_schema.properties(schema).items():
            found += undescribed(field, f"{path}.{name}")
        return found

    assert [path for crd in crds() for path in undescribed(schema_of(crd), "")] == []


def test_patterns_are_the_parsers() -> None:
    """Notations have one grammar: durations, sizes and names are the same text in both."""
    names = f"^{program_source.MODULE_NAME.pattern}$"
    for crd in crds():
        text = json.dumps(crd, ensure_ascii=False)
        for pattern in (quantities.DURATION, quantities.SIZE, names):
            assert json.dumps(pattern, ensure_ascii=False)[1:-1] in text
        assert (
            at(schema_of(crd), "properties.modules")["maxProperties"] == program_source.MAX_MODULES
        )


def test_schemas_are_structural() -> None:
    """Below the root every field has a type, or says that it may be an integer or a string."""

    def untyped(schema: Object, path: str) -> list[str]:
        typed = "type" in schema or schema.get("x-kubernetes-int-or-string") is True
        found = [] if typed else [path]
        for name, field in structural_schema.properties(schema).items():
            found += untyped(field, f"{path}.{name}")
        return found

    assert [path for crd in crds() for path in untyped(schema_of(crd), "")] == []
