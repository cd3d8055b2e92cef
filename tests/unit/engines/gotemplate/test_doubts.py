"""Templates that run and cannot be meant."""

import pytest
from support import programs

from function_script.engines.gotemplate.lint import LINT
from function_script.request.program import Program

DOUBTFUL = [
    ("{{ $x := 1 }}", 4, "$x is set and never read"),
    ("{{ $x := 1 }}{{ $x = 2 }}", 4, "$x is set and never read"),
    ("{{ $x := 1 }}{{ range $i, $x = .a }}a{{ end }}", 4, "$x is set and never read"),
    ("{{ $x := 1 }}{{ if .a }}{{ $x := 2 }}b{{ else }}{{ $x }}{{ end }}", 28, "$x is another"),
    ("{{ $x := 1 }}{{ $x := 2 }}{{ $x }}", 4, "$x is set and never read"),
    ('{{ "a" | default .x }}', 10, 'default gives "a" every time'),
    ('{{ default "a" .x .y }}', 4, "default has 3 arguments"),
    ('{{ replace .x "a" "b" }}', 4, 'replace works on the constant "b"'),
    ('{{ .x | regexReplaceAll "a" "b" }}', 9, 'regexReplaceAll works on the constant "b"'),
    ('{{ join .xs "," }}', 4, 'join works on the constant ","'),
    ('{{ if and (eq .a "x") (eq .a "y") }}{{ end }}', 7, "this is never true"),
    ('{{ eq "$a.b" "x" }}', 7, '"$a.b" is a text here'),
    ('{{ ne "x" "$a.b" }}', 11, '"$a.b" is a text here'),
    ("{{ eq .a 'x' }}", 10, "'x' is the number 120"),
]
CLEAR = [
    '{{ $x := "" }}{{ range .a }}{{ $x = . }}{{ end }}{{ $x }}',
    '{{ $_ := set . "a" 1 }}',
    '{{ $y := set . "a" 1 }}',
    "{{ $y := mustMergeOverwrite . .a }}",
    "{{ with $y := .a }}b{{ end }}",
    "{{ $x := 1 }}{{ range $i, $x = .a }}a{{ end }}{{ $x }}",
    "{{ with $x := .a }}{{ $x := .b }}{{ $x }}{{ end }}",
    "{{ range $i, $v := .xs }}a{{ end }}",
    "{{ $x := 1 }}{{ if .a }}{{ $x := add $x 1 }}{{ $x }}{{ end }}",
    '{{ default "a" .x }}',
    '{{ .x | default "a" }}',
    '{{ default .x "" }}',
    '{{ default "a" "b" }}',
    '{{ regexReplaceAll "a" .x "b" }}',
    '{{ contains .size "small medium" }}',
    '{{ if or (ne .a "x") (ne .b "y") }}{{ end }}',
    '{{ if or (ne .a "x") (ne .a .b) }}{{ end }}',
    '{{ define "t" }}a{{ end }}{{ template "t" .name | lower }}',
    # In our own dialect, one argument is the name.
    "{{ range $r := .observed.composite.resource.names }}{{ getComposedResource $r }}{{ end }}",
    "{{ range .observed.composite.resource.spec.regions }}{{ getComposedResource . }}{{ end }}",
    "{{ $spec := .observed.composite.resource.spec }}{{ getComposedConnectionDetails $spec.team }}",
    "{{ nosuch }}",
]


def _program(text: str) -> Program:
    return programs.program(text, dialect="script")


@pytest.mark.parametrize(("text", "column", "message"), DOUBTFUL)
def test_doubtful_part_has_its_place(text: str, column: int, message: str) -> None:
    (doubt,) = LINT.find_doubts(_program(text))
    assert doubt.message.startswith(message)
    assert doubt.span is not None
    assert doubt.span.column == column
    assert doubt.hint


@pytest.mark.parametrize("text", CLEAR)
def test_part_that_can_be_meant_is_no_doubt(text: str) -> None:
    assert [*LINT.find_doubts(_program(text))] == []


def test_chain_of_a_thousand_else_ifs_is_walked() -> None:
    text = (
        "{{ $x := 1 }}{{ if .a }}{{ end }}{{ if .b }}" + "{{ else if .c }}x" * 1_000 + "{{ end }}"
    )
    program = _program(text)
    (doubt,) = LINT.find_doubts(program)
    assert doubt.message == "$x is set and never read"
    assert {read.path for read in LINT.find_reads(program)} == {("a",), ("b",), ("c",)}


def test_read_is_where_its_name_is() -> None:
    """Also where the next name of the chain begins with it."""
    reads = LINT.find_reads(_program("{{ .a.ab.a }}"))
    assert [read.span.column for read in reads] == [5, 7, 10]


def test_reads_are_found_once() -> None:
    """A dozen rules and every run ask for them."""
    program = _program("{{ .a }}")
    assert LINT.find_reads(program) is LINT.find_reads(program)
