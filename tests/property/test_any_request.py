"""For any bytes as a request, ``handle`` raises nothing and returns a response with the tag.

``make fuzz`` searches for more of the same with the help of coverage.
"""

import random

import pytest
from fuzz import targets
from hypothesis import given
from hypothesis import strategies as st

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.step import function

REQUESTS = targets.requests()
MUTATIONS = 25


@given(st.binary(max_size=300))
def test_handle_of_any_bytes_returns_a_response(data: bytes) -> None:
    targets.handle(data)


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_handle_of_mutated_request_returns_a_response(number: int) -> None:
    """A few bytes of the examples' requests are changed, cut out or doubled: always the same."""
    chance = random.Random(number)  # noqa: S311 - the same mutations each time
    targets.handle(REQUESTS[number])
    for _ in range(MUTATIONS):
        data = bytearray(REQUESTS[number])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 2)] = chance.randbytes(chance.randint(0, 2))
        targets.handle(bytes(data))


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_handle_of_truncated_request_returns_its_tag(number: int) -> None:
    chance = random.Random(number)  # noqa: S311 - the same lengths each time
    whole = REQUESTS[number]
    tag = pb.RunFunctionRequest.FromString(whole).meta.tag
    first = len(pb.RunFunctionRequest(meta=pb.RequestMeta(tag=tag)).SerializeToString())
    for _ in range(MUTATIONS):
        data = whole[: chance.randrange(first, len(whole))]
        targets.handle(data)
        answer = function.handle(data, targets.LIMITS, lambda _: None)
        assert pb.RunFunctionResponse.FromString(answer.response).meta.tag == tag
