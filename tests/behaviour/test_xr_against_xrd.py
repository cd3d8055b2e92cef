"""An XR is compared with its XRD before a program runs, at the line of the XR, in every tool."""

import json
from pathlib import Path

import pytest
from support import one_step, render_helpers
from support.commands import Run
from support.timing import taking_less

from function_script import testing
from function_script.request.values import Object
from function_script.texts.errors import FatalError
from function_script.tools import local_pool, xr_validation
from function_script.tools.playground.folders import Folder, Mirror
from function_script.tools.playground.workbench import RenderSession
from function_script.tools.render import renderer

XRD = one_step.xrd("""\
spec:
  type: object
  required: [image]
  x-kubernetes-validations:
  - rule: self.image != 'latest'
    message: a version is needed
  properties:
    image: {type: string}
    replicas: {type: integer, minimum: 1, maximum: 10, default: 1}
    ports:
      type: array
      items:
        type: object
        required: [name]
        properties: {name: {type: string}}
status:
  type: object
  properties: {address: {type: string}, replicas: {type: integer}}
""")
HEAD = f"# What a user asks for.\n{one_step.XR}"
XR = f"{HEAD}spec:\n  image: nginx\n"
PROGRAM = """\
def main(req):
    replicas = req["observed"]["composite"]["resource"]["spec"]["replicas"]
    return {"desired": {"composite": {"resource": {"status": {"replicas": replicas + 1}}}}}
"""
COMPOSITION = one_step.composition("StarlarkScript", PROGRAM, field="script")
# What follows the head, the place of the error, and a part of its message.
REFUSED = {
    "maximum": ("spec:\n  image: a\n  replicas: 55\n", "7:3", "less than or equal to 10"),
    "type": ("spec:\n  image: a\n  replicas: two\n", "7:3", 'type integer: "string"'),
    "required": ("spec:\n  replicas: 2\n", "5:1", "spec.image: Required value"),
    "no-spec": ("", "2:1", "spec: Required value"),
    "item": ("spec:\n  image: a\n  ports:\n  - {}\n", "8:5", "spec.ports[0].name: Required"),
    "rule": ("spec:\n  image: latest\n", "5:1", "a version is needed"),
    "name": ("spec: {image: a}\n", "4:12", "a lowercase RFC 1123 subdomain"),
}


def project(path: Path, xr: str = XR) -> Path:
    """Write a directory that `render` takes."""
    for name, text in (("xrd", XRD), ("composition", COMPOSITION), ("xr", xr)):
        (path / f"{name}.yaml").write_text(text)
    return path


@pytest.mark.parametrize("name", REFUSED)
def test_render_refuses_an_invalid_xr_at_its_place(name: str, tmp_path: Path, run: Run) -> None:
    below, place, message = REFUSED[name]
    head = HEAD.replace("demo", "My_App") if name == "name" else HEAD
    out, err = run("render", project(tmp_path, f"{head}{below}"), code=1)
    assert out == ""
    assert err.startswith("error: invalid XR: ")
    assert message in err
    assert f"  --> {tmp_path}/xr.yaml:{place}\n" in err


def test_render_applies_defaults_before_it_validates(tmp_path: Path, run: Run) -> None:
    out, err = run("render", project(tmp_path), "-q")
    assert err == ""
    assert "replicas: 2\n" in out


def test_render_ignores_the_status_of_an_xr(tmp_path: Path, run: Run) -> None:
    """The API server drops it, and a hand-written one is not whole."""
    xr = f"{XR}status: {{address: 5, conditions: [{{type: Ready}}]}}\n"
    run("render", project(tmp_path, xr), "-q")


def test_render_warns_of_fields_that_the_api_server_drops(tmp_path: Path, run: Run) -> None:
    xr = f"{XR}  replcas: 3\n  compositionRef: {{name: apps}}\n  colour: red\nspek: {{}}\n"
    err = run("render", project(tmp_path, xr)).err
    assert [line for line in err.splitlines() if "hint" in line] == [
        "  = hint: there are image, replicas, ports",
        "  = hint: Crossplane v2 has it below spec.crossplane: spec.crossplane.compositionRef",
        '  = hint: did you mean "replicas"?',
        '  = hint: did you mean "spec"?',
    ]
    assert "warning: unknown field of the XR: spec.replcas: the API server drops it\n" in err
    assert f"  --> {tmp_path}/xr.yaml:7:3\n" in err


def test_render_warns_before_the_program_fails(tmp_path: Path, run: Run) -> None:
    """A misspelt field is often why it does."""
    project(tmp_path, f"{XR}  replcas: 3\n")
    path = tmp_path / "composition.yaml"
    path.write_text(COMPOSITION.replace('["replicas"]', '["replcsa"]'))
    err = run("render", tmp_path, code=1).err
    assert err.index("unknown field of the XR") < err.index("error: ")


