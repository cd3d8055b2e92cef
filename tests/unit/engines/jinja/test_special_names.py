"""`check` finds `loop` outside of loops, and only there."""

import pytest
from support import programs

from function_script.engines.jinja.lint import LINT

LOOP = "{% for item in spec.items %}"
MACRO = "{% macro m() %}{{ loop.index }}{% endmacro %}"
# A template, and its module, without a finding.
FINE = {
    "body": (LOOP + "{{ loop.index }}{% endfor %}", ""),
    "nested": (LOOP + "{% if loop.first %}{{ loop.index }}{% endif %}{% endfor %}", ""),
    "loop-in-a-loop": (
        LOOP + "{% for a in [loop.index] if loop.first %}{{ a }}{% else %}{{ loop.last }}"
        "{% endfor %}{% endfor %}",
        "",
    ),
    "macro-in-a-loop": (LOOP + MACRO + "{{ m() }}{% endfor %}", ""),
    "set": ("{% set loop = spec %}{{ loop.index }}", ""),
    "import": ('{% import "m" as loop %}{{ loop.n() }}', "{% macro n() %}{% endmacro %}"),
    "default": ("{{ loop | default(1) }}{{ loop is defined }}", ""),
    "included": (LOOP + '{% include "m" %}{% endfor %}', "{{ loop.index }}"),
    "block": ("{% block b %}{{ super() }}{{ loop }}{% endblock %}", ""),
    "caller": ("{% macro m() %}{{ caller() }}{{ varargs }}{{ kwargs }}{% endmacro %}", ""),
    "text": ("loop.index {# {{ loop.index }} #}{% raw %}{{ loop.index }}{% endraw %}", ""),
}
# A template, its module, and the lines and columns of the findings.
MISPLACED = {
    "top": ("{{ loop.index }}", "", ["inline:1:4"]),
    "behind": (LOOP + "{% endfor %}\n{{ loop.index }}", "", ["inline:2:4"]),
    "condition": ("{% for a in spec if loop.first %}{% endfor %}", "", ["inline:1:21"]),
    "list": ("{% for a in [loop] %}{% endfor %}", "", ["inline:1:14"]),
    "else": ("{% for a in spec %}{% else %}{{ loop }}{% endfor %}", "", ["inline:1:33"]),
    "macro": (MACRO + LOOP + "{{ m() }}{% endfor %}", "", ["inline:1:19"]),
}


def _find(text: str, module: str) -> list[str]:
    program = programs.program(text, {"m": module} if module else {})
    problems = LINT.find_unknown_names(program)
    assert all("has no value here" in problem.message and problem.hint for problem in problems)
    return [str(problem.span) for problem in problems]


@pytest.mark.parametrize(("text", "module"), FINE.values(), ids=FINE)
def test_special_name_in_its_body_is_fine(text: str, module: str) -> None:
    assert _find(text, module) == []


@pytest.mark.parametrize(("text", "module", "places"), MISPLACED.values(), ids=MISPLACED)
def test_special_name_elsewhere_is_found(text: str, module: str, places: list[str]) -> None:
    assert _find(text, module) == places
