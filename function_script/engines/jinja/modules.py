"""Which modules a program needs, and whether they are there: before anything is compiled.

Called when a program is compiled, with what `tree` found in each template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.jinja.tree import Violation
from function_script.problems import suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.engines.jinja.tree import Reference, TemplateFacts

MAX_DEPTH = 20


def check(
    surveys: Mapping[str, TemplateFacts], modules: Mapping[str, object]
) -> dict[str, list[Violation]]:
    """What is wrong with the references of each template; ``""`` is the main one."""
    found = {name: _of_template(survey, surveys, modules) for name, survey in surveys.items()}
    if not any(found.values()):
        _Chains(surveys, found).length("", ())
    return found


def _of_template(
    survey: TemplateFacts, surveys: Mapping[str, TemplateFacts], modules: Mapping[str, object]
) -> list[Violation]:
    findings: list[Violation] = []
    for reference in survey.references:
        if reference.module not in modules:
            findings += [] if reference.is_optional else [_missing(reference, modules)]
        elif reference.module in surveys:
            findings += _missing_names(reference, surveys[reference.module])
    return findings


def _missing(reference: Reference, modules: Mapping[str, object]) -> Violation:
    there_are = f"there are {', '.join(sorted(modules))}" if modules else "there are no modules"
    return Violation(
        line=reference.line,
        message=f'there is no module "{reference.module}"',
        name=reference.module,
        hint=suggest(reference.module, tuple(modules), there_are),
    )


def _missing_names(reference: Reference, module: TemplateFacts) -> list[Violation]:
    return [
        Violation(
            line=reference.line,
            message=f'module "{reference.module}" defines no "{name}"',
            name=name,
            hint=_hint(name, module),
        )
        for name in reference.names
        if name not in module.defined
    ]


def _hint(name: str, module: TemplateFacts) -> str | None:
    return suggest(name, tuple(module.defined))


class _Chains:
    """Follows references from template to template, each template once."""

    def __init__(
        self, surveys: Mapping[str, TemplateFacts], found: dict[str, list[Violation]]
    ) -> None:
        self.surveys = surveys
        self.found = found
        self.lengths: dict[str, int] = {}

    def length(self, name: str, way: tuple[str, ...]) -> int:
        """How many modules follow one another below this template at most."""
        if name not in self.lengths:
            self.lengths[name] = max(
                (self._length_by(reference, name, way) for reference in self._known(name)),
                default=0,
            )
        return self.lengths[name]

    def _known(self, name: str) -> list[Reference]:
        return [each for each in self.surveys[name].references if each.module in self.surveys]

    def _length_by(self, reference: Reference, name: str, way: tuple[str, ...]) -> int:
        module = reference.module
        if module in way:
            circle = " -> ".join((*way[way.index(module) :], module))
            self._add(name, reference, f"modules import each other in a cycle: {circle}")
            return 0
        # Also where it would only be found out further down: this recursion has an end itself.
        length = 1 + (self.length(module, (*way, module)) if len(way) < MAX_DEPTH else len(way))
        if length > MAX_DEPTH:
            self._add(name, reference, f"modules need each other more than {MAX_DEPTH} deep")
            return 0
        return length

    def _add(self, name: str, reference: Reference, message: str) -> None:
        finding = Violation(line=reference.line, message=message, name=reference.module)
        self.found[name].append(finding)
