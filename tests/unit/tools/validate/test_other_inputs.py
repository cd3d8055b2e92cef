"""`validate` and `check`: inputs of other functions whose schemas are here."""

from pathlib import Path

from support.one_step import HEAD
from support.validate_helpers import check

from function_script.tools.check import checker


def pipeline(*lines: str) -> str:
    """A Composition with one step of this input."""
    return HEAD + "".join(f"      {line}\n" for line in lines)


def test_go_template_of_another_api_version_has_no_unknown_fields(tmp_path: Path) -> None:
    """Nobody looks at apiVersion and kind when it runs, nor does function-go-templating."""
    text = pipeline(
        "apiVersion: template.fn.crossplane.io/v1beta1",
        "kind: GoTemplate",
        "source: Inline",
        "inline: {template: 'a: b'}",
    )
    assert [result.status for result in check(tmp_path, text).results] == ["valid", "valid"]
    misspelt = check(tmp_path, text.replace("inline:", "inlin:")).results[0]
    assert "inlin" in [problem.field for problem in misspelt.problems]


PATCHES = pipeline(
    "apiVersion: pt.fn.crossplane.io/v1beta1",
    "kind: Resources",
    "resources:",
    "- name: bucket",
    "  base: {apiVersion: e.org/v1, kind: Bucket}",
    "  patches:",
    "  - {type: FromCompositeFieldPath, fromFieldPath: spec.a, toFieldPath: spec.b}",
    "  readinessChecks: [{type: MatchString, fieldPath: a, matchString: b}]",
)


def test_input_of_patch_and_transform_is_validated(tmp_path: Path) -> None:
    assert [result.status for result in check(tmp_path, PATCHES).results] == ["valid", "valid"]
    text = PATCHES.replace("toFieldPath", "toFieldPaht").replace("MatchString,", "Matches,")
    fields = [problem.field for problem in check(tmp_path, text).results[0].problems]
    assert fields == [
        "resources[0].readinessChecks[0].type",
        "resources[0].patches[0].toFieldPaht",
    ]


def test_input_of_patch_and_transform_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "composition.yaml"
    path.write_text(PATCHES)
    report = checker.check([str(path)])
    assert (report.findings, report.steps, report.others) == ([], 1, [])
    path.write_text(PATCHES.replace("toFieldPath", "toFieldPaht"))
    (finding,) = checker.check([str(path)]).findings
    message = "input.resources[0].patches[0].toFieldPaht: unknown field"
    assert finding.diagnostic.message == message
    assert finding.diagnostic.hint == 'did you mean "toFieldPath"?'


def test_fields_of_a_fork_of_patch_and_transform_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "composition.yaml"
    fork = "functionRef: {name: upboundcare-function-conditional-patch-and-transform}"
    text = PATCHES.replace("functionRef: {name: function-script}", fork)
    path.write_text(text.replace("- name: bucket", "- name: bucket\n        condition: 'true'"))
    report = checker.check([str(path)])
    assert (report.findings, len(report.others)) == ([], 1)
    assert check(tmp_path, path.read_text()).results[0].status == "missingSchema"


def test_metadata_of_a_built_in_functions_input_is_validated(tmp_path: Path) -> None:
    text = pipeline(
        "apiVersion: autoready.fn.crossplane.io/v1beta1", "kind: Input", "metadata: {nme: a}"
    )
    (problem,) = check(tmp_path, text).results[0].problems
    assert problem.field == "metadata.nme"
