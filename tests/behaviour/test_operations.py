"""Programs of Operations: no composite resource, full names, an output, the watched resource."""

import pytest
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

WATCHED: Object = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "team-a", "annotations": {"size": "3"}},
}
META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Output\ndata: "
CONFIG = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n"
    "  annotations: {script.fn.crossplane.io/composition-resource-name: settings}\n"
)
PROGRAMS = {
    "starlark": builders.starlark(
        "def main(req):\n"
        '    name = get_watched(req, "metadata.name")\n'
        "    rsp = response()\n"
        '    rsp.resource("settings", {"apiVersion": "v1", "kind": "ConfigMap",\n'
        '        "metadata": {"name": "settings", "namespace": name}})\n'
        '    rsp.output({"seen": name})\n'
        "    return rsp.build()\n"
    ),
    "jinja": builders.jinja(
        "{% set name = get_watched_resource().metadata.name %}\n"
        f"{CONFIG}  name: settings\n  namespace: {{{{ name }}}}\n"
        f"---\n{META}{{seen: {{{{ name }}}}}}\n"
    ),
    "gotemplate": builders.gotemplate(
        "{{ $name := getWatchedResource.metadata.name }}\n"
        f"{CONFIG}  name: settings\n  namespace: {{{{ $name }}}}\n"
        f"---\n{META}{{seen: {{{{ $name }}}}}}\n"
    ),
}
NAMELESS = builders.jinja(CONFIG)


def operate(step_input: Object, **parts: object) -> pb.RunFunctionResponse:
    """The response to a request as an Operation's step makes it."""
    message = builders.request(step_input, **parts)
    message.ClearField("observed")
    return builders.call(message)


@pytest.mark.parametrize("language", PROGRAMS)
def test_program_reacts_to_what_is_watched(language: str) -> None:
    """It reads the watched resource, names what it applies, and tells what it did."""
    fetched = {"ops.crossplane.io/watched-resource": {"items": [{"resource": WATCHED}]}}
    response = operate(PROGRAMS[language], required_resources=fetched)
    assert list(response.results) == []
    assert not response.desired.HasField("composite")
    document = builders.to_dict(response)
    assert document["output"] == {"seen": "team-a"}
    assert document["desired"] == {
        "resources": {
            "settings": {
                "resource": {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": "settings", "namespace": "team-a"},
                }
            }
        }
    }


def test_applied_object_has_a_name() -> None:
    """Nobody generates one; in a Composition Crossplane does."""
    (result,) = operate(NAMELESS).results
    assert result.severity == pb.SEVERITY_FATAL
    assert result.message == (
        'cannot return resource "settings": an Operation needs its metadata.name '
        "(Crossplane names the resources of an XR only)"
    )
    assert list(builders.call(builders.request(NAMELESS)).results) == []


def test_object_of_an_earlier_step_may_be_merged_into() -> None:
    """A document that adds a field need not repeat the name."""
    earlier = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    desired = {"resources": {"settings": {"resource": earlier}}}
    more = builders.jinja(f"{CONFIG}data: {{a: b}}\n")
    response = operate(more, desired=desired)
    assert list(response.results) == []
    merged = builders.to_dict(response)["desired"]
    assert merged == {"resources": {"settings": {"resource": {**earlier, "data": {"a": "b"}}}}}
