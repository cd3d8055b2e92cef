"""The input of function-go-templating, in its own apiVersion and schema.

Fields that function-go-templating ignores are ignored here, too, with a warning: one delimiter
without the other, `template` beside `templates`, a source beside the one chosen.
"""

from typing import NamedTuple

from function_script.engines.gotemplate.language import DELIMS, LANGUAGE, check_delims
from function_script.inputs import external_sources, kinds
from function_script.inputs.files import files_below
from function_script.inputs.step import ProgramSources, Step
from function_script.request import quantities
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.request.reader import ObjectReader
from function_script.request.remote import parsing
from function_script.request.values import Object, Value, type_phrase
from function_script.texts.problems import ProblemList, suggest
from function_script.texts.source import Source

API_VERSION = "gotemplating.fn.crossplane.io/v1beta1"
KIND = "GoTemplate"


class _Section(NamedTuple):
    """A source: the field with it, that field's own, and how it is written."""

    field: str
    keys: tuple[str, ...]
    form: str


_SOURCES = {
    "Inline": _Section(
        "inline",
        ("template", "templates"),
        "inline.template, or inline.templates with a list of them",
    ),
    "FileSystem": _Section("fileSystem", ("dirPath",), "fileSystem.dirPath"),
    "Environment": _Section("environment", ("key",), "environment.key"),
}
_SECTIONS = tuple(section.field for section in _SOURCES.values())
_MISSING_KEY = {
    "missingkey=default": "default",
    "missingkey=invalid": "default",
    "missingkey=zero": "zero",
    "missingkey=error": "error",
}
_SEPARATOR = "\n---\n"
_ALL_FIELDS = frozenset(
    {"apiVersion", "kind", "metadata", "source", *_SECTIONS, "delims", "options", "ttl"}
)

# The name of a template for its author, and its text.
Part = tuple[str, str]


def has_shape(value: Object, *, has_default_source: bool) -> bool:
    """Report whether an input has the fields of function-go-templating's, with a source.

    ``has_default_source``: it needs none.
    """
    source = value.get("source")
    is_whole = value.keys() <= _ALL_FIELDS
    if source is None or source == "":
        return is_whole and (has_default_source or "source" in value)
    if source == parsing.SOURCE:
        return value.keys() <= {*_ALL_FIELDS, parsing.FIELD}
    if isinstance(source, str) and source in _SOURCES:
        return is_whole or isinstance(value.get(_SOURCES[source].field), dict)
    # Marshalling that function's Go type writes neither apiVersion nor kind.
    return is_whole and "apiVersion" not in value and "kind" not in value


def refuse_remote(fields: ObjectReader) -> bool:
    """Add a problem if the program is remote, which that function has not; report whether it is."""
    is_source = fields.value.get("source") == parsing.SOURCE
    if not is_source and fields.value.get(parsing.FIELD) is None:
        return False
    path = fields.at("source" if is_source else parsing.FIELD)
    problem = "cannot fetch a program for an input of function-go-templating"
    hint = f"with `apiVersion: {kinds.API_VERSION}` and `source: {parsing.SOURCE}`, {parsing.FORMS}"
    fields.problems.add(path, problem, hint=hint)
    return True


def parse_go_template(fields: ObjectReader, ceilings: Limits, sources: ProgramSources) -> Step:
    """Parse a GoTemplate of function-go-templating."""
    fields.refuse_unknown(*sorted(_ALL_FIELDS), hints=kinds.BELOW_SPEC)
    fields.object("metadata")
    doubts = ProblemList()
    program = _program(fields, doubts, ceilings, sources)
    # Random values and the clock need no option there, so its templates expect them.
    options: Object = {"dialect": "gotemplating", "stable_values": True, "crypto": True}
    options |= {"delims": _delims(fields, doubts), "missingkey": _missing_key(fields, ceilings)}
    ttl_seconds = None
    try:
        if ttl := fields.text("ttl"):
            ttl_seconds = quantities.parse_duration(ttl, is_signed=True)
    except ValueError as error:
        doubts.add(fields.at("ttl"), f"is not looked at: {error}")
    return Step(
        api_version=API_VERSION,
        kind=KIND,
        language=LANGUAGE,
        dialect="gotemplating",
        program=Program(main=program.main, options=options, parts=program.parts),
        limits=ceilings,
        ttl_seconds=ttl_seconds,
        credentials=None,
        doubts=tuple(problem.to_diagnostic() for problem in doubts),
    )


def _program(
    fields: ObjectReader, doubts: ProblemList, ceilings: Limits, sources: ProgramSources
) -> Program:
    if ceilings.default_source and not fields.value.get("source"):
        return _join(_default_files(fields, ceilings.default_source))
    chosen = fields.choice("source", _SOURCES, required=True)
    if chosen is None:
        return _join([])
    source, key = fields.value["source"], chosen.field
    for other in sorted(_SOURCES.values()):
        beside = None if other == chosen else fields.object(other.field)
        if beside is not None and beside.value:
            beside.refuse_unknown(*other.keys, hints=_hints_beside(other))
            doubts.add(fields.at(other.field), f"is not looked at, for source is {source}")
    value = fields.value.get(key)
    if not isinstance(value, dict):
        text = f"must be an object, not {type_phrase(value)}"
        if value is None:
            text = f"is required when source is {source}"
        fields.problems.add(fields.at(key), text, hint=f"write {chosen.form}")
        return _join([])
    section = ObjectReader(value, fields.at(key), fields.problems)
    section.refuse_unknown(*chosen.keys, hints=_hints_beside(chosen))
    if source == "Inline":
        return _join(_inline(section, doubts))
    if source == "FileSystem":
        return _join(_files(section, sources))
    return _join(_environment(section, sources))


