"""Checks of references between templates, before anything is compiled."""

from collections.abc import Collection, Mapping

from function_script.engines.jinja.policy import Reference, TemplateFacts, Violation
from function_script.problems import suggest

MAX_DEPTH = 20


def check_references(
    templates: Mapping[str, TemplateFacts], module_names: Collection[str]
) -> dict[str, list[Violation]]:
    """Return the invalid references of each template; ``""`` is the main one."""
    violations: dict[str, list[Violation]] = {}
    for name, template in templates.items():
        listed = violations[name] = []
        for reference in template.references:
            if reference.module not in module_names:
                listed += [] if reference.is_optional else [_missing(reference, module_names)]
            elif reference.module in templates:
                listed += _missing_names(reference, templates[reference.module])
    if not any(violations.values()):
        _DepthCheck(templates, violations).depth("", ())
    return violations


def _missing(reference: Reference, module_names: Collection[str]) -> Violation:
    names = ", ".join(sorted(module_names))
    available = f"there are {names}" if module_names else "there are no modules"
    return Violation(
        line=reference.line,
        message=f'there is no module "{reference.module}"',
        name=reference.module,
        hint=suggest(reference.module, tuple(module_names), available),
    )


def _missing_names(reference: Reference, module: TemplateFacts) -> list[Violation]:
    violations = []
    for name in reference.names:
        if name not in module.defined:
            message = f'module "{reference.module}" defines no "{name}"'
            hint = suggest(name, tuple(module.defined))
            violations.append(Violation(line=reference.line, message=message, name=name, hint=hint))
    return violations


class _DepthCheck:
    """Follows references from template to template, each template once."""

    def __init__(
        self, templates: Mapping[str, TemplateFacts], violations: dict[str, list[Violation]]
    ) -> None:
        self.templates = templates
        self.violations = violations
        self.depths: dict[str, int] = {}

    def depth(self, name: str, path: tuple[str, ...]) -> int:
        """Return the length of the longest chain of modules that begins at this template."""
        if name not in self.depths:
            references = self.templates[name].references
            present = [each for each in references if each.module in self.templates]
            depths = (self._depth_through(reference, name, path) for reference in present)
            self.depths[name] = max(depths, default=0)
        return self.depths[name]

    def _depth_through(self, reference: Reference, name: str, path: tuple[str, ...]) -> int:
        module = reference.module
        if module in path:
            cycle = " -> ".join((*path[path.index(module) :], module))
            self._add(name, reference, f"modules import each other in a cycle: {cycle}")
            return 0
        # A long path counts as too deep without a look further down, so the recursion is bounded.
        depth = 1 + (self.depth(module, (*path, module)) if len(path) < MAX_DEPTH else len(path))
        if depth > MAX_DEPTH:
            self._add(name, reference, f"modules need each other more than {MAX_DEPTH} deep")
            return 0
        return depth

    def _add(self, name: str, reference: Reference, message: str) -> None:
        violation = Violation(line=reference.line, message=message, name=reference.module)
        self.violations[name].append(violation)
