"""Every field that a program can read or set, in every language, through the main path.

The tables in coverage_reads.py and coverage_sets.py are what is run here and what the page
docs/contributing/coverage.md shows; the protocol itself says whether they are whole.
"""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

import pytest
from google.protobuf.descriptor import Descriptor
from support import builders, coverage_reads, generated
from support.coverage_reads import READS, Read
from support.coverage_sets import NOT_SET, SETS, Set
from support.paths import ROOT

from function_script.engines.registry import LANGUAGES
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request import objects
from function_script.request.values import Object

PAGE = ROOT / "docs" / "contributing" / "coverage.md"
FIELDS: dict[str, object] = {"credentials": ["c"], "params": {"word": "hi"}}
META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Context\ndata:\n"
HEAD = """\
<!-- Written by `make goldens`. -->

# What programs can read and set

Every field of the function protocol, with an expression that reads or sets it in each language.
Tests run each cell. For most fields there is a shorter expression: see the getters and the response
of [Starlark](../reference/starlark.md), the functions of [Jinja](../reference/jinja.md) and the
[annotations](../reference/documents.md).

## The request

`.*` stands for the entries of a map. The examples use an entry with a name of one letter. Bytes are
text in Starlark and Jinja, and base64 in Go templates. `desired` has the fields of `observed`, and
`extra_resources` those of `required_resources`.

| field | Starlark | Jinja | Go template |
|---|---|---|---|
"""
SET_HEAD = """
## The response

The column *Starlark* has the value that `main(req)` returns. The other column has the document with
the same effect, for both template languages.

| field | Starlark | Jinja and Go template |
|---|---|---|
"""


def program(language: str, starlark: str, template: str) -> Object:
    """An input of the language with either text."""
    of_language = LANGUAGES[language]
    if not of_language.is_template:
        return builders.starlark(starlark, **FIELDS)
    return {**builders.jinja(template, **FIELDS), "kind": of_language.kind}


def answer(step_input: Object, **parts: object) -> Object:
    """The response in the protocol's JSON; it is no error."""
    response = builders.call(builders.request(step_input, **{**coverage_reads.REQUEST, **parts}))
    assert list(response.results) == [] or response.results[0].severity != pb.SEVERITY_FATAL
    return builders.to_dict(response)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("read", READS, ids=lambda read: read.field)
def test_field_is_read(read: Read, language: str) -> None:
    expression = f"{read.go} | toJson" if language == "gotemplate" else f"{read.jinja} | to_json"
    starlark = f'def main(req):\n    return {{"context": {{"seen": {read.starlark}}}}}\n'
    found = answer(program(language, starlark, f"{META}  seen: {{{{ {expression} }}}}\n"))
    encoded = read.encoded and language == "gotemplate"
    expected = coverage_reads.BASE64 if encoded else read.value
    assert objects.find_path(found, "context.seen") == expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("field", SETS, ids=lambda field: field.field)
def test_field_is_set(field: Set, language: str) -> None:
    starlark = f"def main(req):\n    return {field.starlark}\n"
    empty: dict[str, object] = {"desired": {}, "context": {}, "meta": {}}
    step = program(language, starlark, f"{field.document}\n")
    assert objects.find_path(answer(step, **empty), field.path) == field.value
    nothing = program(language, "def main(req):\n    return {}\n", "# nothing\n")
    assert objects.find_path(answer(nothing, **empty), field.path) != field.value


@pytest.mark.parametrize("language", LANGUAGES)
def test_older_field_of_requirements_is_set_beside_it(language: str) -> None:
    """For callers that say nothing of what they know."""
    (field,) = [field for field in SETS if field.field.endswith("match_name")]
    step = program(language, f"def main(req):\n    return {field.starlark}\n", field.document)
    found = answer(step, meta={})["requirements"]
    assert isinstance(found, dict)
    assert found["extra_resources"] == found["resources"]


def leaves(message: Descriptor, path: str = "") -> Iterator[str]:
    """The paths of all fields that are no messages of the protocol's own."""
    for field in message.fields:
        below = field.message_type
        at = f"{path}.{field.name}".lstrip(".")
        if below is not None and below.GetOptions().map_entry:
            value = below.fields_by_name["value"]
            if value.message_type is not None:
                yield from leaves(value.message_type, f"{at}.*")
                continue
        elif below is not None and below.file.name.endswith("run_function.proto"):
            yield from leaves(below, at)
            continue
        yield at


def test_tables_are_whole() -> None:
    reads = [read.field for read in READS]
    assert sorted(reads) == sorted(leaves(pb.RunFunctionRequest.DESCRIPTOR))
    named = tuple(NOT_SET)
    unset = {path for path in leaves(pb.RunFunctionResponse.DESCRIPTOR) if path.startswith(named)}
    fields = set(leaves(pb.RunFunctionResponse.DESCRIPTOR)) - unset
    assert sorted(field.field for field in SETS) == sorted(fields)
    assert all(any(path.startswith(name) for path in unset) for name in named)


def code(text: str) -> str:
    """Code in a cell of a table."""
    return f"`{text.replace('|', chr(92) + '|')}`"


def page() -> str:
    """The page of the documentation."""
    reads = [
        f"| `{r.field}` | {code(r.starlark)} | {code(f'{{{{ {r.jinja} }}}}')} | "
        f"{code(f'{{{{ {r.go} }}}}')} |\n"
        for r in READS
        if r.field.partition(".")[0] not in {"desired", "extra_resources"}
    ]
    sets = [
        f"| {', '.join(f'`{s.field}`' for s in group)} | {code(starlark)} | {code(document)} |\n"
        for (starlark, document), group in groupby(SETS, key=attrgetter("starlark", "document"))
    ]
    others = [f"- `{field}`: {reason}.\n" for field, reason in NOT_SET.items()]
    count = len(READS) + len(SETS)
    total = (
        f"\n{count} fields in {len(LANGUAGES)} languages, all covered. "
        "Programs cannot set these fields:\n\n"
    )
    return "".join([HEAD, *reads, SET_HEAD, *sets, total, *others])


def test_page_is_fresh(*, update_goldens: bool) -> None:
    """docs/contributing/coverage.md shows the tables that are run here."""
    generated.check(PAGE, page(), update=update_goldens)
