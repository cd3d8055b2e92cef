"""The requests that are measured: generated managed resources, varied as real ones vary.

A program reads ``status.atProvider.arn`` of the observed resources it touches, emits one Bucket per
``spec.count`` and an XR status. Requests differ from each other as real ones do: the order of maps,
resource versions, timestamps. With new documents every Bucket also carries a value that no earlier
request had.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from google.protobuf import json_format

from function_script.proto.v1 import run_function_pb2 as pb

TOUCHED_FEW = 3
# Replaced in the encoded request, so it must keep its length.
NONCE = b"nonce-0000000000"
VARIANTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What one measurement sends: resources observed and produced, and how many are read."""

    observed: int
    produced: int
    few: bool = False
    new: bool = True

    @property
    def name(self) -> str:
        """A short name for tables."""
        touched = f"touch {TOUCHED_FEW}" if self.few else "touch all"
        documents = "new" if self.new else "known"
        return f"{self.observed} observed, {self.produced} produced, {touched}, {documents}"


def managed_resource(index: int, seed: random.Random) -> dict[str, object]:
    """One observed resource as a cloud provider's look, managedFields included."""
    name = f"bucket-{index:04d}"
    tags = {f"tag-{n}": f"value-{n}-{index}" for n in range(6)}
    managed = [
        {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": "s3.aws.upbound.io/v1beta1",
            "time": f"2026-01-{seed.randint(10, 28)}T10:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {f"f:field{n}": {"f:sub": {}} for n in range(6)},
        }
        for manager in ("crossplane", "provider-aws")
    ]
    return {
        "apiVersion": "s3.aws.upbound.io/v1beta1",
        "kind": "Bucket",
        "metadata": {
            "name": f"demo-{name}",
            "generateName": "demo-",
            "uid": f"00000000-0000-0000-0000-{index:012d}",
            "resourceVersion": str(seed.randint(10**6, 10**7)),
            "creationTimestamp": "2026-01-05T10:00:00Z",
            "generation": 2,
            "labels": {"crossplane.io/composite": "demo", "team": "storage"},
            "annotations": {
                "crossplane.io/composition-resource-name": name,
                "crossplane.io/external-name": f"demo-{name}",
            },
            "finalizers": ["finalizer.managedresource.crossplane.io"],
            "managedFields": managed,
        },
        "spec": {
            "deletionPolicy": "Delete",
            "forProvider": {"region": "eu-west-1", "forceDestroy": False, "tags": tags},
            "managementPolicies": ["*"],
            "providerConfigRef": {"name": "default"},
        },
        "status": {
            "atProvider": {
                "arn": f"arn:aws:s3:::demo-{name}",
                "bucketDomainName": f"demo-{name}.s3.amazonaws.com",
                "hostedZoneId": "Z1BKCTXD74EZPE",
                "id": f"demo-{name}",
                "tagsAll": tags,
                "versioning": [{"enabled": False, "mfaDelete": False}],
                "objectCount": seed.randint(1, 10**6),
            },
            "conditions": [
                {
                    "type": kind,
                    "status": "True",
                    "reason": "Available",
                    "lastTransitionTime": f"2026-01-05T10:{seed.randint(10, 59)}:00Z",
                }
                for kind in ("Ready", "Synced")
            ],
        },
    }


def requests(workload: Workload, step_input: dict[str, object]) -> list[bytes]:
    """Encoded requests that mean the same and differ in order and in what changes by itself."""
    return [_request(workload, step_input, random.Random(seed)) for seed in range(VARIANTS)]  # noqa: S311 - reproducible variety, not secrets


def _request(workload: Workload, step_input: dict[str, object], seed: random.Random) -> bytes:
    order = list(range(workload.observed))
    seed.shuffle(order)
    xr = {
        "apiVersion": "bench.example.org/v1",
        "kind": "XStorage",
        "metadata": {
            "name": "demo",
            "uid": "8a4c2f0e-0000-0000-0000-000000000000",
            "resourceVersion": str(seed.randint(10**6, 10**7)),
            "labels": {"crossplane.io/composite": "demo"},
        },
        "spec": {"count": workload.produced, "region": "eu-west-1", "nonce": NONCE.decode()},
    }
    resources = {
        f"bucket-{index:04d}": {"resource": managed_resource(index, seed)} for index in order
    }
    message = json_format.ParseDict(
        {
            "meta": {"tag": "bench"},
            "observed": {"composite": {"resource": xr}, "resources": resources},
            "desired": {},
            "context": {},
            "input": step_input,
        },
        pb.RunFunctionRequest(),
    )
    return message.SerializeToString()


def renewed(data: bytes, number: int) -> bytes:
    """The request with a value that no other request has."""
    return data.replace(NONCE, b"nonce-%010d" % number)


def check(workload: Workload, data: bytes) -> None:
    """Raise unless the response is right: not fatal, every Bucket there, the arns read."""
    response = pb.RunFunctionResponse.FromString(data)
    # function-starlark reports success as a result of every run.
    for result in response.results:
        if result.severity == pb.SEVERITY_FATAL:
            raise RuntimeError(f"{workload.name}: {result.message}")
    produced = [name for name in response.desired.resources if name.startswith("new-")]
    touched = min(workload.observed, TOUCHED_FEW) if workload.few else workload.observed
    status = response.desired.composite.resource["status"]
    if len(produced) != workload.produced or status["touched"] != touched:
        raise RuntimeError(f"{workload.name}: the response is wrong")
