"""What mends a mistake in a Go template that is not in the catalogue of tests/diagnostics."""

import pytest
from support import programs
from support.paths import ROOT

from function_script.engines.gotemplate import engine as gotemplate
from function_script.engines.gotemplate import parse_problems
from function_script.engines.gotemplate.errors import Code
from function_script.request.values import Object

DATA = {"a": 1, "list": [1], "text": "x", "digits": "3", "nothing": None}
CASES = (
    ("{{ else }}", "no if, range or with is open"),
    ("{{ if .a == 1 }}{{ end }}", "write {{ if eq .a 1 }}"),
    ("{{ if .a < 1 }}{{ end }}", "write {{ if lt .a 1 }}"),
    ("{{ if .a > 1 }}{{ end }}", "write {{ if gt .a 1 }}"),
    ("{{ if .a != 1 }}{{ end }}", "write {{ if ne .a 1 }}"),
    ("{{ if eq .params.a 1.5 }}{{ end }}", "convert one of the two"),
    ('{{ if eq .a "b" or "c" }}x{{ end }}', "parentheses keep arguments together"),
    ('{{ semverCompare "1.2" ">=1" }}', "semverCompare takes it last"),
    ('{{ split "," .params.text | first }}', "splitList SEPARATOR TEXT"),
    ('{{ if eq .params.a "1" }}{{ end }}', "write 1 without quotes"),
    ("{{ .a", "an action ends with }}"),
    ("{{ if .a }}b{{ else }c{{ end }}", "an action ends with two braces"),
    ("{{ if .a }}b{{ else }}c{{ else }", "an action ends with two braces"),
    ('{{ .a | "b" }}', "behind | comes a function"),
    ("{{ print .a, .b }}", "blanks between them"),
    ("{{ .a?.b }}", "test it with if or with"),
    ('{{ "a\\d" }}', "two backslashes"),
    ("{{ /* a }}", "a comment is"),
    ("{{ $.a # b }}", "a comment is"),
    ("{{ if .a = 1 }}{{ end }}", "eq A B compares"),
    ("{{ 'a }}", "a text is in double quotes"),
    ("{{ if {{ .a }} }}b{{ end }}", "no braces of its own"),
    ("{{ range {{ .a }} }}b{{ end }}", "no braces of its own"),
    ("{{/* a }}", "a comment ends with */"),
    ("{{/* a */ b }}", "a comment is alone"),
    ("{{ $my-name := 1 }}", "letters, digits and _ only"),
    ("{{ upper 5 }}", 'write "5"'),
    ("{{ if .a in .b }}{{ end }}", "has ITEM LIST"),
    ("{{ continue }}", "only a range has turns"),
    ('{{ join "," }}', "join takes string any"),
    ('{{ setExternalNameAnnotation "a" 1 }}', "setExternalNameAnnotation takes string"),
    ("{{ while .a }}", "there is no while"),
    ("{{ region }}", "a field begins with a dot"),
    ("a: get b\nc: {{ item.region }}", "a field begins with a dot"),
    ("{{ var.region }}", "there are no Terraform variables"),
    ("{{ xr.spec.region }}", "the XR is .observed.composite.resource"),
    ("{{ strings.ToUpper .a }}", "there are no packages"),
    ("{{ with .a as $b }}x{{ end }}", "the name comes first"),
    ("{{ .a if .b }}", "if is a block of its own"),
    ("{{ hasKey .a env }}", 'write "env" for a text'),
    ("{{ range , $i := .a }}x{{ end }}", "range $index, $item := LIST"),
    ("{{ range $i := range .a }}x{{ end }}", "or N numbers: until N"),
    ("{{ $m := {**.a} }}", "dict KEY VALUE"),
    ("{- if .a }}{{ end }}", "begins with two braces: {- if .a }} is a text"),
    ("{{ if .a }}{{ if .b }}{{ end }}", "this if, or a block in it, has no end"),
    ("{{ if .a }}", "this if has no end"),
    ("{{ $observed.a }}", "write $.observed"),
    ("{{ $a := 1 }}{{ $b }}", "there are $a; another one is declared first"),
    ("{{ .a\nb: c\n", "this action has no }}"),
    ('{{ getResourceCondition "a" }}', "takes type resource"),
    ("{{ upper .params.absent }}", "check the path"),
    ("{{ add .a) 1 }}", "there is no ( that it closes"),
    ("{{ add `a }}", "close it with `"),
    ("{{ if }}{{ end }}", "write what it is about"),
    ("{{ $x }}", "declare it first: {{ $x := ... }}"),
    ("{{ if 1 }}{{ $x := 1 }}{{ end }}{{ $x }}", "its block has ended"),
    ('{{ .params.text.split "-" }}', "values have no methods"),
    ("{{ lookup 1 2 }}", "`requirements` of the input"),
    ("{% for z in spec.zones %}{{ z.name }}{% endfor %}", "{% for z in spec.zones %} is a text"),
    (
        "{{ .context.apiextensions.crossplane.io/environment.region }}",
        '(index .context "apiextensions.crossplane.io/environment").region',
    ),
    ("{{ .context.example.org/net }}", 'index .context "example.org/net"'),
    ("{{ upper .params.nothing }}", "it is null: use default"),
    ("{{ until .params.digits }}", "write (VALUE | int)"),
    # Another order may be meant.
    ("{{ repeat .params.digits .params.text }}", "write repeat int string"),
    ("{{ repeat .params.text .params.text }}", "write repeat int string"),
    ('{{ date .params.a "2006" }}', 'write date "2006" .params.a'),
    ('{{ splitList .params.a "," }}', 'write splitList "," .params.a'),
    ("{{ hasKey .params .params.a }}", "write (VALUE | toString)"),
    ('{{ semver "one" }}', "1.2.3"),
    ("{{ index .params.absent 2 }}", "use dig"),
    ('{{ regexMatch "(a" "a" }}{{ mustRegexMatch "(a" "a" }}', "in backquotes"),
    ('{{ mustRegexMatch "a**" "a" }}', r"write \ before a character"),
    ('{{ template "x" }}', '{{ define "x" }}'),
    ("{{ .params.nothing.a }}", "test it with {{ with }}"),
    ('{{ cidrsubnet "10.0.0.0/16" 8 1 }}', 'did you mean "cidrSubnet"?'),
)
# As templates of our own kind are compiled unless they say otherwise.
CHECKED = (
    ("{{ .params.absent }}", "it has a, digits, list, nothing, text; where it may be missing"),
    (
        "{{ upper .params.absent }}",
        "it has a, digits, list, nothing, text; where it may be missing",
    ),
    ("{{ .params.nothing.x }}", "where it may be missing, use default, or test it with if or with"),
    ('{{ index .params "lsit" }}', 'did you mean "list"?'),
    ("{{ print .params.nothing }}", "say what to take instead: (.x | default VALUE)"),
    ("{{ print 1 | .params.absent }}", "behind | comes a function"),
    ("{{ add .params.nothing 1 }}", "say what to take instead: (.x | default VALUE)"),
    ("{{ range .params.nothing }}{{ end }}", "say what to go over instead"),
)


