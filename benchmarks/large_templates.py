"""Measure Go templates of 45 to 92 KB: the first request of a program, and later ones.

Every program is new to each server: it ends in a comment that no other program has. Servers take
turns, program by program.

The templates are generated, with 150 tokens in a kilobyte: templates of teams have 55 to 125. With
--template FILE XR, which may be repeated, an author's own template is measured in place of them,
with its XR, whose name is another one in each request. It has Go's delimiters, and needs no
observed resources.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import yaml
from load import METHOD
from measure import Target, cpu_seconds, listener

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from e2e.serving import Server  # noqa: E402 - from the tests' folder
from google.protobuf import json_format  # noqa: E402 - same

from function_script.engines.gotemplate.language import DELIMS  # noqa: E402 - same
from function_script.engines.gotemplate.syntax.lexer import tokenize  # noqa: E402 - same
from function_script.proto.v1 import run_function_pb2 as pb  # noqa: E402 - same

_KILOBYTES = (45, 61, 77, 92)
_LATER = 50
# No two requests of a run render the same documents.
_NONCES = itertools.count()
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


_XR = {
    "apiVersion": "bench.example.org/v1",
    "kind": "XStorage",
    "metadata": {"name": "demo", "uid": "8a4c2f0e-0000-0000-0000-000000000000"},
    "spec": {"count": 1, "region": "eu-west-1", "tags": {"owner": "platform"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template and its XR. ``resources`` is the number that it makes, 0 where nobody knows."""

    name: str
    text: str
    xr: dict[str, Any]
    resources: int = 0

    def program(self, number: int) -> str:
        """Return a program of this template; none with another number is equal to it."""
        return f"{self.text}{{{{- /* {number} */ -}}}}\n"

    def facts(self) -> dict[str, object]:
        """Return its name and size."""
        tokens = tokenize(self.text, *DELIMS)
        return {
            "template": self.name,
            "kilobytes": round(len(self.text) / 1_000, 1),
            "tokens": len(tokens.kinds),
        }

    def request(self, text: str, nonce: int) -> bytes:
        """Return a request of a program with other values of the XR for each nonce."""
        xr = copy.deepcopy(self.xr)
        xr["metadata"]["name"] += f"-{nonce:04}"
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


def generate(kilobytes: int) -> Template:
    """Return a template of this size."""
    xr = "{{- $xr := .observed.composite.resource }}{{- $spec := $xr.spec }}\n"
    texts, size = [xr], len(xr)
    while size < kilobytes * 1_000:
        texts.append(_DOCUMENT.format(number=len(texts)))
        size += len(texts[-1])
    text = "".join(texts)
    resources = text.count("kind: Bucket")
    return Template(name=f"{kilobytes} KB", text=text, xr=_XR, resources=resources)


def read(template: Path, xr: Path) -> Template:
    """Return an author's template with its XR."""
    value = yaml.safe_load(xr.read_text(encoding="utf-8"))
    return Template(name=template.name, text=template.read_text(encoding="utf-8"), xr=value)


def measure(target: Target, requests: list[bytes], resources: int) -> tuple[float, float]:
    """Return milliseconds of CPU of the first request, and of each of the later ones."""
    with grpc.insecure_channel(target.address) as channel:
        call = channel.unary_unary(METHOD)
        figures = []
        for group in (requests[:1], requests[1:]):
            before = _settled_cpu(target)
            for data in group:
                _check(call(data, timeout=60), resources)
            figures.append((_settled_cpu(target) - before) / len(group) * 1e3)
    return figures[0], figures[1]


def _settled_cpu(target: Target) -> float:
    """Return CPU seconds when nothing runs any more: a Go server collects after its answer."""
    time.sleep(0.05)
    return cpu_seconds(target.pid)


def _check(data: bytes, resources: int) -> None:
    response = pb.RunFunctionResponse.FromString(data)
    for result in response.results:
        if result.severity == pb.SEVERITY_FATAL:
            raise RuntimeError(result.message)
    count = len(response.desired.resources)
    if count == 0 or count < resources:
        raise RuntimeError(f"the response has {count} resources")


def main() -> None:
    """Measure every template on every server; print a table."""
    options = _options()
    templates = [read(*map(Path, pair)) for pair in options.template]
    with Server("--insecure", "--memory-limit", "1Gi", "--workers=1", python=options.python) as own:
        targets = [Target(name="function-script", address=own.address, pid=own.pid)]
        for text in options.peer:
            name, _, address = text.partition("=")
            pid = listener(int(address.rpartition(":")[2]))
            targets.append(Target(name=name, address=address, pid=pid))
        report = [
            {**template.facts(), **_compare(targets, template, options)}
            for template in templates or map(generate, _KILOBYTES)
        ]
    options.output.write_text(json.dumps(report, indent=1) + "\n")


def _compare(
    targets: list[Target], template: Template, options: argparse.Namespace
) -> dict[str, tuple[float, float]]:
    samples: dict[str, list[tuple[float, float]]] = {target.name: [] for target in targets}
    for number in range(options.programs):
        text = template.program(time.time_ns() + number)
        nonces = itertools.islice(_NONCES, options.later + 1)
        requests = [template.request(text, nonce) for nonce in nonces]
        for target in targets:
            samples[target.name].append(measure(target, requests, template.resources))
    means = {}
    for name, pairs in samples.items():
        first, later = (statistics.mean(column) for column in zip(*pairs, strict=True))
        means[name] = (first, later)
        print(f"{template.name:>24} {name:>24}: first {first:8.1f} ms, later {later:7.2f} ms")
    return means


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--template",
        nargs=2,
        action="append",
        default=[],
        metavar=("FILE", "XR"),
        help="measure this template with this XR, and none that is generated; repeatable",
    )
    parser.add_argument("--programs", type=int, default=10, help="of each template")
    parser.add_argument("--later", type=int, default=_LATER, help="requests after the first")
    parser.add_argument("--python", default=sys.executable, help="serve this one's installation")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=HOST:PORT")
    parser.add_argument("--output", type=Path, default=Path("large_templates.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
