import io
import json
from pathlib import Path

import pytest
from support.validate_helpers import CRD, GOOD, OTHER, check, write

from function_script import documents
from function_script.texts.errors import DocumentError, InputError
from function_script.tools.validate.command import validate
from function_script.tools.validate.packages import PackageSchemas
from function_script.tools.validate.report import render_json, render_text, render_yaml

BAD = """\
apiVersion: example.org/v1
kind: Thing
metadata:
  annotations: {crossplane.io/composition-resource-name: bad}
spec: {size: 1, colour: red, count: 0}
"""
COMPOSITION = """\
# A Composition with a script that has a mistake in line 17.
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: things}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Thing}
  mode: Pipeline
  pipeline:
    - step: make-things
      functionRef: {name: function-script}
      input:
        apiVersion: script.fn.crossplane.io/v1beta1
        kind: StarlarkScript
        script: |
          def main(req):
              return {
                  "a": b c,
              }
    - step: wrong-input
      functionRef: {name: function-script}
      input:
        apiVersion: script.fn.crossplane.io/v1beta1
        kind: JinjaTemplate
        limits: {timeout: "60", cpu: 1}
    - step: of-another-function
      functionRef: {name: function-other}
      input: {apiVersion: other.fn.crossplane.io/v1, kind: Input}
"""


def test_text_is_as_the_official_command_prints_it(tmp_path: Path) -> None:
    assert render_text(check(tmp_path, GOOD, BAD, OTHER)).splitlines() == [
        "[✓] example.org/v1, Kind=Thing, good validated successfully",
        (
            "[x] schema validation error example.org/v1, Kind=Thing, bad : "
            'spec.size: Invalid value: "number": spec.size in body must be of type string: '
            '"number"'
        ),
        (
            "[x] schema validation error example.org/v1, Kind=Thing, bad : "
            'spec.colour: Invalid value: "colour": unknown field: "colour"'
        ),
        (
            "[x] CEL validation error example.org/v1, Kind=Thing, bad : "
            "spec: Invalid value: count must be positive"
        ),
        "[!] could not find CRD/XRD for: example.org/v1, Kind=Other",
        "Total 3 resources: 1 missing schemas, 1 success cases, 1 failure cases",
    ]


TYPE = {"apiVersion": "example.org/v1", "kind": "Thing"}
ERRORS = [
    {
        "type": "schema",
        "field": "spec.size",
        "message": 'spec.size: Invalid value: "number": spec.size in body must be of type string: '
        '"number"',
        "value": "number",
    },
    {
        "type": "unknownField",
        "field": "spec.colour",
        "message": 'spec.colour: Invalid value: "colour": unknown field: "colour"',
        "value": "colour",
    },
    {
        "type": "cel",
        "field": "spec",
        "message": "spec: Invalid value: count must be positive",
        "value": {},
    },
]


def test_json_has_the_official_shape(tmp_path: Path) -> None:
    assert json.loads(render_json(check(tmp_path, GOOD, BAD, OTHER))) == {
        "summary": {"total": 3, "valid": 1, "invalid": 1, "missingSchemas": 1},
        "resources": [
            {**TYPE, "name": "good", "namespace": "here", "status": "valid"},
            {**TYPE, "name": "bad", "status": "invalid", "errors": ERRORS},
            {**TYPE, "kind": "Other", "name": "other", "status": "missingSchema"},
        ],
    }


def test_yaml_says_the_same_as_json(tmp_path: Path) -> None:
    report = check(tmp_path, GOOD, BAD, OTHER)
    assert documents.read_value(render_yaml(report)) == json.loads(render_json(report))


def test_success_is_what_the_exit_code_says(tmp_path: Path) -> None:
    assert check(tmp_path, GOOD).is_success(error_on_missing_schemas=True)
    assert check(tmp_path, OTHER).is_success()
    assert not check(tmp_path, OTHER).is_success(error_on_missing_schemas=True)
    assert not check(tmp_path, GOOD, BAD).is_success()


