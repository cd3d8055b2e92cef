"""Results in a response."""

from function_script.proto.v1 import run_function_pb2 as fnv1


def fatal_messages(response: fnv1.RunFunctionResponse) -> list[str]:
    """Return the messages of the fatal results, which end the pipeline."""
    fatal = fnv1.SEVERITY_FATAL
    return [result.message for result in response.results if result.severity == fatal]
