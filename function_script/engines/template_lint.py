"""The analyses of templates that render YAML: the text is not YAML yet, and read line by line."""

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from function_script.engines.lint import (
    API_VERSION,
    KIND,
    Lint,
    Mention,
    Policy,
    ResourceKind,
    reads_own_namespace,
)
from function_script.engines.template_names import (
    NAMING,
    NAMING_CALL,
    SEPARATOR,
    find_names,
    split_document,
)
from function_script.request.program import Program
from function_script.texts.source import Source, Span, span_at

_RESOURCE_NAME_LINE: Final = re.compile(
    r"^ +(?:[\w.]+/composition-resource-name: *[\"']?(?P<key>[\w.-]+)[\"']? *"
    rf"|\{{\{{-? *{NAMING_CALL} *-?\}}\}} *)$",
    re.MULTILINE,
)
# The beginning of an action that writes no document of its own.
_CONTROL: Final = re.compile(
    r"-? *(?:if|else|end|range|with|define|block|break|continue|template|include +\"|/\*"
    r"|\$\w+ *:?=)"
)
_ANNOTATION: Final = r"^ +script\.fn\.crossplane\.io/{}: *[\"']?(?P<value>[^\"'#\n]+)"

# The end of an action by its beginning.
_ACTION_ENDS: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}

_FIELD: Final = re.compile(
    r"(?P<indent> *)(?P<key>[A-Za-z]+):(?:[ \t]+(?P<value>[^\s#].*?))?(?:[ \t]+#.*)?\s*"
)
# A value that begins so is no plain or quoted text: blocks, anchors, flow, comments.
_NO_TEXT: Final = tuple("|>&*!{[#")

_RESULTS_KIND: Final = re.compile(r"kind: *[\"']?Results[\"']? *$")
_META_VERSION: Final = re.compile(r"apiVersion: *[\"']?meta\.script\.fn\.crossplane\.io/")
_FATAL: Final = re.compile(r"severity: *[\"']?(?:SEVERITY_FATAL|Fatal)\b")


class TemplateLint(Lint, ABC):
    """The additions of a template language: marks of its actions, text that every run writes.

    ``silent_actions`` are those beginnings of actions that never write text.
    """

    silent_actions: frozenset[str] = frozenset()

    @abstractmethod
    def action_marks(self, program: Program) -> Sequence[str]:
        """Return what begins an action."""

    @abstractmethod
    def static_text(self, program: Program) -> Iterable[tuple[int, str]]:
        """Yield pieces of the main template that every run writes, and their first lines."""

    def find_composed_kinds(self, program: Program) -> Iterator[tuple[str, ResourceKind]]:
        """Find documents that have one name and one kind."""
        for source in program.sources():
            for document in SEPARATOR.split(source.text):
                names = {
                    match["key"] or match["call"]
                    for match in _RESOURCE_NAME_LINE.finditer(document)
                }
                versions = set(API_VERSION.findall(document))
                kinds = set(KIND.findall(document))
                if len(names) == len(versions) == len(kinds) == 1:
                    yield names.pop(), ResourceKind(versions.pop(), kinds.pop())

    def find_composed_names(self, program: Program) -> frozenset[str] | None:
        """Find all names, unless one is computed or an action may write whole documents."""
        marks = self.action_marks(program)
        names: set[str] = set()
        for source in program.sources():
            names_of_source = find_names(source.text)
            if names_of_source is None:
                return None
            if any(
                line.startswith(mark)
                and mark not in self.silent_actions
                and not _CONTROL.match(line, len(mark))
                for line in source.text.split("\n")
                for mark in marks
            ):
                return None
            names |= names_of_source
        return frozenset(names)

    def find_dependencies(self, program: Program) -> Iterator[Mention]:
        """Find the names in annotations ``depends-on``."""
        for mention in super().find_dependencies(program):
            yield mention._replace(span=replace(mention.span, width=len(mention.text)))

    def find_rules(self, program: Program, /) -> Iterator[tuple[str, Mention]]:
        """Find annotations ``ready-when`` of documents whose name is written out."""
        for mention in self.find_statements("ready_when", program):
            resource = _find_resource_name(mention)
            if resource is not None:
                yield resource, mention

    def find_statements(self, policy: Policy, program: Program, /) -> Iterator[Mention]:
        """Find the parts between commas of an annotation's values, except those with actions."""
        pattern = re.compile(_ANNOTATION.format(policy.replace("_", "-")), re.MULTILINE)
        marks = self.action_marks(program)
        for source in program.sources():
            for match in pattern.finditer(source.text):
                value = match["value"]
                # The text of a block stands in the lines below, and a list is an error.
                if value.startswith(("|", ">", "[")) or any(mark in value for mark in marks):
                    continue
                for part in re.finditer(r"[^\s,][^,]*", value):
                    name = part[0].strip()
                    begin = match.start("value") + part.start()
                    yield Mention(name, source, span_at(source, begin, len(name)))

    def find_documents(self, program: Program) -> Iterator[tuple[Source, str]]:
        """Find the sources, with blank lines and words of one letter in place of actions."""
        marks = self.action_marks(program)
        # Of other delimiters, the end of an action is not known here.
        if any(mark not in _ACTION_ENDS for mark in marks):
            return
        # Atomic: what follows an action never makes it longer, and so ends with another one.
        ends = "|".join(
            rf"(?>{re.escape(mark)}.*?{re.escape(_ACTION_ENDS[mark])})" for mark in marks
        )
        last = "|".join(re.escape(_ACTION_ENDS[mark]) for mark in marks)
        # A line of actions, or between two, is no text of the document; elsewhere an action is a
        # part of a word.
        alone = re.compile(
            rf"^[ \t]*(?:{ends})(?:[^\n]*(?:{last}))?[ \t]*$", re.DOTALL | re.MULTILINE
        )
        action = re.compile(ends, re.DOTALL)
        for source in program.sources():
            text = alone.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source.text)
            yield source, action.sub(lambda match: re.sub(r"[^\n]", "x", match[0]), text)

    def find_object_names(self, program: Program) -> Iterator[Mention]:
        """Find ``metadata.name`` without an action, in documents of composed resources."""
        marks = self.action_marks(program)
        for source in program.sources():
            yield from _object_names(source, marks)

    def find_constant_events(self, program: Program) -> Iterator[Span]:
        """Find documents of kind Results that are written out."""
        lines: dict[int, str] = defaultdict(str)
        for line, text in self.static_text(program):
            for number, part in enumerate(text.split("\n"), line):
                lines[number] += part
        document: dict[int, str] = {}
        for number in [*sorted(lines), 0]:
            if number == 0 or lines[number].startswith("---"):
                yield from _constant_results(document, program.main)
                document = {}
            else:
                document[number] = lines[number]


