"""Time the codec on manifests as providers write them: ``python benchmarks/micro_wire.py``.

A "node" is an object, a list or a scalar. Times are CPU time, the least of several rounds.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct

from function_script import wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.request.values import Object, Value

RESOURCES = 50
ROUNDS = 15


def main() -> None:
    """Print one line per operation."""
    objects = [managed_resource(number) for number in range(RESOURCES)]
    structs = [wire.encode_struct(item) for item in objects]
    unsorted = [json_format.ParseDict(item, Struct()).SerializeToString() for item in objects]
    nodes = sum(map(count, objects))
    request = observed(structs)
    print(f"python {sys.version.split()[0]}, compiled: {wire.is_compiled()}")
    print(f"{nodes // RESOURCES} nodes and {len(structs[0])} bytes per resource")
    each = f"ns per node, {RESOURCES} resources"
    report("decode", each, nodes, lambda: [wire.decode_struct(item) for item in structs])
    report("decode, order of upb", each, nodes, lambda: list(map(wire.decode_struct, unsorted)))
    report("decode, no managedFields", each, nodes, lambda: [lean(item) for item in structs])
    report("encode", each, nodes, lambda: [wire.encode_struct(item) for item in objects])
    report("index", "ns per resource", RESOURCES, lambda: wire.index_request(request))
    state = wire.index_request(request).observed
    changed = {"bucket-7": wire.encode_resource(structs[0], {}, 1)}
    payload = state.payload if state is not None else b""
    report("splice", "ns", 1, lambda: wire.splice_state(payload, None, changed, set()))


def lean(struct: bytes) -> Object:
    """As requests are read."""
    parts = wire.index_object(wire.Part(struct, 0, len(struct)))
    without = {"metadata": "managedFields"}
    return {
        key: wire.decode_part(part, without=without.get(key, "")) for key, part in parts.items()
    }


def report(title: str, unit: str, share: int, work: Callable[[], object]) -> None:
    """Print the least time of several rounds, divided by ``share``."""
    best = min(seconds(work) for _ in range(ROUNDS))
    print(f"{title:26}{best / share * 1e9:9.0f} {unit}")


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call, as the mean of a few."""
    began = time.process_time()
    for _ in range(5):
        work()
    return (time.process_time() - began) / 5


def count(value: Value) -> int:
    """Nodes in ``value``."""
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


def observed(structs: list[bytes]) -> bytes:
    """A RunFunctionRequest with these resources observed."""
    resources = {
        f"bucket-{number}": wire.encode_resource(struct, {}, 0)
        for number, struct in enumerate(structs)
    }
    # Both messages have the State in field 2.
    state = wire.splice_state(b"", None, resources, set())
    return wire.encode_response(wire.Response("tag", None, state, [], None, None, [], None))


def managed_resource(number: int) -> Object:
    """A bucket as a provider reports it, managedFields included."""
    name = f"platform-{number:04}"
    arn = f"arn:aws:s3:::{name}"
    return {
        "apiVersion": "s3.aws.upbound.io/v1beta2",
        "kind": "Bucket",
        "metadata": _metadata(name, number),
        "spec": {
            "deletionPolicy": "Delete",
            "forProvider": {
                "region": "eu-central-1",
                "forceDestroy": False,
                "objectLockEnabled": False,
                "tags": _tags(name),
            },
            "initProvider": {},
            "managementPolicies": ["*"],
            "providerConfigRef": {"name": "default"},
        },
        "status": {
            "atProvider": _at_provider(name, arn),
            "conditions": [
                _condition("Ready", "Available"),
                _condition("Synced", "ReconcileSuccess"),
                _condition("LastAsyncOperation", "Success"),
            ],
            "observedGeneration": 3,
        },
    }


def _metadata(name: str, number: int) -> Object:
    return {
        "annotations": {
            "crossplane.io/composition-resource-name": f"bucket-{number}",
            "crossplane.io/external-create-pending": "2026-05-11T09:12:41Z",
            "crossplane.io/external-create-succeeded": "2026-05-11T09:12:43Z",
            "crossplane.io/external-name": name,
            "upjet.crossplane.io/provider-meta": '{"e2bfb730-ecaa-11e6":{"create":1200000000000}}',
        },
        "creationTimestamp": "2026-05-11T09:12:40Z",
        "finalizers": ["finalizer.managedresource.crossplane.io"],
        "generateName": "platform-",
        "generation": 4 + number,
        "labels": {
            "crossplane.io/claim-name": "platform",
            "crossplane.io/claim-namespace": "team-a",
            "crossplane.io/composite": "platform-x7k2p",
        },
        "managedFields": [_managed_fields("Apply"), _managed_fields("Update")],
        "name": name,
        "ownerReferences": [
            {
                "apiVersion": "example.org/v1alpha1",
                "blockOwnerDeletion": True,
                "controller": True,
                "kind": "XPlatform",
                "name": "platform-x7k2p",
                "uid": "0b3f1f62-7f0e-4f4b-9a80-2d4be5a9c6d1",
            }
        ],
        "resourceVersion": f"{184467 + number}",
        "uid": f"5d1c0f2e-3c55-4a0e-8c1f-{number:012}",
    }


def _managed_fields(operation: str) -> Object:
    return {
        "apiVersion": "s3.aws.upbound.io/v1beta2",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {
                "f:annotations": {"f:crossplane.io/composition-resource-name": {}},
                "f:labels": {"f:crossplane.io/composite": {}},
                'f:ownerReferences:k:{"uid":"0b3f1f62-7f0e-4f4b-9a80-2d4be5a9c6d1"}': {},
            },
            "f:spec": {"f:forProvider": {"f:region": {}, "f:tags": {"f:team": {}}}},
        },
        "manager": "apiextensions.crossplane.io/composed/1f0e2d3c4b5a69788796a5b4c3d2e1f0",
        "operation": operation,
        "time": "2026-05-11T09:12:44Z",
    }


def _tags(name: str) -> Object:
    return {
        "crossplane-kind": "bucket.s3.aws.upbound.io",
        "crossplane-name": name,
        "crossplane-providerconfig": "default",
        "team": "a",
    }


def _at_provider(name: str, arn: str) -> Object:
    return {
        "accelerationStatus": "",
        "arn": arn,
        "bucketDomainName": f"{name}.s3.amazonaws.com",
        "bucketRegionalDomainName": f"{name}.s3.eu-central-1.amazonaws.com",
        "forceDestroy": False,
        "grant": [
            {"id": "c1daexampleaaf85", "permissions": ["FULL_CONTROL"], "type": "CanonicalUser"}
        ],
        "hostedZoneId": "Z21DNDUVLTQW6Q",
        "id": name,
        "lifecycleRule": [],
        "logging": [],
        "objectLockEnabled": False,
        "policy": "",
        "region": "eu-central-1",
        "requestPayer": "BucketOwner",
        "serverSideEncryptionConfiguration": [
            {
                "rule": [
                    {
                        "applyServerSideEncryptionByDefault": [
                            {"kmsMasterKeyId": "", "sseAlgorithm": "AES256"}
                        ],
                        "bucketKeyEnabled": False,
                    }
                ]
            }
        ],
        "tags": _tags(name),
        "tagsAll": _tags(name),
        "versioning": [{"enabled": False, "mfaDelete": False}],
    }


def _condition(kind: str, reason: str) -> Object:
    return {
        "lastTransitionTime": "2026-05-11T09:13:02Z",
        "observedGeneration": 3,
        "reason": reason,
        "status": "True",
        "type": kind,
    }


if __name__ == "__main__":
    main()
