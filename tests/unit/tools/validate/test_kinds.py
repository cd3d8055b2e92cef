"""`validate` and `render` decide alike what kind an input is, in the shapes that people write."""

from pathlib import Path
from textwrap import indent
from typing import Literal, TypeAlias

import pytest
from support.one_step import HEAD, XR
from support.validate_helpers import check

from function_script import testing
from function_script.texts.errors import FatalError

# It runs here; it is another function's; it is meant for this one, with a mistake in its header.
Decision: TypeAlias = Literal["ours", "other", "mistaken"]

HEADER = ("input.apiVersion", "input.kind", "apiVersion", "kind")
OUR_GROUP = "apiVersion: script.fn.crossplane.io"
PEERS_GROUP = "apiVersion: gotemplating.fn.crossplane.io"
TEMPLATE = "\nsource: Inline\ninline: {template: '# nothing'}"
SCRIPT = "\ninline: '# nothing'"
INPUTS: dict[str, tuple[str, Decision]] = {
    "script": (f"{OUR_GROUP}/v1beta1\nkind: StarlarkScript{SCRIPT}", "ours"),
    "jinja": (f"{OUR_GROUP}/v1beta1\nkind: JinjaTemplate{SCRIPT}", "ours"),
    "go-template": (f"{OUR_GROUP}/v1beta1\nkind: GoTemplate{SCRIPT}", "ours"),
    "peers": (f"{PEERS_GROUP}/v1beta1\nkind: GoTemplate{TEMPLATE}", "ours"),
    "peers-other-version": (f"{PEERS_GROUP}/v1alpha1\nkind: GoTemplate{TEMPLATE}", "ours"),
    "peers-other-kind": (f"{PEERS_GROUP}/v1beta1\nkind: Input{TEMPLATE}", "ours"),
    "peers-template-group": (
        f"apiVersion: template.fn.crossplane.io/v1beta1\nkind: GoTemplate{TEMPLATE}",
        "ours",
    ),
    "peers-any-header": (f"apiVersion: v1\nkind: Anything{TEMPLATE}", "ours"),
    "peers-environment": (
        "apiVersion: v1\nkind: A\nsource: Environment\nenvironment: {key: example.org/a}",
        "ours",
    ),
    "our-other-version": (f"{OUR_GROUP}/v1\nkind: StarlarkScript{SCRIPT}", "mistaken"),
    "our-other-kind": (f"{OUR_GROUP}/v1beta1\nkind: StarlarkScripts{SCRIPT}", "mistaken"),
    "our-kind-in-another-group": (f"apiVersion: v1\nkind: StarlarkScript{SCRIPT}", "mistaken"),
    "our-kind-without-a-group": (f"kind: JinjaTemplate{SCRIPT}", "mistaken"),
    "kcl": (
        "apiVersion: krm.kcl.dev/v1alpha1\nkind: KCLInput\nspec: {source: 'items = []'}",
        "other",
    ),
    "python": (
        "apiVersion: python.fn.crossplane.io/v1beta1\nkind: Script\nscript: pass",
        "other",
    ),
    "pythonic": (
        "apiVersion: pythonic.fn.crossplane.io/v1alpha1\nkind: Composite\ncomposite: pass",
        "other",
    ),
    "shell": (
        "apiVersion: shell.fn.crossplane.io/v1beta1\nkind: Parameters\nshellCommand: ls",
        "other",
    ),
    "old-patch-and-transform": (
        "apiVersion: pt.crossplane.io/v1beta1\nkind: Resources\nresources: []",
        "other",
    ),
    "source-that-is-not-a-source": (
        "apiVersion: e.org/v1\nkind: A\nsource: items\ninline: {template: a}",
        "other",
    ),
}


def validated(text: str, directory: Path) -> Decision:
    """Return how `validate` understands the input of a Composition."""
    result, _ = check(directory, text).results
    if result.status == "missingSchema":
        return "other"
    is_mistaken = any(problem.field in HEADER for problem in result.problems)
    return "mistaken" if is_mistaken else "ours"


def renders(text: str, directory: Path) -> bool:
    """Tell if `render` takes the input of a Composition for one that runs here."""
    directory.mkdir()
    (directory / "xr.yaml").write_text(XR)
    (directory / "composition.yaml").write_text(text)
    try:
        testing.render(directory)
    except FatalError as error:
        return not any(path in str(error) for path in HEADER[:2])
    return True


@pytest.mark.parametrize(("text", "decision"), INPUTS.values(), ids=INPUTS)
def test_kind_of_an_input(text: str, decision: Decision, tmp_path: Path) -> None:
    composition = HEAD + indent(text, " " * 6) + "\n"
    assert validated(composition, tmp_path) == decision
    assert renders(composition, tmp_path / "project") == (decision == "ours")
