"""function-auto-ready: a resource is ready when its kind's status says so."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from function_script import wire
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.sprig.dates import parse_duration
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import manifests, xrds
from function_script.tools.render.builtin import decoding
from function_script.tools.validate import builtin as kubernetes

_STATUS: Final = xrds.conditioned_status()
_HPA_FAILURES: Final = (
    "FailedGetScale",
    "FailedUpdateScale",
    "FailedGetResourceMetric",
    "InvalidSelector",
)


def run(
    value: Object, request: fnv1.RunFunctionRequest, response: fnv1.RunFunctionResponse
) -> None:
    """Set readiness of every observed resource that has none yet."""
    ttl = value.get("ttl")
    if isinstance(ttl, str) and ttl:
        try:
            response.meta.ttl.FromNanoseconds(parse_duration(ttl))
        except CallError as error:
            raise InputError.of(f"cannot set ttl: {error}") from error
    for name, desired in response.desired.resources.items():
        # The real one hands on nothing but the object and its readiness.
        desired.connection_details.clear()
        desired.resource.SetInParent()
        if desired.ready == fnv1.READY_UNSPECIFIED and name in request.observed.resources:
            observed = request.observed.resources[name].resource
            if _is_ready(observed.SerializeToString(deterministic=True)):
                desired.ready = fnv1.READY_TRUE


# `plan` asks for each object of a cluster before a change and after it.
@lru_cache(maxsize=64)
def _is_ready(struct: bytes) -> bool:
    observed = wire.decode_struct(struct)
    return _is_healthy(observed) or _has_ready_condition(observed)


def _is_healthy(observed: Object) -> bool:
    """Judge by the rule of the object's kind, if there is one."""
    kind = decoding.api_version_and_kind(observed)
    check = _CHECKS.get(kind)
    # The rules of these kinds read an object of Go's types.
    schema = kubernetes.find_schema(*kind) if kind in _DECODED else None
    is_readable = schema is None or decoding.can_decode(observed, schema)
    return check is not None and is_readable and check(observed)


def _has_ready_condition(observed: Object) -> bool:
    """Report whether the first condition of type Ready is True."""
    ready = objects.find_condition(observed, "Ready")
    is_readable = decoding.can_decode(observed.get("status"), _STATUS)
    return is_readable and ready is not None and ready.get("status") == "True"


def _first_true(observed: Object, kinds: tuple[str, ...]) -> str | None:
    """Return the type of the first condition among ``kinds`` that is True."""
    for condition in manifests.objects_at(observed, "status", "conditions"):
        kind = manifests.text_at(condition, "type")
        if kind in kinds and condition.get("status") == "True":
            return kind
    return None


def _number(observed: Object, path: str) -> int | None:
    number = objects.find_path(observed, path)
    is_bool = isinstance(number, bool)
    return int(number) if isinstance(number, (int, float)) and not is_bool else None


def _replicas(observed: Object) -> int:
    """Return the wanted replicas, which Kubernetes defaults to one."""
    replicas = _number(observed, "spec.replicas")
    return 1 if replicas is None else replicas


def _deployment(observed: Object) -> bool:
    counts = {
        _number(observed, f"status.{key}") for key in ("updatedReplicas", "availableReplicas")
    }
    return counts == {_replicas(observed)} and bool(_first_true(observed, ("Available",)))


def _stateful_set(observed: Object) -> bool:
    counts = {_number(observed, f"status.{key}") for key in ("readyReplicas", "currentReplicas")}
    revision = objects.find_path(observed, "status.currentRevision")
    return (
        counts == {_replicas(observed)}
        and isinstance(revision, str)
        and revision == objects.find_path(observed, "status.updateRevision")
    )


def _daemon_set(observed: Object) -> bool:
    keys = ("desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable")
    counts = {_number(observed, f"status.{key}") for key in keys}
    return len(counts) == 1 and None not in counts


def _replica_set(observed: Object) -> bool:
    generation = _number(observed, "metadata.generation") or 0
    if (_number(observed, "status.observedGeneration") or 0) < generation:
        return False
    if _first_true(observed, ("ReplicaFailure",)):
        return False
    return (_number(observed, "status.availableReplicas") or 0) >= _replicas(observed)


def _cron_job(observed: Object) -> bool:
    if objects.find_path(observed, "spec.suspend") is True:
        return True
    scheduled = objects.find_path(observed, "status.lastScheduleTime")
    if not isinstance(scheduled, str):
        return False
    if objects.find_path(observed, "status.active"):
        return True
    succeeded = objects.find_path(observed, "status.lastSuccessfulTime")
    return isinstance(succeeded, str) and (
        decoding.parse_time(succeeded) >= decoding.parse_time(scheduled)
    )


def _autoscaler(observed: Object) -> bool:
    kinds = (*_HPA_FAILURES, "ScalingActive", "ScalingLimited")
    return _first_true(observed, kinds) in {"ScalingActive", "ScalingLimited"}


def _has_address(observed: Object) -> bool:
    ingress = objects.find_path(observed, "status.loadBalancer.ingress")
    return isinstance(ingress, list) and bool(ingress)


def _pod(observed: Object) -> bool:
    phase = objects.find_path(observed, "status.phase")
    is_service = objects.find_path(observed, "spec.restartPolicy") == "Always"
    is_ready = bool(_first_true(observed, ("Ready",)))
    return phase == "Succeeded" or (phase == "Running" and is_service and is_ready)


_DECODED: Final = {
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Pod"),
    ("apps/v1", "ReplicaSet"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("batch/v1", "CronJob"),
    ("batch/v1", "Job"),
}
_JOB_RESULTS: Final = ("Failed", "Suspended", "Complete")
_CHECKS: Final[dict[tuple[str, str], Callable[[Object], bool]]] = {
    ("v1", "ConfigMap"): lambda _: True,
    ("v1", "Namespace"): lambda _: True,
    ("v1", "PersistentVolumeClaim"): lambda it: objects.find_path(it, "status.phase") == "Bound",
    ("v1", "Pod"): _pod,
    ("v1", "Secret"): lambda _: True,
    ("v1", "Service"): lambda it: (
        objects.find_path(it, "spec.type") != "LoadBalancer" or _has_address(it)
    ),
    ("v1", "ServiceAccount"): lambda _: True,
    ("apps/v1", "DaemonSet"): _daemon_set,
    ("apps/v1", "Deployment"): _deployment,
    ("apps/v1", "ReplicaSet"): _replica_set,
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): _autoscaler,
    ("batch/v1", "CronJob"): _cron_job,
    ("batch/v1", "Job"): lambda it: _first_true(it, _JOB_RESULTS) == "Complete",
    ("networking.k8s.io/v1", "Ingress"): _has_address,
}
