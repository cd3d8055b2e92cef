import gc

import pytest
from support import programs
from support.programs import program

from function_script.engines.gotemplate import engine as gotemplate
from function_script.engines.gotemplate.programs import Settings, Sources, load
from function_script.request.limits import Limits
from function_script.request.program import Scope, TemplateResult
from function_script.request.values import Value
from function_script.texts.errors import LimitError, ProgramError
from function_script.texts.source import Source


def scope() -> Scope:
    """A request of nothing but its state."""
    state = {"composite": {"resource": {"spec": {"zones": ["a", "b"]}}}, "resources": {}}
    return programs.scope(seed="uid", observed=state)


def render(text: str, modules: dict[str, str] | None = None, **options: Value) -> TemplateResult:
    """The template's result."""
    return gotemplate.evaluate(program(text, modules, **options), scope(), Limits())


TRACED = [
    "a: 1",
    "b: {{ 2 }}",
    "{{- range .observed.composite.resource.spec.zones }}",
    "- zone: {{ . }}",
    "{{- end }}",
    '{{ template "t" }}',
    '{{- define "t" }}',
    "from: template",
    "{{- end }}",
    "last: 1",
]
# The output's lines, and the template's lines that wrote them.
ORIGINS = [
    ("a: 1", 1),
    ("b: 2", 2),
    ("- zone: a", 4),
    ("- zone: b", 4),
    ("", 6),
    ("from: template", 8),
    ("last: 1", 10),
]


def test_output_lines_have_their_position_in_the_template() -> None:
    rendered = render("\n".join(TRACED))
    lines = rendered.text.split("\n")
    spans = [rendered.locate(number) for number in range(1, len(lines) + 1)]
    positions = [
        (line, span.line) for line, span in zip(lines, spans, strict=True) if span and line
    ]
    assert positions == [origin for origin in ORIGINS if origin[0]]
    assert rendered.locate(len(lines) + 1) is None


def test_output_line_of_a_module_has_a_position_there() -> None:
    rendered = render('{{ template "lib" }}', {"lib": "\n\nx: 1\n"})
    assert str(rendered.locate(3)) == "modules[lib]:3:1"


CHECKED = [
    ("undefined-include", '{{ if false }}{{ include "x" . }}{{ end }}', 'template "x" not defined'),
    ("undefined-include-piped", '{{ 1 | include "x" }}', 'template "x" not defined'),
    ("undefined-template", '{{ if false }}{{ template "x" }}{{ end }}', 'template "x" not defined'),
    ("not-a-command", "{{ nil }}", "nil is not a command"),
]


@pytest.mark.parametrize(("text", "cause"), [c[1:] for c in CHECKED], ids=[c[0] for c in CHECKED])
def test_check_finds_certain_failures(text: str, cause: str) -> None:
    """The check does not run the template: code that a run would skip is checked, too."""
    with pytest.raises(ProgramError) as caught:
        gotemplate.check(program(text), Limits())
    assert cause in str(caught.value)
    assert caught.value.diagnostics[0].span is not None


def test_check_reports_all_sources_together() -> None:
    with pytest.raises(ProgramError) as caught:
        gotemplate.check(program("{{ a }}{{ b }}", {"m": "{{ c }}", "n": "fine"}), Limits())
    names = [(str(d.span), d.message.split('"')[1]) for d in caught.value.diagnostics]
    assert names == [("inline:1:4", "a"), ("inline:1:11", "b"), ("modules[m]:1:4", "c")]


def test_run_leaves_no_reference_cycles() -> None:
    """Its values are freed when it ends, without the garbage collector."""
    text = "{{ range .observed.composite.resource.spec.zones }}{{ $x := dict . $ }}{{ end }}"
    request_scope = scope()
    gotemplate.evaluate(program(text), request_scope, Limits())
    gc.collect()
    gotemplate.evaluate(program(text), request_scope, Limits())
    assert gc.collect() == 0


def test_program_is_compiled_once() -> None:
    def sources(text: str, settings: Settings) -> Sources:
        return Sources((("manifests", Source(name="inline", text=text)),), settings)

    first = load(sources("aaaa", Settings()))
    assert load(sources("aaaa", Settings())) is first
    assert load(sources("bbbb", Settings())) is not first
    assert load(sources("aaaa", Settings(missing="error"))) is not first


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\nb: {{ list 1 2 }}\n", [2]),
        ("- {{ list 1.5 true }}\n- {{ list `a` `b` }}", [1, 2]),
        ("{{ range list 1 2 }}b: {{ list 1 2 }}\n{{ end }}", [1, 2]),
        ('{{ template "t" }}{{ define "t" }}a: {{ list 1 2 }}{{ end }}', [1]),
        ("one: {{ list 1 }}\nnone: {{ list }}", []),
        ('quoted: "{{ list 1 2 }}"', []),
        ("commas: {{ list `a,` `b` }}", []),
        ("message: of {{ list 1 2 }} zones", []),
        ("file: |\n  zones: {{ list 1 2 }}\nafter: {{ list 1 2 }}", [3]),
        ("- file: >-\n\n    # a comment\n    zones: {{ list 1 2 }}", []),
        ("written: [a b]", []),
        ("{{ define `t` }}{{ list 1 2 }}{{ end }}a: {{ include `t` . | upper }}", []),
    ],
)
def test_printed_list_is_a_line_of_the_result(text: str, lines: list[int]) -> None:
    """Only where it is a whole value: anything else may be a text that the author means."""
    assert list(render(text).list_lines) == lines


def test_lines_of_printed_lists_are_a_few() -> None:
    """Looking for more would take as long as the run."""
    text = "{{ range until 5000 }}a{{ . }}: {{ list 1 2 }}\n{{ end }}"
    assert list(render(text).list_lines) == [*range(1, 21)]


def test_templates_call_each_other_to_the_limit() -> None:
    """Blocks are nested as deep as the parser admits; the stack has room in plain Python, too."""
    blocks = "{{ if . }}" * 30 + '{{ include "a" (sub . 1) | indent 0 }}' + "{{ end }}" * 30
    text = f'{{{{ define "a" }}}}{blocks}{{{{ end }}}}{{{{ include "a" %d }}}}'
    assert render(text % 199).text == ""
    with pytest.raises(LimitError, match="nested"):
        render(text % 201)


def test_templates_in_deep_expressions_are_nested_too_deeply() -> None:
    """The stack has room for a thousand parentheses and stages, in plain Python for less."""
    expression = '(printf "%s" ' * 10 + '(include "a" (sub . 1))' + ")" * 10
    text = f'{{{{ define "a" }}}}{{{{ {expression} }}}}{{{{ end }}}}{{{{ include "a" 150 }}}}'
    with pytest.raises(LimitError, match=r"cannot render inline: .* nested") as failure:
        render(text)
    assert failure.value.diagnostics[0].span is not None