def test_render_skips_the_validation_on_request(tmp_path: Path, run: Run) -> None:
    project(tmp_path, f"{HEAD}spec: {{replicas: 55}}\n")
    out, err = run("render", tmp_path, "--skip-xr-validation", "-q")
    assert err == ""
    assert "replicas: 56\n" in out


@pytest.mark.parametrize(
    ("case", "place"),
    [
        pytest.param("patch: {spec: {replicas: 55}}", "bad.case.yaml:1:16", id="patch"),
        pytest.param(
            "steps:\n- expect: {}\n- patch: {spec: {replicas: 0}}\n",
            "bad.case.yaml:3:18",
            id="patch-of-a-step",
        ),
        pytest.param(
            "xr:\n  apiVersion: example.org/v1\n  kind: XThing\n  metadata: {name: a}\n"
            "  spec: {image: a, replicas: 55}\n",
            "bad.case.yaml:5:20",
            id="inline",
        ),
        pytest.param("patch: {spec: {image: latest}}", "bad.case.yaml:1:9", id="rule-of-the-spec"),
        pytest.param("patch: {spec: {image: null}}", "bad.case.yaml:1:9", id="removal"),
        pytest.param("patch: {spec: {ports: [{}]}}", "bad.case.yaml:1:24", id="item-of-a-patch"),
    ],
)
def test_case_fails_at_the_line_that_makes_its_xr_invalid(
    case: str, place: str, tmp_path: Path, run: Run
) -> None:
    path = project(tmp_path) / "bad.case.yaml"
    path.write_text(f"{case}\n" if "expect" in case else f"{case}\nexpect: {{}}\n")
    out = run("test", tmp_path, code=1).out
    assert f"--> {tmp_path}/{place}\n" in out
    assert "1 failed" in out


@pytest.mark.parametrize(
    ("case", "flags"),
    [
        pytest.param("expect: {error: spec.replicas}", [], id="expected-error"),
        pytest.param("{skipXrValidation: true, expect: {}}", [], id="skipped-by-the-case"),
        pytest.param("expect: {}", ["--skip-xr-validation"], id="skipped-by-the-flag"),
    ],
)
def test_case_passes_with_an_invalid_xr_on_purpose(
    case: str, flags: list[str], tmp_path: Path, run: Run
) -> None:
    project(tmp_path, f"{XR}  replicas: 55\n")
    (tmp_path / "bad.case.yaml").write_text(case)
    run("test", tmp_path, *flags)


def test_case_shows_an_unknown_field_once(tmp_path: Path, run: Run) -> None:
    project(tmp_path, f"{XR}  replcas: 3\n")
    (tmp_path / "one.case.yaml").write_text("steps: [{expect: {}}, {expect: {}}]")
    out = run("test", tmp_path).out
    assert out.count("warning: unknown field of the XR: spec.replcas") == 1
    out = run("test", tmp_path, "--output", "json").out
    assert len(json.loads(out)["cases"][0]["warnings"]) == 1


def test_cases_in_python_validate_their_xr(tmp_path: Path) -> None:
    project(tmp_path)
    with pytest.raises(FatalError, match=r"invalid XR: spec\.replicas"):
        testing.render(tmp_path, patch={"spec": {"replicas": 55}})
    skipped = testing.render(tmp_path, patch={"spec": {"replicas": 55}}, skipXrValidation=True)
    assert skipped["status"]["replicas"] == 56


def test_check_finds_an_invalid_xr_beside_a_composition(tmp_path: Path, run: Run) -> None:
    project(tmp_path, f"{XR}  replicas: 55\n  replcas: 3\n")
    findings = json.loads(run("check", tmp_path, "--output", "json", code=1).out)["findings"]
    assert [(each["rule"], Path(each["file"]).name, each["line"]) for each in findings] == [
        ("xr", "xr.yaml", 7),
        ("xr-field", "xr.yaml", 8),
    ]


def test_check_takes_the_file_of_an_xr(tmp_path: Path, run: Run) -> None:
    project(tmp_path)
    folder = tmp_path / "examples"
    folder.mkdir()
    (folder / "big.yaml").write_text(f"{XR}  replicas: 55\n")
    out = run("check", folder / "big.yaml", "--xrd", tmp_path / "xrd.yaml", code=1).out
    assert "invalid XR: spec.replicas" in out


def test_check_leaves_objects_alone_that_are_no_xr(tmp_path: Path, run: Run) -> None:
    """An output of `render` has no spec, and a patch is a part."""
    project(tmp_path)
    (tmp_path / "expected.yaml").write_text(f"{HEAD}status: {{}}\n")
    run("check", tmp_path, "--strict")


