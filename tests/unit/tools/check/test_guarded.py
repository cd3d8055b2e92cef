"""Fields that do not exist: which are Crossplane's own, and where a program goes on without one."""

import json
from pathlib import Path

import pytest
import yaml
from support.check_helpers import PIPELINE, composition, peer
from support.field_checks import GET, OBJECT, REFERENCE, XR, XRD, found, go, jinja, script

from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function
from function_script.texts.source import Source
from function_script.tools import run
from function_script.tools.check import checker

V1 = "only XRs of scope LegacyCluster have it"
OF_V1 = {
    "claim": ("claimRef", V1),
    "secret": ("writeConnectionSecretToRef", V1),
    "composition": (
        "compositionRef",
        "Crossplane v2 has it below spec.crossplane: spec.crossplane.compositionRef",
    ),
}


@pytest.mark.parametrize(("name", "hint"), OF_V1.values(), ids=OF_V1)
def test_fields_of_crossplane_v1_are_not_in_an_xr_of_v2(
    tmp_path: Path, name: str, hint: str
) -> None:
    """Nobody writes them there."""
    for text in (
        script(GET, f'a = xr["spec"]["{name}"]'),
        jinja(f"{{{{ spec.{name} }}}}"),
        go(f"{{{{ .{XR}.spec.{name} }}}}"),
    ):
        assert found(tmp_path, text) == [(f"{XR}.spec.{name}", hint)]


def test_fields_of_crossplane_go_by_the_scope(tmp_path: Path) -> None:
    """An XR of an XRD v1 has those of v1, and not what v2 has put in their place."""
    text = jinja("{{ spec.claimRef.name }}{{ spec.resourceRefs }}{{ spec.crossplane }}")
    file = tmp_path / "a.yaml"
    file.write_text(composition(text).replace(PIPELINE, REFERENCE))
    (tmp_path / "xrd.yaml").write_text(XRD.replace("crossplane.io/v2", "crossplane.io/v1"))
    (finding,) = checker.check([str(file)]).findings
    assert finding.diagnostic.message.startswith(f"{XR}.spec.crossplane does not exist")


OF_BOTH_SCOPES = {
    "starlark": script(GET, 'a = xr["spec"].get("crossplane", {}).get("compositionRef")'),
    "jinja": jinja("# {% if spec.crossplane %}{{ spec.crossplane.compositionRef }}{% endif %}"),
    "go": go(
        f'# {{{{ if hasKey .{XR}.spec "crossplane" }}}}',
        f"# {{{{ .{XR}.spec.crossplane.compositionRef.name }}}}{{{{ end }}}}",
    ),
}


@pytest.mark.parametrize("text", OF_BOTH_SCOPES.values(), ids=OF_BOTH_SCOPES)
def test_program_may_ask_for_the_fields_of_another_scope(tmp_path: Path, text: str) -> None:
    (tmp_path / "xrd.yaml").write_text(XRD.replace("crossplane.io/v2", "crossplane.io/v1"))
    file = tmp_path / "composition.yaml"
    file.write_text(composition(text).replace(PIPELINE, REFERENCE))
    assert checker.check([str(file)]).findings == []


def test_hints_begin_with_the_author_s_fields(tmp_path: Path) -> None:
    ((_, hint),) = found(tmp_path, jinja("{{ spec.qqqqqq }}"))
    assert hint == "there are disks, free, labels, owner, owners, port, size, crossplane"


# Of each language: what fails without the field, and what goes on. Templates write comments.
SEVERITIES = {
    "subscript": (script(GET, 'a = xr["spec"]["szie"]'), "error"),
    "get": (script(GET, 'a = xr["spec"].get("szie", 1)'), "warning"),
    "getter": (script('a = get_xr(req, "spec.szie")'), "warning"),
    "asked-before": (
        script(GET, 'if "szie" in xr["spec"]:', '    a = xr["spec"]["szie"]'),
        "warning",
    ),
    "asked-by-another-name": (
        script(GET, 'spec = xr["spec"]', 'a = 1 if "szie" not in spec else spec["szie"]'),
        "warning",
    ),
    "output": (jinja("# {{ spec.szie }}"), "error"),
    "default": (jinja("# {{ spec.szie | default(1) }}"), "warning"),
    "default-below": (jinja("# {{ spec.szie.more | default(1) }}"), "warning"),
    "condition": (jinja("# {% if spec.szie %}{{ spec.szie }}{% endif %}"), "warning"),
    "default-of-a-name": (jinja("# {% set s = spec.szie %}{{ s | default(1) }}"), "warning"),
    "inline-if": (jinja("# {{ 1 if not spec.szie else spec.szie }}"), "warning"),
    "get-filter": (jinja("# {{ xr | get('spec.szie') }}"), "warning"),
    "get-method": (jinja("# {{ spec.get('szie') }}"), "warning"),
    "defined": (jinja("# {% if spec.szie is defined %}{{ spec.szie }}{% endif %}"), "warning"),
    "index-of-nothing": (go(f'# {{{{ index .{XR}.spec.szie "a" }}}}'), "error"),
    "index-in-a-condition": (
        go(f'# {{{{ if .{XR}.spec.szie }}}}{{{{ index .{XR}.spec.szie "a" }}}}{{{{ end }}}}'),
        "warning",
    ),
    "has-key": (
        go(
            f'# {{{{ if hasKey .{XR}.spec "szie" }}}}',
            f'# {{{{ index .{XR}.spec.szie "a" }}}}{{{{ end }}}}',
        ),
        "warning",
    ),
    "peer": (
        peer("source: Inline", f"inline: {{template: '# {{{{ .{XR}.spec.szie }}}}'}}"),
        "warning",
    ),
}


@pytest.mark.parametrize(("text", "severity"), SEVERITIES.values(), ids=SEVERITIES)
def test_unguarded_field_is_an_error(tmp_path: Path, text: str, severity: str) -> None:
    """A program that goes on runs, so it is a warning."""
    assert found(tmp_path, text)
    findings = checker.check([str(tmp_path / "composition.yaml")]).findings
    assert {finding.severity for finding in findings} == {severity}


@pytest.mark.parametrize(("text", "severity"), SEVERITIES.values(), ids=SEVERITIES)
def test_finding_of_a_field_agrees_with_a_run(text: str, severity: str) -> None:
    """An error fails when the program runs on an XR without the field, a warning does not."""
    value: Object = {"observed": {"composite": {"resource": OBJECT}}, "input": yaml.safe_load(text)}
    request = run.parse(Source(name="request", text=json.dumps(value)))
    answer = function.handle(request.SerializeToString(), Limits(), lambda _: None)
    assert bool(answer.diagnostics) == (severity == "error")
