"""Responses of scripts: every invalid field is reported with its path."""

import pytest
from support.builders import composed
from support.contributions import read_response

from function_script.request.values import Object
from function_script.texts.errors import DocumentError

INVALID = [
    ("unknown field", {"desird": {}}, 'desird: unknown field (did you mean "desired"?)'),
    (
        "a wrong readiness",
        {"desired": {"resources": {"a": {"resource": composed("a"), "ready": "Yes"}}}},
        'desired.resources.a.ready: must be one of False, True, Unspecified, not "Yes"',
    ),
    (
        "a list for an object",
        {"desired": {"resources": []}},
        "desired.resources: must be an object, not a list",
    ),
    (
        "a reason with blanks",
        {"conditions": [{"type": "Usable", "status": True, "reason": "it works"}]},
        'conditions[0].reason: "it works" must be PascalCase',
    ),
    (
        "an unknown severity",
        {"results": [{"severity": "Waring", "message": "x"}]},
        'did you mean "Warning"?',
    ),
    (
        "a result without message",
        {"results": [{"severity": "Warning"}]},
        "results[0].message: is required",
    ),
    (
        "a requirement without a match",
        {"requirements": {"resources": {"a": {"api_version": "v1", "kind": "Secret"}}}},
        "needs exactly one of match_name and match_labels",
    ),
    ("a bare TTL", {"meta": {"ttl": "60"}}, 'meta.ttl: cannot parse duration "60"'),
    ("a TTL beyond Go's", {"meta": {"ttl": "9999999h"}}, "meta.ttl: cannot use duration"),
    (
        "bad base64",
        {"desired": {"composite": {"connection_details": {"a": {"base64": "?"}}}}},
        "desired.composite.connection_details.a: must be text",
    ),
    (
        "a label that is a number",
        {
            "desired": {
                "resources": {
                    "a": {
                        "resource": {
                            "apiVersion": "v1",
                            "kind": "Pod",
                            "metadata": {"labels": {"n": 1}},
                        }
                    }
                }
            }
        },
        "desired.resources.a.resource.metadata.labels.n: must be a string, not an integer",
    ),
]


@pytest.mark.parametrize(
    ("value", "message"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID]
)
def test_response_with_invalid_field_is_rejected_with_path(value: Object, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_response(value)
    assert message in str(caught.value)
    assert str(caught.value).startswith("main returned ")


def test_response_with_two_problems_reports_both() -> None:
    with pytest.raises(DocumentError) as caught:
        read_response({"results": [{"severity": "x", "message": "y"}], "output": 3})
    assert len(caught.value.diagnostics) == 2
