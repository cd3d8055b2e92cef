"""The client: one connection, so many calls in flight, every response checked.

Reads a job as JSON from standard input and prints a result as JSON; started by run.py.
"""

from __future__ import annotations

import base64
import itertools
import json
import sys
import threading
import time

import grpc
from workloads import Workload, check, renewed

METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.ssl_target_name_override", "function-script.crossplane-system"),
]
_CALL_SECONDS = 60.0


def drive(channel: grpc.Channel, job: dict[str, object]) -> dict[str, object]:
    """Keep ``clients`` calls in flight for so long or so many; latencies in seconds, sorted."""
    workload = Workload(**job["workload"])  # type: ignore[arg-type] # the job is made by run.py
    requests = [base64.b64decode(text) for text in job["requests"]]  # type: ignore[union-attr] # same
    call = channel.unary_unary(METHOD)
    first = int(time.time() * 1000) % 10**9
    last = first + int(job["calls"])  # type: ignore[call-overload] # the job is made by measure.py
    numbers = itertools.count(first)
    latencies: list[float] = []
    failures: list[str] = []
    end = time.perf_counter() + float(job["seconds"])  # type: ignore[arg-type] # same

    def client() -> None:
        while time.perf_counter() < end and not failures:
            number = next(numbers)
            if number >= last:
                return
            data = requests[number % len(requests)]
            data = renewed(data, number) if workload.new else data
            start = time.perf_counter()
            try:
                response = call(data, timeout=_CALL_SECONDS)
                latencies.append(time.perf_counter() - start)
                check(workload, response)
            except (grpc.RpcError, RuntimeError) as error:
                failures.append(str(error))

    began = time.perf_counter()
    threads = [threading.Thread(target=client) for _ in range(int(job["clients"]))]  # type: ignore[call-overload] # same
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - began
    return {"latencies": sorted(latencies), "failures": failures[:3], "elapsed": elapsed}


def connect(job: dict[str, object]) -> grpc.Channel:
    """A plaintext connection, or with mutual TLS when the job names certificates."""
    certs = job.get("certs")
    if not certs:
        return grpc.insecure_channel(str(job["address"]), options=_OPTIONS)
    parts = [base64.b64decode(text) for text in certs]  # type: ignore[attr-defined] # three texts
    credentials = grpc.ssl_channel_credentials(parts[0], parts[1], parts[2])
    return grpc.secure_channel(str(job["address"]), credentials, options=_OPTIONS)


def main() -> None:
    """Run the job on standard input."""
    job = json.load(sys.stdin)
    with connect(job) as channel:
        grpc.channel_ready_future(channel).result(timeout=10)
        json.dump(drive(channel, job), sys.stdout)


if __name__ == "__main__":
    main()
