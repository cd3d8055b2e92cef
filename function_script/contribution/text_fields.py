"""Fields of Kubernetes' own kinds that hold texts only: the API server refuses other values.

A template easily writes a number or a boolean there, and Secrets hold base64.
"""

import re
from collections.abc import Iterator
from typing import Final

from function_script.request.reader import ObjectReader
from function_script.request.values import type_phrase
from function_script.texts.problems import ProblemList

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


def check(body: ObjectReader, problems: ProblemList) -> None:
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
                _check_text(reader, key)
                if is_encoded and isinstance(text, str) and not _is_base64(text):
                    plain = "stringData" if kind[1] == "Secret" else "data"
                    hint = f"encode it, or write the text itself into {plain}"
                    problems.add(reader.at(key), "must be base64", hint=hint)


def _check_text(reader: ObjectReader, key: str) -> None:
    """Add a problem unless the field is a text, or null, which counts as absent."""
    value = reader.value.get(key)
    if value is not None and not isinstance(value, str):
        message = f"must be a string, not {type_phrase(value)}"
        reader.problems.add(reader.at(key), message, hint="quote the value, or make it a text")


def _is_base64(text: str) -> bool:
    # Go's decoder skips line breaks.
    return BASE64.fullmatch(text.replace("\n", "").replace("\r", "")) is not None


def _check_pod(body: ObjectReader, path: tuple[str, ...], problems: ProblemList) -> None:
    reader = body.noting(problems)
    for field in path:
        if not isinstance(reader.value.get(field), dict):
            return
        following = reader.object(field)
        if following is None:
            return
        reader = following
    for containers in ("containers", "initContainers"):
        for container in _objects(reader, containers):
            for variable in _objects(container, "env"):
                _check_text(variable, "value")


def _objects(reader: ObjectReader, field: str) -> Iterator[ObjectReader]:
    """Yield readers of the objects in a list, if it is one."""
    items = reader.value.get(field)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield ObjectReader(item, f"{reader.at(field)}[{index}]", reader.problems)
