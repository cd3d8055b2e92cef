"""What must hold for any bytes: one function for each way in, raising when it does not hold.

Called by run.py under a fuzzer and by tests/property with fixed mutations.
"""

import yaml
from google.protobuf.message import DecodeError
from support import builders
from support.paths import ROOT

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import MIB, Limits
from function_script.step import function

EXAMPLES = ROOT / "examples"
KINDS = {"StarlarkScript", "JinjaTemplate", "GoTemplate"}
# A program is to be judged by the sandbox; here it must only end soon.
LIMITS = Limits(timeout_seconds=0.5, steps=5_000, nodes=5_000, output_bytes=MIB)


def handle(data: bytes) -> None:
    """A request is answered: decodable, with its tag. Bytes that are none are, with what they have.

    Of those parts that nobody touched may come back as they came, broken.
    """
    answer = function.handle(data, LIMITS, lambda _: None)
    try:
        request = pb.RunFunctionRequest.FromString(data)
    except DecodeError:
        if (tag := wire.index_tag(answer.response).tag) != wire.index_tag(data).tag:
            raise AssertionError(f"a tag that cannot be: {tag!r}") from None
        return
    response = pb.RunFunctionResponse.FromString(answer.response)
    if response.meta.tag != request.meta.tag:
        raise AssertionError(f"the tag {request.meta.tag!r} became {response.meta.tag!r}")


def requests() -> list[bytes]:
    """A request for each step of the examples that has an input of ours."""
    found = []
    for path in sorted(EXAMPLES.glob("*/composition.yaml")):
        xr = yaml.load(path.with_name("xr.yaml").read_text(), yaml.CSafeLoader)
        observed = {"composite": {"resource": xr}}
        for step in yaml.load(path.read_text(), yaml.CSafeLoader)["spec"]["pipeline"]:
            if step.get("input", {}).get("kind") in KINDS:
                message = builders.request(step["input"], observed=observed)
                found.append(message.SerializeToString())
    return found


TARGETS = {"handle": (handle, requests)}
