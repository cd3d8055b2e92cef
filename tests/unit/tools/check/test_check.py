"""`check`: which files and steps are looked at, and how the report is told."""

import json
from pathlib import Path

import pytest
from support import one_step
from support.check_helpers import LINE, PIPELINE, composition, found, ours, script
from support.commands import Run
from support.paths import ROOT

from function_script import cli
from function_script.texts.errors import InputError
from function_script.tools.check import checker, definitions
from function_script.tools.check.report import render_json, render_text
from function_script.tools.project import Project

BROKEN = ours("GoTemplate", "inline: '{{ uper }}'")
UNUSED = ours("GoTemplate", "modules: {a: A}", "inline: |", "  text")


def test_step_of_every_file_is_checked(tmp_path: Path) -> None:
    operation = composition(BROKEN).replace("apiextensions", "ops")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "one.yaml").write_text(composition(BROKEN, BROKEN))
    (tmp_path / "a" / "two.yml").write_text(operation.replace("Composition", "Operation"))
    (tmp_path / "a" / "three.yaml").write_text(f"{composition(BROKEN)}a: [\n")
    (tmp_path / "a" / "zero.yaml").write_text(BROKEN)
    (tmp_path / "a" / "other.txt").write_text(BROKEN)
    report = checker.check([str(tmp_path)])
    assert (report.files, report.steps, report.count("error")) == (4, 4, 5)
    files = {
        (found.rule, found.step, Path(str(found.diagnostic.span).split(":")[0]).name)
        for found in report.findings
    }
    assert files == {
        ("program", "step-0", "one.yaml"),
        ("program", "step-1", "one.yaml"),
        ("program", "step-0", "two.yml"),
        ("program", "", "zero.yaml"),
        ("yaml", "", "three.yaml"),
    }


def test_programs_in_files_are_checked(tmp_path: Path) -> None:
    text = ours("JinjaTemplate", "source: FileSystem", "fileSystem: {dirPath: site}")
    programs = tmp_path / "programs"
    (programs / "site").mkdir(parents=True)
    (programs / "site" / "main.j2").write_text("a\n{{ 1 | uper }}")
    (programs / "site" / "unused.j2").write_text("")
    for directory in (None, programs):
        (finding,) = found(tmp_path, text, programs=directory).findings
        assert str(finding.diagnostic.span) == f"{programs}/site/main.j2:2:8"
    (finding,) = found(tmp_path, text, programs=tmp_path).findings
    assert finding.rule == "input"
    assert "cannot find directory" in finding.diagnostic.message


UNRELATED = {
    "list.yaml": "- a\n- GoTemplate\n",
    "values.yaml": "Composition: a\nComposition: b\n",
    "helm/Chart.yaml": "name: GoTemplate\n",
    "helm/templates/operation.yaml": "kind: Operation\nspec: {{ .Values.spec }}\n",
    "broken.yaml": "# a Composition: [\nkind: ConfigMap\na: [\n",
    "bytes.yaml": "kind: Composition\xff\n",
    "other.yaml": "kind: Composition\napiVersion: example.org/v1\na: [\n",
}


def test_other_files_of_a_directory_are_left_alone(tmp_path: Path) -> None:
    """A file is looked at if somebody names it."""
    (tmp_path / "helm" / "templates").mkdir(parents=True)
    for name, text in UNRELATED.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    (tmp_path / "composition.yaml").write_text(composition(UNUSED))
    report = checker.check([str(tmp_path)])
    assert (report.files, report.steps, report.skipped) == (1, 1, [])
    assert [finding.rule for finding in report.findings] == ["unused-module"]
    for name in ("list.yaml", "values.yaml", "broken.yaml"):
        (finding,) = checker.check([str(tmp_path / name)]).findings
        assert finding.rule == "yaml"


MEANT = [
    pytest.param(composition(BROKEN), id="composition"),
    pytest.param("apiVersion: ops.crossplane.io/v1alpha1\nkind: Operation\n", id="operation"),
    pytest.param("apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\n"),
    pytest.param(BROKEN, id="input"),
    pytest.param(f"a: 1\n---\n{composition(BROKEN)}", id="second-document"),
    pytest.param(BROKEN.replace("GoTemplate", '"GoTemplate" # ours'), id="quoted"),
    pytest.param(BROKEN.replace("\n", "\r\n"), id="line-ends"),
]


