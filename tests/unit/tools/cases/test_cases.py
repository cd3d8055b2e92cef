"""Cases with one step: what passes, what fails, and where it is told."""

from pathlib import Path

import pytest
from support.case_projects import (
    HEAD,
    INPUT,
    XR,
    folder,
    indented,
    messages,
    project,
    run,
    run_one,
)

from function_script.tools.cases.verdicts import Status

COMPOSITION = indented(HEAD + indented(INPUT, 6), 2)

PASSING = {
    "nothing-but-success": "expect: {}",
    "partial-resource": "expect: {resources: {database: {spec: {size: 2}}}}",
    "list-exactly": "expect: {resources: {database: {spec: {zones: []}}}}",
    "list-contains": "expect: {resources: {database: {spec: {ports: {contains: [{port: 80}]}}}}}",
    "list-contains-in-any-order": """
        expect: {resources: {database: {spec: {ports: {contains: [{port: 80}, {port: 5432}]}}}}}
        """,
    "list-contains-one": "expect: {resources: {database: {spec: {ports: {contains: {port: 80}}}}}}",
    "list-contains-nothing": "expect: {resources: {database: {spec: {zones: {contains: []}}}}}",
    "field-of-that-name": "{patch: {spec: {contains: [1]}}, expect: {xr: {spec: {contains: [1]}}}}",
    "whole-double": "expect: {resources: {database: {spec: {size: 2.0}}}}",
    "null-is-absent": "expect: {resources: {database: {metadata: {uid: null}}, user: null}}",
    "absent": "expect: {absent: [user]}",
    "status": "expect: {status: {runs: 1}}",
    "xr": "expect: {xr: {kind: XThing, spec: {size: 2}}}",
    "ready": "expect: {ready: false}",
    "ready-by-resource": "expect: {ready: {database: false}}",
    "condition": "expect: {conditions: [{type: Sized, status: 'True', message: asked}]}",
    "event": "expect: {events: [{severity: Warning, reason: Sized, message: small}]}",
    "context": "expect: {context: {example.org/size: 2}}",
    "requirements": """
        expect:
          requirements:
            resources: {zones: {apiVersion: v1, kind: Zone, matchLabels: {in: use}}}
        """,
    "patch": "{patch: {spec: {size: 3}}, expect: {resources: {database: {spec: {size: 3}}}}}",
    "error": "{patch: {spec: {size: 10}}, expect: {error: size 10 is too much}}",
    "error-parts": "{patch: {spec: {size: 10}}, expect: {error: [is too, 'composition.yaml:']}}",
    "inline-xr": f"xr:\n{indented(XR, 2)}expect: {{ready: false}}",
    "inline-composition": f"composition:\n{COMPOSITION}xr: xr.yaml\nexpect: {{}}",
    "inline-input": f"input:\n{indented(INPUT, 2)}xr: xr.yaml\nexpect: {{status: {{runs: 1}}}}",
    "observed-by-name": """
        observed:
          database: {apiVersion: example.org/v1, kind: Database, status: {address: x}}
        expect: {status: {address: x}}
        """,
    "required": """
        required:
        - {apiVersion: v1, kind: Zone, metadata: {name: a, labels: {in: use}}}
        - {apiVersion: v1, kind: Zone, metadata: {name: b, labels: {in: peace}}}
        expect: {resources: {database: {spec: {zones: [a]}}}}
        """,
    "equals": "expect: {checks: [{path: 'resources.database.spec.ports[1].port', equals: 80}]}",
    "exists": "expect: {checks: [{path: resources.user, exists: false}]}",
    "matches": "expect: {checks: [{path: xr.metadata.name, matches: '^de.o$'}]}",
    "matches-at-the-end-of-a-long-value": "expect: {checks: [{path: xr, matches: '}$'}]}",
    "matches-without-backtracking": f"""
        patch: {{spec: {{text: {"x" * 60}}}}}
        expect: {{checks: [{{path: xr.spec.text, matches: '^(x+x+)+y|x$'}}]}}
        """,
    "one-of": "expect: {checks: [{path: status.runs, oneOf: [1, 2]}]}",
    "several-questions": "expect: {checks: [{path: status.runs, exists: true, matches: '1'}]}",
}


def test_true_expectation_passes(tmp_path: Path) -> None:
    verdicts = run(project(tmp_path, **PASSING))
    assert {name: messages(one) for name, one in verdicts.items()} == {name: [] for name in PASSING}
    assert {verdict.status for verdict in verdicts.values()} == {Status.PASSED}


