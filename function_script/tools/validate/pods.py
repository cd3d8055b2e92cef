"""Pods and templates of pods: what the API server refuses in them, and no schema says."""

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
}


_CRON_FIELDS: Final = 5


def compare(manifest: Object) -> Iterator[Problem]:
    """Find what no schema says of an object with a template of pods, as the API server does."""
    group, kind, *_ = manifests.key_of(manifest)
    above = _POD_TEMPLATES.get((group, kind))
    if above is None:
        return
    template = manifests.object_at(manifest, *above)
    selector = manifests.object_at(manifest, "spec", "selector", "matchLabels")
    labels = manifests.object_at(template, "metadata", "labels")
    if (group, kind) in _WITH_PODS and not selector.items() <= labels.items():
        path = format_path((*above, "metadata", "labels"))
        yield wording.refused(path, labels, "`selector` does not match template `labels`")
    pod = manifests.object_at(template, "spec")
    policy = pod.get("restartPolicy")
    policies = _RESTARTS.get((group, kind), ())
    if "containers" in pod and policies and (policy or "Always") not in policies:
        path = format_path((*above, "spec", "restartPolicy"))
        if policy is None:
            words = ", ".join(f'"{each}"' for each in policies)
            missing = wording.missing(path)
            yield replace(missing, message=f"{missing.message}: valid values: {words}")
        else:
            yield wording.unsupported(path, policy, policies)
    if kind == "CronJob":
        yield from _compare_schedule(manifests.text_at(manifest, "spec", "schedule"))
    yield from _compare_volumes(pod, (*above, "spec"))
    claims = manifests.objects_at(manifest, "spec", "volumeClaimTemplates")
    yield from _compare_containers(pod, {*map(manifests.name, claims)}, (*above, "spec"))


def _compare_schedule(schedule: str) -> Iterator[Problem]:
    """Find a schedule that has too few fields or too many; @daily and its like have one."""
    fields = schedule.split()
    # A time zone in front is refused with words of its own.
    is_plain = bool(fields) and "=" not in fields[0] and not schedule.startswith("@")
    if is_plain and len(fields) != _CRON_FIELDS:
        reason = f"expected exactly {_CRON_FIELDS} fields, found {len(fields)}"
        yield wording.refused("spec.schedule", schedule, reason)


def _compare_volumes(pod: Object, above: objects.Path) -> Iterator[Problem]:
    """Find volumes of two types, and names of volumes that are there twice."""
    names: set[str] = set()
    for index, volume in enumerate(manifests.objects_at(pod, "volumes")):
        name = manifests.text_at(volume, "name")
        if name and name in names:
            yield wording.duplicate(format_path((*above, "volumes", index, "name")), name)
        names.add(name)
        # Another value than an object is no type of a volume, but in the wrong place.
        types = [key for key, value in volume.items() if isinstance(value, dict)]
        for key in types[1:]:
            path = format_path((*above, "volumes", index, key))
            yield wording.denied(path, "may not specify more than 1 volume type")


def _compare_containers(
    pod: Object, claims: Collection[str], above: objects.Path
) -> Iterator[Problem]:
    """Find names of containers that are wrong, and those of volumes that are not there."""
    volumes = manifests.objects_at(pod, "volumes")
    names = {*claims, *(manifests.text_at(each, "name") for each in volumes)}
    containers: set[str] = set()
    for part in ("initContainers", "containers"):
        for index, container in enumerate(manifests.objects_at(pod, part)):
            name = manifests.text_at(container, "name")
            path = format_path((*above, part, index, "name"))
            if name in containers:
                yield wording.duplicate(path, name)
            elif name and not objects.is_label(name):
                yield wording.refused(path, name, _NO_LABEL)
            containers.add(name)
            mounts = manifests.objects_at(container, "volumeMounts")
            for number, name in enumerate(manifests.text_at(each, "name") for each in mounts):
                if name and name not in names:
                    place = (*above, part, index, "volumeMounts", number, "name")
                    hint = suggest(name, tuple(names))
                    yield replace(wording.absent(format_path(place), name), hint=hint)


def find_labels(resource: Object) -> dict[str, str]:
    """Return the labels of the pods that an object of Kubernetes makes, or of the pod it is."""
    group, kind, *_ = manifests.key_of(resource)
    above = _POD_TEMPLATES.get((group, kind))
    return {} if above is None else manifests.texts_at(resource, *above, "metadata", "labels")
