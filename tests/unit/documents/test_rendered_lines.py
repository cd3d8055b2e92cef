"""The part of a template that makes a rendered line wrong, in both languages of templates."""

import pytest
from support import builders
from support.timing import taking_less

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

HEAD = "apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n    {}: a\nspec:\n"
PARAMS: Object = {
    "map": {"a": "1", "b": "2"},
    "list": ["x", "y"],
    "lines": "a\nb: c",
    "colon": "a: b",
    "number": "16",
    "star": "*x",
    "plain": "x",
}


def results(language: str, body: str) -> list[pb.Result]:
    """The results of a template with a resource, whose spec is ``body``."""
    build = builders.jinja if language == "jinja" else builders.gotemplate
    step_input = build(HEAD.format(builders.NAME_KEY) + body, params=PARAMS)
    return list(builders.call(builders.request(step_input)).results)


ERRORS = [
    ("jinja", "  k: {{ params.map | to_yaml }}", "7:9", "{{ params.map | to_yaml | nindent(4) }}"),
    ("jinja", "  {{ params.list | to_yaml }}", "7:6", "{{ params.list | to_yaml | indent(2) }}"),
    (
        "jinja",
        "  k:\n{{ params.map | to_yaml | indent(4) }}",
        "8:4",
        "{{- params.map | to_yaml | nindent(4) }}",
    ),
    ("jinja", "  k: {{ params.star }}", "7:9", "write {{ params.star | quote }}"),
    (
        "jinja",
        "  a: 1\n  {%- if true -%}\n  b:\n  - x\n  {% endif %}",
        "8:3",
        "{%- and -%} take away line breaks: write {% and %}",
    ),
    ("jinja", "  a: {{ 1 -}}\n  b:\n  - x", "7:11", "-}} takes away the line break behind it"),
    ("jinja", "  a:\n    b: 1\n  {{- 'c' }}: 1", "9:3", "{{- takes away the line break before it"),
    ("jinja", "  a: {% if true %}1{% endif %}\n  b: 1", "7:29", "write +%}"),
    (
        "jinja",
        "  l:\n  {%- for x in params.list %}\n  - {{ x }}\n  {% endfor %}\n  b: 1",
        "8:3",
        "{%- takes away",
    ),
    ("go", "  {{ toYaml .params.list }}", "7:6", "{{- toYaml .params.list | nindent 2 }}"),
    (
        "go",
        "  k: {{ indent 4 (toYaml .params.map) }}",
        "7:9",
        "{{ (toYaml .params.map) | nindent 4",
    ),
    ("go", '  a: 1\n  {{- with .params }}{{- end }}\n  {{- "b: 1" }}', "9:3", "write {{"),
    (
        "go",
        "  l:\n  {{- range .params.list -}}\n  - {{ . }}\n  {{- end }}\n  b: 1",
        "8:26",
        "-}} takes away the line break behind it: write }}",
    ),
    ("go", "  a: 1\n  {{- /* c */ -}}\n  b: 1", "8:15", "write }}"),
    (
        "go",
        "  k:\n  {{- toYaml .params.map | indent 4 }}",
        "8:7",
        "{{ toYaml .params.map | nindent 4",
    ),
    ("go", "  k:\n    {{ toYaml .params.map }}\n\n  # c\n  b: 1", "8:8", ".params.map | nindent 4"),
    ("go", "  a.yaml: {{ toYaml .params.map }}", "7:14", "write {{ toYaml .params.map | quote }}"),
    ("go", "  a: 1\n    {{ if true }}{{ end -}}\n  b:\n  - c", "8:25", "write }}"),
    ("jinja", "  k: |\n    {% if true %}a{% endif %}", "8:5", "write {%+"),
    (
        "jinja",
        "  l:\n  {% for x in params.list -%}\n  - {{ x }}\n  {% endfor %}\n  b: 1",
        "8:27",
        "-%} takes away the blanks behind it: write %}",
    ),
    (
        "jinja",
        "  l:\n  {% for x in params.list %}\n  - a: {{ x -}}\n  {% endfor %}",
        "9:13",
        "-}} takes away the line break behind it: write }}",
    ),
    (
        "jinja",
        "  m:\n    {% for x in params.list %}\n    {{ 'a' }}: {{ x }}\n    {% endfor %}",
        "9:8",
        "items begin with",
    ),
    ("go", '  k: "{{ toYaml .params.map }}"', "7:10", "and print it with nindent"),
    ("jinja", "  l:\n  -n: {{ params.plain }}\n    m: 1", "8:3", "blank after the dash"),
    (
        "jinja",
        "  l:\n  {% for x in params.list %}- {{ x }}\n  {% endfor %}",
        "8:3",
        "begin below its tag",
    ),
    ("jinja", "  k: |\n  {{ 'a b' }}\n  l: 1", "8:6", "text below `k`, deeper than it"),
    ("jinja", "  k: |\n  {{ params.lines }}", "8:6", "{{- params.lines | nindent(4) }}"),
    (
        "jinja",
        "  k:\n{{ params.list | to_yaml }}",
        "8:4",
        "{{- params.list | to_yaml | nindent(4) }}",
    ),
    ("jinja", '  k: "{{ params.plain, }}"', "7:10", "leave out the comma behind the value"),
    ("jinja", "  k: {{ 'x' ~ params.colon }}", "7:9", "{{ ('x' ~ params.colon) | quote }}"),
    (
        "jinja",
        "  k: {{ params.map | to_yaml if true else '' }}",
        "7:9",
        "{{ (params.map | to_yaml if true else '') | nindent(4) }}",
    ),
]


