"""Deferred rendering for ``missing: Defer``: a missing value leaves a gap in the text.

A gap can only be a chunk of the main template's text. Text that is captured for further work (of a
macro, a block, a filter) raises an error as soon as it has a gap, and leaves a gap where its own
result was to be written.
"""

import re
from collections.abc import Iterable, Iterator
from typing import cast

from jinja2 import Undefined, nodes
from jinja2.compiler import CodeGenerator as JinjaCodeGenerator
from jinja2.compiler import Frame

from function_script.engines.jinja.compiler import CodeGenerator
from function_script.engines.jinja.environment import Environment
from function_script.engines.jinja.exceptions import MissingError, Strict
from function_script.engines.jinja.output import join_chunks
from function_script.engines.jinja.run import Budget

Gaps = list[tuple[int, MissingError]]
_SEPARATOR = re.compile(r"^---", re.MULTILINE)


class Gap:
    """A chunk of the text that has no value; joining it with texts is a TypeError."""

    __slots__ = ("error",)

    def __init__(self, error: MissingError) -> None:
        if error.decides_documents:
            raise error
        self.error = error


def poison(error: MissingError) -> Undefined:
    """Return the value of a variable that cannot be computed: any use of it is an error again."""
    if error.decides_documents:
        raise error
    undefined = error.undefined
    return Strict(
        hint=undefined._undefined_hint,  # noqa: SLF001 - the only place where Jinja keeps it
        obj=undefined._undefined_obj,  # noqa: SLF001 - same
        name=undefined._undefined_name,  # noqa: SLF001 - same
    )


class DeferringBudget(Budget):
    """A budget that refuses to join gaps."""

    __slots__ = ()

    def concat(self, parts: Iterable[str]) -> str:
        """Join the output of a macro or a block."""
        pieces = list(parts)
        for piece in pieces:
            if isinstance(cast("object", piece), Gap):
                # A new error: the place is that of the text which captures, and not of the gap.
                raise MissingError(cast("Gap", piece).error.undefined)
        return super().concat(pieces)


def collect_gaps(budget: Budget, chunks: Iterator[str | Gap], max_bytes: int) -> tuple[str, Gaps]:
    """Return all chunks as one text, and the gaps in it: their offsets and errors."""
    gaps: Gaps = []

    def texts() -> Iterator[str]:
        offset = 0
        for chunk in chunks:
            if isinstance(chunk, Gap):
                gaps.append((offset, chunk.error))
            else:
                offset += len(chunk)
                yield chunk

    return join_chunks(budget, texts(), max_bytes), gaps


class DeferringCodeGenerator(CodeGenerator):
    """Generates code that yields a gap for a missing value in the main text."""

    environment: Environment
    _catches = False

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Write the whole module."""
        self.writeline(f"from {MissingError.__module__} import MissingError")
        self.writeline(f"from {__name__} import Gap, poison")
        super().visit_Template(node, frame)

    def visit_Macro(self, node: nodes.Macro, frame: Frame) -> None:
        """Write ``{% macro %}``; a gap in one that writes several documents stops the run."""
        if writes_separators(node):
            self.environment.document_macros.add(node.name)
        super().visit_Macro(node, frame)

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:
        """Write ``{% call %}``: the block is a macro without a name."""
        if writes_separators(node):
            self.environment.document_macros.add(None)
        super().visit_CallBlock(node, frame)

    def start_value(self, frame: Frame, node: nodes.Node) -> None:
        """Begin a value of the main text, which is computed before it is written."""
        self._catches = frame.buffer is None
        if self._catches:
            self.writeline("try:", node)
            self.indent()
        super().start_value(frame, node)

    def start_write(self, frame: Frame, node: nodes.Node | None = None) -> None:
        """Begin to write into the main text, or into a captured text."""
        if self._catches:
            self.writeline("value = ", node)
        else:
            super().start_write(frame, node)

    def end_value(self, frame: Frame, node: nodes.Node) -> None:
        """End a value; a missing one becomes a gap."""
        super().end_value(frame, node)
        if self._catches:
            self._catches = False
            self.outdent()
            self.writeline("except MissingError as error:")
            self.indent()
            self.writeline("value = Gap(error)")
            self.outdent()
            self.writeline("yield value")

    def write_assignment(self, node: nodes.Assign, frame: Frame) -> None:
        """Write an assignment; one to several names is not deferred."""
        if not isinstance(node.target, (nodes.Name, nodes.NSRef)):
            super().write_assignment(node, frame)
            return
        self.writeline("try:", node)
        self.indent()
        super().write_assignment(node, frame)
        self.outdent()
        self.writeline("except MissingError as error:")
        self.indent()
        self.newline(node)
        self.visit(node.target, frame)
        self.write(" = poison(error)")
        self.outdent()


def make_deferring(generator: type[JinjaCodeGenerator]) -> type[JinjaCodeGenerator]:
    """Return a code generator that writes what another one writes, and yields gaps."""
    return type(f"Deferring{generator.__name__}", (DeferringCodeGenerator, generator), {})


def writes_separators(node: nodes.Node) -> bool:
    """Report whether a text in this part of a template has a line that begins with ``---``."""
    return any(_SEPARATOR.search(each.data) for each in node.find_all(nodes.TemplateData))
