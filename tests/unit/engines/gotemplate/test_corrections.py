"""Actions in the syntax of other languages are answered with Go's, or with nothing."""

import pytest

from function_script.engines.gotemplate import corrections, programs
from function_script.engines.gotemplate.syntax import parser
from function_script.engines.gotemplate.syntax.parser import ParseFailure

GRAMMAR = programs.Settings(is_own=True, missing="checked").grammar()

# An action, and its correction.
CORRECTIONS = [
    # Python and Jinja
    ('{{ if not .a == "x" }}x{{ end }}', '{{ if not (eq .a "x") }}'),
    ("{{ if (.a == 1) and (.b == 2) }}x{{ end }}", "{{ if and (eq .a 1) (eq .b 2) }}"),
    ("{{ if .a: }}x{{ end }}", "{{ if .a }}"),
    ("{{ if .a then }}x{{ end }}", "{{ if .a }}"),
    ("{{ if .a }}x{{ else: }}y{{ end }}", "{{ else }}"),
    ("{{ for k, v in .xs.items() }}x{{ end }}", "{{ range $k, $v := .xs }}"),
    ('{{ .x.startswith("a") }}', '{{ hasPrefix "a" .x }}'),
    ('{{ ",".join(.xs) }}', '{{ join "," .xs }}'),
    ("{{ .x | length }}", "{{ .x | len }}"),
    ('{{ .x | default("a") }}', '{{ .x | default "a" }}'),
    ("{{ .x | tojson | indent(4) }}", "{{ .x | toJson | indent 4 }}"),
    ("{{ set x = 5 }}", "{{ $x := 5 }}"),
    ("{{ if .a }}x{{ endif }}", "{{ end }}"),
    ('{{ "a" ~ .b ~ "c" }}', '{{ print (print "a" .b) "c" }}'),
    ('{{ (print .a | upper) + "b" }}', '{{ print (print .a | upper) "b" }}'),
    ("{{ observed.composite.resource.spec.size }}", "{{ .observed.composite.resource.spec.size }}"),
    # JavaScript
    ("{{ if .a > 1 && !.b }}x{{ end }}", "{{ if and (gt .a 1) (not .b) }}"),
    ('{{ .a ? "b" : "c" }}', '{{ ternary "c" "b" (empty .a) }}'),
    ("{{ if .a == nil }}x{{ end }}", "{{ if not .a }}"),
    ('{{ $m := {"a": 1, b: .c} }}', '{{ $m := dict "a" 1 "b" .c }}'),
    ('{{ .a === 1 ? "a" : "b" }}', '{{ ternary "a" "b" (eq .a 1) }}'),
    ("{{ .x.toLowerCase() }}", "{{ lower .x }}"),
    ("{{ .x[0].name }}", "{{ (index .x 0).name }}"),
    # Terraform
    ('{{ replace(.x, "a", "b") }}', '{{ replace "a" "b" .x }}'),
    # Go, Helm and haste
    ("{{ $x := .context.a.io/b }}", '{{ $x := index .context "a.io/b" }}'),
    (
        "{{ .metadata.labels.app.kubernetes.io/name }}",
        '{{ index .metadata.labels "app.kubernetes.io/name" }}',
    ),
    ("{{ .resources.my-db.resource.x }}", '{{ (index .resources "my-db").resource.x }}'),
    ("{{ len(.xs) }}", "{{ len .xs }}"),
    ("{{ define 'x' }}a{{ end }}", '{{ define "x" }}'),
    ('{{ include("x", .) }}', '{{ include "x" . }}'),
    ("{{-.x}}", "{{- .x }}"),
    ("{{ .x-}}", "{{ .x -}}"),
    ('{{- if .x == "a" -}}a{{ end }}', '{{- if eq .x "a" -}}'),
    ('{{ if startswith .x "a" }}x{{ end }}', '{{ if hasPrefix "a" .x }}'),
    ("{{ substr(.x, 0, 5) }}", "{{ substr 0 5 .x }}"),
    ("{{ range .xs }}{{ spec.size }}{{ end }}", "{{ $.observed.composite.resource.spec.size }}"),
]
# Actions of two possible meanings, or of none.
UNCLEAR = [
    "{{ if .a in .b }}x{{ end }}",
    "{{ if .a is defined }}x{{ end }}",
    "{{ if 0 < .a < .b }}x{{ end }}",
    "{{ for x in enumerate(.xs) }}x{{ end }}",
    "{{ for (const x of .xs) }}x{{ end }}",
    "{{#each xs as |x|}}x{{/each}}",
    "{{ unless .x }}x{{ end }}",
    "{{{ .x }}}",
    "{{ .a + .b }}",
    "{{ .a / 2 }}",
    "{{ .a ? .b : .c }}",
    '{{ (split "-" .a)[0] }}',
    '{{ pick .a ["b"] }}',
    '{{ without .a ["b"] }}',
    "{{ .a[-1] }}",
    '{{ if eq .a == "b" }}x{{ end }}',
    '{{ print "a" $.b + 1 }}',
    "{{ until .a + 1 }}",
    "{{ .a-.b }}",
    "{{ if .xs.length > 2 }}x{{ end }}",
    '{{ index .a "b" = 1 }}',
    '{{ $x := split "." .a }}{{ $x[0] }}',
    '{{ include("x") }}{{ include "x" .a }}',
    "{{ $n := 1 }}{{ $n++ }}",
    "{{ $n := 1 }}{{ $n += 2 }}",
    "{{ if .a, .b }}x{{ end }}",
    "{{ while .x }}",
    "{{ .x.contains(.y) }}",
    "{{ .x nosuch }}",
    '{{ "%s-%s" % .a }}',
    "{{ define `t` }}{{ spec.size }}{{ end }}",
    "{{ .a ",
    "{{ (((((.a }}",
    "{{ ]]]] }}",
    "{{ 'a }}",
    "{{ " + "(" * 5000 + " }}",
]


def _first_position(text: str) -> int:
    with pytest.raises(ParseFailure) as failure:
        parser.parse("", text, GRAMMAR)
    return failure.value.errors[0].position or 0


@pytest.mark.parametrize(("text", "expected"), CORRECTIONS)
def test_action_of_another_language_is_corrected(text: str, expected: str) -> None:
    correction = corrections.correct(text, _first_position(text), GRAMMAR)
    assert correction is not None
    assert correction.text == expected


@pytest.mark.parametrize("text", UNCLEAR, ids=lambda text: text[:30])
def test_action_of_unclear_meaning_is_not_corrected(text: str) -> None:
    assert corrections.correct(text, _first_position(text), GRAMMAR) is None


def test_correction_names_what_else_must_change() -> None:
    text = "{{ for x in .xs }}{{ $x }}{{ end }}"
    correction = corrections.correct(text, 3, GRAMMAR)
    assert correction is not None
    assert correction.hint == "write {{ range $x := .xs }}, and $x inside"


def test_correction_has_the_delimiters_of_the_template() -> None:
    settings = programs.Settings(delims=("[[", "]]"), is_own=True)
    correction = corrections.correct("[[ .a == 1 ]]", 7, settings.grammar())
    assert correction is not None
    assert correction.text == "[[ eq .a 1 ]]"


@pytest.mark.parametrize(
    "text",
    ["{{ .a }}", '{{ index .a "b" }}', "{{ if and .a (not .b) }}x{{ end }}", "{{ add -1 .a }}"],
)
def test_action_in_go_has_no_correction(text: str) -> None:
    assert corrections.correct(text, 3, GRAMMAR) is None