@pytest.mark.parametrize(("language", "body", "place", "hint"), ERRORS)
def test_error_names_the_part_of_the_template(
    language: str, body: str, place: str, hint: str
) -> None:
    (result,) = results(language, body)
    assert result.severity == pb.SEVERITY_FATAL
    assert result.message.startswith(f"inline:{place}: cannot read document 1")
    assert hint in result.message


UNCERTAIN = [
    ("jinja", "  k: {{ params.plain }}\n   c: d: e", "quote }}"),
    ("jinja", "  k: {{ params.colon | quote }} x", "quote }}"),
    ("go", "  {{- if .params }}\n  a: b: c\n  {{- end }}", "takes away"),
    ("go", "  {{- if .params }}\n  a: [\n  {{- end }}", "takes away"),
    ("go", '  a:\n    b: 1\n    {{ "nginx:1.27" }}', "a blank"),
    ("go", '  k:\n  {{- "a: b: c" | nindent 4 }}', "quote a value"),
    ("go", "  a.yaml: {{ toYaml .params.map }}", "nindent"),
    ("jinja", '  a:\n    b: 1\n    {{ "nginx:1.27" }}', "a blank"),
    ("jinja", '  k: |\n  {{ "nginx:1.27" }}', "a blank"),
    ("jinja", "  {% if true %} a: {{ 1 }} {% endif %}\n  b: c", "quote"),
    ("jinja", "  a: 1\n  {# c #} b: 2\n  c: 3", "indentation"),
]


@pytest.mark.parametrize(("language", "body", "hint"), UNCERTAIN)
def test_correction_that_mends_nothing_is_no_hint(language: str, body: str, hint: str) -> None:
    (result,) = results(language, body)
    assert result.severity == pb.SEVERITY_FATAL
    assert hint not in result.message


@pytest.mark.parametrize(
    ("language", "breaks", "end"), [("jinja", 1, "\n"), ("jinja", 3, ""), ("go", 1, "\n")]
)
def test_error_is_told_though_yaml_counts_more_lines(language: str, breaks: int, end: str) -> None:
    """U+2028 ends a line of YAML, so that its last one is behind the text's."""
    text = f"x{breaks * chr(0x2028)}y"
    (result,) = results(language, f'  a: {{{{ "{text}" }}}}{end}')
    assert ": cannot read document 1, line " in result.message


def test_text_that_became_a_number_is_named() -> None:
    labels = "  a: 1\n---\n" + HEAD.format(builders.NAME_KEY).replace(
        "  annotations", "  labels:\n    size: {{ params.number }}\n  annotations"
    )
    (result,) = results("jinja", labels)
    assert 'metadata.labels["size"] must be a string' in result.message
    assert result.message.endswith("(write {{ params.number | quote }})")