@pytest.mark.parametrize("text", MEANT)
def test_file_that_is_certainly_meant_must_be_yaml(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(f"{text}\na: [\n")
    (finding,) = checker.check([str(tmp_path)]).findings
    assert finding.rule == "yaml"
    (tmp_path / "a.yaml").write_bytes(f"{text}\n".encode() + b"a: \xff\n")
    (finding,) = checker.check([str(tmp_path)]).findings
    assert "it is not UTF-8 text" in finding.diagnostic.message


def test_templates_of_a_chart_are_not_looked_at(tmp_path: Path, run: Run) -> None:
    """Helm makes YAML of them, so as they are they say nothing; the report names them."""
    file = tmp_path / "chart" / "templates" / "apis" / "a.yaml"
    file.parent.mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text("name: x\n")
    file.write_text(composition(BROKEN))
    xrd = "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\n"
    (file.parent / "xrd.yaml").write_text(f"{xrd}metadata: {{{{ .Values.labels }}}}\n")
    assert run("check", tmp_path).out == (
        "Checked 0 steps in 0 files: 0 errors, 0 warnings\n"
        f"Not looked at: 1 file\n  {file}: it is a template of a Helm chart\n"
    )
    (tmp_path / "chart" / "Chart.yaml").unlink()
    run("check", tmp_path, code=1)


LIST = """\
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.crossplane.io/v1
  kind: Composition
  metadata: {name: a}
"""


def test_list_of_compositions_is_not_looked_at(tmp_path: Path, run: Run) -> None:
    """The report names it, but for a dump of `snapshot`. Alone it is an error."""
    file = tmp_path / "list.yaml"
    file.write_text(LIST)
    reason = "it has a List: write its items as documents of their own"
    assert f"{file}: {reason}" in run("check", tmp_path, code=1).err
    assert f"cannot read {file}: {reason}" in run("check", file, code=1).out
    (tmp_path / "a.yaml").write_text(composition(UNUSED))
    assert f"Not looked at: 1 file\n  {file}: {reason}\n" in run("check", tmp_path).out
    file.write_text(f"{LIST}unread: {{}}\n")
    assert "Not looked at" not in run("check", tmp_path).out


def test_steps_of_other_functions_are_named(tmp_path: Path) -> None:
    step = "  - {step: ready, functionRef: {name: auto-ready}}\n"
    other = "  - step: kcl\n    function: xpkg.example.org/kcl\n    input: {kind: KCLInput}\n"
    file = tmp_path / "a.yaml"
    file.write_text(composition(UNUSED) + step + step.replace("ready,", "again,") + other)
    report = checker.check([str(tmp_path)])
    assert render_text(report).endswith(
        "\n\nChecked 1 step in 1 file: 0 errors, 1 warning\n"
        "Not looked at: 3 steps of other functions\n"
        "  2 of auto-ready: again, ready\n"
        "  1 of xpkg.example.org/kcl: kcl\n"
        "Not compared: 1 Composition without its XRD"
    )
    printed = json.loads(render_json(report))
    line = file.read_text().splitlines().index(step.rstrip("\n")) + 1
    assert printed["notLookedAt"]["steps"][0] == {
        "step": "ready",
        "function": "auto-ready",
        "file": str(file),
        "line": line,
    }
    assert printed["summary"]["notLookedAt"] == {"steps": 3, "programs": 0, "files": 0}


def test_names_begin_no_lines(tmp_path: Path) -> None:
    """The text of a neighbour's Composition could look like a report."""
    step = '  - {step: "a\\nChecked 9", functionRef: {name: "b\\n\\nc"}}\n'
    (tmp_path / "a.yaml").write_text(composition() + step)
    assert render_text(checker.check([str(tmp_path)])).splitlines()[1:] == [
        "Not looked at: 1 step of other functions",
        "  1 of b c: a Checked 9",
    ]


def test_programs_that_only_a_request_brings_are_named(tmp_path: Path) -> None:
    """The input of such a step is all that is checked."""
    text = ours("StarlarkScript", "source: Context", "context: {key: a}")
    report = found(tmp_path, text)
    assert report.findings == []
    assert render_text(report) == (
        "Checked 1 step in 1 file: 0 errors, 0 warnings\n"
        "Not looked at: 1 program that only a request brings\n"
        "  step-0: source Context\n"
        "Not compared: 1 Composition without its XRD"
    )
    printed = json.loads(render_json(report))
    assert printed["notLookedAt"]["programs"] == [
        {
            "step": "step-0",
            "source": "Context",
            "file": str(tmp_path / "composition.yaml"),
            "line": LINE + 2,
        }
    ]


def test_kinds_without_a_crd_are_counted_if_crds_are_given(tmp_path: Path) -> None:
    """An author who gives no CRD has not asked for the comparison."""
    bucket = 'rsp.resource("bucket", {"apiVersion": "s3.example.org/v1", "kind": "Bucket"})'
    report = found(tmp_path, script("rsp = response()", bucket, "return rsp"))
    assert report.kinds == set()
    crd = tmp_path / "crd.yaml"
    crd.write_text(one_step.crd("spec: {type: object}", "Queue", "s3.example.org"))
    schemas = definitions.load(None, [crd], Project([tmp_path]))
    report = checker.check([str(tmp_path / "composition.yaml")], None, schemas)
    assert [*report.kinds] == [("s3.example.org/v1", "Bucket")]
    assert render_text(report).splitlines()[-1] == (
        "Not compared: 1 Composition without its XRD, 1 composed kind without its CRD"
    )


def test_input_alone_is_compared_with_the_crds_beside_it(tmp_path: Path) -> None:
    """A Composition in another directory has CRDs of its own."""
    text = script(
        "rsp = response()",
        'rsp.resource("queue", {"apiVersion": "example.org/v1", "kind": "Queue"})',
        'rsp.set_status("a", get_observed(req, "queue", "status.url"))',
        "return rsp",
    )
    (tmp_path / "a" / "crds").mkdir(parents=True)
    crd = one_step.crd("status: {type: object, properties: {a: {type: string}}}", "Queue")
    (tmp_path / "a" / "crds" / "queue.yaml").write_text(crd)
    (tmp_path / "a" / "composition.yaml").write_text(composition(text))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "input.yaml").write_text(text)
    (finding,) = checker.check([str(tmp_path)]).findings
    assert finding.diagnostic.span.name == str(tmp_path / "a" / "composition.yaml")


