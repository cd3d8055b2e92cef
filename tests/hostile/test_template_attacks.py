"""Hostile templates: the engine itself stops each of them, quickly, and its worker goes on."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hostile import gotemplate_attacks, jinja_attacks
from hostile.cases import Attack
from support import builders, jinja_programs
from support.timing import stretched, taking_less

from function_script.engines.gotemplate.plain import render_text
from function_script.engines.registry import ENGINE_MODULES
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import MIB, Limits
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step.telemetry import Answered

DEFAULTS = Limits()
# The clock is out of reach: it must be another limit that stops a template. Of those that cost time
# there is a fifth of the default, as much as the other limits need to come first.
SHARE = 0.2
LIMITS = replace(
    DEFAULTS,
    timeout_seconds=30.0,
    memory_bytes=256 * MIB,
    steps=int(SHARE * DEFAULTS.steps),
    nodes=int(SHARE * DEFAULTS.nodes),
)
SPEC = {"a": 1, "l": [1, 2, 3], "s": "x"}
OBSERVED = {"composite": {"resource": {"apiVersion": "v1", "kind": "XR", "spec": SPEC}}}
# What templates of Jinja begin with.
BEFORE = "{% set l=[1,2] %}{% set d={'a':1} %}{% set s='abc' %}"
LANGUAGES = {"jinja": jinja_attacks.ATTACKS, "gotemplate": gotemplate_attacks.ATTACKS}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """One worker for all, so that a row also shows the effects of earlier ones."""
    with Pool(PoolOptions(limits=LIMITS, workers=1, preload=ENGINE_MODULES)) as pool:
        pool.prefork()
        yield pool


def rows(*, text: bool) -> list[object]:
    """The rows of both languages that must fail, or those that must render."""
    return [
        pytest.param(language, attack, id=f"{language}-{attack.id}")
        for language, attacks in LANGUAGES.items()
        for attack in attacks
        if attack.text is text
    ]


def respond(pool: Pool, language: str, template: str) -> pb.RunFunctionResponse:
    """Return the response of a worker that survives the template."""
    step = (
        builders.jinja(BEFORE + template)
        if language == "jinja"
        else builders.gotemplate(template, options={"stableValues": True, "crypto": True})
    )
    reply = pool.run(builders.request(step, observed=OBSERVED).SerializeToString())
    assert isinstance(reply, Answered)
    response = pb.RunFunctionResponse.FromString(reply.response)
    # What the steps end may take their share of the time.
    message = "".join(result.message for result in response.results)
    share = SHARE if "steps" in message else 1.0
    assert reply.cpu_seconds < stretched(DEFAULTS.timeout_seconds * share)
    return response


@pytest.mark.parametrize(("language", "attack"), rows(text=False))
def test_attack_is_stopped_by_name(pool: Pool, language: str, attack: Attack) -> None:
    """The error names the limit, or the mistake in the template."""
    (result,) = respond(pool, language, attack.template).results
    assert result.severity == pb.SEVERITY_FATAL
    assert attack.expected in result.message


@pytest.mark.parametrize(("language", "attack"), rows(text=True))
def test_harmless_template_renders_quickly(pool: Pool, language: str, attack: Attack) -> None:
    """It exposes no Python object, has no effect outside, and takes little time."""
    respond(pool, language, attack.template)
    with taking_less(DEFAULTS.timeout_seconds):
        if language == "jinja":
            text = jinja_programs.text_of(BEFORE + attack.template)
        else:
            text = render_text(attack.template, {"params": {}, "observed": OBSERVED})  # type: ignore[dict-item] # plain data
        assert text == attack.expected


def test_template_at_the_edge_of_pythons_stack_leaves_its_worker(pool: Pool) -> None:
    """The stack is deep enough from Python 3.13 on."""
    respond(pool, "jinja", "{% if s %}" + "{% elif s %}" * 4500 + "{% endif %}")


def test_slow_template_stops_before_its_worker_is_killed() -> None:
    """The limit of CPU time ends it within the step's timeout."""
    slow = '{{ $x := repeat 1000000 "x" }}{{ range 100000 }}{{ $y := sha256sum $x }}{{ end }}'
    message = builders.request(builders.gotemplate(slow))
    began = time.thread_time()
    response = builders.call(message, Limits(timeout_seconds=0.4))
    assert "more CPU time than its share of the limit" in builders.fatal(response)
    assert time.thread_time() - began < 0.4
