"""Verdicts on Kubernetes' own kinds are those of strict decoding into Go's types."""

from pathlib import Path

import pytest
from support.mutated_manifests import mutate

from function_script.request.values import Object
from function_script.texts.source import Source
from function_script.tools import bounded
from function_script.tools.validate.catalog import Catalog

FILE = Path(__file__).with_name("kubernetes_manifests.yaml")
ENTRIES = [
    document.value
    for document in bounded.read_documents(Source(name=FILE.name, text=FILE.read_text()))
]
VALID = "."


def to_id(entry: Object) -> str:
    manifest = entry["manifest"]
    return f"{manifest['apiVersion']}-{manifest['kind']}"


def is_valid(manifest: Object) -> bool:
    comparison = Catalog().compare(manifest)
    return not comparison.problems


@pytest.mark.parametrize("entry", ENTRIES, ids=to_id)
def test_verdicts_are_those_of_strict_decoding(entry: Object) -> None:
    """Other names, other types, and missing fields, with the verdicts of Go."""
    manifest, verdicts = entry["manifest"], entry["verdicts"]
    wrong = [
        mutated.change
        for mutated, verdict in zip(mutate(manifest), verdicts, strict=True)
        if is_valid(mutated.manifest) != (verdict == VALID)
    ]
    assert wrong == []
