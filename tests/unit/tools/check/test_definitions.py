"""`check` compares a Composition, an XRD and the XRs at hand with one another."""

from collections import Counter
from pathlib import Path

import pytest
from support import one_step
from support.check_helpers import pointed_at
from support.commands import Run

from function_script.sandbox.pool import Pool
from function_script.tools.check import checker, definitions, runs
from function_script.tools.check.report import Finding
from function_script.tools.project import Project

_SPEC = "spec: {{type: object, properties: {{size: {}}}}}"
_XRD = one_step.xrd(_SPEC.format("{type: string, enum: [small, large]}"))
_CLAIM = _XRD.replace("v2\n", "v1\n", 1).replace(
    "  names:", "  claimNames: {kind: Thing, plural: things}\n  names:"
)
_TEMPLATE = one_step.composition("GoTemplate", "# {{ .observed.composite.resource.spec.size }}")
_TYPE = "{apiVersion: example.org/v1, kind: XThing}"
_FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-script}
spec: {package: example.org/function-script:v1}
"""


def _check(path: Path, *, pool: Pool | None = None, **files: str) -> list[Finding]:
    for name, text in {"composition": _TEMPLATE, "xrd": _XRD, **files}.items():
        file = path / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    options = None if pool is None else runs.Options(pool=pool, variants=1)
    return checker.check([str(path)], run_options=options).findings


def test_files_beside_many_compositions_are_read_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Pool
) -> None:
    reads: Counter[Path] = Counter()
    read = Project.read
    monkeypatch.setattr(
        Project, "read", lambda self, path: (reads.update([path]), read(self, path))[1]
    )
    names = [f"{number}-composition" for number in range(9)]
    own = "apiVersion: example.org/v1\nkind: XThing\nmetadata: {name: x}\nspec: {size: tiny}\n"
    examples = {"examples/own": own, "examples/other": own.replace("XThing", "XOther")}
    files = {"things-xrd": _XRD, **examples, **dict.fromkeys(names, _TEMPLATE)}
    _check(tmp_path, pool=pool, **files)
    (tmp_path / "xrd.yaml").unlink()
    reads.clear()
    report = checker.check([str(tmp_path)], run_options=runs.Options(pool=pool, variants=1))
    assert [pointed_at(each) for each in report.findings] == ["size: tiny}"]
    assert reads[tmp_path / "things-xrd.yaml"] <= 3
    assert reads[tmp_path / "examples/other.yaml"] <= 3


TYPES = {
    "version": (_XRD, "{apiVersion: example.org/v2, kind: XThing}", "apiVersion"),
    "letters": (_XRD, "{apiVersion: example.org/v1, kind: XThign}", "kind"),
    "claim": (_CLAIM, "{apiVersion: example.org/v1, kind: Thing}", "kind"),
}
_OTHER = _XRD.replace("XThing", "XOther").replace("xthings", "xothers")
# Another group, another kind, and an XRD more: the right one may be in another folder.
FITTING = {
    "same": (_CLAIM, _TYPE),
    "group": (_XRD, "{apiVersion: example.com/v1, kind: XThing}"),
    "kind": (_XRD, "{apiVersion: example.org/v1, kind: XBucket}"),
    "two": (f"{_XRD}---\n{_OTHER}", "{apiVersion: example.org/v2, kind: XThing}"),
    "none": ("kind: Nothing\n", "{apiVersion: example.org/v2, kind: XThing}"),
}


@pytest.mark.parametrize(("xrd", "type_", "field"), TYPES.values(), ids=TYPES)
def test_type_that_the_xrd_beside_it_lacks_is_found(
    tmp_path: Path, xrd: str, type_: str, field: str
) -> None:
    (finding,) = _check(tmp_path, xrd=xrd, composition=_TEMPLATE.replace(_TYPE, type_))
    assert (finding.rule, finding.severity) == ("composition", "error")
    assert pointed_at(finding).startswith(f"{field}: ")
    right = "XThing" if field == "kind" else "example.org/v1"
    assert finding.diagnostic.hint == f"write {right}, or mend the XRD"


@pytest.mark.parametrize(("xrd", "type_"), FITTING.values(), ids=FITTING)
def test_type_whose_xrd_may_be_elsewhere_is_not_found(tmp_path: Path, xrd: str, type_: str) -> None:
    assert _check(tmp_path, xrd=xrd, composition=_TEMPLATE.replace(_TYPE, type_)) == []


_SECOND = _XRD[_XRD.index("  - name: v1") :].replace("name: v1", "name: v2")
_TWO = _XRD + _SECOND.replace("referenceable: true", "referenceable: false")


UNDEFINED = {
    "apiVersion": (_XRD.replace("/v2", "/v3"), "apiVersion: "),
    "kind": (_XRD.replace("kind: CompositeResource", "kind: CustomResource"), "kind: "),
    "group": (_XRD.replace("  group: example.org\n", ""), "spec:"),
    "versions": (_XRD.replace("versions:", "version:"), "version:"),
    "version": (_XRD.replace("- name: v1", "- version: v1"), "version: v1"),
}


@pytest.mark.parametrize(("xrd", "text"), UNDEFINED.values(), ids=UNDEFINED)
def test_run_without_the_xrd_that_render_refuses_is_none(
    tmp_path: Path, pool: Pool, xrd: str, text: str
) -> None:
    """A field that has a default would be missing."""
    assert xrd != _XRD
    composition = _TEMPLATE.replace("inline: |", 'inline: |\n        # {{ fail "" }}')
    findings = _check(tmp_path, pool=pool, xrd=xrd, xr=one_step.XR, composition=composition)
    assert [pointed_at(each)[: len(text)] for each in findings] == [text]


@pytest.mark.parametrize("word", ["default", "defualt"])
def test_xrd_that_is_not_checked_itself_is_an_error_of_what_it_defines(
    tmp_path: Path, pool: Pool, word: str
) -> None:
    """Nothing runs without the defaults that a mistake hides, and a report says so."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/xr.yaml").write_text(f"{one_step.XR}spec: {{}}\n")
    composition = _TEMPLATE.replace("# {{", "# {{ div 1 0 }} {{")
    (tmp_path / "own/composition.yaml").write_text(composition)
    (tmp_path / "definition.yaml").write_text(_XRD.replace("enum:", f"{word}: small, enum:"))
    schemas = definitions.load(tmp_path / "definition.yaml", [], Project([tmp_path]))
    options = runs.Options(pool=pool, variants=1)
    report = checker.check([str(tmp_path / "own")], definitions=schemas, run_options=options)
    (finding,) = report.findings
    is_run = word == "default"
    assert (finding.rule, not report.unreached) == ("failing-run" if is_run else "xr", is_run)


