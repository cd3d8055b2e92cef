"""Whatever bytes come as a request, ``handle`` raises nothing and answers with the tag.

``make fuzz`` looks for more of the same with the help of coverage.
"""

from __future__ import annotations

import random

import pytest
from fuzz import targets
from hypothesis import given
from hypothesis import strategies as st

from function_script import function
from function_script.proto.v1 import run_function_pb2 as pb

REQUESTS = targets.requests()
MUTATIONS = 25


@given(st.binary(max_size=300))
def test_any_bytes_are_answered(data: bytes) -> None:
    """Noise instead of a request."""
    targets.handle(data)


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_mutated_requests_are_answered(number: int) -> None:
    """The examples' requests with a few bytes changed, cut out or doubled: always the same ones."""
    chance = random.Random(number)  # noqa: S311 - the same mutations each time
    targets.handle(REQUESTS[number])
    for _ in range(MUTATIONS):
        data = bytearray(REQUESTS[number])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 2)] = chance.randbytes(chance.randint(0, 2))
        targets.handle(bytes(data))


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_truncated_requests_are_answered(number: int) -> None:
    """The same requests, of which only the beginning came, with the tag in front."""
    chance = random.Random(number)  # noqa: S311 - the same lengths each time
    whole = REQUESTS[number]
    tag = pb.RunFunctionRequest.FromString(whole).meta.tag
    first = len(pb.RunFunctionRequest(meta=pb.RequestMeta(tag=tag)).SerializeToString())
    for _ in range(MUTATIONS):
        data = whole[: chance.randrange(first, len(whole))]
        targets.handle(data)
        answer = function.handle(data, targets.LIMITS, lambda _: None)
        assert pb.RunFunctionResponse.FromString(answer.response).meta.tag == tag
