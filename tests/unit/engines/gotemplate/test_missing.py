"""A missing value in a Go template of our own kind: what may be done with it, and what not."""

import copy
import json
import re

import pytest
from support import programs as builders
from support.paths import ROOT

from function_script.engines.gotemplate import engine as gotemplate
from function_script.engines.gotemplate import programs, registry
from function_script.engines.gotemplate.compiler import missing_values
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.function import Accepts
from function_script.engines.gotemplate.programs import Settings, Sources
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.request.limits import Limits
from function_script.texts.errors import FatalError
from function_script.texts.source import Source

PARAMS = {"a": {"b": 1}, "list": [1], "text": "t", "off": False, "null": None, "map": {}}
VECTORS = ROOT / "tests" / "conformance" / "gotemplate"


def render(template: str, **options: str) -> str:
    """The text, with the options of a step that says nothing but these."""
    chosen = {"dialect": "script", "missingkey": "checked", **options}
    observed = {"composite": {"resource": {}}, "resources": {}}
    scope = builders.scope(PARAMS, observed=observed, required_resources={}, extra_resources={})
    return gotemplate.evaluate(builders.program(template, **chosen), scope, Limits()).text


def refusal(template: str, **options: str) -> str:
    """Where it fails, and the message without its beginning."""
    with pytest.raises(FatalError) as caught:
        render(template, **options)
    (problem,) = caught.value.diagnostics
    assert problem.span is not None
    message = problem.message.removeprefix("cannot ")
    return f"{problem.span.line}:{problem.span.column} {message}"