SILENT = [
    ("go", "  k: |\n  {{ toYaml .params.map }}", "8:6", "{{- toYaml .params.map | nindent 4 }}"),
    (
        "jinja",
        "  k:\n    {{ params.map | to_yaml }}",
        "8:8",
        "{{ params.map | to_yaml | indent(4) }}",
    ),
    ("jinja", "  - {{ params.map | to_yaml }}", "7:8", "{{ params.map | to_yaml | indent(4) }}"),
    ("jinja", "  k: {{ params.lines }}", "7:9", "{{ params.lines | quote }}"),
    ("jinja", "  k: |\n    {{ params.lines }}", "8:8", "{{ params.lines | indent(4) }}"),
    (
        "jinja",
        "  k:\n    l:\n      {{ params.map | to_yaml | indent(2) }}",
        "9:10",
        "{{ params.map | to_yaml | indent(6) }}",
    ),
    ("go", "  k:\n    {{ toYaml .params.map }}", "8:8", "{{- toYaml .params.map | nindent 4 }}"),
    ("go", "  k: |\n    {{ toYaml .params.map }}", "8:8", "{{- toYaml .params.map | nindent 4 }}"),
    (
        "go",
        "  k:\n    {{ .params.map | toYaml | trim }}",
        "8:8",
        "{{- .params.map | toYaml | trim | nindent 4 }}",
    ),
    ("go", "  k: {{ .params.lines }}", "7:9", "{{ .params.lines | quote }}"),
    ("go", "  k:\n    {{- toYaml .params.map | nindent 2 }}", "8:9", "(write nindent 4, which"),
    ("go", "  - k:\n    {{- toYaml .params.map | nindent 4 }}", "8:9", "(write nindent 6, which"),
    ("jinja", "  k: {{ params.map | to_yaml | nindent(2) }}", "7:9", "(write nindent(4), which"),
    ("jinja", "- k:\n  {{ params.list | to_yaml }}", "8:6", "| to_yaml | indent(2) }}"),
    ("jinja", "{{ params.map | to_yaml }}", "7:4", "{{- params.map | to_yaml | nindent(2) }}"),
    ("jinja", "  k:\n{{ params.map | to_yaml }}", "8:4", "| nindent(4) }}"),
    ("jinja", "  - k:\n    {{ params.map | to_yaml }}", "8:8", "| nindent(6) }}"),
    ("go", "  k:\n{{ toYaml .params.map }}", "8:4", "{{- toYaml .params.map | nindent 4 }}"),
    ("go", "  k:\n  {{ toYaml .params.map }}", "8:6", "{{- toYaml .params.map | nindent 4 }}"),
    ("go", "  k: |\n{{ toYaml .params.map }}", "8:4", "{{- toYaml .params.map | nindent 4 }}"),
]


@pytest.mark.parametrize(("language", "body", "place", "hint"), SILENT)
def test_lines_that_became_fields_of_an_outer_object_are_a_warning(
    language: str, body: str, place: str, hint: str
) -> None:
    (result,) = results(language, body)
    assert result.severity == pb.SEVERITY_WARNING
    assert result.message.startswith(f"inline:{place}: not all lines of this value have the")
    assert hint in result.message


def test_inputs_of_function_go_templating_have_the_same_warning() -> None:
    text = HEAD.format("gotemplating.fn.crossplane.io/composition-resource-name")
    text += "  k:\n    {{ toYaml .observed.composite.resource.spec }}\n"
    (result,) = builders.call(builders.request(builders.peer(text))).results
    assert result.severity == pb.SEVERITY_WARNING
    assert result.message.startswith("inline.template:8:8: not all lines of this")


