"""The described cases of function-go-templating, in its own apiVersion, through the main path."""

from functools import cache
from itertools import cycle
from pathlib import Path

import pytest
from support import gotemplating
from support.gotemplating import Case

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.objects import find_path
from function_script.step import function

CASES = gotemplating.load()


@cache
def load(head: str) -> dict[str, Case]:
    """Load the cases by name, with the head of a name in their inputs, once for all tests."""
    return {case.name: case for case in gotemplating.load(gotemplating.HEADS[head])}


def call(case: Case, directory: Path) -> pb.RunFunctionResponse:
    """Return the response; files of the case are below ``directory``."""
    for name, text in case.directory.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    message = gotemplating.request(case, str(directory))
    limits = Limits(
        program_root=str(directory),
        default_source=case.defaults.get("source", ""),
        default_options=case.defaults.get("options", ""),
    )
    answer = function.handle(message.SerializeToString(), limits, lambda _: None)
    return pb.RunFunctionResponse.FromString(answer.response)


# Each case has two heads of an input: that function's own, and one of the others in turn.
OWN, *OTHERS = gotemplating.HEADS
HEADED = [
    pytest.param(case.name, head, id=f"{case.name}, {head}")
    for case, other in zip(CASES, cycle(OTHERS), strict=False)
    for head in (OWN, other)
]


@pytest.mark.parametrize(("name", "head"), HEADED)
def test_case(name: str, head: str, tmp_path: Path) -> None:
    """The response is that of the table; a fatal one is the request with one result, without TTL.

    The head of the input makes no difference: function-go-templating reads neither its apiVersion
    nor its kind.
    """
    case = load(head)[name]
    response = call(case, tmp_path)
    results = list(response.results)
    del response.results[:]
    if case.fatal:
        assert response.meta.HasField("ttl")
        assert response.meta.ttl.ToSeconds() == 0
        response.meta.ttl.FromSeconds(60)
        (result,) = results
        assert result.severity == pb.SEVERITY_FATAL
        for text in case.fatal:
            assert text.replace("@DIR@", str(tmp_path)).lower() in result.message.lower()
    else:
        assert results == []
        if find_path(case.want, "meta.ttl") == "60s" and "60s" not in str(case.request):
            # That function's default; here it is by the cause.
            seconds = 60 if case.directory else 3240
            assert response.meta.ttl.ToSeconds() == 10 or response.meta.ttl.ToSeconds() >= seconds
            response.meta.ttl.FromSeconds(60)
    assert gotemplating.comparable(response) == case.want


def test_table_has_49_different_cases() -> None:
    assert len({case.name for case in CASES}) == len(CASES) == 49


MISSING = [case for case in CASES if "missingkey=error" in str((case.request, case.defaults))]


@pytest.mark.parametrize("case", MISSING, ids=lambda case: case.name)
def test_missing_key_is_reported_with_line_and_column(case: Case, tmp_path: Path) -> None:
    """The other function counts bytes from 0, this one characters from 1."""
    (result,) = call(case, tmp_path).results
    column = str(find_path(case.request, "input.inline.template")).index(".missing") + 1
    assert result.message.startswith(f"inline.template:1:{column}: ")
