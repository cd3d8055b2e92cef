"""The object of the cluster that a step names as its input."""

from dataclasses import replace
from typing import NamedTuple

from function_script import objects, wire
from function_script.diagnostics import Diagnostic
from function_script.engines.language import Language
from function_script.errors import InputError
from function_script.program import Program
from function_script.source import Source
from function_script.values import Object


class InputReference(NamedTuple):
    """The object that a step names: its ``selector``, and the ``path`` of the field that names it.

    ``own_fields`` are the step's other fields, with apiVersion and kind.
    """

    selector: wire.Selector
    path: str
    own_fields: Object

    @property
    def name(self) -> str:
        """The namespace and the name of the object."""
        return f"{self.selector.namespace}/{self.selector.match_name}"

    @property
    def origin(self) -> str:
        """The object for a reader, such as ``JinjaTemplate platform/network``."""
        return f"{self.selector.kind} {self.name}"

    def has_own(self, path: str) -> bool:
        """Report whether the step itself has the field at a path such as ``input.ttl``."""
        return objects.find_path(self.own_fields, objects.read_path(path)[1:]) is not None

    def locate(self, error: InputError) -> InputError:
        """Return the error with the object before those fields that are in it."""
        return InputError(*map(self._locate, error.diagnostics))

    def _locate(self, problem: Diagnostic) -> Diagnostic:
        if not problem.field or self.has_own(problem.field):
            return problem
        message = f"{self.origin}: {problem.message.removeprefix('input').removeprefix('.')}"
        return replace(problem, message=message, field=self.path)

    def name_sources(self, program: Program, language: Language) -> Program:
        """Return the program with names of texts that lead to the object, where they are in it."""

        def rename(source: Source, path: objects.Path) -> Source:
            if objects.find_path(self.own_fields, path) is not None:
                return source
            field = ".".join(map(str, path))
            return replace(source, name=f"{self.selector.kind.lower()}/{self.name}[{field}]")

        main = program.main
        if main.name == language.text_field:
            main = rename(main, (language.text_field,))
        modules = {
            name: rename(source, ("modules", name)) if source.name == f"modules[{name}]" else source
            for name, source in program.modules.items()
        }
        return replace(program, main=main, modules=modules)
