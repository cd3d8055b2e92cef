"""Make Compositions out of inputs written as YAML, and read what `check` says of them."""

from pathlib import Path
from textwrap import indent

from function_script.tools.check import checker
from function_script.tools.check.report import Finding, Report

PIPELINE = """\
  compositeTypeRef: {apiVersion: example.org/v1, kind: XThing}
  pipeline:
"""
_HEAD = f"""\
# A comment, so that lines differ.
apiVersion: v1
kind: ConfigMap
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: things
spec:
{PIPELINE}"""
# Where the first step's input begins.
LINE, COLUMN = 15, 7


def ours(kind: str, *lines: str) -> str:
    """An input of our own kinds; the first of ``lines`` is the input's line 3."""
    return "\n".join(["apiVersion: script.fn.crossplane.io/v1beta1", f"kind: {kind}", *lines])


def script(*lines: str) -> str:
    """A script with these lines in `main`; the first is the input's line 5."""
    body = (f"      {line}" for line in lines)
    return ours("StarlarkScript", "script: |", "  def main(req):", *body)


def template(kind: str, *lines: str) -> str:
    """A template with these lines; the first is the input's line 4."""
    return ours(kind, "inline: |", *(f"  {line}" for line in lines))


def peer(*lines: str) -> str:
    """An input of function-go-templating; the first of ``lines`` is its line 3."""
    return "\n".join(
        ["apiVersion: gotemplating.fn.crossplane.io/v1beta1", "kind: GoTemplate", *lines]
    )


def composition(*inputs: str) -> str:
    """A Composition with a step for each input."""
    steps = [
        f"  - step: step-{number}\n    functionRef: {{name: function-script}}\n"
        f"    input:\n{indent(text, ' ' * (COLUMN - 1))}\n"
        for number, text in enumerate(inputs)
    ]
    return _HEAD + "".join(steps)


def found(path: Path, *inputs: str, programs: Path | None = None) -> Report:
    """The report on a Composition with these inputs."""
    file = path / "composition.yaml"
    file.write_text(composition(*inputs))
    return checker.check([str(file)], programs)


def pointed_at(finding: Finding) -> str:
    """The rest of the line that a finding points at, from its column on."""
    span, excerpt = finding.diagnostic.span, finding.diagnostic.excerpt
    return excerpt.lines[span.line - excerpt.first_line][(span.column or 1) - 1 :]


def told(finding: Finding) -> tuple[str, str, str]:
    """Rule, place and message; the place counts from the first step's input."""
    problem = finding.diagnostic
    line, column = problem.span.line - LINE + 1, problem.span.column - COLUMN + 1
    return finding.rule, f"{line}:{column}", problem.message