ALLOWED = [
    ("{{ if .params.x }}a{{ else }}b{{ end }}", "b"),
    ("{{ if .params.x.y.z }}a{{ else }}b{{ end }}", "b"),
    ("{{ if .params.null.y }}a{{ else }}b{{ end }}", "b"),
    ("{{ with .params.x }}a{{ else }}b{{ end }}", "b"),
    ("{{ if and .params.x.y (gt (len .params.x.y) 1) }}a{{ else }}b{{ end }}", "b"),
    ('{{ or .params.x.y .params.z "c" }}', "c"),
    ("{{ not .params.x.y }} {{ empty .params.x.y }}", "true true"),
    ('{{ .params.x.y | default "d" }} {{ default "d" .params.null.y }}', "d d"),
    ('{{ .params.x.y | default .params.z | default "d" }}', "d"),
    ('{{ coalesce .params.x.y .params.z "c" }}', "c"),
    ("[{{ coalesce .params.x.y .params.off }}]", "[false]"),
    (
        '{{ hasKey .params.x "k" }} {{ hasKey .params.null "k" }} {{ hasKey .params.a "b" }}',
        "false false true",
    ),
    (
        '{{ dig "x" "y" 1 .params }} {{ dig "x" 2 .params.x.y }} {{ dig "null" "k" 3 .params }}',
        "1 2 3",
    ),
    ('{{ get .params "x" | default "d" }} {{ get .params.x "y" | default "d" }}', "d d"),
    ('{{ get .params.null "y" | default "d" }} {{ get .params.a "b" }}', "d 1"),
    ('{{ index .params "x" "y" | default "d" }} {{ index .params.x "y" | default "d" }}', "d d"),
    ('{{ index .params "a" "b" }} {{ index .params.null "b" | default "d" }}', "1 d"),
    ("{{ ternary 1 2 .params.x.y }} {{ ternary .params.x 2 false }}", "2 2"),
    ('{{ kindIs "map" .params.x.y }} {{ kindIs "invalid" .params.x.y }}', "false true"),
    ("{{ eq .params.x 1 }} {{ ne .params.x 1 }} {{ eq .params.x nil }}", "false true true"),
    ('{{ eq .params.x .params.y }} {{ eq .params.x "" }}', "true false"),
    ("{{ all .params.x 1 }} {{ any .params.x 1 }}", "false true"),
    ('{{ $x := .params.x }}{{ $x.y | default "d" }}', "d"),
    ('{{ $x := .params.x }}{{ if .params.a }}{{ $x = "e" }}{{ end }}{{ $x }}', "e"),
    ('{{ define "t" }}{{ .y | default "d" }}{{ end }}{{ template "t" .params.x }}', "d"),
    ('{{ define "t" }}{{ if . }}a{{ else }}b{{ end }}{{ end }}{{ include "t" .params.x }}', "b"),
    ('{{ first list | default "d" }} {{ last list | default "d" }}', "d d"),
    ('{{ fromJson "{" | default "d" }}', "d"),
    ("[{{ range slice list }}{{ . }}{{ end }}]", "[]"),
    ('{{ (getComposedResource "x").status.id | default "d" }}', "d"),
    ('{{ (getResourceCondition "Ready" (getComposedResource "x")).Status }}', "Unknown"),
    ('{{ isDeleting (getComposedResource "x") }}', "false"),
    ('{{ getExternalName (getComposedResource "x") | default "d" }}', "d"),
    ("[{{ range .observed.resources }}x{{ end }}{{ range .requiredResources }}x{{ end }}]", "[]"),
    ("{{ range default list .params.x }}a{{ else }}b{{ end }}", "b"),
    (
        "{{ .params.null }} {{ .params.null | toJson }} {{ range list nil }}{{ . }}{{ end }}",
        "null null null",
    ),
    ("{{ or .params.x .params.null }} {{ default 1 .params.null }}", "null 1"),
]
REFUSED = [
    ("{{ .params.x }}", "1:4 evaluate .params.x: it does not exist"),
    ("a\n  {{ .params.x.y }}", "2:6 evaluate .params.x.y: .params.x does not exist"),
    ("{{ .params.null.y }}", "1:4 evaluate .params.null.y: .params.null is null"),
    ("{{ range .params.x }}{{ end }}", "1:10 evaluate .params.x: it does not exist"),
    (
        "{{ range $k, $v := .params.x.y }}{{ end }}",
        "1:20 evaluate .params.x.y: .params.x does not exist",
    ),
    ("{{ range .params.x }}{{ else }}a{{ end }}", "1:10 evaluate .params.x: it does not exist"),
    (
        "{{ range .params.null }}{{ end }}",
        "1:10 evaluate .params.null: range can't iterate over null",
    ),
    ("{{ upper .params.x }}", "1:10 evaluate .params.x: it does not exist"),
    ("{{ .params.x | upper }}", "1:4 evaluate .params.x: it does not exist"),
    ("{{ .params.x | quote | indent 2 }}", "1:4 evaluate .params.x: it does not exist"),
    ('{{ printf "%v" .params.x }}', "1:16 evaluate .params.x: it does not exist"),
    ('{{ print "a" .params.x }}', "1:14 evaluate .params.x: it does not exist"),
    ("{{ lt .params.x 1 }}", "1:7 evaluate .params.x: it does not exist"),
    ("{{ len .params.x }}", "1:8 evaluate .params.x: it does not exist"),
    ("{{ until (int .params.x) }}", "1:15 evaluate .params.x: it does not exist"),
    ('{{ dict "a" .params.x | toJson }}', "1:13 evaluate .params.x: it does not exist"),
    ("{{ list 1 .params.x | toJson }}", "1:11 evaluate .params.x: it does not exist"),
    ('{{ $_ := set .params "a" .params.x }}', "1:26 evaluate .params.x: it does not exist"),
    ("{{ toYaml .params.x }}", "1:11 evaluate .params.x: it does not exist"),
    ("{{ fail .params.x }}", "1:9 evaluate .params.x: it does not exist"),
    ('{{ default "d" (upper .params.x) }}', "1:23 evaluate .params.x: it does not exist"),
    (
        "{{ default .params.x .params.y }}",
        "1:4 evaluate default .params.x .params.y: it does not exist",
    ),
    (
        "{{ or .params.x .params.y | quote }}",
        "1:4 evaluate or .params.x .params.y: it does not exist",
    ),
    ("{{ ternary .params.x 2 true }}", "1:4 evaluate ternary .params.x 2 true: it does not exist"),
    (
        '{{ dig "x" .params.y .params }}',
        '1:4 evaluate dig "x" .params.y .params: it does not exist',
    ),
    (
        "{{ coalesce .params.x .params.y }}",
        "1:4 evaluate coalesce .params.x .params.y: it does not exist",
    ),
    ("{{ $x := .params.x }}{{ $x }}", "1:25 evaluate $x: .params.x does not exist"),
    ("{{ $x := .params.x }}{{ $x.y }}", "1:25 evaluate $x.y: .params.x does not exist"),
    (
        "{{ $m := .params }}{{ $x := $m.x }}{{ $m = dict }}{{ $x }}",
        "1:54 evaluate $x: it does not exist",
    ),
    (
        "{{ with $x := .params.x }}{{ else }}{{ $x }}{{ end }}",
        "1:40 evaluate $x: .params.x does not exist",
    ),
    (
        "{{ if .params.x }}{{ else if .params.x.y }}{{ else }}{{ .params.x }}{{ end }}",
        "1:57 evaluate .params.x: it does not exist",
    ),
    ("{{ .params.x.y 1 }}", "1:4 evaluate .params.x.y 1: .params.x does not exist"),
    ('{{ index .params "x" }}', '1:4 evaluate index .params "x": .params.x does not exist'),
    (
        '{{ index .params "x-y" "z" }}',
        '1:4 evaluate index .params "x-y" "z": .params["x-y"] does not exist',
    ),
    ('{{ get .params "x" }}', '1:4 evaluate get .params "x": .params.x does not exist'),
    ("{{ index .params .params.x }}", "1:4 call index: a key does not exist"),
    ("{{ index .params.list 1 }}", "1:4 call index: index out of range: 1"),
    ("{{ first list }}", "1:4 evaluate first list: it does not exist"),
    (
        '{{ getComposedResource "x" | toYaml }}',
        '1:4 evaluate getComposedResource "x": it does not exist',
    ),
    (
        '{{ (getComposedResource "x").a }}',
        '1:4 evaluate (getComposedResource "x").a: (getComposedResource "x") does not exist',
    ),
    (
        '{{ range getExtraResources "x" }}{{ end }}',
        '1:10 evaluate getExtraResources "x": it does not exist',
    ),
    (
        '{{ define "t" }}{{ .y }}{{ end }}{{ template "t" .params.x }}',
        "1:20 evaluate .y: it does not exist",
    ),
    ("{{ with .params.a }}{{ .c }}{{ end }}", "1:24 evaluate .c: .params.a.c does not exist"),
    ("{{ range list .params.a }}{{ .c.d }}{{ end }}", "1:30 evaluate .c.d: .c does not exist"),
    ('{{ printf "%s" .params.null }}', "1:16 evaluate .params.null: it is null"),
    (
        "{{ .params.a.b.c }}",
        "1:4 evaluate .params.a.b.c: .params.a.b is an integer, it has no field c",
    ),
    (
        '{{ (hasKey . "a").b }}',
        '1:4 evaluate (hasKey . "a").b: (hasKey . "a") is a boolean, it has no field b',
    ),
    ('{{ ternary 1 2 "yes" }}', "1:4 call ternary: wants true or false to decide, got string"),
]


