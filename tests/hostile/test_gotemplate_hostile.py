"""Templates that exceed a limit: the error names the limit."""

import time
from dataclasses import replace
from itertools import pairwise

import pytest
from support.timing import stretched

from function_script.engines.gotemplate import engine as gotemplate
from function_script.request.limits import Limits
from function_script.request.program import Lazy, Program, Scope
from function_script.texts.errors import FatalError, LimitError, ProgramError
from function_script.texts.source import Source

DOUBLED = "{{ $x := list 0 }}{{ range 60 }}{{ $x = list $x $x }}{{ end }}"
ENDLESS = '{{ $x := dict }}{{ $_ := set $x "self" $x }}'
ALIASES = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{key}: &{key} [{','.join([f'*{before}'] * 10)}]\n" for before, key in pairwise("abcdefg")
)
ENTRY = '{{ $_ := set $d (print $i "-" $j) (repeat 60 "x") }}'
LOOPS = "{{ range $i := 1000 }}{{ range $j := 1000 }}"
ENTRIES = f"{{{{ $d := dict }}}}{LOOPS}{ENTRY}{{{{ end }}}}{{{{ end }}}}"
# Of the limits that cost time, a fifth of the default: enough for the others to come first.
SHARE = 0.2
BIG = '{{ $x := repeat 1000000 "x" }}'

# What the message must hold, and the template; more are in gotemplate_attacks.py.
STOPPED = [
    ("range", "steps", "{{ range 1000000000 }}{{ end }}"),
    ("output", "output", f"{LOOPS}{'x' * 100}{{{{ end }}}}{{{{ end }}}}"),
    ("output-at-once", "output", f"{BIG}{'{{ $x }}' * 3000}"),
    ("seq", "a list of", "{{ seq 1 1000000000 }}"),
    ("cat-doubling", "a string of", '{{ $x := "a" }}{{ range 60 }}{{ $x = cat $x $x }}{{ end }}'),
    (
        "printf-doubling",
        "a string of",
        '{{ $x := "a" }}{{ range 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}',
    ),
    ("print-many", "a string of", f"{BIG}{{{{ print{' $x' * 5000} | len }}}}"),
    ("printf-many", "a string of", f'{BIG}{{{{ printf "{"%s" * 5000}"{" $x" * 5000} | len }}}}'),
    ("doubled-print", "nodes", DOUBLED + "{{ $x }}"),
    ("doubled-json", "nodes", DOUBLED + "{{ toJson $x }}"),
    ("doubled-yaml", "nodes", DOUBLED + "{{ toYaml $x }}"),
    ("doubled-quote", "nodes", DOUBLED + "{{ quote $x }}"),
    ("doubled-join", "nodes", DOUBLED + '{{ join "," $x }}'),
    ("doubled-html", "nodes", DOUBLED + "{{ html $x }}"),
    ("doubled-printf", "nodes", DOUBLED + '{{ printf "%d" $x }}'),
    ("doubled-equal", "nodes", f"{DOUBLED}{{{{ $y := $x }}}}{DOUBLED}{{{{ deepEqual $x $y }}}}"),
    ("doubled-copy", "nodes", DOUBLED + "{{ deepCopy $x | len }}"),
    ("endless-print", "deep", ENDLESS + "{{ $x }}"),
    ("endless-yaml", "deep", ENDLESS + "{{ toYaml $x }}"),
    ("endless-copy", "deep", ENDLESS + "{{ deepCopy $x }}"),
    ("printf-precision", "padding", '{{ printf "%.100000f" 1.0 }}'),
    ("include", "nested", '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'),
    ("kept-strings", "steps", f"{BIG}{{{{ range 100000 }}}}{{{{ $y := upper $x }}}}{{{{ end }}}}"),
    ("kept-lists", "steps", "{{ range 100000 }}{{ $y := until 100000 }}{{ end }}"),
    ("kept-entries", "steps", ENTRIES),
    ("yaml-aliases", "nodes", f"{{{{ fromYaml `{ALIASES}` | len }}}}"),
    ("tokens", "tokens", "{{ . }}" * 30_000),
    ("source", "a source of", "x" * 300_000),
]


