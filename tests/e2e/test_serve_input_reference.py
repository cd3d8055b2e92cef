"""A real server whose step names an object of the cluster, in a model of Crossplane's deletions."""

from functools import partial
from typing import cast

from e2e.serving import Server, call
from support import builders
from support.core_model import Core

from function_script.request.values import Object

STEP: Object = {
    "apiVersion": builders.API_VERSION,
    "kind": "StarlarkScript",
    "inputRef": {"name": "things", "namespace": "platform"},
    "params": {"count": 5},
}
SCRIPT = (
    "def main(req):\n"
    '    body = {"apiVersion": "example.org/v1", "kind": "Thing"}\n'
    '    names = ["r%d" % i for i in range(req["params"]["count"])]\n'
    '    return {"desired": {"resources": {name: {"resource": body} for name in names}}}\n'
)


def test_cold_start_beside_five_resources_deletes_none(plain_server: Server) -> None:
    metadata: Object = {"name": "things", "namespace": "platform"}
    stored: Object = {**builders.starlark(SCRIPT, params={"count": 1}), "metadata": metadata}
    with plain_server.channel() as channel:
        core = Core(pipeline=[STEP], required=[stored], function=partial(call, channel))
        core.run(5.0)
        assert len(core.created) == 5
    with Server("--insecure") as server, server.channel() as channel:
        core.function = partial(call, channel)
        core.required = []
        core.run(5.0)
        assert any("cannot find StarlarkScript" in event.message for event in core.events)
        core.required = [{**stored, "limits": cast("Object", {"timeout": "long"})}]
        core.run(5.0)
        assert "StarlarkScript platform/things: limits.timeout" in core.events[-1].message
        core.required = [stored]
        core.run(5.0)
    assert not core.deleted
    assert len(core.resources) == len(core.created) == 5
