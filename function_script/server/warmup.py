"""Warm-up: the requests that a zygote evaluates before it forks workers, one for each language."""

from google.protobuf import json_format

from function_script.engines.registry import LANGUAGES
from function_script.inputs.kinds import API_VERSION
from function_script.proto.v1 import run_function_pb2 as pb

_XR = {"apiVersion": "example.org/v1", "kind": "XWarmup", "metadata": {"name": "warmup"}}


def build_requests() -> tuple[bytes, ...]:
    """Return the encoded requests."""
    documents = [
        {
            "observed": {"composite": {"resource": _XR}},
            "input": {
                "apiVersion": API_VERSION,
                "kind": language.kind,
                language.text_field: language.warmup,
            },
        }
        for language in LANGUAGES.values()
    ]
    return tuple(
        json_format.ParseDict(document, pb.RunFunctionRequest()).SerializeToString()
        for document in documents
    )