def test_rule_that_is_not_evaluated_is_shown(tmp_path: Path) -> None:
    extensions = CRD.replace("self.count > 0", "isURL(self.count)")
    report = check(tmp_path, GOOD.replace("{}", "{count: 1}"), extensions=extensions)
    rule = "!has(self.count) || isURL(self.count)"
    assert render_text(report).splitlines()[0] == (
        "[!] CEL rule not evaluated example.org/v1, Kind=Thing, good : "
        f'spec: {rule} (there is no function "isURL" here)'
    )
    (resource,) = json.loads(render_json(report))["resources"]
    assert resource["status"] == "notEvaluated"
    assert resource["notEvaluated"][0]["rule"] == rule
    assert "[✓]" not in render_text(report)
    assert render_text(report).endswith("0 success cases, 0 failure cases, 1 not evaluated")
    assert json.loads(render_json(report))["summary"] == {
        "total": 1,
        "valid": 0,
        "invalid": 0,
        "missingSchemas": 0,
        "notEvaluated": 1,
    }
    assert report.is_success()
    assert not report.is_success(error_on_missing_schemas=True)


def test_steps_inputs_are_resources_of_their_own(tmp_path: Path) -> None:
    results = [
        (result.kind, result.name, result.status) for result in check(tmp_path, COMPOSITION).results
    ]
    assert results == [
        ("StarlarkScript", "make-things", "invalid"),
        ("JinjaTemplate", "wrong-input", "invalid"),
        ("Input", "of-another-function", "missingSchema"),
        ("Composition", "things", "valid"),
    ]


def test_program_that_does_not_compile_is_found(tmp_path: Path) -> None:
    result = check(tmp_path, COMPOSITION).results[0]
    (problem,) = result.problems
    assert (problem.type, problem.field) == ("program", "script")
    assert problem.message.startswith(f"{tmp_path / 'resources' / 'r0.yaml'}:17:")


def test_input_has_all_its_problems_told_once(tmp_path: Path) -> None:
    result = check(tmp_path, COMPOSITION).results[1]
    assert sorted((problem.type, problem.field) for problem in result.problems) == [
        ("schema", "<nil>"),
        ("schema", "inline"),
        ("schema", "limits.timeout"),
        ("unknownField", "limits.cpu"),
    ]


def test_misspelt_field_of_a_step_is_found(tmp_path: Path) -> None:
    """The Composition's own schema is there without Crossplane's CRDs."""
    report = check(tmp_path, COMPOSITION.replace("functionRef: {name: function-o", "ref: {name: o"))
    messages = [problem.message for problem in report.results[-1].problems]
    assert messages == [
        "spec.pipeline[2].functionRef: Required value",
        'spec.pipeline[2].ref: Invalid value: "ref": unknown field: "ref"',
    ]


OPERATION = """\
apiVersion: ops.crossplane.io/v1alpha1
kind: CronOperation
metadata: {name: nightly}
spec:
  operationTemplate:
    spec:
      pipeline:
        - step: clean
          input: {apiVersion: script.fn.crossplane.io/v1beta1, kind: GoTemplate, inline: "a: 1"}
"""


def test_operations_have_inputs_too(tmp_path: Path) -> None:
    first = check(tmp_path, OPERATION).results[0]
    assert (first.kind, first.name, first.problems) == ("GoTemplate", "clean", ())


def test_peers_input_is_known(tmp_path: Path) -> None:
    """Compositions written for function-go-templating are checked without its package."""
    value = (
        "{apiVersion: gotemplating.fn.crossplane.io/v1beta1, kind: GoTemplate, source: Inline, "
        'inline: {templates: ["a: 1", "b: 2"]}}'
    )
    names = OPERATION.replace(OPERATION.partition("input: ")[2], value)
    assert check(tmp_path, names).results[0].status == "valid"


def test_sources_are_files_directories_and_lists(tmp_path: Path) -> None:
    write(tmp_path / "r" / "deep", b=OTHER, c="# nothing\n")
    write(tmp_path / "r", a=GOOD)
    (tmp_path / "r" / "notes.txt").write_text("no manifest")
    single = write(tmp_path, d=BAD)[0]
    report = validate(write(tmp_path, crd=CRD), [f"{tmp_path / 'r'},{single}"])
    assert [result.name for result in report.results] == ["good", "other", "bad"]


def test_dash_is_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{GOOD}---\n{OTHER}"))
    report = validate(write(tmp_path, crd=CRD), ["-"])
    assert [result.status for result in report.results] == ["valid", "missingSchema"]
    with pytest.raises(InputError, match="both extensions and resources from stdin"):
        validate(["-"], ["-"])