def test_playground_shows_an_invalid_xr_at_its_place(tmp_path: Path) -> None:
    files = {"xrd.yaml": XRD, "composition.yaml": COMPOSITION}
    with local_pool.open_pool() as pool:
        session = RenderSession(pool, Mirror(tmp_path), renderer.Options())
        page = session.render({**files, "xr.yaml": f"{XR}  replicas: 55\n"}, Folder(None))
        (problem,) = page["problems"]
        assert (problem["file"], problem["line"], problem["column"]) == ("xr.yaml", 7, 3)
        page = session.render({**files, "xr.yaml": f"{XR}  replcas: 3\n"}, Folder(None))
        (problem,) = page["problems"]
        assert problem["severity"] == "warning"
        assert problem["message"].startswith("unknown field of the XR: spec.replcas")
        assert (problem["file"], problem["line"], problem["column"]) == ("xr.yaml", 7, 3)


def test_xr_of_another_version_is_told_at_its_version(tmp_path: Path, run: Run) -> None:
    project(tmp_path, XR.replace("example.org/v1", "example.org/v2"))
    path = tmp_path / "composition.yaml"
    path.write_text(COMPOSITION.replace("apiVersion: example.org/v1", "apiVersion: example.org/v2"))
    err = run("render", tmp_path, code=1).err
    assert f"--> {tmp_path}/xr.yaml:2:1\n" in err


def test_legacy_fields_of_any_crossplane_are_no_unknown_fields() -> None:
    """An XR of scope LegacyCluster may be of any version of Crossplane."""
    spec = {"publishConnectionDetailsTo": {"name": "a"}, "environmentConfigRefs": [{}]}
    verdict = xr_validation.validate({**render_helpers.XR, "spec": spec}, render_helpers.xrd("v1"))
    assert verdict == xr_validation.Verdict()


def test_rule_about_a_value_of_a_wrong_type_is_not_told() -> None:
    """The API server does not evaluate it either; the error about the type is enough."""
    spec: Object = {
        "type": "object",
        "properties": {"size": {"type": "object", "properties": {"max": {"type": "integer"}}}},
        "x-kubernetes-validations": [{"rule": "self.size.max < 9"}],
    }
    definition = render_helpers.xrd(schema={"type": "object", "properties": {"spec": spec}})
    verdict = xr_validation.validate({**render_helpers.XR, "spec": {"size": 3}}, definition)
    assert [each.field for each in verdict.errors] == ["spec.size"]
    assert verdict.notes == ()


HUGE_NAMES = [f"{'name' * 12}{number}" for number in range(200)]
HUGE_FIELDS: Object = {name: {} for name in HUGE_NAMES}
HUGE_SCHEMAS: dict[str, tuple[Object, Object]] = {
    "required": ({"required": [*HUGE_NAMES], "properties": HUGE_FIELDS}, {}),
    "unknown": (
        {"properties": HUGE_FIELDS},
        {f"{name[1:]}x": 1 for name in HUGE_NAMES},
    ),
    "enum": (
        {"properties": {"a": {"type": "array", "items": {"enum": [*HUGE_NAMES]}}}},
        {"a": ["x"] * len(HUGE_NAMES)},
    ),
}


@pytest.mark.parametrize(("schema", "spec"), HUGE_SCHEMAS.values(), ids=HUGE_SCHEMAS)
def test_huge_schema_takes_bounded_time_and_text(schema: Object, spec: Object) -> None:
    """Every problem is there; a hint or the rest of a list is left out."""
    whole: Object = {"type": "object", "properties": {"spec": {"type": "object", **schema}}}
    definition = render_helpers.xrd(schema=whole)
    with taking_less(6):
        verdict = xr_validation.validate({**render_helpers.XR, "spec": spec}, definition)
    problems = (*verdict.errors, *verdict.warnings)
    assert len(problems) == len(HUGE_NAMES)
    assert max(len(each.message) for each in problems) < 5_000


def test_check_accepts_the_file_of_a_valid_xr(tmp_path: Path, run: Run) -> None:
    project(tmp_path)
    out, err = run("check", tmp_path / "xr.yaml")
    assert err == ""
    assert out == "Checked 0 steps in 1 file: 0 errors, 0 warnings\n"


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ("{type: int, default: 80}", 'the XRD has type "int" here: types are array, boolean'),
        ('{type: integer, default: "80"}', "the value is the default in the XRD"),
    ],
    ids=["type", "default"],
)
def test_fault_of_the_xrd_is_named_as_one(schema: str, hint: str, tmp_path: Path, run: Run) -> None:
    """The XR itself does not have the field, so nothing in its file could be corrected."""
    project(tmp_path)
    xrd = tmp_path / "xrd.yaml"
    xrd.write_text(XRD.replace("ports:\n", f"port: {schema}\n              ports:\n", 1))
    for command in (["render"], ["check", "--variants", "0"]):
        assert f"= hint: {hint}" in run(*command, tmp_path, code=1).text
