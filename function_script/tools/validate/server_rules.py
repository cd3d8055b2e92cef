"""What the API server refuses in kinds of Kubernetes itself, and no schema says."""

import re
from collections.abc import Collection, Iterator, Sequence
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

# The fields of which an object has one at most.
_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_CONFIGURATIONS: Final = (("", "ConfigMap"), ("", "Secret"))
_CRON_FIELDS: Final = 5
_CONFIG_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_LABEL_KEY: Final = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?", re.ASCII
)


def compare(manifest: Object) -> Iterator[Problem]:
    """Find what no schema says of an object, as the API server does."""
    type_ = manifests.key_of(manifest)[:2]
    spec = manifests.object_at(manifest, "spec")
    above = _POD_TEMPLATES.get(type_)
    if above is not None:
        yield from _compare_pods(manifest, type_, above)
    if type_ == ("batch", "CronJob"):
        yield from _compare_schedule(manifests.text_at(spec, "schedule"))
    elif type_ == ("", "Service"):
        yield from _compare_service(spec)
    elif type_ in _CONFIGURATIONS:
        yield from _compare_configuration(manifest)
    else:
        yield from _find_absent(type_, manifest)
        yield from _compare_pair(type_, spec)


def _find_absent(type_: tuple[str, str], manifest: Object) -> Iterator[Problem]:
    """Find absent fields of types that other kinds, which need no such field, have as well."""
    if type_ == ("rbac.authorization.k8s.io", "ClusterRoleBinding"):
        for index, subject in enumerate(manifests.objects_at(manifest, "subjects")):
            if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
                yield wording.missing(format_path(("subjects", index, "namespace")))
    elif type_ == ("", "PersistentVolumeClaim"):
        for path in (("accessModes",), ("resources", "requests", "storage")):
            if objects.find_path(manifest, ("spec", *path)) in (None, []):
                yield wording.missing(format_path(("spec", *path)))


def _compare_pair(type_: tuple[str, str], spec: Object) -> Iterator[Problem]:
    """Find two fields that rule each other out."""
    strategy = manifests.object_at(spec, "strategy")
    is_recreate = strategy.get("type") == "Recreate" and strategy.get("rollingUpdate") is not None
    if type_ == ("apps", "Deployment") and is_recreate:
        text = "may not be specified when strategy `type` is 'Recreate'"
        yield wording.denied("spec.strategy.rollingUpdate", text)
    has_both = None not in (spec.get("minAvailable"), spec.get("maxUnavailable"))
    if type_ == ("policy", "PodDisruptionBudget") and has_both:
        yield wording.refused("spec", spec, "minAvailable and maxUnavailable cannot be both set")
    least, most = (manifests.int_at(spec, f"{end}Replicas") for end in ("min", "max"))
    if type_ == ("autoscaling", "HorizontalPodAutoscaler") and 0 < most < least:
        text = "must be greater than or equal to `minReplicas`"
        yield wording.refused("spec.maxReplicas", most, text)


def _compare_configuration(manifest: Object) -> Iterator[Problem]:
    """Find keys that no ConfigMap or Secret may have."""
    for part in ("data", "binaryData", "stringData"):
        for key in manifests.object_at(manifest, part):
            if not _CONFIG_KEY.fullmatch(key):
                text = "a key must consist of alphanumeric characters, '-', '_' or '.'"
                yield wording.refused(format_path((part, key)), key, text)


def compare_keys(manifest: Object) -> Iterator[Problem]:
    """Find keys of labels and annotations that no object may have."""
    for part in ("labels", "annotations"):
        for key in manifests.object_at(manifest, "metadata", part):
            # The API server compares annotations in lower case.
            if not _LABEL_KEY.fullmatch(key if part == "labels" else key.lower()):
                text = (
                    "a key is a name, or a domain, a slash and a name: letters, digits, -, _ and ."
                )
                yield wording.refused(format_path(("metadata", part, key)), key, text)


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
    volumes = manifests.objects_at(pod, "volumes")
    yield from _find_duplicates(volumes, (*above, "spec", "volumes"), "name")
    for index, volume in enumerate(volumes):
        # Another value than an object is no type of a volume, but in the wrong place.
        yield from _compare_choice(volume, (*above, "spec", "volumes", index), "volume")
    claims = manifests.objects_at(manifest, "spec", "volumeClaimTemplates")
    names = {*map(manifests.name, claims), *(manifests.text_at(each, "name") for each in volumes)}
    yield from _compare_containers(pod, names, (*above, "spec"))


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
    yield from _find_duplicates(ports, ("spec", "ports"), "name")
    is_external = spec.get("type") == "ExternalName" or spec.get("clusterIP") == "None"
    if not is_external and not spec.get("ports"):
        yield wording.missing("spec.ports")