def _hint(template: str, **options: str) -> str:
    program = programs.program(template, dialect="script", **options)
    return programs.problem(gotemplate, program, programs.scope(DATA)).hint or ""


@pytest.mark.parametrize(("template", "hint"), CASES, ids=[template for template, _ in CASES])
def test_mistake_gets_its_hint(template: str, hint: str) -> None:
    assert hint in _hint(template)


@pytest.mark.parametrize(("template", "hint"), CHECKED, ids=[template for template, _ in CHECKED])
def test_missing_value_gets_its_hint(template: str, hint: str) -> None:
    assert hint in _hint(template, missingkey="checked")


@pytest.mark.parametrize(
    ("uses", "hint"),
    [
        ('{{ include "t" . }}', "the XR is .observed.composite.resource: write"),
        # One of the uses is wrong, and not the template.
        ('{{ include "t" . }}{{ template "t" .meta }}', "a named template has only what it is gi"),
    ],
)
def test_template_is_right_that_another_use_gives_its_value(uses: str, hint: str) -> None:
    text = f'{{{{ define "t" }}}}{{{{ .spec.a }}}}{{{{ end }}}}{uses}'
    program = programs.program(text, dialect="script", missingkey="checked")
    observed: Object = {"composite": {"resource": {}}, "resources": {}}
    others = ("context", "credentials", "desired", "input")
    lists = ("extra_resources", "required_resources", "required_schemas")
    parts: Object = {**dict.fromkeys((*others, *lists)), "observed": observed, "meta": {"tag": "a"}}
    scope = programs.scope(**parts)
    assert hint in (programs.problem(gotemplate, program, scope).hint or "")


@pytest.mark.parametrize(
    ("template", "expression"),
    [
        ('{{ add 1 1 | trimSuffix "x" }}', 'trimSuffix "x"'),
        ("{{ upper (add 1 1) }}", "add 1 1"),
        ("{{ (first (list 1)).x }}", "(first (list 1)).x"),
    ],
)
def test_value_is_named_that_has_the_wrong_type(template: str, expression: str) -> None:
    """Go names the last word before the error, which may be another value."""
    program = programs.program(template, dialect="gotemplating")
    message = programs.problem(gotemplate, program).message
    assert message.startswith(f"cannot evaluate {expression}: ")


def test_function_of_our_own_kind_is_no_suggestion_for_others() -> None:
    program = programs.program('{{ cidrsubnet "10.0.0.0/16" 8 1 }}', dialect="gotemplating")
    assert programs.refusal(gotemplate, program).hint is None


@pytest.mark.parametrize(
    "template", ["{{ unless .a }}x{{ end }}", "{{ while .a }}{{ else }}{{ end }}"]
)
def test_end_of_an_unknown_block_is_no_mistake(template: str) -> None:
    """To take out the end would be wrong: the block's beginning is what must be mended."""
    problem = programs.refusal(gotemplate, programs.program(template, dialect="script"))
    assert "not defined" in problem.message


@pytest.mark.parametrize(
    "template",
    [
        # A hint is about the error's code: a text of the author that has Go's words has none.
        '{{ fail "wrong number of args for upper: want 1 got 2" }}',
        '{{ fail "integer divide by zero" }}',
        # The function int makes 0 of it, without an error.
        "{{ until .params.text }}",
        '{{ if .a =~ "b" }}{{ end }}',
        # The quote of the text is missing.
        "{{ print a.b/c }}",
        # As in `{{ rnge $i := … }}`, where the keyword must be mended.
        "{{ $x }}{{ $x := 1 }}{{ $x }}",
    ],
)
def test_mistake_that_may_be_another_gets_no_hint(template: str) -> None:
    assert not _hint(template)


def test_hints_are_all_reachable() -> None:
    mistakes = (ROOT / "tests" / "diagnostics" / "cases" / "gotemplate").iterdir()
    catalogue = "\n".join(path.read_text() for path in mistakes)
    hints_in_use = {_hint(template) for template, _ in CASES}
    hints_in_use |= {_hint(template, missingkey="checked") for template, _ in CHECKED}
    table_hints = {*parse_problems._UNEXPECTED.values()}
    table_hints |= {code.hint for code in Code if code.hint is not None}
    unused = table_hints - hints_in_use
    assert [hint for hint in unused if f"hint: {hint}\n" not in catalogue] == []