MEANT = [
    ("jinja", "  k:\n    {{ params.map | to_yaml | indent(4) }}"),
    ("jinja", "  k: {{ params.map | to_yaml | nindent(4) }}"),
    ("jinja", '  k: "{{ params.lines }}"'),
    ("jinja", "  k: |\n    {{ params.lines | indent(4) }}"),
    ("jinja", "  k: {{ params.map | to_json }}"),
    ("jinja", "{% macro m() %}a: 1\n  b: 2{% endmacro %}  {{ m() }}"),
    ("jinja", "  - {{ params.map | to_yaml | indent(4) }}"),
    ("jinja", "{% if false %}\n  a: 1\n{% endif %}\n{{ params.map | to_yaml }}"),
    ("jinja", "  k:\n{{ params.map | to_yaml | indent(4, true) }}"),
    ("jinja", "  k:\n  {{ params.list | to_yaml | indent(2) }}"),
    ("jinja", "  k: {{ 'a\\n   b' }}"),
    ("jinja", "  {{ '\\n a: 1' }}"),
    ("jinja", "{% set x %}{{ params.lines }}{% endset %}  k: {{ x | length }}"),
    ("go", "  k: {{ toYaml .params.map | nindent 4 }}"),
    ("go", "  k:\n    {{- toYaml .params.map | nindent 4 }}"),
    ("go", '  k: "{{ .params.lines }}"'),
    ("go", "  k:\n    {{- toYaml .params.list | nindent 2 }}"),
    ("go", "  k: |\n    l:\n      {{- toYaml .params.map | nindent 4 }}"),
    ("go", "  # k:\n    {{- toYaml .params.map | nindent 2 }}"),
    ("go", "  a: 1\n{{ toYaml .params.map }}"),
    ("go", "  k:\n{{ range until 0 }}\n    a: 1\n{{- end }}\n{{ toYaml .params.map }}"),
    ("jinja", "  k:\n{% for x in [] %}\n    a: 1\n{% endfor %}\n{{ params.map | to_yaml }}"),
    ("jinja", "  k:\n  {{ '- a\n# b\n  - c' }}"),
    ("jinja", "  k:\n    {{ params.map | to_yaml | indent(4) }}\n{{ params.map | to_yaml }}"),
]


@pytest.mark.parametrize(("language", "body"), MEANT)
def test_lines_in_their_place_are_no_warning(language: str, body: str) -> None:
    assert not results(language, body)


BLANKS = " " * 150_000
BREAKS = "\n" * 50_000
LARGE = {
    "jinja-loop-below-tags": (
        "jinja",
        "{% set a = 1 %}" * 2_000
        + "\n  a: ${spec.b}\n{% for i in range(8000) %}\n  k{{ i }}: '{{ i }}'\n{% endfor %}",
    ),
    "go-long-action-in-loop": (
        "go",
        "  a: ${spec.b}\n{{- range until 2000 }}\n  k{{ . }}: {{ trunc 1 `x"
        + BLANKS
        + "` }}\n{{- end }}",
    ),
    "jinja-values-in-quotes": (
        "jinja",
        "{% for i in range(12000) %}\n  k{{ i }}: v\n{% endfor %}\n"
        + "".join(f"  q{i}: {{{{ '\"1\\nc: d\"' }}}}\n" for i in range(100)),
    ),
    "jinja-long-comment": (
        "jinja",
        f"{{# {BREAKS} #}}{{% for i in range(1000) %}}  k{{{{ i }}}}: v\n{{% endfor %}}\n  b: ]",
    ),
    "go-marks-in-loop": (
        "go",
        '{{ range until 4500 }}\n  - {{ "" -}}\n    k: v\n{{- end }}\n  - ]',
    ),
    "go-blanks-in-action": ("go", f'  k: {{{{ "x{BLANKS}y" }}}}: z'),
}


@pytest.mark.parametrize(("language", "body"), LARGE.values(), ids=LARGE)
def test_lines_of_a_large_text_are_explained_in_linear_time(language: str, body: str) -> None:
    """Neither a loop nor a long part of the template is read again for each piece."""
    with taking_less(1.5):
        messages = [result.message for result in results(language, body)]
    assert not [message for message in messages if "CPU time" in message]


def test_map_as_go_prints_it_is_not_indented() -> None:
    (result,) = results("go", '  k: {{ dict "a" "\\nb: 1\\nc: x" }}')
    assert "nindent" not in result.message


def test_object_in_a_printed_value_needs_no_separator() -> None:
    """A whole request has the template in it; an object of one value needs a separator."""
    (printed,) = results("go", '  k: 1\n{{ "a: b\\napiVersion: v1" }}')
    (object_,) = results("go", '  k: 1\n{{ "apiVersion: v1" }}')
    assert "duplicate key 'apiVersion'" in printed.message
    assert ['a line "---"' in each.message for each in (printed, object_)] == [False, True]
