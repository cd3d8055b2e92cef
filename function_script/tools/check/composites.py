"""The XRs that `check` compares with their XRDs: those in a file, and xr.yaml beside it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import FatalError
from function_script.tools import author_positions, manifests, sources, step_inputs, xrds
from function_script.tools.check import rules
from function_script.tools.check.definitions import Definitions
from function_script.tools.check.rules import Rule

# Where `render` and `test` look for an XR.
FILES: Final = ("xr.yaml", "xr.yml")


class XrChecker:
    """Validates every XR once, however many Compositions are beside it; counts them.

    ``unevaluated`` are the rules of their XRDs that could not be evaluated.
    """

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._files: set[Path] = set()
        self.count = 0
        self.unevaluated: list[Diagnostic] = []

    def check(self, name: str, documents: Sequence[Document]) -> Iterator[tuple[Rule, Diagnostic]]:
        """Yield the problems of the XRs in the file ``name``, and in the XR's file beside it."""
        path = Path(name)
        if path.resolve() not in self._files:
            self._files.add(path.resolve())
            yield from self._check_documents(documents)
            if path.name in FILES:
                yield from self._check_shapes(documents)
        if not any(map(_is_of_api, documents)):
            return
        for other in (path.with_name(file) for file in FILES):
            if other.is_file() and other.resolve() not in self._files:
                self._files.add(other.resolve())
                try:
                    beside = sources.read(sources.load_file(other))
                except FatalError as error:
                    yield from ((rules.YAML, problem) for problem in error.diagnostics)
                else:
                    yield from self._check_documents(beside)
                    yield from self._check_shapes(beside)

    def _check_documents(self, documents: Sequence[Document]) -> Iterator[tuple[Rule, Diagnostic]]:
        from function_script.tools import xr_validation  # noqa: PLC0415 - slow to import

        for document in documents:
            if _is_of_api(document) or not all(objects.api_version_and_kind(document.value)):
                continue
            xrd = self._definitions.find_xrd(document, documents)
            if xrd is None:
                continue
            self.count += 1
            verdict = xr_validation.validate(document.value, xrd)
            self.unevaluated += verdict.notes
            problems = [(rules.XR, problem) for problem in verdict.errors]
            problems += [(rules.XR_FIELD, problem) for problem in verdict.warnings]
            for rule, problem in problems:
                path = objects.read_path(problem.field)
                yield rule, author_positions.locate(problem, document, path)

    def _check_shapes(self, documents: Sequence[Document]) -> Iterator[tuple[Rule, Diagnostic]]:
        """Yield the problems of XRs without an XRD that every XRD refuses."""
        for document in documents:
            if self._definitions.find_xrd(document, documents) is None:
                for problem in manifests.find_misshapen(document.value):
                    path = objects.read_path(problem.field)
                    yield rules.XR, author_positions.locate(problem, document, path)


def _is_of_api(document: Document) -> bool:
    return xrds.is_xrd(document.value) or (
        step_inputs.has_pipeline(document.value)
        and manifests.text_at(document.value, "kind") == "Composition"
    )
