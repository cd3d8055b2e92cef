"""Credentials that a program reads and cannot see."""

from pathlib import Path

import pytest
from support.check_helpers import composition, ours, peer, pointed_at

from function_script.tools.check import checker

CASES = {
    "starlark": ("StarlarkScript", "script", 'return req["credentials"]["db"]["data"]'),
    "its getter": ("StarlarkScript", "script", 'return get_credentials(req, "db")'),
    "jinja": ("JinjaTemplate", "inline", "a: {{ credentials.db.data.k }}"),
    "getter": ("JinjaTemplate", "inline", "a: {{ get_credential_data('db').k }}"),
    "go": ("GoTemplate", "inline", "a: {{ .credentials.db.credentialData }}"),
    "go getter": ("GoTemplate", "inline", 'a: {{ getCredentialData "db" }}'),
    "with the dot": ("GoTemplate", "inline", 'a: {{ getCredentialData . "db" }}'),
}


def found(path: Path, text: str) -> list[tuple[str, str, str]]:
    """Messages, what they point at, and hints."""
    file = path / "composition.yaml"
    file.write_text(composition(text))
    told = []
    for finding in checker.check([str(file)]).findings:
        assert (finding.rule, finding.severity) == ("unlisted-credentials", "warning")
        problem = finding.diagnostic
        at = pointed_at(finding)[: problem.span.width]
        told.append((problem.message, at, problem.hint or ""))
    return told


def step(kind: str, field: str, line: str, *more: str) -> str:
    """An input whose program has this line."""
    head = ["  def main(req):", f"      {line}", "      return {}"] if field == "script" else []
    return ours(kind, *more, f"{field}: |", *(head or [f"  {line}"]))


@pytest.mark.parametrize(("kind", "field", "line"), CASES.values(), ids=CASES)
def test_credentials_that_the_input_does_not_name_are_found(
    kind: str, field: str, line: str, tmp_path: Path
) -> None:
    message = 'the program does not see credentials "db": its input does not name them'
    ((said, at, hint),) = found(tmp_path, step(kind, field, line, "credentials: [aws]"))
    assert (said, hint) == (message, "write `credentials: [aws, db]` into the input")
    assert at.strip('["].') == "db"
    assert found(tmp_path, step(kind, field, line, "credentials: [db]")) == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("registri", 'did you mean "registry"?'),
        ("other", "write `credentials: [registry, other]` into the input"),
        ("unknown", ""),
    ],
)
def test_credentials_that_the_step_does_not_have_are_not_to_be_named(
    name: str, hint: str, tmp_path: Path
) -> None:
    program = step("JinjaTemplate", "inline", f"a: {{{{ credentials.{name} }}}}")
    text = program.replace("inline: |", "credentials: [registry]\ninline: |")
    file = tmp_path / "composition.yaml"
    entries = "credentials: [{name: registry, source: None}, {name: other, source: None}]"
    file.write_text(composition(text).replace("    input:", f"    {entries}\n    input:"))
    (finding,) = checker.check([str(file)]).findings
    assert (finding.diagnostic.hint or "") == hint
    # An input may name what its step does not have.
    file.write_text(file.read_text().replace("[registry]", "[registy]").replace(name, "other"))
    other, *_ = checker.check([str(file)]).findings
    assert other.diagnostic.hint == "write `credentials: [other]` into the input"


def test_templates_of_the_peer_see_all(tmp_path: Path) -> None:
    text = peer("source: Inline", "inline:", "  template: |", '    {{ getCredentialData . "db" }}')
    assert found(tmp_path, text) == []


def test_comments_are_no_program(tmp_path: Path) -> None:
    line = '# get_credentials(req, "db")'
    assert found(tmp_path, step("StarlarkScript", "script", line)) == []