def _find_resource_name(mention: Mention) -> str | None:
    """Return the name of the resource in whose document a text is, if it is written out."""
    lines = mention.source.text.split("\n")[: mention.span.line - 1]
    document, _ = split_document(mention.source.text, sum(len(line) + 1 for line in lines))
    names = [match["key"] or match["call"] for match in _RESOURCE_NAME_LINE.finditer(document)]
    return names[0] if len(names) == 1 else None


def _object_names(source: Source, marks: Sequence[str]) -> Iterator[Mention]:
    """Yield the fields ``name`` right below ``metadata`` that are texts without an action.

    Not of an object whose namespace may be one for each XR.
    """
    lines = source.text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("---")]
    for first, end in zip([0, *starts], [*starts, len(lines)], strict=True):
        document = lines[first:end]
        if not any(NAMING.search(line) for line in document):
            continue
        section = indent = namespace = ""
        name: Mention | None = None
        for number, line in enumerate(document, first + 1):
            match = _FIELD.fullmatch(line)
            if match is None:
                continue
            if not match["indent"]:
                section, indent = match["key"], ""
            elif section == "metadata":
                indent, value = indent or match["indent"], match["value"] or ""
                if match["indent"] == indent and match["key"] == "namespace":
                    namespace = value
                is_name = match["indent"] == indent and match["key"] == "name"
                is_text = value and not value.startswith(_NO_TEXT)
                if is_name and is_text and not any(mark in value for mark in marks):
                    column = match.start("value") + 1
                    width = len(value)
                    span = Span(name=source.name, line=number, column=column, width=width)
                    name = Mention(value, source, span)
        is_computed = any(mark in namespace for mark in marks)
        if name is not None and (reads_own_namespace(namespace) or not is_computed):
            yield name


def _constant_results(lines: dict[int, str], source: Source) -> Iterator[Span]:
    """Yield the line ``kind: Results`` of a document with results that no condition holds."""
    kinds = [number for number, line in lines.items() if _RESULTS_KIND.match(line)]
    begin = next((number for number, line in lines.items() if line.startswith("results:")), 0)
    is_meta = any(map(_META_VERSION.match, lines.values()))
    items = [n for n, line in lines.items() if n > begin and line.lstrip().startswith("- ")]
    if len(kinds) == 1 and begin and is_meta and items:
        line = source.text.split("\n")[kinds[0] - 1].rstrip()
        if _RESULTS_KIND.match(line) and not any(map(_FATAL.search, lines.values())):
            yield Span(name=source.name, line=kinds[0], column=1, width=len(line))
