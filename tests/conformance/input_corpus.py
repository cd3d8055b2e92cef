"""The corpus of inputs: each document of the folder `inputs`."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from function_script import documents
from function_script.request.values import Object
from function_script.texts.source import Source

CORPUS: Final = Path(__file__).parent / "inputs"
API_VERSION: Final = "script.fn.crossplane.io/v1beta1"


class Case(NamedTuple):
    """One document of the corpus."""

    id: str
    comment: str
    value: Object


def read_folder(name: str) -> list[Case]:
    """Return the inputs of a folder."""
    return [case for path in sorted((CORPUS / name).glob("*.yaml")) for case in read_file(path)]


def read_file(path: Path) -> list[Case]:
    """Return the inputs of a file. A document without an apiVersion has ours, and null is none."""
    cases = []
    for document in documents.read_source(Source(name=path.name, text=path.read_text())):
        comment = re.match(r"\s*# (.*)", document.text)
        assert comment, f"{path.name} document {document.number} begins with no comment"
        value: Object = {"apiVersion": API_VERSION, **document.value}
        if value["apiVersion"] is None:
            del value["apiVersion"]
        cases.append(Case(f"{path.stem}-{document.number}", comment[1], value))
    return cases
