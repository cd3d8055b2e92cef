"""What the speed of GoTemplate rests on, held by ratios of CPU time."""

from collections.abc import Callable
from functools import partial

import pytest
from support import programs as builders
from support.timing import is_within

from function_script.engines.gotemplate import engine
from function_script.engines.gotemplate.programs import Settings, Sources, compile_program
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.texts.source import Source

# On a busy machine the rounds may take a while.
pytestmark = [pytest.mark.serial, pytest.mark.timeout(600)]
ZONE = """---
apiVersion: example.org/v1
kind: Subnet
metadata:
  name: {{ $name }}-{{ . }}
  labels:
    zone: {{ . | quote }}
spec:
  region: {{ $spec.region }}
  cidr: {{ printf "10.0.%d.0/24" $spec.offset }}
  {{- if $spec.public }}
  public: true
  {{- else }}
  public: {{ $spec.private | default false }}
  {{- end }}
"""
HEAD = """{{- $spec := .observed.composite.resource.spec -}}
{{- $name := .observed.composite.resource.metadata.name -}}
"""
LOOP = f"{HEAD}{{{{ range $spec.zones }}}}{ZONE}{{{{ end }}}}"


def request(zones: int) -> Object:
    """A request whose XR has so many zones."""
    spec: Object = {"region": "eu", "offset": 7, "zones": [f"z{n}" for n in range(zones)]}
    return {"observed": {"composite": {"resource": {"metadata": {"name": "x"}, "spec": spec}}}}


def sources(text: str) -> Sources:
    """A program of one template."""
    return Sources(((MAIN, Source(name=MAIN, text=text)),), Settings())


def repeated(call: Callable[[], object]) -> Callable[[], None]:
    """A function that calls three times: one call is too short for the clock."""

    def repeat() -> None:
        for _ in range(3):
            call()

    return repeat


def rendering(text: str, data: Object) -> Callable[[], str]:
    """What renders a compiled template."""
    templates, limits = compile_program(sources(text)).templates, Limits()

    def render() -> str:
        parts: list[str] = []
        Run(templates, limits, "").render(data, parts)
        return "".join(parts)

    return render


def test_template_is_compiled_for_many_renderings() -> None:
    """A hundred lines: rendering all of them takes a small part of compiling them."""
    text = HEAD + "".join(ZONE.replace("{{ . ", '{{ "a" ') for _ in range(6))
    render = rendering(text, request(0))
    assert is_within(1 / 3, render, of=lambda: compile_program(sources(text)))


def test_costs_grow_with_what_there_is() -> None:
    """Ten times the loop, four times the template: about so many times the work."""
    short, long = rendering(LOOP, request(10)), rendering(LOOP, request(100))
    assert is_within(13, repeated(long), of=repeated(short))
    small, large = (partial(compile_program, sources(ZONE.replace("$", ".") * n)) for n in (8, 32))
    assert is_within(6, large, of=small)


def test_gap_costs_the_same_behind_any_text() -> None:
    """The place of each missing value is found from the one before, and not from the start."""
    parts = {"resources": {}, "composite": {}}
    scope = builders.scope(observed=parts, required_resources={}, extra_resources={})

    def deferring(text: str) -> Callable[[], object]:
        loop = f"{{{{ range until 16000 }}}}{{{{ $.observed.resources.x.y }}}}{text}{{{{ end }}}}"
        program = builders.program(loop, missing="Defer")
        return lambda: engine.evaluate(program, scope, Limits())

    assert is_within(2, deferring("-----"), of=deferring(""))