@pytest.mark.parametrize(("template", "text"), ALLOWED, ids=[case for case, _ in ALLOWED])
def test_missing_value_may_be_tested_and_take_a_default(template: str, text: str) -> None:
    assert render(template) == text


@pytest.mark.parametrize(("template", "message"), REFUSED, ids=[case for case, _ in REFUSED])
def test_use_of_a_missing_value_is_an_error(template: str, message: str) -> None:
    assert refusal(template) == message


def test_long_names_in_errors_are_cut() -> None:
    """The missing key is cut, and long existing keys are not searched."""
    name = "k" * 100_000
    template = "{{ $m := dict }}{{ range until 1000 }}{{ $_ := set $m (print . KEY) 1 }}{{ end }}"
    message = refusal(
        f"{template.replace('KEY', repr('k' * 5000))}{{{{ $m.{name} }}}}".replace("'", '"')
    )
    assert message.endswith(f": $m.{name[:64]}… does not exist")


def test_other_missingkey_options_behave_as_in_go() -> None:
    """A step that sets one of Go's options has Go's behaviour."""
    assert (
        render("{{ .params.x.y }}{{ range .params.x }}{{ end }}", missingkey="default")
        == "<no value>"
    )
    assert render("{{ range .params.x }}a{{ end }}", missingkey="zero") == ""
    message = refusal("{{ if .params.x }}{{ end }}", missingkey="error")
    assert message == "1:7 evaluate .params.x: .params has no field x"


