"""The input CRDs and the parser accept and reject the same documents."""

import json
import re
from collections.abc import Iterator

import pytest
from conformance import input_corpus
from support.paths import ROOT

from function_script import documents, inputs
from function_script.inputs import program_source
from function_script.request import objects, quantities
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.texts.source import Source
from function_script.tools import structural_schema
from function_script.tools.validate import catalog, openapi, rules
from function_script.tools.validate.catalog import Catalog

CRDS = ROOT / "input_crds"
CATALOG = Catalog(document.value for document in catalog.bundled())


def parser_problems(value: Object) -> list[str]:
    """Return the problems of the parser; programs outside of the input are not read."""
    try:
        inputs.parse_without_sources(value)
    except InputError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


def schema_problems(value: Object) -> list[str]:
    """Return the problems of the CRD's schema and of its rules."""
    schema = CATALOG.find(*objects.api_version_and_kind(value))
    if schema is None:
        return ["no schema"]
    copy = structural_schema.complete(value, schema)
    broken, unevaluated = rules.check(copy, schema)
    assert unevaluated == []
    problems = [problem.message for problem in (*openapi.check(copy, schema)[0], *broken)]
    return problems + [path for path, _ in structural_schema.unknown_fields(copy, schema)]


def rows(folder: str) -> list[object]:
    """Return the inputs of a folder of the corpus, each with the comment at its begin."""
    cases = input_corpus.read_folder(folder)
    return [pytest.param(case.value, case.comment, id=case.id) for case in cases]


ACCEPTED, REFUSED, PARSER_ONLY = map(rows, ("accepted", "refused", "parser-only"))


def test_corpus_is_large_enough() -> None:
    """A corpus that lost its files would prove nothing."""
    assert len(ACCEPTED) >= 35
    assert len(REFUSED) >= 80


@pytest.mark.parametrize(("value", "_comment"), ACCEPTED)
def test_accepted_input_has_no_problems(value: Object, _comment: str) -> None:
    assert (parser_problems(value), schema_problems(value)) == ([], [])


@pytest.mark.parametrize(("value", "problem"), REFUSED)
def test_refused_input_has_problems_in_parser_and_schema(value: Object, problem: str) -> None:
    # Line breaks are escaped as in JSON.
    begin = problem.replace("\\n", "\n")
    assert any(text.startswith(begin) for text in parser_problems(value))
    assert schema_problems(value) != []


@pytest.mark.parametrize(("value", "problem"), PARSER_ONLY)
def test_parser_only_input_is_valid_for_schema(value: Object, problem: str) -> None:
    """The list of rules that a CRD cannot express is complete."""
    assert any(text.startswith(problem) for text in parser_problems(value))
    assert schema_problems(value) == []


def crds() -> list[Object]:
    """Return the CRDs as they are packaged."""
    paths = sorted(CRDS.glob("*.yaml"))
    return [
        document.value
        for path in paths
        for document in documents.read_source(Source(name=path.name, text=path.read_text()))
    ]


def at(crd: Object, path: str) -> Object:
    value = objects.find_path(crd, path)
    assert isinstance(value, dict)
    return value


def schema_of(crd: Object) -> Object:
    """Return the schema of a CRD's only version."""
    return at(crd, "spec.versions[0].schema.openAPIV3Schema")


def test_kind_has_a_crd() -> None:
    """Names, version and category follow the conventions for inputs."""
    kinds = [kind for api_version, kind in inputs.LANGUAGES if api_version.startswith("script.")]
    assert sorted(str(at(crd, "spec.names")["kind"]) for crd in crds()) == sorted(kinds)
    for crd in crds():
        names, version = at(crd, "spec.names"), at(crd, "spec.versions[0]")
        assert at(crd, "metadata")["name"] == f"{names['plural']}.script.fn.crossplane.io"
        assert names["categories"] == ["crossplane"]
        assert (version["name"], version["served"], version["storage"]) == ("v1beta1", True, True)


@pytest.mark.parametrize("folder", ["accepted", "refused"])
def test_field_is_in_the_corpus(folder: str) -> None:
    """Only there does anything compare its rules in the CRD with those of the parser."""
    fields = {name for crd in crds() for name in at(schema_of(crd), "properties")}
    for case in input_corpus.read_folder(folder):
        fields -= case.value.keys()
    assert fields == set()


def fields_without(keywords: set[str], schema: Object, path: str = "") -> list[str]:
    """Return the paths of the fields that have none of the keywords."""
    paths = [path] if keywords.isdisjoint(schema) else []
    for name, field in structural_schema.properties(schema).items():
        paths += fields_without(keywords, field, f"{path}.{name}")
    return paths


@pytest.mark.parametrize(
    ("keywords", "others"),
    [
        # The API server refuses a description of metadata.
        pytest.param({"description"}, {".metadata"}, id="described-for-the-reference-page"),
        pytest.param({"type", "x-kubernetes-int-or-string"}, set(), id="structural"),
    ],
)
def test_field_has_what_a_schema_needs(keywords: set[str], others: set[str]) -> None:
    for crd in crds():
        assert set(fields_without(keywords, schema_of(crd))) == others


def test_patterns_equal_those_of_the_parser() -> None:
    """Durations, sizes and names have one grammar."""
    names = f"^{program_source.MODULE_NAME.pattern}$"
    for crd in crds():
        text = json.dumps(crd, ensure_ascii=False)
        for pattern in (quantities.DURATION, quantities.SIZE, names):
            assert json.dumps(pattern, ensure_ascii=False)[1:-1] in text
        assert (
            at(schema_of(crd), "properties.modules")["maxProperties"] == program_source.MAX_MODULES
        )


def subschemas(schema: Object) -> Iterator[Object]:
    """Yield a schema and all schemas below it."""
    yield schema
    fields = structural_schema.properties(schema).values()
    members, items = structural_schema.additional(schema), structural_schema.items(schema)
    for below in (*fields, *filter(None, (members, items))):
        yield from subschemas(below)


def test_crd_can_be_installed() -> None:
    """The API server refuses whatever describes metadata, and rules whose cost it cannot bound."""
    for crd in crds():
        schema = schema_of(crd)
        assert at(schema, "properties.metadata") == {"type": "object"}
        assert objects.find_path(crd, "spec.scope") == "Namespaced"
        for each in subschemas(schema):
            for rule in each.get(rules.RULES) or []:  # type: ignore[union-attr] # a list of rules
                text = str(objects.find_path(rule, "rule"))
                if re.search(r"self\.(all|exists|exists_one)\(", text):
                    assert each.get("maxItems") or each.get("maxProperties"), text
                if "exists_one" in text:
                    assert at(each, "items")["maxLength"]


def test_crd_has_columns_of_its_fields() -> None:
    for crd in crds():
        columns = at(crd, "spec.versions[0]")["additionalPrinterColumns"]
        paths = [str(objects.find_path(column, "jsonPath")) for column in columns]  # type: ignore[union-attr] # a list
        assert paths == [".source", ".ttl", ".metadata.creationTimestamp"]
        for path in paths[:2]:
            assert path.removeprefix(".") in at(schema_of(crd), "properties")