def test_default_of_nothing_is_no_mistake(tmp_path: Path) -> None:
    """It returns what comes through the pipe, as in sprig."""
    text = "inline: '{{ .observed.composite.resource.spec.a | default }}'"
    assert found(tmp_path, ours("GoTemplate", text)).findings == []


def test_composition_without_steps_of_ours_is_no_mistake(tmp_path: Path) -> None:
    """Most Compositions of a repository may be other functions' alone."""
    (tmp_path / "a.yaml").write_text(composition().replace(PIPELINE, "  mode: Resources\n"))
    report = checker.check([str(tmp_path)])
    assert (report.files, report.steps, report.is_success(strict=True)) == (1, 0, True)
    (skipped,) = report.skipped
    assert skipped.skipped.startswith("a Composition of a mode without steps: convert it with ")


IGNORED = [
    pytest.param("a.yaml", ["b/c/a.yml"], id="name"),
    pytest.param("a.*", [], id="names"),
    pytest.param("b", ["a.yaml"], id="folder"),
    pytest.param("b/", ["a.yaml"], id="folder-with-a-slash"),
    pytest.param("b/c", ["a.yaml"], id="path"),
    pytest.param("./b/c", ["a.yaml"], id="path-with-a-dot"),
    pytest.param("b/*.yml", ["a.yaml"], id="star-is-also-a-slash"),
    pytest.param("c/a.yml", ["a.yaml", "b/c/a.yml"], id="not-from-the-middle"),
    pytest.param("A.yaml", ["a.yaml", "b/c/a.yml"], id="case"),
]


@pytest.mark.parametrize(("pattern", "left"), IGNORED)
def test_files_may_be_ignored(tmp_path: Path, pattern: str, left: list[str]) -> None:
    """Patterns are names or paths below the directory; what is named itself is checked."""
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("a.yaml", "b/c/a.yml"):
        (tmp_path / name).write_text(BROKEN)
    code = cli.execute(["check", str(tmp_path), "--ignore", pattern, "--ignore", "other"])
    assert code == 1  # an error of a program, or that there is nothing to check
    if left:
        report = checker.check([str(tmp_path)], ignored=[pattern])
        spans = [finding.diagnostic.span for finding in report.findings]
        assert [span.name for span in spans if span] == [str(tmp_path / name) for name in left]
    named = checker.check([str(tmp_path / "a.yaml")], ignored=[pattern])
    assert named.steps == 1


def test_check_of_nothing_is_an_error(tmp_path: Path) -> None:
    """A wrong path would look like success."""
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n")
    with pytest.raises(InputError, match="there is no Composition, Operation or input of ours"):
        checker.check([str(tmp_path)])
    with pytest.raises(InputError, match="no such file or directory"):
        checker.check([str(tmp_path / "absent.yaml")])