def _outcome(template: str, delims: tuple[str, str]) -> tuple[str, str]:
    settings = Settings(delims, "checked", frozenset(registry.OPTIONS))
    sources = Sources(((MAIN, Source(name=MAIN, text=template)),), settings)
    run = Run(programs.load(sources).templates, Limits(), "")
    run.is_random_zero = True
    parts: list[str] = []
    try:
        run.render(copy.deepcopy(DATA), parts)
    except (GoError, LimitExceededError, RecursionError) as error:
        return "error", str(error)
    return "ok", "".join(parts)


DATA = json.loads((VECTORS / "data.json").read_text())
RENDERED = [
    vector
    for vector in map(json.loads, (VECTORS / "language.jsonl").read_text().splitlines())
    if vector["stage"] == "ok" and not vector.get("options")
]


@pytest.mark.parametrize("vector", RENDERED, ids=lambda vector: vector["template"][:60])
def test_template_without_missing_values_renders_as_in_go(vector: dict[str, str]) -> None:
    """Every template that Go renders has the same text, or stops at a missing value.

    A null is written as YAML has it.
    """
    delims = tuple(vector.get("delims", ("{{", "}}")))
    outcome, text = _outcome(vector["template"], delims)  # type: ignore[arg-type] # two strings
    if outcome == "ok":
        assert text == vector["output"].replace("<no value>", "null")
    else:
        assert text in {"it does not exist", "it is null", "range can't iterate over null"}


FUNCTIONS = registry.func_map(frozenset(registry.OPTIONS), is_own=True, is_checked=True)
ACCEPTS_MISSING = {
    name for name, each in FUNCTIONS.items() if each.accepts in missing_values.ACCEPTS_MISSING
}
ACCEPTS_NULL = {name for name, each in FUNCTIONS.items() if each.accepts is Accepts.NULL}


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - ACCEPTS_MISSING))
def test_other_functions_refuse_a_missing_argument(name: str) -> None:
    if not FUNCTIONS[name].parameter_types:
        return
    allowed = dict.fromkeys(registry.OPTIONS, "yes")
    words = " ".join([".params.x"] * len(FUNCTIONS[name].parameter_types))
    expected = f"1:{len(name) + 5} evaluate .params.x: it does not exist"
    assert refusal(f"{{{{ {name} {words} }}}}", **allowed) == expected


def test_null_is_kept_and_written_as_null() -> None:
    assert render("{{ append .params.list .params.null | toJson }}") == "[1,null]"
    assert render("{{ list .params.null | toYaml }}") == "- null\n"
    assert render('{{ dict "k" .params.null | toJson }}') == '{"k":null}'
    assert render("{{ .params.null | toJson }} {{ kindOf .params.null }}") == "null invalid"


ANY = [
    name
    for name in sorted(FUNCTIONS.keys() - ACCEPTS_MISSING - ACCEPTS_NULL)
    if FUNCTIONS[name].parameter_types and not name.startswith("get")
]


@pytest.mark.parametrize("name", ANY)
def test_other_functions_refuse_a_null(name: str) -> None:
    """None of them turns it into a zero or an empty text."""
    allowed = dict.fromkeys(registry.OPTIONS, "yes")
    words = " ".join([".params.null"] * len(FUNCTIONS[name].parameter_types))
    expected = f"1:{len(name) + 5} evaluate .params.null: it is null"
    assert refusal(f"{{{{ {name} {words} }}}}", **allowed) == expected


def test_reference_lists_the_functions_that_accept_missing_values() -> None:
    """It lists no others."""
    page = (ROOT / "docs" / "reference" / "gotemplate-compatibility.md").read_text()
    section = page.partition("## What does not exist\n")[2].partition("\n## ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| `") and "an error" not in row]
    words = {word for row in rows for word in re.findall(r"\w+", row.split("|")[1])}
    assert words & FUNCTIONS.keys() == ACCEPTS_MISSING
