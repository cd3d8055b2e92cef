"""Steps with readiness and order, for tests: the same resources in every language."""

import json
from typing import cast

from support.builders import API_VERSION, XR, call, request, to_dict

from function_script.engines.registry import LANGUAGES
from function_script.request.values import Object, Value

READY: Object = {"conditions": [{"type": "Ready", "status": "True"}]}
CREATING: Object = {"conditions": [{"type": "Ready", "status": "False", "reason": "Creating"}]}
_KEYS = {"depends_on": "depends-on", "ready_when": "ready-when"}
_PREFIX = "script.fn.crossplane.io"


def observed(kind: str = "Thing", status: Object | None = None, **metadata: Value) -> Object:
    """An entry of observed resources."""
    whole: Object = {"name": f"{kind.lower()}-1", "generation": 1, **metadata}
    resource: Object = {"apiVersion": "example.org/v1", "kind": kind, "metadata": whole}
    return {"resource": resource | ({} if status is None else {"status": status})}


def step(language: str, resources: dict[str, Object], **fields: Value) -> Object:
    """An input that wants ``resources``: entries as a script returns them, each a Thing."""
    of_language = LANGUAGES[language]
    if not of_language.is_template:
        entries = {name: {"resource": _thing({}), **entry} for name, entry in resources.items()}
        body = json.dumps({"desired": {"resources": entries}})
        text = f"def main(req):\n    return json.decode({body!r})\n"
        return {"apiVersion": API_VERSION, "kind": "StarlarkScript", "script": text, **fields}
    documents = [json.dumps(_document(name, resources[name])) for name in resources]
    text = "\n---\n".join(documents)
    return {"apiVersion": API_VERSION, "kind": of_language.kind, "inline": text, **fields}


def _document(name: str, entry: Object) -> Object:
    annotations: Object = {f"{_PREFIX}/composition-resource-name": name}
    for key, value in entry.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        annotations[f"{_PREFIX}/{_KEYS.get(key, key)}"] = text
    return _thing({"annotations": annotations})


def _thing(metadata: Object) -> Object:
    return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": metadata, "spec": {"a": 1}}


def run(step_input: Object, exists: dict[str, Object] | None = None, **parts: object) -> Object:
    """The response as a dict; ``exists`` are observed resources."""
    state = {"composite": {"resource": XR}, "resources": exists or {}}
    return to_dict(call(request(step_input, **{"observed": state, **parts})))


def desired(response: Object) -> dict[str, Object]:
    """The desired resources of a response."""
    state = cast("Object", response.get("desired", {}))
    return cast("dict[str, Object]", state.get("resources", {}))


def readiness(response: Object) -> dict[str, Value]:
    """The readiness of every desired resource, ``READY_TRUE`` and so on."""
    return {
        name: entry.get("ready", "READY_UNSPECIFIED") for name, entry in desired(response).items()
    }


def condition(response: Object) -> Object:
    """The only condition of a response."""
    (condition,) = cast("list[Object]", response["conditions"])
    return condition


def fatal(response: Object) -> str:
    """The message of the only result, which stops the step."""
    (result,) = cast("list[Object]", response["results"])
    assert result["severity"] == "SEVERITY_FATAL"
    return str(result["message"])