def test_json_has_everything(tmp_path: Path, run: Run) -> None:
    """Positions are numbers, so that other programs can show them."""
    (tmp_path / "composition.yaml").write_text(composition(UNUSED))
    assert json.loads(run("check", tmp_path, "-o", "json").out) == {
        "summary": {
            "files": 1,
            "steps": 1,
            "errors": 0,
            "warnings": 1,
            "notLookedAt": {"steps": 0, "programs": 0, "files": 0},
            "notCompared": {"compositions": 1, "kinds": 0, "rules": 0},
        },
        "notLookedAt": {"steps": [], "programs": [], "files": []},
        "notCompared": {"kinds": [], "rules": []},
        "findings": [
            {
                "rule": "unused-module",
                "severity": "warning",
                "step": "step-0",
                "message": 'input.modules["a"]: nothing uses this module',
                "hint": "take it out, or load it where it is wanted",
                "file": str(tmp_path / "composition.yaml"),
                "line": LINE + 2,
                "column": 17,
                "width": 1,
            }
        ],
    }


EXITS = [
    pytest.param(BROKEN, [], 1, "error: ", "1 error, 0 warnings", id="error"),
    pytest.param(UNUSED, [], 0, "warning: ", "0 errors, 1 warning", id="warning"),
    pytest.param(UNUSED, ["--strict"], 1, "warning: ", "0 errors, 1 warning", id="strict"),
]


@pytest.mark.parametrize(("text", "flags", "code", "begin", "end"), EXITS)
def test_exit_codes(
    tmp_path: Path, run: Run, text: str, flags: list[str], code: int, begin: str, end: str
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    output = run("check", tmp_path, *flags, code=code)
    assert output.err == ""
    assert output.out.startswith(begin)
    assert output.out.endswith(
        f"\n\nChecked 1 step in 1 file: {end}\nNot compared: 1 Composition without its XRD\n"
    )


def test_quiet_tells_nothing_but_findings(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(UNUSED)
    said = run("check", file, "--quiet").out
    assert said.startswith("warning: ")
    assert "Checked" not in said
    file.write_text(ours("GoTemplate", "inline: text"))
    assert run("check", file, "-q").out == ""


def test_colours_of_severities(tmp_path: Path) -> None:
    coloured = render_text(found(tmp_path, BROKEN, UNUSED), colourful=True)
    assert "\x1b[1;31merror:\x1b[0m" in coloured
    assert "\x1b[1;33mwarning:\x1b[0m" in coloured


def test_stdin(run: Run) -> None:
    assert "--> stdin:3:13\n" in run("check", "-", stdin=BROKEN, code=1).out


def test_examples_of_errors_have_no_findings() -> None:
    """They fail for some XRs only. The page of `check` says of all others that nothing is found."""
    examples = [str(path) for path in ROOT.glob("examples/error-*")]
    assert examples
    assert checker.check(examples).findings == []


def test_inputs_of_other_apiversions_are_counted_and_told(tmp_path: Path) -> None:
    """What runs as an input of function-go-templating is checked as one."""
    document = "inline:\n  template: |\n    {{ .x | nope }}"
    other = f"apiVersion: template.fn.crossplane.io/v1beta1\nkind: GoTemplate\n{document}"
    shaped = other.replace("kind: GoTemplate", "kind: Whatever")
    report = found(tmp_path, f"{other}\nsource: Inline", f"{shaped}\nsource: Inline\nttl: 1d")
    assert report.steps == 2
    assert [(finding.step, finding.rule) for finding in report.findings] == [
        ("step-0", "other-input"),
        ("step-0", "program"),
        ("step-1", "other-input"),
        ("step-1", "other-input"),
        ("step-1", "program"),
    ]
    first, _, _, ttl, _ = (finding.diagnostic.message for finding in report.findings)
    assert first.startswith("input.apiVersion: this is read as an input of function-go-templating")
    assert ttl.startswith('input.ttl: is not looked at: cannot parse duration "1d"')


def test_inputs_that_were_to_run_here_are_counted(tmp_path: Path) -> None:
    report = found(
        tmp_path,
        "apiVersion: example.org/v1\nkind: JinjaTemplate\ninline: x",
        "apiVersion: example.org/v1\nkind: GoTemplate\nremote: git://example.org/x",
        "apiVersion: krm.kcl.dev/v1alpha1\nkind: KCLInput\nspec: {}",
    )
    assert [(finding.step, finding.rule) for finding in report.findings] == [
        ("step-0", "input"),
        ("step-1", "input"),
    ]
    assert report.steps == 2


def test_other_yaml_is_no_input(tmp_path: Path) -> None:
    """It has the fields of one, and runs if a step has it."""
    (tmp_path / "values.yaml").write_text("source: Inline\ninline: {template: '{{ .x | nope }}'}")
    (tmp_path / "more.yaml").write_text("source: somewhere\noptions: {}\n---\nkind: X\nsource: a")
    with pytest.raises(InputError, match="cannot check"):
        checker.check([str(tmp_path)])