def _default_files(fields: ObjectReader, directory: str) -> list[Part]:
    """Return the files of the operator's directory, which may be anywhere; see Limits."""
    try:
        files = files_below(directory).read(directory, top=directory)
    except ValueError as error:
        fields.problems.add(fields.at("source"), f"the default source {error}")
        return []
    if not files:
        fields.problems.add(fields.at("source"), f'the default source "{directory}" is empty')
    return list(files.items())


def _inline(section: ObjectReader, doubts: ProblemList) -> list[Part]:
    template = section.text("template")
    templates = section.value.get("templates")
    if template and templates and _list(section, "templates"):
        doubts.add(section.at("templates"), "is not looked at, for template is set")
    if template:
        return [("inline.template", template)]
    if templates is None:
        section.problems.add(section.path, "template or templates is required")
        return []
    return _list(section, "templates")


def _list(section: ObjectReader, key: str) -> list[Part]:
    """Return the texts of a list, which must not be empty."""
    items = section.value.get(key)
    if not isinstance(items, list) or not items:
        expected = "must be a list of strings" if items != [] else "must not be empty"
        section.problems.add(section.at(key), expected)
        return []
    for index, item in enumerate(items):
        if not isinstance(item, str):
            path = f"{section.at(key)}[{index}]"
            section.problems.add(path, f"must be a string, not {type_phrase(item)}")
    return [(f"inline.{key}[{index}]", str(item)) for index, item in enumerate(items)]


def _files(section: ObjectReader, sources: ProgramSources) -> list[Part]:
    """Return every file, with any ending, in walk order, as function-go-templating does."""
    texts = external_sources.read(external_sources.FILE_SYSTEM, section, sources, "")
    if texts is None or isinstance(texts, Source):
        return []
    if not texts:
        section.problems.add(section.at("dirPath"), "holds no template")
    return [(path, source.text) for path, source in texts.items()]


def _environment(section: ObjectReader, sources: ProgramSources) -> list[Part]:
    texts = external_sources.read(external_sources.ENVIRONMENT, section, sources, "")
    if isinstance(texts, Source):
        return [(texts.name, texts.text)]
    if texts is not None:
        problem = f'cannot read a template: "{section.value["key"]}" is not text but an object'
        section.problems.add(section.at("key"), problem)
    return []


def _hints_beside(section: _Section) -> dict[str, str]:
    """Return the hints for fields of the input that are written into a section of it."""
    names = _ALL_FIELDS - {section.field, *section.keys}
    return {name: f"write {name} beside {section.field}, not in it" for name in names}


def _join(parts: list[Part]) -> Program:
    """Join all parts, since they share their named templates."""
    sources = tuple(Source(name=name, text=text) for name, text in parts)
    if len(sources) == 1:
        return Program(main=sources[0])
    text = _SEPARATOR.join(text for _, text in parts)
    return Program(main=Source(name="templates", text=text), parts=sources)


def _delims(fields: ObjectReader, doubts: ProblemList) -> list[Value]:
    """Return the delimiters; Go's braces unless both are set, and for an empty one."""
    section = fields.object("delims")
    if section is None:
        return [*DELIMS]
    section.refuse_unknown("left", "right")
    left, right = section.text("left"), section.text("right")
    check_delims(section, left or "", right or "")
    if left is None or right is None:
        if section.value:
            doubts.add(
                section.path, f"is not looked at without {'left' if left is None else 'right'}"
            )
        return [*DELIMS]
    return [left or DELIMS[0], right or DELIMS[1]]


def _missing_key(fields: ObjectReader, ceilings: Limits) -> str:
    """Return the last of Go's template options; an empty list overrides the operator's default."""
    options = fields.value.get("options")
    path = fields.at("options")
    if options is None and ceilings.default_options:
        options, path = [*ceilings.default_options.split(",")], "default options"
    missing_key = "default"
    if options is not None and not isinstance(options, list):
        fields.problems.add(path, f"must be a list, not {type_phrase(options)}")
    for index, item in enumerate(options if isinstance(options, list) else ()):
        if isinstance(item, str) and item in _MISSING_KEY:
            missing_key = _MISSING_KEY[item]
        else:
            actual = f'"{item}"' if isinstance(item, str) else type_phrase(item)
            names = ", ".join(_MISSING_KEY)
            message = f"must be one of {names}, not {actual}"
            fields.problems.add(f"{path}[{index}]", message, hint=suggest(str(item), _MISSING_KEY))
    return missing_key
