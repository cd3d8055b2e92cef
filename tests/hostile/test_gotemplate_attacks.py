"""Hostile templates: the engine itself stops each of them, and its worker goes on."""

import time
from collections.abc import Iterator

import pytest
from hostile.gotemplate_attacks import ATTACKS, Attack
from support import builders
from support.timing import stretched

from function_script.engines.gotemplate.plain import render_text
from function_script.engines.registry import ENGINE_MODULES
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import MIB, Limits
from function_script.sandbox import Answered, Pool, PoolOptions

# The clock is out of reach: it must be another limit that stops a template. The steps are a fifth
# of the default, as many as the other limits need to come first.
LIMITS = Limits(timeout_seconds=30.0, memory_bytes=256 * MIB, steps=200_000)
MAX_SECONDS = 2.0
SPEC = {"l": [1, 2, 3]}
OBSERVED = {"composite": {"resource": {"apiVersion": "v1", "kind": "XR", "spec": SPEC}}}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """One pool for all, so that a row also shows the effects of earlier ones."""
    with Pool(PoolOptions(limits=LIMITS, workers=1, preload=ENGINE_MODULES)) as pool:
        pool.prefork()
        yield pool


def respond(pool: Pool, attack: Attack) -> pb.RunFunctionResponse:
    """Return the response of a worker that survives the template."""
    options = {"stableValues": True, "crypto": True}
    step = builders.gotemplate(attack.template, options=options)
    request = builders.request(step, observed=OBSERVED)
    reply = pool.run(request.SerializeToString())
    assert isinstance(reply, Answered)
    # What the steps end may take their share of the time.
    share = LIMITS.steps / Limits().steps if attack.wanted == "steps" else 1.0
    assert reply.cpu_seconds < stretched(Limits().timeout_seconds * share)
    return pb.RunFunctionResponse.FromString(reply.response)


@pytest.mark.parametrize(
    "attack", [a for a in ATTACKS if not a.text], ids=[a.id for a in ATTACKS if not a.text]
)
def test_attack_is_stopped_by_name(pool: Pool, attack: Attack) -> None:
    """The error names the limit, or the mistake in the template."""
    (result,) = respond(pool, attack).results
    assert result.severity == pb.SEVERITY_FATAL
    assert attack.wanted in result.message


@pytest.mark.parametrize(
    "attack", [a for a in ATTACKS if a.text], ids=[a.id for a in ATTACKS if a.text]
)
def test_harmless_templates_render_quickly(pool: Pool, attack: Attack) -> None:
    """It exposes no Python object, has no effect outside, and takes little time."""
    respond(pool, attack)
    began = time.process_time()
    data = {"params": {}, "observed": {"composite": {"resource": {"spec": {"l": [1, 2, 3]}}}}}
    assert render_text(attack.template, data) == attack.wanted  # type: ignore[arg-type] # plain data
    assert time.process_time() - began < stretched(MAX_SECONDS)


def test_table_is_whole() -> None:
    """There is a row for each of the 95 hostile Jinja templates."""
    assert len(ATTACKS) == 95
