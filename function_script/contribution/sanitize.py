"""A composed resource as it may be desired: without server's fields, with valid texts and names.

A program may return an observed object as desired. Its status and its server-owned metadata are
removed before anything else is read. Names and label values follow the rules of Kubernetes, which
Crossplane and the API server check, too, but later and without a position in the program. Fields of
Kubernetes' own kinds that hold texts only get numbers and booleans easily, and Secrets hold base64.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from function_script.contribution.desired_resource import Annotations
from function_script.engines import leftovers
from function_script.request.objects import (
    LABEL_VALUE,
    MAX_LABEL,
    MAX_SUBDOMAIN,
    MOVED_TO,
    SUBDOMAIN,
)
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.problems import ProblemList

# Owned by the API server: server-side apply rejects or ignores them.
SERVER_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_SERVER_FIELDS: Final = frozenset({"status"})
# Written by kubectl, and by this function after all else: a desired value would flap.
_TOOL_ANNOTATIONS: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration", MOVED_TO})
_MAX_QUOTED: Final = 40
_NAME_HINT: Final = (
    "child_name(parent, name) and dns1123(text) make one, "
    "and in Go templates lower, replace and trunc"
)
_LABEL_HINT: Final = "label_value(text) makes one, and in Go templates replace and trunc"
# An expression that nothing has replaced, or a value that was printed whole.
_MARK: Final = re.compile(r"[$%{}<>\[\]()\"]")
# The name of a role or a binding may be any segment of a path.
_RBAC: Final = "rbac.authorization.k8s.io/"
_RBAC_NAME: Final = re.compile(r"(?!\.{1,2}$)[^/%]+")
BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
# The fields of maps of texts by kind, and whether they are in base64.
_MAPS: Final[dict[tuple[str, str], tuple[tuple[str, bool], ...]]] = {
    ("v1", "ConfigMap"): (("data", False), ("binaryData", True)),
    ("v1", "Secret"): (("data", True), ("stringData", False)),
}
_TEMPLATE = ("spec", "template", "spec")
_POD_SPECS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("v1", "Pod"): ("spec",),
    ("apps/v1", "DaemonSet"): _TEMPLATE,
    ("apps/v1", "Deployment"): _TEMPLATE,
    ("apps/v1", "ReplicaSet"): _TEMPLATE,
    ("apps/v1", "StatefulSet"): _TEMPLATE,
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", *_TEMPLATE),
    ("batch/v1", "Job"): _TEMPLATE,
}
_KINDS: Final = frozenset(kind for _, kind in (*_MAPS, *_POD_SPECS))


def without_server_fields(body: ObjectReader, own: Annotations | None = None) -> Object:
    """Return ``body`` without status and server-owned metadata; check names and texts.

    ``own`` are the annotations for the function, which are removed, too. The result shares values
    with ``body``. Nested null fields stay: the encoder drops them.
    """
    check_texts(body, body.problems)
    resource = _drop(body.value, _SERVER_FIELDS)
    metadata = body.object("metadata")
    if metadata is None:
        return resource
    labels = metadata.value.get("labels")
    reader = metadata
    if isinstance(labels, dict) and None in labels.values():
        value = {**metadata.value, "labels": _drop(labels, frozenset())}
        reader = ObjectReader(value, metadata.path, metadata.problems)
    _check_names(body, metadata, reader.texts("labels") or {})
    annotations = metadata.texts("annotations")
    clean = resource["metadata"] = _drop(metadata.value, SERVER_METADATA)
    if annotations is not None:
        others: Object = {
            key: text
            for key, text in annotations.items()
            if key not in _TOOL_ANNOTATIONS and not (own is not None and own.is_own(key))
        }
        # Without the function's own annotations an empty map would be left, which the author did
        # not write.
        if others or own is None:
            clean["annotations"] = others
        else:
            del clean["annotations"]
            if not clean:
                del resource["metadata"]
    return resource


def copy_verbatim(body: ObjectReader, advice: ProblemList, own: Annotations) -> Object:
    """Copy ``body`` with all its fields, nulls and labels that are not strings included.

    Problems of names, label values and texts are added to ``advice``. The annotations for the
    function, ``own``, are not in the copy. It shares values with ``body``, but not its metadata
    and annotations.
    """
    check_texts(body, advice)
    metadata = body.object("metadata")
    if metadata is None:
        return {**body.value}
    labels = metadata.value.get("labels")
    items = labels.items() if isinstance(labels, dict) else ()
    strings = {key: value for key, value in items if isinstance(value, str)}
    _check_names(body, metadata.noting(advice), strings)
    annotations = metadata.texts("annotations") or {}
    others: Object = {key: text for key, text in annotations.items() if not own.is_own(key)}
    return {**body.value, "metadata": {**metadata.value, "annotations": others}}


def _drop(value: Object, keys: frozenset[str]) -> Object:
    """Copy a map without its null members and without ``keys``."""
    return {key: item for key, item in value.items() if item is not None and key not in keys}


def _check_names(body: ObjectReader, metadata: ObjectReader, labels: Mapping[str, str]) -> None:
    """Add a problem for each invalid name and label value to those of ``metadata``."""
    # Crossplane overrides a name or namespace that is no text.
    name, _ = metadata.text("name"), metadata.text("namespace")
    api_version = body.value.get("apiVersion")
    is_rbac = isinstance(api_version, str) and api_version.startswith(_RBAC)
    rule = _RBAC_NAME if is_rbac else SUBDOMAIN
    if name and (len(name) > MAX_SUBDOMAIN or not rule.fullmatch(name)):
        problem = (
            f"invalid name {_quote(name)}: at most {MAX_SUBDOMAIN} lower-case letters, digits, "
            "- and ., beginning and ending with a letter or digit"
        )
        metadata.problems.add(metadata.at("name"), problem, hint=_advise(name, _NAME_HINT))
    for key, value in labels.items():
        # Most values are one word, which is cheaper to check without the expression.
        is_word = value.isalnum() and value.isascii()
        if len(value) > MAX_LABEL or not (is_word or LABEL_VALUE.fullmatch(value)):
            problem = (
                f"invalid label value {_quote(value)}: at most {MAX_LABEL} letters, digits, "
                "-, _ and ., beginning and ending with a letter or digit"
            )
            path = f'{metadata.at("labels")}["{key}"]'
            metadata.problems.add(path, problem, hint=_advise(value, _LABEL_HINT))


def _advise(text: str, otherwise: str) -> str | None:
    """Return the hint for a name or a label's value that no object may have."""
    leftover = leftovers.of_value(text)
    return (leftover.hint if leftover else None) if _MARK.search(text) else otherwise


