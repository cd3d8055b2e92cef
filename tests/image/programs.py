"""Requests for servers in containers: one in each language, and what no server may suffer from."""

import grpc
from e2e.serving import call
from support import builders

from function_script.proto.v1 import run_function_pb2 as pb

BOMB = """
def main(req):
    lists = []
    for i in range(1000000):
        lists.append([i] * 100000)
    return {}
"""
ENDLESS = "def main(req):\n    for i in range(1000000000):\n        pass\n"
STARLARK = builders.starlark("""
def main(req):
    spec = req["observed"]["composite"]["resource"]["spec"]
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"count": str(spec["count"] + 1)}}
    return {"desired": {"resources": {"thing": {"resource": thing}}}}
""")
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: thing}
data: {count: "%s"}
"""
COUNT = ".observed.composite.resource.spec.count"
GO = TEMPLATE % f"{{{{ add {COUNT} 1 }}}}"
REQUESTS = {
    "StarlarkScript": builders.request(STARLARK),
    "JinjaTemplate": builders.request(builders.jinja(TEMPLATE % f"{{{{ {COUNT[1:]} + 1 }}}}")),
    "GoTemplate": builders.request(
        {
            "apiVersion": builders.API_VERSION,
            "kind": "GoTemplate",
            "inline": GO,
        }
    ),
}
GOOD = REQUESTS["StarlarkScript"]


def count(channel: grpc.Channel, request: pb.RunFunctionRequest = GOOD) -> str:
    """The number in the one resource of the answer: that of the XR, and one."""
    response = call(channel, request)
    assert not response.results, response.results
    return str(response.desired.resources["thing"].resource["data"]["count"])
