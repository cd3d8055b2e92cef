"""Requests that a server's workers handle before they are born: one for each language."""

from __future__ import annotations

from google.protobuf import json_format

from function_script.engines.registry import LANGUAGES
from function_script.inputs.kinds import API_VERSION
from function_script.proto.v1 import run_function_pb2 as pb

_XR = {"apiVersion": "example.org/v1", "kind": "XRehearsal", "metadata": {"name": "rehearsal"}}


def build() -> tuple[bytes, ...]:
    """Return the requests' bytes."""
    return tuple(
        _request({"kind": language.kind, language.text_field: language.warmup})
        for language in LANGUAGES.values()
    )


def _request(step_input: dict[str, str]) -> bytes:
    document = {
        "observed": {"composite": {"resource": _XR}},
        "input": {"apiVersion": API_VERSION, **step_input},
    }
    return json_format.ParseDict(document, pb.RunFunctionRequest()).SerializeToString()