def scope() -> Scope:
    """An empty request."""
    return Scope(
        request=Lazy(
            {
                "meta": dict,
                "observed": lambda: {"composite": {"resource": {}}, "resources": {}},
                "desired": lambda: {"composite": {"resource": {}}, "resources": {}},
                "input": dict,
                "context": dict,
                "required_resources": dict,
                "extra_resources": dict,
                "credentials": dict,
                "required_schemas": dict,
            }
        )
    )


def evaluate(template: str, limits: Limits) -> str:
    """Return the text of a template."""
    program = Program(main=Source(name="inline", text=template))
    return gotemplate.evaluate(program, scope(), limits).text


@pytest.mark.parametrize(
    ("name", "template"), [s[1:] for s in STOPPED], ids=[s[0] for s in STOPPED]
)
def test_bomb_is_stopped_by_its_limit(name: str, template: str) -> None:
    """The error is a limit's, names it, and comes within the step's time.

    CPU time, with a timeout out of reach: a busy machine must not hide which limit it was.
    """
    started = time.process_time()
    whole = Limits(timeout_seconds=60.0)
    limits = replace(whole, steps=int(SHARE * whole.steps), nodes=int(SHARE * whole.nodes))
    with pytest.raises(LimitError) as caught:
        evaluate(template, limits)
    assert name in str(caught.value)
    share = SHARE if name in {"steps", "nodes"} else 1.0
    assert time.process_time() - started < stretched(Limits().timeout_seconds * share)


def test_slow_template_stops_before_its_worker_is_killed() -> None:
    """The limit of CPU time ends it within the step's timeout."""
    template = f"{BIG}{{{{ range 100000 }}}}{{{{ $y := sha256sum $x }}}}{{{{ end }}}}"
    started = time.thread_time()
    with pytest.raises(LimitError, match="more CPU time than its share of the limit"):
        evaluate(template, Limits(timeout_seconds=0.4))
    assert time.thread_time() - started < 0.4


REFUSED = [
    ("parentheses", "{{ " + "(" * 100 + "1" + ")" * 100 + " }}"),
    ("unclosed-strings", "{{ " + '"a" ' * 5_000),
    ("braces", "{" * 15_000),
    ("comments", "{{/*" * 50_000),
    ("digits", "{{ " + "1" * 100_000 + " }}"),
    ("dots", "{{ ." + ".a" * 9_000 + " }}"),
]


@pytest.mark.parametrize("template", [r[1] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_monstrous_syntax_is_a_clean_error(template: str) -> None:
    """Deep nesting and endless tokens are errors of the program, not of the compiler."""
    with pytest.raises(ProgramError):
        evaluate(template, Limits())


LARGE = [
    ("else-ifs", "{{ if .x }}" + "{{ else if .x }}" * 3_000 + "{{ end }}", ""),
    ("nested-elses", "{{ if .x }}a{{ else }}" * 40 + "b" + "{{ end }}" * 40, "b"),
    ("nested-ranges", "{{ range 1 }}" * 18 + "x" + "{{ end }}" * 18, "x"),
    ("stages", "{{ 1" + " | print" * 199 + " }}", "1"),
    ("chain", "{{ .a" + ".a" * 9_000 + " }}", "<no value>"),
    ("blanks", " " * 200_000 + "{{- 1 }}", "1"),
    ("text", "x" * 250_000, "x" * 250_000),
]


@pytest.mark.parametrize(("template", "text"), [x[1:] for x in LARGE], ids=[x[0] for x in LARGE])
def test_large_is_not_hostile(template: str, text: str) -> None:
    """Long templates render."""
    assert evaluate(template, Limits()) == text


ESCAPES = [
    "{{ .__class__ }}",
    "{{ (print 1).__class__ }}",
    "{{ .observed.__init__.__globals__ }}",
    '{{ index . "__class__" }}',
    "{{ $x := . }}{{ $x.__dict__ }}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_python_does_not_show_through(template: str) -> None:
    """Names of Python's attributes do not exist, or are fields that a type lacks."""
    try:
        text = evaluate(template, Limits())
    except FatalError as error:
        text = str(error)
    assert text == "<no value>" or "can't evaluate field" in text