def test_version_of_an_xrd_with_several_has_no_hint(tmp_path: Path) -> None:
    composition = _TEMPLATE.replace("example.org/v1", "example.org/v3")
    (finding,) = _check(tmp_path, xrd=_TWO, composition=composition)
    assert finding.diagnostic.hint is None
    assert "example.org/v1 and example.org/v2" in finding.diagnostic.message


def test_version_that_is_not_referenceable_is_found(tmp_path: Path) -> None:
    """Crossplane stores XRs in the other version, and looks for Compositions of that one."""
    composition = _TEMPLATE.replace("example.org/v1", "example.org/v2")
    (finding,) = _check(tmp_path, xrd=_TWO, composition=composition)
    assert (finding.rule, finding.severity) == ("composition", "error")
    assert "example.org/v1 is referenceable" in finding.diagnostic.message
    assert _check(tmp_path, xrd=_TWO) == []


@pytest.mark.parametrize(
    "xrd", [_XRD + _SECOND, _TWO.replace(": true\n    schema", ": false\n    schema")]
)
def test_xrd_has_one_version_that_is_referenceable(xrd: str, tmp_path: Path) -> None:
    (finding,) = _check(tmp_path, xrd=xrd)
    assert (finding.rule, finding.severity) == ("xr", "error")
    assert pointed_at(finding).startswith("referenceable: ")


