"""Sequences of reconciles: what a step leaves is what the next one finds."""

from pathlib import Path

import pytest
from support.case_projects import HEAD, folder, indented, messages, project, run, run_one

from function_script.tools.cases.runner import RunOptions
from function_script.tools.cases.verdicts import Status

PASSING = {
    "resources-exist-after-a-step": """
        steps:
        - expect: {status: {address: null}}
        - expect: {status: {address: none}}
        """,
    "they-become-ready": """
        steps:
        - expect: {absent: [user]}
        - ready: database
          expect: {resources: {user: {kind: User}}, ready: true}
        - expect: {resources: {user: {kind: User}}, ready: true}
        """,
    "they-change-and-stay-changed": """
        steps:
        - expect: {}
        - changed: {database: {status: {address: a}}}
          expect: {status: {address: a}}
        - expect: {status: {address: a}}
        """,
    "the-xr-keeps-its-status": """
        steps:
        - expect: {status: {runs: 1}}
        - expect: {status: {runs: 2}}
        """,
    "the-xr-is-patched-for-good": """
        patch: {spec: {size: 3}}
        steps:
        - expect: {resources: {database: {spec: {size: 3}}}}
        - patch: {spec: {size: 4}}
          expect: {resources: {database: {spec: {size: 4}}}}
        - expect: {resources: {database: {spec: {size: 4}}}}
        """,
    "observed-replaces": """
        steps:
        - ready: database
          observed: {database: {apiVersion: example.org/v1, kind: Database}}
          expect: {ready: true}
        - observed: []
          expect: {ready: false, absent: [user]}
        """,
    "required-stays-until-replaced": """
        required: {apiVersion: v1, kind: Zone, metadata: {name: a, labels: {in: use}}}
        steps:
        - expect: {resources: {database: {spec: {zones: [a]}}}}
        - expect: {resources: {database: {spec: {zones: [a]}}}}
        - required: []
          expect: {resources: {database: {spec: {zones: []}}}}
        """,
    "after-an-expected-error-it-goes-on": """
        steps:
        - expect: {}
        - patch: {spec: {size: 10}}
          expect: {error: too much}
        - patch: {spec: {size: 9}}
          expect: {status: {runs: 2, address: none}}
        """,
    "a-paused-xr-keeps-its-resources": """
        steps:
        - expect: {}
        - patch: {metadata: {annotations: {crossplane.io/paused: 'true'}}}
          expect: {resources: {database: null}}
        - patch: {metadata: {annotations: {crossplane.io/paused: 'false'}}}
          expect: {status: {address: none}}
        """,
    "steps-without-expectation-lead-on": """
        steps:
        - name: only leads on
        - ready: [database]
          expect: {ready: true}
        """,
}


def test_sequences(tmp_path: Path) -> None:
    verdicts = run(project(tmp_path, **PASSING))
    assert {name: messages(one) for name, one in verdicts.items()} == {name: [] for name in PASSING}


def test_mismatches_name_their_step(tmp_path: Path) -> None:
    case = "steps:\n- expect: {ready: true}\n- name: later\n  expect: {status: {runs: 3}}\n"
    problems = run_one(tmp_path, case).problems
    assert [(one.notes[-1], one.span.line) for one, _ in problems] == [
        ("in step 1", 2),
        ('in step 2, "later"', 4),
    ]


def test_error_ends_the_sequence(tmp_path: Path) -> None:
    """What would come after it is not known."""
    case = "steps:\n- patch: {spec: {size: 10}}\n- expect: {status: {runs: 7}}\n"
    assert messages(run_one(tmp_path, case)) == ["size 10 is too much"]


def test_notes_of_functions_come_once_for_all_steps(tmp_path: Path) -> None:
    project(tmp_path, one="steps: [{expect: {status: {runs: 1}}}, {expect: {status: {runs: 2}}}]")
    ready = "  - {step: ready, functionRef: {name: function-auto-ready}}\n"
    with (tmp_path / "composition.yaml").open("a") as file:
        file.write(ready)
    (tmp_path / "functions.yaml").write_text(
        "apiVersion: pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: function-auto-ready}\n"
        "spec: {package: xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.5.0}\n"
    )
    verdict = run(tmp_path)["one"]
    assert messages(verdict) == []
    assert sum("is built in" in line for line in verdict.printed) == 1


NAMES = {
    "ready": ("ready: [databas]", 'ready: there is no composed resource "databas"'),
    "changed": ("changed: {bucket: {}}", 'changed: there is no composed resource "bucket"'),
}


@pytest.mark.parametrize(("step", "message"), NAMES.values(), ids=NAMES)
def test_names_must_exist(tmp_path: Path, step: str, message: str) -> None:
    """Only what a step before composed can become ready or change."""
    case = f"steps:\n- expect: {{}}\n- name: two\n  {step}\n  expect: {{error: whatever}}\n"
    verdict = run_one(tmp_path, case)
    assert messages(verdict) == [message]
    ((problem, _),) = verdict.problems
    assert problem.span is not None
    assert problem.span.line == 4


def test_events_of_the_first_reconcile_are_not_repeated(tmp_path: Path) -> None:
    """The Composition is selected once: the XR refers to it from then on."""
    folder(project(tmp_path) / "tests" / "one", case="steps: [{name: a}, {name: b}]")
    verdict = run(tmp_path, RunOptions(updates_snapshots=True))["one"]
    assert verdict.status is Status.NEW
    texts = [path.read_text() for path in verdict.written]
    assert [path.name for path in verdict.written] == ["expected-1.yaml", "expected-2.yaml"]
    assert ["SelectComposition" in text for text in texts] == [True, False]


MOVED = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: JinjaTemplate
autoReady: {}
inline: |
  apiVersion: example.org/v1
  kind: Database
  metadata:
    annotations:
      script.fn.crossplane.io/composition-resource-name: database
      script.fn.crossplane.io/moved-from: db
  spec: {names: {{ observed.resources | list | tojson }}}
"""


def test_sequence_of_a_moved_resource_has_its_new_name(tmp_path: Path) -> None:
    """What is observed may be given under the old name; everything else has the new one."""
    case = """
        steps:
        - observed: {db: {apiVersion: example.org/v1, kind: Database, metadata: {name: mine}}}
          expect:
            resources: {database: {metadata: {name: mine}, spec: {names: [database]}}}
            ready: false
            absent: [db]
        - ready: database
          expect:
            resources: {database: {metadata: {name: mine}, spec: {names: [database]}}}
            ready: true
        """
    path = project(tmp_path, one=case)
    (path / "composition.yaml").write_text(HEAD + indented(MOVED, 6))
    verdict = run(path)["one"]
    assert messages(verdict) == []
    assert verdict.status is Status.PASSED
