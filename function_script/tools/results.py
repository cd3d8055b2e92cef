"""What the results in a response say. Called by the tools that call functions."""

from __future__ import annotations

from function_script.proto.v1 import run_function_pb2 as fnv1


def fatal_messages(response: fnv1.RunFunctionResponse) -> list[str]:
    """The messages of the results that end the pipeline; [] when there is none."""
    fatal = fnv1.SEVERITY_FATAL
    return [result.message for result in response.results if result.severity == fatal]
