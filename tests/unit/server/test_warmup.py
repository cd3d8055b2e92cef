"""The requests that a zygote evaluates before it forks workers."""

from support import builders

from function_script.engines.registry import LANGUAGES
from function_script.request.limits import Limits
from function_script.server import lifecycle
from function_script.step import function


def test_language_is_warmed_up() -> None:
    requests = lifecycle.build_warmup_requests()
    assert len(requests) == len(LANGUAGES)
    for request in requests:
        answer = function.handle(request, Limits(), lambda _: None)
        response = builders.pb.RunFunctionResponse.FromString(answer.response)
        assert answer.diagnostics == ()
        assert list(response.desired.resources) == ["warmup"]
