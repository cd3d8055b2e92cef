"""Which line wrote what: documents with a margin of lines, and the chain behind one value."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from function_script import documents
from function_script.documents import Document
from function_script.documents.positions import list_positions
from function_script.engines.lint import ANY, format_access
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import cut
from function_script.texts.errors import InputError
from function_script.texts.problems import list_choices, suggest
from function_script.texts.source import Span
from function_script.tools.render.positions import Position
from function_script.tools.render.renderer import Rendering

XR: Final = "xr"
_XR_PATH: Final[Path] = ("observed", "composite", "resource")
_MAX_VALUE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """A rendering with its ``documents`` as they are printed, and the XR's file."""

    rendering: Rendering
    documents: Sequence[Object]
    xr: Document

    def to_text(self) -> str:
        """Return the documents as YAML, each line behind the place that wrote it."""
        rows = [row for name, each in self._named() for row in self._rows(name, each)]
        width = max((len(margin) for margin, _ in rows), default=0)
        return "".join(f"{margin:{width}} | {line}".rstrip() + "\n" for margin, line in rows)

    def find_writer(self, index: int, path: str) -> tuple[str, Span | None]:
        """Describe the resource of a document and the line that wrote a value of it; the span."""
        names = [name for name, _ in self._named()]
        name = names[index]
        whose = "XR" if name is None else f'resource "{name}"'
        position = self.rendering.positions.nearest(name, objects.read_path(path))
        if position is None:
            return whose, None
        return f"{whose}, {_to_margin(position)}", position.span

    def explain(self, target: str) -> str:
        """Return the chain behind ``RESOURCE.FIELD``, or a resource. Raises InputError without one.

        A resource ``xr`` is the XR, unless a composed resource has this name.
        """
        name, path, value = self._find(target)
        head = f"{target}: {json.dumps(value, ensure_ascii=False)}\n  <- "
        position = self.rendering.positions.locate(name, path)
        if name is None and path[:2] == ("status", "conditions"):
            return f"{head}a condition, whose line is not known\n"
        if position is None:
            return f"{head}written by Crossplane, or by no step\n"
        if position.span is None:
            return f'{head}step "{position.step}", whose line is not known\n'
        lines = [f'{head}{position.span}: step "{position.step}"']
        if around := self.rendering.positions.excerpt(position.span):
            lines.append(f"     {around.lines[position.span.line - around.first_line].strip()}")
        lines += [f"    <- {each}" for each in self._describe_reads(position)]
        return "\n".join(lines) + "\n"

    def _named(self) -> Iterator[tuple[str | None, Object]]:
        """Yield the XR and the composed resources with their names, in the order of printing."""
        resources = self.rendering.result.resources
        yield from zip((None, *sorted(resources)), self.documents, strict=False)

    def _rows(self, name: str | None, document: Object) -> Iterator[tuple[str, str]]:
        separator, *lines = documents.to_yaml_stream([document]).splitlines()
        yield "", separator
        writers = find_writers(self.rendering, name, "\n".join(lines))
        for line, position in zip(lines, writers, strict=True):
            yield "" if position is None else _to_margin(position), line

    def _find(self, target: str) -> tuple[str | None, Path, Value]:
        named = {resource or XR: (resource, each) for resource, each in self._named()}
        # A name may have dots in it.
        matches = [key for key in named if f"{target}.".startswith((f"{key}.", f"{key}["))]
        if not matches:
            first = target.partition(".")[0]
            near = suggest(first, tuple(named), list_choices(named))
            raise InputError.of(f'cannot explain "{target}": no such resource', hint=near)
        # Of `db` and `db.replica`, the longer name has the rest as its field.
        key = max(matches, key=len)
        resource, document = named[key]
        try:
            path = objects.parse_path(target.removeprefix(key).removeprefix("."))
        except ValueError as error:
            raise InputError.of(f'cannot explain "{target}": {error}') from error
        for end, part in enumerate(path):
            above = objects.find_path(document, path[:end])
            if objects.find_path(document, path[: end + 1]) is None:
                where = f"{key}.{format_path(path[:end])}".rstrip(".")
                names = tuple(above) if isinstance(above, dict) else ()
                hint = suggest(str(part), names, list_choices(names) if names else None)
                raise InputError.of(f'cannot explain "{target}": {where} lacks {part}', hint=hint)
        return resource, path, objects.deep_copy(objects.find_path(document, path))

    def _describe_reads(self, position: Position) -> Iterator[str]:
        reads = self.rendering.positions.find_reads(position)
        if reads is None:
            yield "what this line reads is not known"
        elif not reads:
            yield "nothing of the request that is certain"
        for path in reads or ():
            if path[: len(_XR_PATH)] == _XR_PATH:
                yield self._describe_xr(path[len(_XR_PATH) :])
            else:
                # Other parts have names alone: their values may be secrets.
                yield f"request: {format_access(path)}"

    def _describe_xr(self, path: Path) -> str:
        # Only a run knows which item it is.
        text, end = format_access(path), path.index(ANY) if ANY in path else None
        path = path[:end]
        value = objects.find_path(self.rendering.result.file, path)
        if end is None:
            json_text = json.dumps(objects.deep_copy(value), ensure_ascii=False)
            text += f": {cut(json_text, _MAX_VALUE)}"
        if objects.find_path(self.xr.value, path) is None:
            reason = "the XR lacks it" if value is None else "a default of the XRD"
            return f"XR: {text} ({reason})"
        return f"{self.xr.span(path)}: {text}"


def find_writers(rendering: Rendering, name: str | None, text: str) -> Iterator[Position | None]:
    """Yield the position of each line of a document that is printed as ``text``; None: Crossplane.

    ``name`` is that of a resource, or None for the XR.
    """
    # Of several fields that begin in a line, the innermost one.
    paths = {each.line: path for path, each in list_positions(text).items() if path}
    position = None
    for number, _ in enumerate(text.splitlines()):
        if number in paths:
            position = rendering.positions.locate(name, paths[number])
        yield position


def _to_margin(position: Position) -> str:
    span = position.span
    return f"step {position.step}" if span is None else f"{span.name}:{span.line}"
