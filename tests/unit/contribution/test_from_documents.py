"""Documents of templates: every invalid one is reported with its kind and position."""

import pytest
from support.builders import NAME_KEY, XR
from support.contributions import META, read_response, read_text

from function_script.texts.errors import DocumentError

METADATA = f'{{"annotations": {{"{NAME_KEY}": "a"}}}}'
ONE_LINE = f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {METADATA}}}'
INVALID = [
    (
        "a misspelt annotation",
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n"
            "    script.fn.crossplane.io/composition-resource-nam: a\n"
        ),
        "this names no composed resource (write script.fn.crossplane.io/composition-resource-name)",
    ),
    (
        "another annotation is no misspelt name",
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n"
            "    script.fn.crossplane.io/ready: 'True'\n"
        ),
        "it names the composed resource; give each one a name of its own",
    ),
    (
        "another version of the XR",
        "apiVersion: example.org/v2\nkind: XThing\nstatus: {}\n",
        "has the XR's kind but not its apiVersion example.org/v1",
    ),
    (
        "a name twice on one line",
        2 * ONE_LINE,
        'resource name "a" is used twice (',
    ),
]


@pytest.mark.parametrize(
    ("text", "message"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID]
)
def test_document_that_is_invalid_is_rejected_with_position(text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_text(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("inline:")


def test_meta_documents_equal_fields_of_response() -> None:
    template = read_text(
        META
        + "Conditions\nconditions: [{type: Usable, status: 'True', reason: Up}]\n---\n"
        + META
        + "ConnectionDetails\ndata: {user: admin}\n---\n"
        + META
        + "Context\ndata: {a: {b: 1}}\n---\n"
        + META
        + "Output\ndata: {count: 1}\n---\n"
        + META
        + "Readiness\nready: true\n---\n"
        + META
        + "Removal\nresources: [old]\n---\n"
        + META
        + "Requirements\nresources: {c: {api_version: v1, kind: ConfigMap, match_name: c}}\n"
        "schemas: {s: {api_version: v1, kind: Pod}}\n---\n"
        + META
        + "Response\nttl: 5s\n---\n"
        + META
        + "Results\nresults: [{severity: Normal, message: hello, reason: Greeting}]\n---\n"
        "apiVersion: example.org/v1\nkind: XThing\nstatus: {phase: late}\n"
    )
    script = read_response(
        {
            "conditions": [{"type": "Usable", "status": True, "reason": "Up"}],
            "context": {"a": {"b": 1}},
            "output": {"count": 1},
            "desired": {
                "composite": {
                    "resource": {"status": {"phase": "late"}},
                    "ready": True,
                    "connection_details": {"user": "admin"},
                },
                "resources": {"old": None},
            },
            "requirements": {
                "resources": {"c": {"api_version": "v1", "kind": "ConfigMap", "match_name": "c"}},
                "schemas": {"s": {"api_version": "v1", "kind": "Pod"}},
            },
            "meta": {"ttl": "5s"},
            "results": [{"severity": "Normal", "message": "hello", "reason": "Greeting"}],
        }
    )
    assert template.composite == script.composite
    assert template.context == script.context
    assert template.composed == script.composed
    assert (template.output, template.ttl_seconds) == (script.output, script.ttl_seconds)
    assert (template.results, template.conditions) == (script.results, script.conditions)
    assert (template.resources, template.schemas) == (script.resources, script.schemas)


def test_status_of_cached_document_is_not_changed_by_merge() -> None:
    about = f"---\napiVersion: {XR['apiVersion']}\nkind: {XR['kind']}\nstatus:\n  a:\n"
    first, others = f"{about}    b: 1\n", [f"{about}    c: {number}\n" for number in range(3)]
    for other in others:
        read_text(first + other)
    assert read_text(first).composite.status == {"a": {"b": 1}}
    assert read_text(first + others[0]).composite.status == {"a": {"b": 1, "c": 0}}