SCHEMAS = {
    "type": ("{type: sting, default: a, enum: [a]}", "type: ", 'did you mean "string"?'),
    "default": ("{type: integer, default: many}", "default: ", None),
    "default-in-an-object": (
        "{type: object, default: {a: {b: 1}}, properties: {a: {properties: {b: {type: string}}}}}",
        "b: 1",
        "quote it in YAML, or make it a text in a script",
    ),
    "default-without-a-field": (
        "{type: object, default: {}, required: [a], properties: {a: {type: string}}}",
        "default: ",
        None,
    ),
    "word": (
        '{type: integer, enum: ["1", 2]}',
        '"1", 2',
        "leave the quotes out, or make it a number",
    ),
    "word-of-yaml": (
        "{type: string, enum: [on, slow]}",
        "on, slow",
        "quote it in YAML, or make it a text in a script",
    ),
    "item": ("{type: array, items: {type: strng}}", "type: strng", 'did you mean "string"?'),
    "required": ("{type: string, required: true}", "required: ", None),
    "required-as-a-field": (
        "{type: object, properties: {a: {type: string}, required: [a]}}",
        "required: ",
        "`required` belongs beside `properties`",
    ),
    "keyword": ("{type: integer, minimun: 1}", "minimun: ", 'did you mean "minimum"?'),
    "bound": (
        '{type: integer, minimum: "1"}',
        "minimum: ",
        "leave the quotes out, or make it a number",
    ),
    "rules": ("{type: integer, x-kubernetes-validations: self > 1}", "x-kubernetes-", None),
    "rule": ("{type: integer, x-kubernetes-validations: [{message: a}]}", "{message: a}", None),
    "field-of-a-rule": (
        "{type: object, properties: {min: {}}, x-kubernetes-validations: [{rule: self.minn > 1}]}",
        "rule: ",
        'did you mean "min"?',
    ),
    "flag": ("{type: array, uniqueItems: none, items: {type: string}}", "uniqueItems: ", None),
}
ALLOWED = {
    "default-of-a-field": (
        "{type: object, default: {}, required: [a],"
        " properties: {a: {type: string, default: b}, required: {type: boolean}}}"
    ),
    "number": "{type: number, default: 1, enum: [1, 2.5]}",
    "null": "{type: string, nullable: true, default: null, enum: [a, null]}",
    "any": "{x-kubernetes-int-or-string: true, default: 1, enum: [1, a]}",
    "map": "{type: object, additionalProperties: {type: integer}, default: {a: 1}}",
    "format": "{type: string, format: date, default: 2024-01-01}",
    "keywords-of-others": "{type: string, examples: [a], x-format: b}",
    "rule": (
        "{type: object, properties: {a: {type: string}}, x-kubernetes-validations:"
        " [{rule: 'self.a == \"self.b\" && has(self.a)'}]}"
    ),
    "rule-of-a-map": (
        "{type: object, additionalProperties: {type: string},"
        " x-kubernetes-validations: [{rule: has(self.a)}]}"
    ),
    "alternatives": "{type: object, anyOf: [{required: [a]}, {not: {required: [b]}}]}",
}


@pytest.mark.parametrize(("schema", "text", "hint"), SCHEMAS.values(), ids=SCHEMAS)
def test_mistake_in_an_xrd_is_found(
    tmp_path: Path, schema: str, text: str, hint: str | None
) -> None:
    (finding,) = _check(tmp_path, xrd=one_step.xrd(_SPEC.format(schema)))
    assert (finding.rule, finding.severity) == ("xr", "error")
    assert pointed_at(finding).startswith(text)
    assert finding.diagnostic.hint == hint


def test_xrd_with_a_misspelt_field_has_no_variants(tmp_path: Path, pool: Pool) -> None:
    """They would lack what a program reads."""
    xrd = _XRD.replace("openAPIV3Schema", "openApiV3Schema")
    (finding,) = _check(tmp_path, pool=pool, xrd=xrd)
    assert pointed_at(finding).startswith("openApiV3Schema:")


FRAMES = {
    "name": ("name: xthings.", "name: xthing.", "name: ", None),
    "plural": ("plural: xthings", "plural: xThings", "plural: ", None),
    "field": (
        "served: true",
        "served: true\n    deprcated: true",
        "deprcated: ",
        'did you mean "deprecated"?',
    ),
    "scope": ("  names:", "  scope: Namespace\n  names:", "scope: ", 'did you mean "Namespaced"?'),
    "version": ("    served: true\n", "", "name: ", None),
    "claim": ("  names:", "  claimNames: {kind: A, plural: as}\n  names:", "claimNames: ", None),
    "details": ("  names:", "  connectionSecretKeys: [a]\n  names:", "connectionSec", None),
    "flag": (
        "served: true",
        'served: "true"',
        "served: ",
        "leave the quotes out, or make it a boolean",
    ),
}


