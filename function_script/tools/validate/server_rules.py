"""Rules of the API server for kinds of Kubernetes itself, which no schema has."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts.problems import suggest
from function_script.tools import manifests
from function_script.tools.validate import wording
from function_script.tools.validate.report import Problem

# Kinds whose selector must match the labels of their pods.
_WITH_PODS: Final = {
    ("apps", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
}
_POD_TEMPLATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    **dict.fromkeys((*_WITH_PODS, ("batch", "Job")), ("spec", "template")),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("", "Pod"): (),
}
_NO_LABEL: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character"
)
_RESTARTS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    **dict.fromkeys(_WITH_PODS, ("Always",)),
    **dict.fromkeys((("batch", "CronJob"), ("batch", "Job")), ("OnFailure", "Never")),
    ("", "Pod"): ("Always", "OnFailure", "Never"),
}

_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
"""The fields of a container that have a probe."""
_CRON_FIELDS: Final = 5
_CONFIG_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_LABEL_KEY: Final = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?", re.ASCII
)


def compare(manifest: Object) -> Iterator[Problem]:
    """Find the problems of an object that no schema finds, as the API server does."""
    type_ = manifests.key_of(manifest)[:2]
    spec = manifests.object_at(manifest, "spec")
    above = _POD_TEMPLATES.get(type_)
    if above is not None:
        yield from _compare_pods(manifest, type_, above)
    if type_ == ("batch", "CronJob"):
        yield from _compare_schedule(manifests.text_at(spec, "schedule"))
    elif type_ == ("", "Service"):
        yield from _compare_service(spec)
    elif type_ in (("", "ConfigMap"), ("", "Secret")):
        for part in ("data", "binaryData", "stringData"):
            text = "a key must consist of alphanumeric characters, '-', '_' or '.'"
            yield from _compare_keys(manifest, (part,), _CONFIG_KEY, text)
    elif type_ == ("policy", "PodDisruptionBudget"):
        yield from _compare_choice(spec, ("spec",), "bound", ("minAvailable", "maxUnavailable"))
    elif type_[0] == "rbac.authorization.k8s.io":
        yield from _compare_access(manifest)


def compare_metadata(manifest: Object) -> Iterator[Problem]:
    """Find keys of labels and annotations that no object may have."""
    for part in ("labels", "annotations"):
        text = "a key is a name of letters, digits, -, _ and ., or a domain, a slash and a name"
        yield from _compare_keys(manifest, ("metadata", part), _LABEL_KEY, text)


def _compare_keys(
    manifest: Object, path: tuple[str, ...], pattern: re.Pattern[str], text: str
) -> Iterator[Problem]:
    for key in manifests.object_at(manifest, *path):
        # The API server compares the keys of annotations in lower case.
        if not pattern.fullmatch(key.lower() if "annotations" in path else key):
            yield wording.refused(format_path((*path, key)), key, text)


def _compare_pods(
    manifest: Object, type_: tuple[str, str], above: tuple[str, ...]
) -> Iterator[Problem]:
    template = manifests.object_at(manifest, *above)
    selector = manifests.object_at(manifest, "spec", "selector", "matchLabels")
    labels = manifests.object_at(template, "metadata", "labels")
    if type_ in _WITH_PODS and not selector.items() <= labels.items():
        path = format_path((*above, "metadata", "labels"))
        yield wording.refused(path, labels, "`selector` does not match template `labels`")
    pod = manifests.object_at(template, "spec")
    policy = pod.get("restartPolicy")
    policies = _RESTARTS.get(type_, ())
    if "containers" in pod and policies and (policy or "Always") not in policies:
        path = format_path((*above, "spec", "restartPolicy"))
        if policy is None:
            words = ", ".join(f'"{each}"' for each in policies)
            missing = wording.missing(path)
            yield replace(missing, message=f"{missing.message}: valid values: {words}")
        else:
            yield wording.unsupported(path, policy, policies)
    strategy = manifests.object_at(manifest, "spec", "strategy")
    if strategy.get("type") == "Recreate" and strategy.get("rollingUpdate") is not None:
        text = "may not be specified when strategy `type` is 'Recreate'"
        yield wording.denied("spec.strategy.rollingUpdate", text)
    volumes = manifests.objects_at(pod, "volumes")
    for index, volume in enumerate(volumes):
        # Another value than an object is no type of a volume, but in the wrong place.
        types = [key for key, value in volume.items() if isinstance(value, dict)]
        yield from _compare_choice(volume, (*above, "spec", "volumes", index), "volume type", types)
    claims = manifests.objects_at(manifest, "spec", "volumeClaimTemplates")
    names = {*map(manifests.name, claims), *(manifests.text_at(each, "name") for each in volumes)}
    yield from _compare_containers(pod, names, (*above, "spec"))


def _compare_access(manifest: Object) -> Iterator[Problem]:
    """Find parts of a role's rules, and namespaces of a binding's subjects, that are absent."""
    for index, rule in enumerate(manifests.objects_at(manifest, "rules")):
        # A rule with URLs has no resources.
        parts = () if rule.get("nonResourceURLs") else ("apiGroups", "resources")
        for part in (part for part in ("verbs", *parts) if not rule.get(part)):
            yield wording.missing(format_path(("rules", index, part)))
    for index, subject in enumerate(manifests.objects_at(manifest, "subjects")):
        is_account = subject.get("kind") == "ServiceAccount" and not subject.get("namespace")
        if is_account and manifest["kind"] == "ClusterRoleBinding":
            yield wording.missing(format_path(("subjects", index, "namespace")))


def _compare_schedule(schedule: str) -> Iterator[Problem]:
    """Find a schedule that has too few fields or too many; @daily and its like have one."""
    fields = schedule.split()
    # A time zone in front is refused with words of its own.
    is_plain = bool(fields) and "=" not in fields[0] and not schedule.startswith("@")
    if is_plain and len(fields) != _CRON_FIELDS:
        reason = f"expected exactly {_CRON_FIELDS} fields, found {len(fields)}"
        yield wording.refused("spec.schedule", schedule, reason)


def _compare_service(spec: Object) -> Iterator[Problem]:
    """Find ports of a Service that have no name of their own."""
    ports = manifests.objects_at(spec, "ports")
    for index, port in enumerate(ports):
        if len(ports) > 1 and not port.get("name"):
            yield wording.missing(format_path(("spec", "ports", index, "name")))
    is_external = spec.get("type") == "ExternalName" or spec.get("clusterIP") == "None"
    if not is_external and not spec.get("ports"):
        yield wording.missing("spec.ports")


def _compare_choice(
    value: Object, path: objects.Path, noun: str, choices: Collection[str]
) -> Iterator[Problem]:
    """Find a second field of those that rule each other out."""
    for key in [each for each in choices if value.get(each) not in (None, "")][1:]:
        yield wording.denied(format_path((*path, key)), f"may not specify more than 1 {noun}")


def _compare_containers(
    pod: Object, volumes: Collection[str], above: objects.Path
) -> Iterator[Problem]:
    """Find names in containers that are wrong or there twice, and volumes that are not there."""
    containers: set[str] = set()
    for part in ("initContainers", "containers"):
        for index, container in enumerate(manifests.objects_at(pod, part)):
            place = (*above, part, index)
            name = manifests.text_at(container, "name")
            path = format_path((*place, "name"))
            if name in containers:
                yield wording.duplicate(path, name)
            elif name and not objects.is_label(name):
                yield wording.refused(path, name, _NO_LABEL)
            containers.add(name)
            for probe in PROBES:
                handlers = manifests.object_at(container, probe)
                yield from _compare_choice(handlers, (*place, probe), "handler type", _HANDLERS)
            for number, variable in enumerate(manifests.objects_at(container, "env")):
                field = (*place, "env", number)
                yield from _compare_choice(variable, field, "source", ("value", "valueFrom"))
            mounts = manifests.objects_at(container, "volumeMounts")
            for number, name in enumerate(manifests.text_at(each, "name") for each in mounts):
                if name and name not in volumes:
                    path = format_path((*place, "volumeMounts", number, "name"))
                    yield replace(wording.absent(path, name), hint=suggest(name, tuple(volumes)))


def find_template(resource: Object) -> tuple[objects.Path, Object]:
    """Return the template of the pods that an object of Kubernetes makes, with its path.

    That of a pod is the pod; other objects have an empty one.
    """
    above = _POD_TEMPLATES.get(manifests.key_of(resource)[:2])
    return ((), {}) if above is None else (above, manifests.object_at(resource, *above))
