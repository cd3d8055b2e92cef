"""What a script's dict and a template's documents are read as, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.builders import XR, call, composed, jinja, request, starlark, to_dict

from function_script import contribution
from function_script.errors import DocumentError
from function_script.limits import Limits
from function_script.program import Lazy, Scope, ScriptResult, TemplateResult
from function_script.source import Span

if TYPE_CHECKING:
    from function_script.values import Object

NAME = "script.fn.crossplane.io/composition-resource-name"
SCOPE = Scope(request=Lazy({"observed": lambda: {"composite": {"resource": XR}}}))
ONE_LINE = (
    f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"annotations": {{"{NAME}": "a"}}}}}}'
)
META = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: "


def read_dict(value: Object) -> contribution.Contribution:
    """Read what a script returned."""
    return contribution.read(ScriptResult(value=value), SCOPE, Limits())


def read_text(text: str) -> contribution.Contribution:
    """Read what a template rendered; line N of the text came from line N of the template."""
    rendered = TemplateResult(text=text, locate=lambda line: Span(name="inline", line=line))
    return contribution.read(rendered, SCOPE, Limits())


REFUSED_DICTS = [
    ("unknown field", {"desird": {}}, 'desird: unknown field (did you mean "desired"?)'),
    (
        "a bare object",
        {"desired": {"resources": {"a": {"apiVersion": "v1", "kind": "Pod"}}}},
        'wrap the object: {"resource": {...}}',
    ),
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
        "a reserved condition",
        {"conditions": [{"type": "Ready", "status": "True", "reason": "Up"}]},
        "conditions[0].type: Ready is set by Crossplane",
    ),
    (
        "a reason with blanks",
        {"conditions": [{"type": "Usable", "status": True, "reason": "it works"}]},
        'conditions[0].reason: "it works" must be PascalCase',
    ),
    (
        "an unknown severity",
        {"results": [{"severity": "Warn", "message": "x"}]},
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
    ("value", "message"), [row[1:] for row in REFUSED_DICTS], ids=[row[0] for row in REFUSED_DICTS]
)
def test_a_wrong_response_is_refused_with_its_path(value: Object, message: str) -> None:
    """What main returned is checked field by field."""
    with pytest.raises(DocumentError) as caught:
        read_dict(value)
    assert message in str(caught.value)
    assert str(caught.value).startswith("main returned ")


def test_all_problems_are_told_at_once() -> None:
    """Two mistakes are two diagnostics of one error."""
    with pytest.raises(DocumentError) as caught:
        read_dict({"results": [{"severity": "x", "message": "y"}], "output": 3})
    assert len(caught.value.diagnostics) == 2


REFUSED_DOCUMENTS = [
    (
        "no name",
        "apiVersion: v1\nkind: Pod\n",
        f"inline:1: Pod: metadata.annotations lacks {NAME}",
    ),
    (
        "a misspelt annotation",
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n"
            "    script.fn.crossplane.io/composition-resource-nam: a\n"
        ),
        'did you mean that by "script.fn.crossplane.io/composition-resource-nam"?',
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
        "an unknown meta kind",
        META + "Condition\n",
        'did you mean "Conditions"?',
    ),
    (
        "a boolean annotation",
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    {NAME}: a\n    b: true\n",
        'metadata.annotations["b"] must be a string, not a boolean (quote the value)',
    ),
    ("no kind", "apiVersion: v1\nmetadata: {}\n", "document: kind: is required"),
    (
        "a name twice on one line",
        2 * ONE_LINE,
        'resource name "a" is used twice; first at inline:1',
    ),
]


@pytest.mark.parametrize(
    ("text", "message"),
    [row[1:] for row in REFUSED_DOCUMENTS],
    ids=[row[0] for row in REFUSED_DOCUMENTS],
)
def test_a_wrong_document_is_refused_at_its_place(text: str, message: str) -> None:
    """A document's problem names its kind and the template's line."""
    with pytest.raises(DocumentError) as caught:
        read_text(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("inline:")


def test_documents_and_dicts_mean_the_same() -> None:
    """Every meta kind says what the response's field of the same meaning says."""
    documents = read_text(
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
    script = read_dict(
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
    assert documents.composite == script.composite
    assert documents.context == script.context
    assert documents.composed == script.composed
    assert (documents.output, documents.ttl_seconds) == (script.output, script.ttl_seconds)
    assert (documents.results, documents.conditions) == (script.results, script.conditions)
    assert (documents.resources, documents.schemas) == (script.resources, script.schemas)


def test_none_removes_a_resource() -> None:
    """A resource is removed when a script returns None for it, and only then."""
    earlier = {"resources": {name: {"resource": composed(name)} for name in ("a", "b")}}
    script = starlark('def main(req):\n    return {"desired": {"resources": {"a": None}}}\n')
    assert list(call(request(script, desired=earlier)).desired.resources) == ["b"]


def test_a_script_replaces_and_a_template_merges() -> None:
    """A script returns state; a template's document states fields, unless it says Replace."""
    earlier = {"resources": {"a": {"resource": composed("a", old=1)}}}
    text = f"apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n    {NAME}: a\n"
    spec = "spec: {new: 2}\n"
    replace = "    script.fn.crossplane.io/merge: Replace\n"
    entry = '{"resource": {"apiVersion": "example.org/v1", "kind": "Thing", "spec": {"new": 2}}}'
    script = 'def main(req):\n    return {"desired": {"resources": {"a": ' + entry + "}}}\n"
    specs = [
        to_dict(call(request(step, desired=earlier)))["desired"]["resources"]["a"]["resource"][  # type: ignore[index,call-overload] # it is an object
            "spec"
        ]
        for step in (jinja(text + spec), jinja(text + replace + spec), starlark(script))
    ]
    assert specs == [{"old": 1, "new": 2}, {"new": 2}, {"new": 2}]


def test_a_program_that_says_fatal_changes_no_state() -> None:
    """Its own Fatal result keeps what it reports and requires, with desired state as it came."""
    script = starlark(
        "def main(req):\n"
        '    return {"desired": {"resources": {"a": None}}, "context": {"k": 1}, "results": ['
        '{"severity": "Warning", "message": "w"}, {"severity": "Fatal", "message": "no"}]}\n'
    )
    sent = request(script, desired={"resources": {"a": {"resource": composed("a")}}})
    response = call(sent)
    assert [result.message for result in response.results] == ["w", "no"]
    assert (response.desired, response.context) == (sent.desired, sent.context)
    assert not response.meta.ttl.seconds


def test_what_is_remembered_of_a_status_is_not_merged_into() -> None:
    """A document that comes again with another beside it says what it said before."""
    about = f"---\napiVersion: {XR['apiVersion']}\nkind: {XR['kind']}\nstatus:\n  a:\n"
    first, others = f"{about}    b: 1\n", [f"{about}    c: {number}\n" for number in range(3)]
    for other in others:
        read_text(first + other)
    assert read_text(first).composite.status == {"a": {"b": 1}}
    assert read_text(first + others[0]).composite.status == {"a": {"b": 1, "c": 0}}
