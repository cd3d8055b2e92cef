"""Faults seeded in programs of three languages: `render` finds each, at the very line.

`check` finds each without an XR, by a variant of the XRD.
"""

import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import yaml
from support import mutation, one_step
from support.paths import ROOT

from function_script import documents
from function_script.request import objects
from function_script.request.values import Object, Scalar
from function_script.sandbox.pool import Pool
from function_script.texts.errors import FatalError
from function_script.texts.source import Source
from function_script.tools import local_pool, structural_schema
from function_script.tools.check import checker, runs
from function_script.tools.render import validation
from function_script.tools.render.renderer import Rendering
from function_script.tools.validate import builtin
from function_script.tools.validate.catalog import Catalog

# One of so many faults is seeded; 1 seeds all of them, which takes minutes.
EVERY = int(os.environ.get("EVERY", "7"))


KINDS = ("unknown", "type", "missing")


def seed(line: str, start: int, value: Scalar, key: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds of faults with the line that has each."""
    renamed, count = re.subn(rf"\b{re.escape(key)}\b(?=[\"']?\s*[:=])", f"{key}Qz", line, count=1)
    if count:
        yield "unknown", renamed
    at = mutation.find_literal(line, start, value, key)
    if at is None:
        return
    begin, end = at
    if line[begin - 1] in "\"'" and line[end : end + 1] == line[begin - 1]:
        begin, end = begin - 1, end + 1
    yield "type", f"{line[:begin]}[]{line[end:]}"
    # A field that is alone on its line.
    if re.fullmatch(rf"\s*[\"']?{re.escape(key)}[\"']?: ", line[:begin]) and line[end:] in (
        "",
        ",",
    ):
        yield "missing", ""


def find_places(rendering: Rendering, source: Source) -> dict[tuple[int, str], str]:
    """Return changed lines of a source by the line's number and the kind of the fault."""
    lines = source.text.split("\n")
    faults: dict[tuple[int, str], str] = {}
    for (name, path), value in mutation.leaves_of(rendering).items():
        position = rendering.positions.locate(name, path)
        span = None if position is None else position.span
        if name is None or span is None or span.name != source.name:
            continue
        *parent, key = path
        manifest = rendering.result.resources.get(name, {})
        schema = builtin.find_schema(*objects.api_version_and_kind(manifest)) or {}
        holder = structural_schema.find(schema, parent) or {}
        if path[0] in {"apiVersion", "kind", "metadata"} or not isinstance(key, str):
            continue
        if key not in structural_schema.properties(holder):
            continue
        required = holder.get("required")
        for kind, text in seed(lines[span.line - 1], (span.column or 1) - 1, value, key):
            if kind != "missing" or (isinstance(required, list) and key in required):
                faults[span.line, kind] = text
    return faults


def change(source: Source, fault: tuple[int, str], text: str) -> str:
    """The text of a Composition with a fault of `find_places`, of which ``text`` is the line."""
    line, kind = fault
    lines = source.text.split("\n")
    return "\n".join([*lines[: line - 1], *([text] if kind != "missing" else []), *lines[line:]])


def measure(folder: Path, pool: Pool, every: int) -> Counter[str]:
    """Seed faults in a folder's Composition; count them, and those that are not found."""
    render, inputs, origin = mutation.load(folder, pool, is_quiet=True)
    rendering = render.reconcile(inputs, origin)
    assert rendering.result.failure is None
    source = origin.document.origin.source
    assert source is not None
    result: Counter[str] = Counter()
    places = find_places(rendering, source).items()
    # Some of each kind.
    by_kind = [[each for each in places if each[0][1] == kind][::every] for kind in KINDS]
    for (line, kind), text in itertools.chain.from_iterable(by_kind):
        changed = change(source, (line, kind), text)
        try:
            (document,) = documents.read_source(Source(name=source.name, text=changed))
            other = render.reconcile(
                replace(inputs, composition=document.value), replace(origin, document=document)
            )
        except FatalError:
            continue
        # The program itself fails, or reads the value that it wrote.
        if other.result.failure is not None:
            continue
        spans = [problem.span for problem, _ in validation.validate(other, Catalog())]
        result["seeded"] += 1
        result[kind] += 1
        if not spans:
            result[f"not found: {source.name}:{line} {kind} {text.strip()}"] += 1
        # What is absent is reported where its object begins.
        elif kind != "missing" and line not in [span and span.line for span in spans]:
            result[f"elsewhere: {source.name}:{line} {kind} {text.strip()}"] += 1
    return result


_NAME = "script.fn.crossplane.io/composition-resource-name"
MANIFESTS = ROOT / "tests" / "unit" / "tools" / "validate" / "kubernetes_manifests.yaml"


def write(folder: Path, kind: str, manifest: Object) -> Path:
    """Write a Composition whose program writes a manifest out."""
    folder.mkdir()
    if kind == "StarlarkScript":
        text = json.dumps(manifest, indent=2)
        text = re.sub(r"(?m)\b(true|false)(?=,?$)", lambda match: match[0].capitalize(), text)
        text = (
            f"def main(req):\n    rsp = response()\n    rsp.resource('a', {text})\n    return rsp\n"
        )
    else:
        metadata = {"metadata": {"annotations": {_NAME: "a"}}}
        text = yaml.safe_dump(manifest | metadata, sort_keys=False)
    field = "script" if kind == "StarlarkScript" else "inline"
    text = one_step.composition(kind, text, field=field)
    folder.joinpath("composition.yaml").write_text(text)
    folder.joinpath("xr.yaml").write_text(one_step.XR)
    return folder


def test_seeded_faults_are_found_by_check_without_an_xr(tmp_path: Path) -> None:
    manifests = [each["manifest"] for each in yaml.safe_load_all(MANIFESTS.read_text())][::EVERY]
    missed = []
    count = 0
    with local_pool.open_pool() as pool:
        for number, manifest in enumerate(manifests):
            for kind in ("StarlarkScript", "JinjaTemplate", "GoTemplate"):
                folder = write(tmp_path / f"{number}-{kind}", kind, manifest)
                render, inputs, origin = mutation.load(folder, pool, is_quiet=True)
                source = origin.document.origin.source
                assert source is not None
                places = find_places(render.reconcile(inputs, origin), source)
                (folder / "xr.yaml").unlink()
                (folder / "xrd.yaml").write_text(one_step.xrd("spec: {type: object}"))
                file = folder / "composition.yaml"
                for fault, text in [*places.items()][:: EVERY * 2]:
                    file.write_text(change(source, fault, text))
                    options = runs.Options(pool=pool, variants=8)
                    findings = checker.check([str(file)], run_options=options).findings
                    count += 1
                    if not any(finding.severity == "error" for finding in findings):
                        missed.append((folder.name, fault, text))
    assert count > 5
    assert missed == []


def test_seeded_faults_are_found_at_their_lines(tmp_path: Path) -> None:
    manifests = [each["manifest"] for each in yaml.safe_load_all(MANIFESTS.read_text())][::EVERY]
    folders = [
        write(tmp_path / f"{number}-{kind}", kind, manifest)
        for number, manifest in enumerate(manifests)
        for kind in ("StarlarkScript", "JinjaTemplate", "GoTemplate")
    ]
    total: Counter[str] = Counter()
    with local_pool.open_pool() as pool:
        for folder in (*mutation.EXAMPLES, *folders):
            total += measure(folder, pool, EVERY)
    assert [each for each in total if ": " in each] == []
    assert {*KINDS} <= set(total)
    assert total["seeded"] > 10
