"""Templates whose missing values leave gaps: the code they become, and what collects the gaps.

Used for steps with ``missing: Defer``. A gap is no text: it can be nothing but a piece of the
main text. What is captured to be worked on (a macro's text, a block's, a filter's) is an error
as soon as it has a gap, and leaves one where its own result was to be written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from jinja2 import nodes

from function_script.engines.jinja.budget import Budget
from function_script.engines.jinja.codegen import CodeGenerator
from function_script.engines.jinja.exceptions import MissingError
from function_script.engines.jinja.output import collect
from function_script.engines.jinja.undefined import Strict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jinja2 import Undefined
    from jinja2.compiler import Frame

    from function_script.engines.jinja.environment import Environment

Gaps = list[tuple[int, MissingError]]
_SEPARATOR = re.compile(r"^---", re.MULTILINE)


class Gap:
    """A piece of the text that could not be written; joining it with texts is a TypeError."""

    __slots__ = ("error",)

    def __init__(self, error: MissingError) -> None:
        if error.decides_documents:
            raise error
        self.error = error


def poison(error: MissingError) -> Undefined:
    """What a variable is set to whose value cannot be computed: any use is an error again."""
    if error.decides_documents:
        raise error
    undefined = error.undefined
    return Strict(
        hint=undefined._undefined_hint,  # noqa: SLF001 - Jinja keeps what is known of it there
        obj=undefined._undefined_obj,  # noqa: SLF001 - same
        name=undefined._undefined_name,  # noqa: SLF001 - same
    )


def refuse_gaps(pieces: Iterable[object]) -> None:
    """Raise what left the first gap among ``pieces``."""
    for piece in pieces:
        if isinstance(piece, Gap):
            raise MissingError(piece.error.undefined)


class DeferringBudget(Budget):
    """Joins nothing that has a gap."""

    __slots__ = ()

    def concat(self, parts: Iterable[str]) -> str:
        """Join what a macro or a block wrote."""
        pieces = list(parts)
        refuse_gaps(pieces)
        return super().concat(pieces)


def collect_gaps(chunks: Iterator[str | Gap], max_bytes: int) -> tuple[str, Gaps]:
    """All chunks as one text, and the gaps in it: the offset of each with what left it."""
    gaps: Gaps = []

    def texts() -> Iterator[str]:
        offset = 0
        for chunk in chunks:
            if isinstance(chunk, Gap):
                gaps.append((offset, chunk.error))
            else:
                offset += len(chunk)
                yield chunk

    return collect(texts(), max_bytes), gaps


class DeferringCodeGenerator(CodeGenerator):
    """Yields a gap for a value that cannot be written to the main text."""

    environment: Environment
    _catches = False

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """The whole module."""
        self.writeline(f"from {MissingError.__module__} import MissingError")
        self.writeline(f"from {__name__} import Gap, poison")
        super().visit_Template(node, frame)

    def visit_Macro(self, node: nodes.Macro, frame: Frame) -> None:
        """``{% macro %}``; one that writes several documents leaves no gap in one of them."""
        if writes_separators(node):
            self.environment.document_macros.add(node.name)
        super().visit_Macro(node, frame)

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:
        """``{% call %}``: what it hands over is a macro without a name."""
        if writes_separators(node):
            self.environment.document_macros.add(None)
        super().visit_CallBlock(node, frame)

    def start_value(self, frame: Frame, node: nodes.Node) -> None:
        """A value of the main text is computed before it is written."""
        self._catches = frame.buffer is None
        if self._catches:
            self.writeline("try:", node)
            self.indent()
        super().start_value(frame, node)

    def start_write(self, frame: Frame, node: nodes.Node | None = None) -> None:
        """Into the main text, or into what is being captured."""
        if self._catches:
            self.writeline("value = ", node)
        else:
            super().start_write(frame, node)

    def end_value(self, frame: Frame, node: nodes.Node) -> None:
        """What comes after it."""
        super().end_value(frame, node)
        if self._catches:
            self._catches = False
            self._otherwise("value = Gap(error)")
            self.writeline("yield value")

    def visit_Assign(self, node: nodes.Assign, frame: Frame) -> None:
        """``{% set a = b %}``; several names at once have no value to share."""
        if not isinstance(node.target, (nodes.Name, nodes.NSRef)):
            super().visit_Assign(node, frame)
            return
        self.push_assign_tracking()
        self.writeline("try:", node)
        self.indent()
        self.newline(node)
        self.visit(node.target, frame)
        self.write(" = ")
        self.visit(node.node, frame)
        self.outdent()
        self.writeline("except MissingError as error:")
        self.indent()
        self.newline(node)
        self.visit(node.target, frame)
        self.write(" = poison(error)")
        self.outdent()
        self.pop_assign_tracking(frame)

    def _otherwise(self, line: str) -> None:
        self.outdent()
        self.writeline("except MissingError as error:")
        self.indent()
        self.writeline(line)
        self.outdent()


def writes_separators(node: nodes.Node) -> bool:
    """Whether a text in this part of a template has a line that begins with ``---``."""
    return any(_SEPARATOR.search(each.data) for each in node.find_all(nodes.TemplateData))


def without_gaps(chunks: Iterator[str]) -> Iterator[str]:
    """The texts among the chunks."""
    return (chunk for chunk in chunks if not isinstance(cast("object", chunk), Gap))
