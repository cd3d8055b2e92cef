"""TTL of a response: the program's, else the input's, else a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb

if TYPE_CHECKING:
    from function_script.values import Object

META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Response\nttl: 5m\n"


def go(inline: str) -> Object:
    """A GoTemplate of ours."""
    return {**builders.jinja(inline), "kind": "GoTemplate"}


SILENT = {
    "starlark": builders.starlark("def main(req):\n    return {}\n"),
    "jinja": builders.jinja("# nothing\n"),
    "gotemplate": go("# nothing\n"),
}
SAYING = {
    "starlark": builders.starlark('def main(req):\n    return {"meta": {"ttl": "5m"}}\n'),
    "jinja": builders.jinja(META),
    "gotemplate": go(META),
}
FAILING = {
    "starlark": builders.starlark('def main(req):\n    fail("no")\n'),
    "jinja": builders.jinja('{{ fail("no") }}'),
    "gotemplate": go('{{ fail "no" }}'),
}
STATED = builders.starlark(
    "def main(req):\n"
    '    return {"meta": {"ttl": "5m"}, "results": [{"severity": "Fatal", "message": "no"}]}\n'
)


def seconds(step_input: Object) -> int:
    """The TTL of the response, which is always said."""
    response = builders.call(builders.request(step_input))
    assert response.meta.HasField("ttl")
    return response.meta.ttl.ToSeconds()


@pytest.mark.parametrize("language", SILENT)
def test_the_ttl_is_the_programs_or_the_inputs(language: str) -> None:
    """In every language alike."""
    assert seconds(SILENT[language]) == 60
    assert seconds({**SILENT[language], "ttl": "20m"}) == 1200
    assert seconds({**SILENT[language], "ttl": "0s"}) == 0
    assert seconds({**SAYING[language], "ttl": "20m"}) == 300


@pytest.mark.parametrize("step_input", [*FAILING.values(), STATED], ids=[*FAILING, "as a result"])
def test_no_error_is_kept(step_input: Object) -> None:
    """A cache would hand it out again when its cause is gone."""
    response = builders.call(builders.request({**step_input, "ttl": "20m"}))
    assert pb.SEVERITY_FATAL in [result.severity for result in response.results]
    assert seconds({**step_input, "ttl": "20m"}) == 0
