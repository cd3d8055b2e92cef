"""What the server noted of a request that was answered."""

from function_script.server.request_record import RequestRecord
from function_script.step.telemetry import RequestInfo

INFO = RequestInfo(
    api_version="example.org/v1",
    kind="XThing",
    name="demo",
    input="GoTemplate",
    documents=3,
    program_microseconds=10_000,
)
RECORD = RequestRecord(
    outcome="ok",
    info=INFO,
    request_bytes=1_000,
    response_bytes=500,
    seconds=0.0201,
    waited_seconds=0.005,
)
