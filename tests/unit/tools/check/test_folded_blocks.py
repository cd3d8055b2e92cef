"""A folded block in which the lines of an object became one composes nothing, and is found."""

from pathlib import Path

import pytest
from support.check_helpers import found, ours, peer, pointed_at

_OBJECT = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    {}/composition-resource-name: config
"""
_OURS = _OBJECT.format("script.fn.crossplane.io").split("\n")


def _block(header: str, lines: list[str], indent: str = "  ") -> list[str]:
    return [header, *(f"{indent}{line}" for line in lines)]


@pytest.mark.parametrize("kind", ["GoTemplate", "JinjaTemplate"])
@pytest.mark.parametrize("mark", [">", ">-"])
def test_folded_template_is_found_at_its_field(tmp_path: Path, kind: str, mark: str) -> None:
    text = ours(kind, *_block(f"inline: {mark}", _OURS))
    (finding,) = found(tmp_path, text).findings
    assert pointed_at(finding).startswith(f"inline: {mark}")
    assert "write `inline: |`" in (finding.diagnostic.hint or "")


def test_folded_template_of_the_other_function_is_found(tmp_path: Path) -> None:
    lines = _OBJECT.format("gotemplating.fn.crossplane.io").split("\n")
    block = _block("  template: >", lines, " " * 4)
    (finding,) = found(tmp_path, peer("source: Inline", "inline:", *block)).findings
    assert "are joined" in finding.diagnostic.message


KEPT = {
    "literal": _block("inline: |", _OURS),
    "word-of-a-comment": _block("inline: |", ["# no other kind: of object", *_OURS]),
    "no-object": _block("inline: >", ["{% if spec %}", "{{ 1 | to_json }}", "{% endif %}"]),
    "flow-mapping": _block("inline: >", ["{apiVersion: v1,", "kind: ConfigMap,", "metadata: {}}"]),
}


@pytest.mark.parametrize("block", KEPT.values(), ids=KEPT)
def test_block_that_keeps_its_objects_is_not_found(tmp_path: Path, block: list[str]) -> None:
    findings = found(tmp_path, ours("JinjaTemplate", *block)).findings
    assert [each for each in findings if "joined" in each.diagnostic.message] == []
