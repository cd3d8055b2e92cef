"""The results of a ResourceList: what an orchestrator prints of a field."""

import pytest

from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.tools.krm.resource_list import Result


def _field(kind: str, value: object) -> Object:
    subject: Object = {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": "a"},
        "data": {"a": value},
    }
    problem = Diagnostic(message="wrong")
    result = Result(severity="error", problem=problem, subject=subject, path=("data", "a"))
    return result.to_object()["field"]


@pytest.mark.parametrize("value", ["text", 5, True], ids=["text", "number", "boolean"])
def test_field_has_its_current_value(value: object) -> None:
    assert _field("ConfigMap", value) == {"path": "data.a", "currentValue": value}


HIDDEN = [("ConfigMap", value) for value in ("a\nb", "x" * 201, {"b": 1}, None)]


@pytest.mark.parametrize(("kind", "value"), [*HIDDEN, ("Secret", "aHVudGVyMg==")], ids=str)
def test_field_has_no_value_that_is_long_or_of_a_secret(kind: str, value: object) -> None:
    assert _field(kind, value) == {"path": "data.a"}
