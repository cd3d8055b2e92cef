"""The manifests that people apply have only fields that an API server knows.

It decodes strictly what kubectl sends, and refuses a manifest for a field that its schema lacks.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.paths import ROOT

from function_script import documents
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.source import Source
from function_script.tools import starters

KINDS = yaml.load((Path(__file__).parent / "manifest_fields.yaml").read_text(), yaml.CSafeLoader)[
    "kinds"
]

# What renders to, or is given to, an example: objects of a cluster, not manifests to apply.
GIVEN = {"expected", "observed", "required", "watched", "credentials", "xr", "ci"}


def read(name: str, text: str) -> Iterator[tuple[str, Object]]:
    """Yield each object of a manifest with its name for people."""
    for document in documents.read_source(Source(name=name, text=text)):
        api_version, kind = objects.api_version_and_kind(document.value)
        yield f"{name}: {api_version} {kind}", document.value


def manifests() -> dict[str, Object]:
    """The objects of all examples, of the project that `init` writes, and of the package."""
    paths = [*ROOT.glob("examples/**/*.yaml"), ROOT / "package" / "crossplane.yaml"]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in sorted(paths)}
    texts |= {f"starter/{name}": text for name, text in starters.load("jinja").items()}
    return {
        title: value
        for name, text in texts.items()
        if name.endswith(".yaml")
        and Path(name).stem not in GIVEN
        and not {"tests", "context"} & set(Path(name).parts)
        for title, value in read(name, text)
    }


MANIFESTS = manifests()


def unknown(value: object, fields: object, path: str = "") -> Iterator[str]:
    """Yield the path of every field that the table does not have."""
    if fields == "*":
        return
    if isinstance(value, list):
        for item in value:
            yield from unknown(item, fields, path)
    elif isinstance(value, dict):
        for key, member in value.items():
            known = fields if isinstance(fields, dict) else {}
            if key in known:
                yield from unknown(member, known[key], f"{path}.{key}".lstrip("."))
            else:
                yield f"{path}.{key}".lstrip(".")


def fields_of(value: Object) -> object:
    """The fields of an object's kind; all kinds here are in the table."""
    api_version, kind = objects.api_version_and_kind(value)
    return {"apiVersion": None, "kind": None, **KINDS[f"{api_version} {kind}"]}


@pytest.mark.parametrize("title", MANIFESTS)
def test_field_is_known(title: str) -> None:
    """None is refused by a strict API server, or dropped by another."""
    assert list(unknown(MANIFESTS[title], fields_of(MANIFESTS[title]))) == []


def test_kinds_are_all_examined() -> None:
    """What the examples install is here: the table is not passed over for an odd file name."""
    kinds = {"{} {}".format(*objects.api_version_and_kind(value)) for value in MANIFESTS.values()}
    assert kinds == set(KINDS) - {"ops.crossplane.io/v1alpha1 Operation"}


def test_field_that_no_cluster_keeps_is_found() -> None:
    """Such as the labels of a template."""
    template: Object = {"metadata": {"labels": {"a": "b"}}, "spec": {"mode": "Pipeline"}}
    cron: Object = {
        "apiVersion": "ops.crossplane.io/v1alpha1",
        "kind": "CronOperation",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "@daily", "operationTemplate": template, "sched": 1},
    }
    assert list(unknown(cron, fields_of(cron))) == [
        "spec.operationTemplate.metadata.labels",
        "spec.sched",
    ]


def test_cluster_takes_all_compositions_at_once() -> None:
    names = [
        objects.find_path(value, "metadata.name")
        for title, value in MANIFESTS.items()
        if title.startswith("examples/") and value["kind"] == "Composition"
    ]
    assert len(names) > 20
    assert sorted(set(names)) == sorted(names)