FAILING = {
    "value": (
        "expect: {resources: {database: {spec: {size: 3}}}}",
        ["resources.database.spec.size: expected 3, found 2"],
    ),
    "all-at-once": (
        "expect: {resources: {database: {spec: {size: 3}, kind: Base}, user: {}}}",
        [
            "resources.database.spec.size: expected 3, found 2",
            'resources.database.kind: expected "Base", found "Database"',
            "resources.user: expected {}, but it is not there",
        ],
    ),
    "text-is-no-number": (
        "expect: {resources: {database: {metadata: {labels: {app: 1}}}}}",
        ['resources.database.metadata.labels.app: expected 1, found "demo"'],
    ),
    "must-be-absent": (
        "expect: {resources: {database: {kind: null}}}",
        ['resources.database.kind: expected null, found "Database"'],
    ),
    "items-exactly": (
        "{patch: {spec: {a: [{b: 1, c: 2}]}}, expect: {xr: {spec: {a: [{b: 1}]}}}}",
        ['xr.spec.a: expected [{"b": 1}], found [{"b": 1, "c": 2}]'],
    ),
    "no-map": (
        "expect: {resources: {database: {spec: {size: {}}}}}",
        ["resources.database.spec.size: expected {}, found 2"],
    ),
    "no-such-field": (
        "expect: {resources: {database: {spec: {a.b: 1}}}}",
        ['resources.database.spec["a.b"]: expected 1, but it is not there'],
    ),
    "absent": (
        "expect: {absent: [user, database]}",
        ["resources.database: expected none, but it is composed"],
    ),
    "ready": ("expect: {ready: true}", ["ready: expected the XR to be ready"]),
    "ready-by-resource": (
        "expect: {ready: {database: true}}",
        ["ready.database: expected true, found false"],
    ),
    "condition": (
        "expect: {conditions: [{type: Sized, status: 'False'}]}",
        ['conditions: expected a condition {"type": "Sized", "status": "False"}'],
    ),
    "event": (
        "expect: {events: [{message: is small}, {message: is huge}]}",
        ['events: expected an event {"message": "is huge"}'],
    ),
    "checks": (
        "expect: {checks: [{path: status.runs, equals: 1, matches: '2', oneOf: [3]}]}",
        [
            'status.runs: expected a match of "2", found 1',
            "status.runs: expected one of [3], found 1",
        ],
    ),
    "true-is-not-1": (
        "expect: {checks: [{path: status.runs, equals: true}]}",
        ["status.runs: expected true, found 1"],
    ),
    "exists": (
        "expect: {checks: [{path: status.runs, exists: false}, {path: status.ran, exists: true}]}",
        [
            "status.runs: expected none, found 1",
            "status.ran: expected a value, but it is not there",
        ],
    ),
    "no-error": ("expect: {error: whatever}", ["expected an error, but nothing failed"]),
    "other-error": (
        "{patch: {spec: {size: 10}}, expect: {error: [too much, too little]}}",
        [
            'expected an error with "too little", which the failure below lacks',
            "size 10 is too much",
        ],
    ),
    "unexpected-error": (
        "{patch: {spec: {size: 10}}, expect: {ready: true}}",
        ["size 10 is too much"],
    ),
}


def test_false_expectation_fails(tmp_path: Path) -> None:
    verdicts = run(project(tmp_path, **{name: case for name, (case, _) in FAILING.items()}))
    expected = {name: problems for name, (_, problems) in FAILING.items()}
    assert {name: messages(one) for name, one in verdicts.items()} == expected
    assert {verdict.status for verdict in verdicts.values()} == {Status.FAILED}


HINTS = {
    "typo": (
        "resources: {database: {spec: {szie: 2}}}",
        'there is "size": one of the two names has a slip',
    ),
    "names": ("resources: {database: {metadata: {labels: {qqqqqq: x}}}}", "there are app"),
    "lists": ("resources: {database: {spec: {zones: [a]}}}", "{contains: [...]}"),
    "type": ("conditions: [{type: Sized, reason: Big}]", 'is {"type": "Sized", "reason": "Small"}'),
}


def test_mismatches_have_a_hint(tmp_path: Path) -> None:
    cases = {name: f"expect: {{{expected}}}" for name, (expected, _) in HINTS.items()}
    for name, verdict in run(project(tmp_path, **cases)).items():
        (problem,) = verdict.problems
        assert HINTS[name][1] in (problem.diagnostic.hint or "")


WAITING = """\
input:
  apiVersion: script.fn.crossplane.io/v1beta1
  kind: StarlarkScript
  script: |
    def main(req):
        rsp = response()
        rsp.resource("database", {"apiVersion": "example.org/v1", "kind": "Database"})
        user = {"apiVersion": "example.org/v1", "kind": "User"}
        rsp.resource("user", user, depends_on = ["database"])
        return rsp
xr: xr.yaml
expect: {resources: {user: {}}}
"""


def test_resource_that_waits_is_told(tmp_path: Path) -> None:
    (problem,) = run_one(tmp_path, WAITING).problems
    assert problem.diagnostic.notes == ("user waits for database",)


def test_long_values_are_cut(tmp_path: Path) -> None:
    case = f"{{patch: {{spec: {{a: {'x' * 1000}}}}}, expect: {{xr: {{spec: {{a: y}}}}}}}}"
    (message,) = messages(run_one(tmp_path, case))
    assert len(message) < 250