@pytest.mark.parametrize(("old", "new", "text", "hint"), FRAMES.values(), ids=FRAMES)
def test_mistake_around_the_schemas_of_an_xrd_is_found(
    tmp_path: Path, old: str, new: str, text: str, hint: str | None
) -> None:
    (finding,) = _check(tmp_path, xrd=_XRD.replace(old, new, 1))
    assert pointed_at(finding).startswith(text)
    assert finding.diagnostic.hint == hint


def test_misspelt_kind_of_crossplane_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(_TEMPLATE.replace("Composition", "Compositon", 1))
    (finding,) = _check(tmp_path)
    assert pointed_at(finding).startswith("kind: Compositon")
    assert finding.diagnostic.hint == 'did you mean "Composition"?'


@pytest.mark.parametrize("schema", ALLOWED.values(), ids=ALLOWED)
def test_schema_that_the_api_server_takes_has_no_mistake(tmp_path: Path, schema: str) -> None:
    assert _check(tmp_path, xrd=one_step.xrd(_SPEC.format(schema))) == []


@pytest.mark.parametrize(("size", "count"), [("huge", 1), ("large", 0)])
@pytest.mark.parametrize(
    ("name", "kind"), [("xr", "Thing"), ("examples/one", "XThing"), ("examples/two", "Thing")]
)
def test_xr_or_claim_at_hand_that_its_xrd_refuses_is_found(
    tmp_path: Path, pool: Pool, name: str, kind: str, size: str, count: int
) -> None:
    xr = f"{one_step.XR}spec: {{size: {size}}}\n".replace("XThing", kind)
    findings = _check(tmp_path, pool=pool, xrd=_CLAIM, **{name: xr})
    assert [each.rule for each in findings] == ["xr"] * count
    assert all(pointed_at(each).startswith("size: huge") for each in findings)


@pytest.mark.parametrize(
    ("name", "rules"),
    [("function-scirpt", ["composition"]), ("function-script", []), ("function-other", [])],
)
def test_function_that_is_misspelt_is_found(
    tmp_path: Path, pool: Pool, name: str, rules: list[str]
) -> None:
    """A function with quite another name may be installed in another way."""
    composition = _TEMPLATE.replace("function-script", name)
    findings = _check(tmp_path, pool=pool, composition=composition, functions=_FUNCTIONS)
    assert [each.rule for each in findings] == rules


def test_functions_file_with_a_misspelt_kind_is_an_error(tmp_path: Path, pool: Pool) -> None:
    """With another one, such as Provider, it may be a file for a cluster, too."""
    functions = _FUNCTIONS.replace("kind: Function", "kind: Fuction")
    (finding,) = _check(tmp_path, pool=pool, functions=functions)
    assert pointed_at(finding) == "kind: Fuction"
    functions += "---\n" + _FUNCTIONS.replace("kind: Function", "kind: Provider")
    assert _check(tmp_path, pool=pool, functions=functions.replace("Fuction", "Function")) == []


def test_input_in_a_field_of_another_name_is_found(tmp_path: Path, run: Run) -> None:
    _check(tmp_path, composition=_TEMPLATE.replace("input:", "inputs:"))
    assert "hint: write `input:`" in run("check", tmp_path, code=1).out
    other = _TEMPLATE.replace("GoTemplate", "Other").replace("input:", "inputs:")
    (tmp_path / "composition.yaml").write_text(other.replace("script.fn", "other.fn"))
    assert "hint" not in run("check", tmp_path).out


@pytest.mark.parametrize(
    "xrd",
    [
        _XRD.replace("served: true", "served: true\n    deprecated: null\n    subresources: {}"),
        # A patch, or what a test expects.
        _XRD[: _XRD.index("spec:")] + "status: {conditions: []}\n",
        _XRD[: _XRD.index("  names:")] + "  defaultCompositionRevisionSelector: {}\n",
    ],
    ids=["null", "status", "part"],
)
def test_xrd_that_the_api_server_takes_has_no_mistake(tmp_path: Path, xrd: str) -> None:
    """Nor has a part of one."""
    assert _check(tmp_path, xrd=_XRD, other=xrd) == []