def _quote(text: str) -> str:
    return f'"{text}"' if len(text) <= _MAX_QUOTED else f'"{text[:_MAX_QUOTED]}…"'


def check_texts(body: ObjectReader, problems: ProblemList) -> None:
    """Add a problem for each value that is no text, or not in base64."""
    api_version, name = body.value.get("apiVersion"), body.value.get("kind")
    if not isinstance(name, str) or name not in _KINDS or not isinstance(api_version, str):
        return
    kind = (api_version, name)
    if path := _POD_SPECS.get(kind):
        _check_pod(body, path, problems)
    for field, is_encoded in _MAPS.get(kind, ()):
        if isinstance(value := body.value.get(field), dict):
            reader = ObjectReader(value, body.at(field), problems)
            for key, text in value.items():
                reader.text(key)
                # Go's decoder skips line breaks.
                content = str(text).replace("\n", "").replace("\r", "") if is_encoded else ""
                if isinstance(text, str) and not BASE64.fullmatch(content):
                    plain = "stringData" if kind[1] == "Secret" else "data"
                    hint = f"encode it, or write the text itself into {plain}"
                    problems.add(reader.at(key), "must be base64", hint=hint)


def _check_pod(body: ObjectReader, path: tuple[str, ...], problems: ProblemList) -> None:
    reader = body.noting(problems)
    for field in path:
        value = reader.value.get(field)
        if not isinstance(value, dict):
            return
        reader = ObjectReader(value, (reader, field), problems)
    for containers in ("containers", "initContainers"):
        for container in _objects(reader, containers):
            for variable in _objects(container, "env"):
                variable.text("value")


def _objects(reader: ObjectReader, field: str) -> Iterator[ObjectReader]:
    """Yield readers of the objects in a list, if it is one."""
    items = reader.value.get(field)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield ObjectReader(item, f"{reader.at(field)}[{index}]", reader.problems)