PLACES = {
    "partial": ("expect:\n  resources:\n    database:\n      kind: Base", 4, 7),
    "item": (
        "expect:\n  resources:\n    database: {spec: {ports: {contains: [{port: 80}, {port: 9}]}}}",
        3,
        54,
    ),
    "absent": ("expect:\n  absent:\n  - user\n  - database", 4, 5),
    "event": ("expect:\n  events:\n  - message: is huge", 3, 5),
    "check": ("expect:\n  checks:\n  - path: status.runs\n    equals: 2", 4, 5),
    "ready": ("expect:\n  ready: true", 2, 3),
}


def test_mismatches_have_a_place(tmp_path: Path) -> None:
    verdicts = run(project(tmp_path, **{name: case for name, (case, *_) in PLACES.items()}))
    for name, (_, line, column) in PLACES.items():
        (problem,) = verdicts[name].problems
        span = problem.diagnostic.span
        file = str(tmp_path / f"{name}.case.yaml")
        assert (span.name, span.line, span.column) == (file, line, column)


ERRORS = {
    "above": ("patch: {spec: {size: 10}}\nexpect: {}", "composition.yaml", "fail("),
    "input-in-the-case": (
        f"input:\n{indented(INPUT, 2)}xr: xr.yaml\npatch: {{spec: {{size: 10}}}}\nexpect: {{}}",
        "one.case.yaml",
        "fail(",
    ),
    "composition-in-the-case": (
        f"composition:\n{COMPOSITION}xr: xr.yaml\npatch: {{spec: {{size: 10}}}}\nexpect: {{}}",
        "one.case.yaml",
        "fail(",
    ),
}


@pytest.mark.parametrize(("case", "file", "shown"), ERRORS.values(), ids=ERRORS)
def test_errors_have_their_authors_place(tmp_path: Path, case: str, file: str, shown: str) -> None:
    (problem,) = run_one(tmp_path, case).problems
    span, excerpt = problem.diagnostic.span, problem.diagnostic.excerpt
    assert span.name == str(tmp_path / file)
    assert shown in excerpt.lines[span.line - excerpt.first_line]


def test_files_of_a_folder_are_its_own(tmp_path: Path) -> None:
    """What stands beside case.yaml is given; what does not comes from beside the Composition."""
    observed = (
        "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: a, namespace: here, "
        "annotations: {crossplane.io/composition-resource-name: database}}\nstatus: {address: x}\n"
    )
    zone = "{apiVersion: v1, kind: Zone, metadata: {name: a, labels: {in: use}}}"
    case = "expect: {status: {address: x}, resources: {database: {spec: {size: 7, zones: [a]}}}}"
    files = {"case": case, "observed": observed, "required": zone}
    folder(project(tmp_path) / "tests" / "own", xr=XR.replace("2", "7"), **files)
    folder(tmp_path / "tests" / "inherited", case="expect: {xr: {spec: {size: 2}}}")
    assert {name: messages(one) for name, one in run(tmp_path).items()} == {
        "inherited": [],
        "own": [],
    }


def test_single_files_share_nothing_by_accident(tmp_path: Path) -> None:
    """What the Composition's own directory observes is not given to the cases in it."""
    (tmp_path / "observed.yaml").write_text("not: an object of Kubernetes")
    assert run_one(tmp_path, "expect: {status: {address: null}}").status is Status.PASSED


def test_programs_in_files_are_found(tmp_path: Path) -> None:
    """Those of each folder, though the requests are equal: of short names, and of long ones."""
    long = "ä" * 100
    source = "apiVersion: script.fn.crossplane.io/v1beta1\nkind: StarlarkScript\n"
    source += "source: FileSystem\nfileSystem: {dirPath: things}\n"
    for name in ("a", long):
        programs = tmp_path / name / "programs" / "things"
        programs.mkdir(parents=True)
        status = f'{{"composite": {{"resource": {{"status": {{"name": "{name}"}}}}}}}}'
        (programs / "main.star").write_text(f'def main(req):\n  return {{"desired": {status}}}\n')
        project(tmp_path / name, **{name: f"expect: {{status: {{name: {name}}}}}"})
        (tmp_path / name / "composition.yaml").write_text(HEAD + indented(source, 6))
    verdicts = run(tmp_path).items()
    assert {name: messages(verdict) for name, verdict in verdicts} == {"a": [], long: []}


def test_prints_are_kept(tmp_path: Path) -> None:
    verdicts = run(project(tmp_path, a="expect: {}", b="{patch: {spec: {size: 4}}, expect: {}}"))
    # A step that requires something is called again.
    assert {name: set(verdict.printed) for name, verdict in verdicts.items()} == {
        "a": {"size 2"},
        "b": {"size 4"},
    }


def test_hint_of_an_event_has_each_of_the_others_once(tmp_path: Path) -> None:
    (problem,) = run_one(tmp_path, "expect: {events: [{severity: Fatal}]}").problems
    assert problem.diagnostic.hint == 'there are {"severity": "Normal"}, {"severity": "Warning"}'
