"""Names that calls of a template write out, which `check` compares with what there is."""

import pytest
from support import programs

from function_script.engines.gotemplate.lint import LINT
from function_script.engines.lint import CallKind

NAMES: tuple[tuple[CallKind, str, list[tuple[str, int]]], ...] = (
    ("observed", '{{ (getComposedResource . "db").status }}', [("db", 28)]),
    ("observed", '{{ printf "{%s}" (getComposedConnectionDetails $ `db`).a }}', [("db", 51)]),
    ("observed", '{{/* getComposedResource . "db" */}}', []),
    ("observed", "{{ getComposedResource . $name }}", []),
    ("required", '{{ range getExtraResources $.x "peers" }}{{ end }}', [("peers", 33)]),
    ("credentials", '{{ (getCredentialData . "aws").key }}', [("aws", 26)]),
    ("clock", '{{ date "now" now }}{{ .now }}', [("now", 15)]),
)


@pytest.mark.parametrize("delims", [["{{", "}}"], ["[[", "]]"]], ids=["usual", "other"])
@pytest.mark.parametrize(("kind", "text", "names"), NAMES, ids=[text for _, text, _ in NAMES])
def test_names_in_calls(
    kind: CallKind, text: str, names: list[tuple[str, int]], delims: list[str]
) -> None:
    """A call is one of the tree, so neither comments nor other delimiters hide or make one."""
    own = text.replace("{{", delims[0]).replace("}}", delims[1])
    program = programs.program(own, dialect="script", delims=delims, stable_values=True)
    mentions = [*LINT.find_names(program, kind)]
    assert [(each.text, each.span.column) for each in mentions] == names