def test_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A mistyped name is no finding: nothing is validated."""
    with pytest.raises(InputError, match=r'cannot read ".*none.yaml": no such file'):
        validate([str(tmp_path / "none.yaml")], [])
    with pytest.raises(InputError, match=r'cannot read ".*none.yaml": no such file'):
        validate([], [str(tmp_path / "none.yaml")])
    with pytest.raises(DocumentError, match=r"crd\.yaml:1"):
        check(tmp_path, GOOD, extensions="a: b: c")


MALFORMED = [
    pytest.param("a: b: c", "r0.yaml:LINE:5: cannot read document 2: ", id="yaml"),
    pytest.param("- a", "r0.yaml:LINE:1: cannot read document 2: a document must be", id="list"),
    pytest.param("a: 1\na: 2", "cannot read document 2: ", id="key-twice"),
    pytest.param("metadata: {labels: [1]}", "cannot read document 2: ", id="labels"),
    pytest.param("apiVersion: v1", "kind: Required value", id="no-kind"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
@pytest.mark.parametrize("separator", ["---\n", "--- # next\n"])
def test_malformed_object_is_one_of_many(
    tmp_path: Path, text: str, message: str, separator: str
) -> None:
    other = GOOD.replace("name: good", "name: next")
    first = f"# a comment\n{GOOD}"
    report = check(tmp_path, separator.join([first, f"{text}\n", other, "- b\n", other]))
    statuses = [result.status for result in report.results]
    assert statuses == ["valid", "invalid", "valid", "invalid", "valid"]
    line = first.count("\n") + 2
    problem = report.results[1].problems[0]
    assert message.replace("LINE", str(line)) in problem.message
    assert "r0.yaml:" in report.results[1].name
    assert "cannot read document 4: " in report.results[3].problems[0].message
    assert not report.is_success()
    assert render_text(report).count("[x] ") == 2


def test_malformed_file_is_one_of_many(tmp_path: Path) -> None:
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "a.yaml").write_bytes(b"a: \xff\n")
    report = check(tmp_path, GOOD)
    assert len(report.results) == 1
    report = validate([], [str(tmp_path / "resources")], packages=PackageSchemas(cache=tmp_path))
    assert [result.status for result in report.results] == ["invalid", "missingSchema"]
    message = json.loads(render_json(report))["resources"][0]["errors"][0]
    assert message["type"] == "unreadable"
    assert "it is not UTF-8 text" in message["message"]


def test_names_begin_no_lines(tmp_path: Path) -> None:
    """A foreign name must not look like a result of ours."""
    name = json.dumps("a\n[✓] b")
    report = check(tmp_path, OTHER.replace("name: other", f"name: {name}"), GOOD)
    assert len(render_text(report).splitlines()) == len(report.results) + 1
    report = check(tmp_path, GOOD.replace("name: good", f"name: {name}"))
    assert render_text(report).startswith("[✓] example.org/v1, Kind=Thing, a [✓] b validated")


def test_json_objects_on_one_line_are_several(tmp_path: Path) -> None:
    one = json.dumps({"apiVersion": "example.org/v1", "kind": "Other"})
    assert len(check(tmp_path, f"{one} {one}\n---\n- a\n---\n{GOOD}").results) == 4


def test_json_objects_in_a_row_are_one_document(tmp_path: Path) -> None:
    """The one after a broken object cannot be found."""
    good = json.dumps({"apiVersion": "example.org/v1", "kind": "Other"})
    report = check(tmp_path, f"{good}\n{{]\n{good}\n---\n{GOOD}")
    assert [result.status for result in report.results] == ["invalid", "valid"]


def test_file_of_errors_ends(tmp_path: Path) -> None:
    """Every error costs a look at the whole file; what is before the last one is validated."""
    report = check(tmp_path, "".join([GOOD, "---\n", *["- a\n---\n"] * 101, GOOD]))
    assert [result.status for result in report.results] == ["valid", *["invalid"] * 101]
    last = report.results[-1].problems[0].message
    line = GOOD.count("\n") + 2 + 2 * 100
    assert last.endswith(
        f":{line}: cannot read further: 100 documents before this one cannot be read"
    )