def _find_duplicates(
    items: Sequence[Object], above: objects.Path, key: str, reason: str = ""
) -> Iterator[Problem]:
    """Find texts of a field that another item of the list has."""
    texts: set[str] = set()
    for index, item in enumerate(items):
        text, path = manifests.text_at(item, key), format_path((*above, index, key))
        if text and text in texts:
            is_plain = not reason
            yield wording.duplicate(path, text) if is_plain else wording.refused(path, text, reason)
        texts.add(text)


def _compare_choice(
    value: Object, path: objects.Path, noun: str, choices: Collection[str] = ()
) -> Iterator[Problem]:
    """Find objects in fields that rule each other out: ``choices``, or all."""
    fields = [
        key
        for key, part in value.items()
        if isinstance(part, dict) and (not choices or key in choices)
    ]
    for key in fields[1:]:
        yield wording.denied(format_path((*path, key)), f"may not specify more than 1 {noun} type")
    if choices and not any(key in choices for key in value):
        missing = wording.missing(format_path(path))
        yield replace(missing, message=f"{missing.message}: must specify a {noun} type")


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
            yield from _compare_container(container, place)
            mounts = manifests.objects_at(container, "volumeMounts")
            mounted = (*place, "volumeMounts")
            yield from _find_duplicates(mounts, mounted, "mountPath", "must be unique")
            for number, name in enumerate(manifests.text_at(each, "name") for each in mounts):
                if name and name not in volumes:
                    hint = suggest(name, tuple(volumes))
                    absent = wording.absent(format_path((*mounted, number, "name")), name)
                    yield replace(absent, hint=hint)


def _compare_container(container: Object, place: objects.Path) -> Iterator[Problem]:
    """Find ports, probes and variables of which an API server takes one, and there are two."""
    ports = manifests.objects_at(container, "ports")
    yield from _find_duplicates(ports, (*place, "ports"), "name")
    for probe in _PROBES:
        if value := manifests.object_at(container, probe):
            yield from _compare_choice(value, (*place, probe), "handler", _HANDLERS)
    for index, variable in enumerate(manifests.objects_at(container, "env")):
        if variable.get("value") and variable.get("valueFrom"):
            path = format_path((*place, "env", index, "valueFrom"))
            yield wording.refused(path, "", "may not be specified when `value` is not empty")


def find_labels(resource: Object) -> dict[str, str]:
    """Return the labels of the pods that an object of Kubernetes makes, or of the pod it is."""
    return manifests.texts_at(_find_template(resource), "metadata", "labels")


def find_containers(resource: Object) -> Iterator[tuple[objects.Path, Object, set[str]]]:
    """Yield the containers of such pods, each with its path, and the names of its ports."""
    above = _POD_TEMPLATES.get(manifests.key_of(resource)[:2], ())
    for part in ("initContainers", "containers"):
        containers = manifests.objects_at(_find_template(resource), "spec", part)
        for index, container in enumerate(containers):
            ports = manifests.objects_at(container, "ports")
            names = {manifests.text_at(each, "name") for each in ports}
            yield (*above, "spec", part, index), container, names


def find_probed_ports(container: Object) -> Iterator[tuple[objects.Path, str]]:
    """Yield the names of ports that the probes of a container ask, with their paths in it."""
    for probe in _PROBES:
        for handler in ("httpGet", "tcpSocket"):
            name = manifests.text_at(container, probe, handler, "port")
            # A number in quotes is refused.
            if name and not name.isdecimal():
                yield (probe, handler, "port"), name


def _find_template(resource: Object) -> Object:
    above = _POD_TEMPLATES.get(manifests.key_of(resource)[:2])
    return {} if above is None else manifests.object_at(resource, *above)
