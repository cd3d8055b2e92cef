"""Measure Go templates of 45 to 92 KB: the first request of a program, and later ones.

Every program is new to each server: it ends in a comment that no other program has. Servers take
turns, program by program.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import grpc
from load import METHOD
from measure import Target, cpu_seconds, listener

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from e2e.serving import Server  # noqa: E402 - from the tests' folder
from google.protobuf import json_format  # noqa: E402 - same

from function_script.proto.v1 import run_function_pb2 as pb  # noqa: E402 - same

_KILOBYTES = (45, 61, 77, 92)
_LATER = 50
_DOCUMENT = """\
{{{{- if ge (int $spec.count) 1 }}}}
---
apiVersion: s3.aws.upbound.io/v1beta1
kind: Bucket
metadata:
  name: {{{{ printf "%s-%d" $xr.metadata.name {number} | trunc 40 | trimSuffix "-" }}}}
  labels:
    team: {{{{ $spec.team | default "storage" | quote }}}}
  annotations:
    {{{{ setResourceNameAnnotation "bucket-{number}" }}}}
spec:
  forProvider:
    region: {{{{ $spec.region }}}}
    tags:
{{{{- range $key, $value := $spec.tags }}}}
      {{{{ $key }}}}: {{{{ $value | upper | quote }}}}
{{{{- end }}}}
{{{{- with index $.observed "resources" }}}}
      resources: "{{{{ len . }}}}"
{{{{- end }}}}
  providerConfigRef:
    name: default
{{{{- end }}}}
"""


def template(kilobytes: int, number: int) -> str:
    """Return a program of this size; none with another number is equal to it."""
    xr = "{{- $xr := .observed.composite.resource }}{{- $spec := $xr.spec }}\n"
    texts, size = [xr], len(xr)
    while size < kilobytes * 1_000:
        texts.append(_DOCUMENT.format(number=len(texts)))
        size += len(texts[-1])
    return "".join([*texts, f"{{{{- /* {number} */ -}}}}\n"])


def request(text: str, nonce: int) -> bytes:
    """Return a request with new values of the XR."""
    tags = {"nonce": f"n{nonce}", "owner": "platform"}
    xr = {
        "apiVersion": "bench.example.org/v1",
        "kind": "XStorage",
        "metadata": {"name": "demo", "uid": "8a4c2f0e-0000-0000-0000-000000000000"},
        "spec": {"count": 1, "region": "eu-west-1", "tags": tags},
    }
    step_input = {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": text},
    }
    # function-go-templating reads the resources only where the map has an entry.
    observed = {"composite": {"resource": xr}, "resources": {"one": {"resource": xr}}}
    message = json_format.ParseDict(
        {"observed": observed, "input": step_input}, pb.RunFunctionRequest()
    )
    return message.SerializeToString()


def measure(target: Target, text: str, later: int) -> tuple[float, float]:
    """Return milliseconds of CPU of the first request, and of each of the later ones."""
    requests = [request(text, nonce) for nonce in range(later + 1)]
    with grpc.insecure_channel(target.address) as channel:
        call = channel.unary_unary(METHOD)
        figures = []
        for group in (requests[:1], requests[1:]):
            before = _settled_cpu(target)
            for data in group:
                _check(call(data, timeout=60), text)
            figures.append((_settled_cpu(target) - before) / len(group) * 1e3)
    return figures[0], figures[1]


def _settled_cpu(target: Target) -> float:
    """Return CPU seconds when nothing runs any more: a Go server collects after its answer."""
    time.sleep(0.05)
    return cpu_seconds(target.pid)


def _check(data: bytes, text: str) -> None:
    response = pb.RunFunctionResponse.FromString(data)
    for result in response.results:
        if result.severity == pb.SEVERITY_FATAL:
            raise RuntimeError(result.message)
    if len(response.desired.resources) != text.count("kind: Bucket"):
        raise RuntimeError("the response lacks resources")


def main() -> None:
    """Measure every size on every server; print a table."""
    options = _options()
    with Server("--insecure", "--memory-limit", "1Gi", "--workers=1", python=options.python) as own:
        targets = [Target(name="function-script", address=own.address, pid=own.pid)]
        for text in options.peer:
            name, _, address = text.partition("=")
            pid = listener(int(address.rpartition(":")[2]))
            targets.append(Target(name=name, address=address, pid=pid))
        report = [
            {"kilobytes": kilobytes, **_compare(targets, kilobytes, options)}
            for kilobytes in _KILOBYTES
        ]
    options.output.write_text(json.dumps(report, indent=1) + "\n")


def _compare(
    targets: list[Target], kilobytes: int, options: argparse.Namespace
) -> dict[str, tuple[float, float]]:
    samples: dict[str, list[tuple[float, float]]] = {target.name: [] for target in targets}
    for number in range(options.programs):
        text = template(kilobytes, time.time_ns() + number)
        for target in targets:
            samples[target.name].append(measure(target, text, options.later))
    means = {}
    for name, pairs in samples.items():
        first, later = (statistics.mean(column) for column in zip(*pairs, strict=True))
        means[name] = (first, later)
        print(f"{kilobytes:>4} KB {name:>24}: first {first:8.1f} ms, later {later:7.2f} ms")
    return means


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=10, help="of each size")
    parser.add_argument("--later", type=int, default=_LATER, help="requests after the first")
    parser.add_argument("--python", default=sys.executable, help="serve this one's installation")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=HOST:PORT")
    parser.add_argument("--output", type=Path, default=Path("large_templates.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
