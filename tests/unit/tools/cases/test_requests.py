"""Cases with one request: what they may have, and what replaces the request's own input."""

from pathlib import Path

import pytest
from support.case_projects import messages

from function_script.tools.cases import command, model
from function_script.tools.cases.runner import RunOptions
from function_script.tools.cases.verdicts import CaseVerdict, Status

REQUEST = """\
request:
  observed: {composite: {resource: {apiVersion: example.org/v1, kind: XThing}}}
  desired: {resources: {before: {resource: {apiVersion: v1, kind: B}, ready: READY_TRUE}}}
  input:
    apiVersion: script.fn.crossplane.io/v1beta1
    kind: JinjaTemplate
    inline: |
      apiVersion: v1
      kind: A
      metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: a}}
      spec: {size: 2}
"""
OTHER = """\
input:
  apiVersion: script.fn.crossplane.io/v1beta1
  kind: StarlarkScript
  script: |
    def main(req):
        return {"context": {"is": "another"}, "results": [][:%s]}
"""


def run(tmp_path: Path, text: str, request: str = REQUEST, **options: bool) -> CaseVerdict:
    path = tmp_path / "a.case.yaml"
    path.write_text(request + text)
    (verdict,) = command.run_all(model.find_cases([path]), RunOptions(**options))
    return verdict


PASSING = {
    "resources": "expect: {resources: {a: {spec: {size: 2}}, before: {kind: B}}}",
    "ready": "expect: {ready: {a: false, before: true}}",
    "checks": "expect: {checks: [{path: resources.a.spec.size, equals: 2}]}",
    "absent": "expect: {absent: [c]}",
    "another-input": OTHER % "0" + "expect: {context: {is: another}, absent: [a]}",
    "error": OTHER % "1 // 0" + "expect: {error: division by zero}",
}


@pytest.mark.parametrize("text", PASSING.values(), ids=PASSING)
def test_passes(text: str, tmp_path: Path) -> None:
    verdict = run(tmp_path, text)
    assert (messages(verdict), verdict.status) == ([], Status.PASSED)


FAILING = [
    ("expect: {resources: {a: {spec: {size: 3}}}}", "resources.a.spec.size: expected 3, found 2"),
    ("expect: {error: oh}", "expected an error, but nothing failed"),
    ("{}", "expect: is required beside request"),
    ("expect: {}\nxr: xr.yaml", "xr: cannot stand beside request"),
    ("expect: {documents: a.yaml}", "expect.documents: cannot stand beside request"),
    ("expect: {}\nredacted: many", "redacted: must be a whole number"),
    ("expect: {}\ninput: 3", "input: must be a path or an object, not an integer"),
]


@pytest.mark.parametrize(("text", "message"), FAILING)
def test_fails(text: str, message: str, tmp_path: Path) -> None:
    verdict = run(tmp_path, "" if text == "{}" else text)
    assert messages(verdict) == [message]
    assert all(problem.span for problem, _ in verdict.problems if "required" not in message)


def test_error_in_the_program_is_at_its_line_in_the_case(tmp_path: Path) -> None:
    """The author can mend it then and there."""
    verdict = run(tmp_path, OTHER % "1 // 0" + "expect: {}")
    ((problem, _),) = verdict.problems
    span = problem.span
    assert (span.name.rpartition("/")[2], span.line) == ("a.case.yaml", 17)


def test_update_of_an_expected_error_says_that_nothing_is_written(tmp_path: Path) -> None:
    ((problem, _),) = run(tmp_path, "expect: {error: oh}", updates_snapshots=True).problems
    assert "edit this expectation" in str(problem.notes)


def test_request_must_be_one(tmp_path: Path) -> None:
    verdict = run(tmp_path, "expect: {}\n", "request: {observe: {}}\n")
    assert 'no field named "observe"' in messages(verdict)[0]


def test_redacted_needs_a_request(tmp_path: Path) -> None:
    verdict = run(tmp_path, "redacted: 1\nexpect: {}\n", request="")
    assert "redacted: belongs to a request" in messages(verdict)
