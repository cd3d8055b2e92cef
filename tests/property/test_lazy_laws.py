"""A request that is decoded lazily is, for each program, equal to one that is decoded at once."""

from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script import wire
from function_script.engines.registry import LANGUAGES
from function_script.engines.starlark.analysis import paths
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request import request
from function_script.request.lazy import ANY, Lazy, PartTree, plain
from function_script.request.limits import Limits
from function_script.request.objects import find_path
from function_script.request.program import Program, Scope, TemplateResult
from function_script.request.values import Object, Readable, Value
from function_script.texts.errors import FatalError
from function_script.texts.problems import Problem
from function_script.texts.source import Source

WAYS = {
    "jinja": [
        "{{ r.spec }} {{ r['status'].a }} {{ r.get('spec', 1) }}",
        "{{ r }} {{ r | tojson }} {{ entry | tojson }} {{ observed }}",
        "{% for key in r %}{{ key }} {{ r[key] }};{% endfor %}",
        "{% for key, value in r.items() %}{{ key }} {{ value }};{% endfor %}",
        "{{ r | length }} {{ 'spec' in r }} {{ 'no' in r }} {{ r | list }} {{ r.values() | list }}",
        "{{ r == r }} {{ r == observed.composite.resource }} {{ [r] == [entry.resource] }}",
        "{{ r == {'spec': r.spec} }} {{ {'spec': 1} == r }} {{ r is mapping }} {{ not r }}",
        "{{ r | dictsort }} {{ r | to_yaml }} {{ r is defined }} {{ {'x': r} }} {{ r ~ '' }}",
        "{{ observed.resources.values() | map(attribute='resource.status') | list }}",
        "{{ r.status.a.b }} {{ r.metadata.a }} {{ r.metadata.managedFields }} {{ r.spec.a.a.b }}",
        "{{ r.status.a is mapping }} {{ r.status.a | length }} {{ r.metadata.a }} {{ r }}",
        "{{ 'a' in r.spec }} {{ 'managedFields' in r.metadata }} {{ r.spec == r.status }}",
        "{% for x in 'abcdef' %}{{ x in r.spec }} {{ r.spec[x] | default(x) }};{% endfor %}",
        "{{ r.spec.a.items() }} {{ r.spec.a | tojson }} {{ {'x': r.spec.a} }} {{ r.spec }}",
        "{{ r.metadata | list }} {{ r.metadata.values() | list }} {{ merge(r.spec, r.status) }}",
        "{{ required_resources }} {{ required_resources.g['items'][0].resource.spec }}",
    ],
    "gotemplate": [
        "{{ $r.spec }} {{ $r.status.a }} {{ index $r `spec` }} {{ get $r `spec` }}",
        "{{ $r }} {{ toJson $r }} {{ toYaml $entry }} {{ toJson .observed }}",
        "{{ range $key, $value := $r }}{{ $key }} {{ $value }};{{ end }}",
        "{{ len $r }} {{ hasKey $r `spec` }} {{ hasKey $r `no` }} {{ keys $r | sortAlpha }}",
        "{{ eq (toJson $r) (toJson $entry.resource) }} {{ deepEqual $r $entry.resource }}",
        "{{ kindOf $r }} {{ dict `x` $r }} {{ if $r }}y{{ end }} {{ with $r.spec }}y{{ end }}",
        "{{ merge (dict `spec` 1) $r }} {{ pick $r `spec` }} {{ omit $r `spec` }}",
        "{{ deepCopy $r | toJson }} {{ dig `status` `a` `none` $r }} {{ printf `%v` $r }}",
        "{{ set $r `spec` 1 }} {{ unset $r `status` }} {{ $r }} {{ .observed }}",
        "{{ toJson .requiredResources }}",
        "{{ $r.status.a.b }} {{ $r.metadata }} {{ toJson $r.spec.a }}",
    ],
    "starlark": [
        'r["spec"] if "spec" in r else None',
        "r",
        "[(k, r[k]) for k in r]",
        "[len(r), r.keys(), r.values(), r.items()]",
        'get(req, "observed.resources.r.resource.status")',
        "[e.resource for e in [struct(**e) for e in req['observed']['resources'].values()]]",
        'req["required_resources"]',
        '[r["metadata"], r["status"]["a"] if "a" in r["status"] else 0]',
        'r["status"]["a"]["b"]',
        '[get(r, "metadata.managedFields"), get(r, "spec.a.b"), "b" in r.get("spec", {})]',
    ],
}
FRAMES = {
    "jinja": "{{% set entry = observed.resources.r %}}{{% set r = entry.resource %}}{}",
    "gotemplate": "{{{{ $entry := .observed.resources.r }}}}{{{{ $r := $entry.resource }}}}{}",
    "starlark": "def main(req):\n"
    '    r = req["observed"]["resources"]["r"]["resource"]\n'
    '    return {{"output": {{"value": {}}}}}\n',
}
KEYS = st.sampled_from(["a", "b", "spec", "managedFields", ""])
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1.5, "x", ""]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(KEYS, below, max_size=3),
    max_leaves=8,
)
RESOURCES = st.dictionaries(
    st.sampled_from(["apiVersion", "kind", "metadata", "spec", "status", "items"]), VALUES
)


def message(resource: Object, other: Object) -> wire.Request:
    """Return a request with the resource observed and fetched."""
    resources = {"r": {"resource": resource, "ready": "READY_TRUE"}, "s": {"resource": other}}
    content = {
        "observed": {"composite": {"resource": other}, "resources": resources},
        "required_resources": {"g": {"items": [{"resource": resource}, {"resource": other}]}},
    }
    data = ParseDict(content, pb.RunFunctionRequest()).SerializeToString()
    return wire.index_request(data)


def eager(scope: Scope) -> Scope:
    """Return the scope with everything decoded, in dicts."""
    built: dict[str, Readable] = {key: plain(scope.request[key]) for key in scope.request}
    return replace(scope, request=Lazy({key: partial(built.__getitem__, key) for key in built}))


scope_of = partial(request.scope, params={}, to_diagnostic=Problem.to_diagnostic)


def outcome(language: str, text: str, scope: Scope) -> object:
    """Return the text or value of the program, or its error."""
    program = Program(main=Source(name="inline", text=text))
    try:
        result = LANGUAGES[language].engine.evaluate(program, scope, Limits())
    except FatalError as error:
        return str(error)
    return result.text if isinstance(result, TemplateResult) else (result.value, result.resources)


@pytest.mark.parametrize("language", WAYS)
@given(RESOURCES, RESOURCES, st.data())
@examples(20)
def test_lazy_scope_equals_dicts_for_programs(
    language: str, resource: Object, other: Object, data: st.DataObject
) -> None:
    """Each way to read a resource gives the same, lazily or eagerly."""
    text = FRAMES[language].format(data.draw(st.sampled_from(WAYS[language])))
    indexed = message(resource, other)
    sort_keys = not LANGUAGES[language].sorts_keys
    lazy, built = (scope_of(indexed, sort_keys=sort_keys) for _ in range(2))
    assert outcome(language, text, lazy) == outcome(language, text, eager(built))


@given(RESOURCES)
def test_lazy_parts_equal_decoded_struct(resource: Object) -> None:
    """Without managedFields, in the order of the keys, at every depth; so is the XR."""
    indexed = message(resource, resource)
    struct = indexed.observed.resources["r"].struct if indexed.observed is not None else None
    whole = wire.decode_struct(struct or b"", sort_keys=True)
    if isinstance(metadata := whole.get("metadata"), dict):
        metadata.pop("managedFields", None)
    for place in ("observed.resources.r.resource", "observed.composite.resource"):
        assert repr(plain(find_path(scope_of(indexed).request, place))) == repr(whole)


TREES = st.recursive(
    st.none(), lambda below: st.dictionaries(KEYS, below, max_size=4), max_leaves=8
)
ROOTS = st.dictionaries(st.sampled_from(["kind", "metadata", "spec", "status"]), TREES)


def select(value: Value, tree: PartTree | None) -> Value:
    """Select the parts of a tree from an object that is decoded."""
    if tree is None or not isinstance(value, dict):
        return value
    return {key: select(value[key], tree[key]) for key in tree if key in value}


@given(RESOURCES, ROOTS, st.booleans())
def test_selected_parts_equal_those_of_decoded_object(
    resource: Object, tree: PartTree, keeps_managed_fields: bool
) -> None:
    indexed = message(resource, {})
    scope = scope_of(indexed, keep_managed_fields=keeps_managed_fields)
    encoded = find_path(scope.request, "observed.resources.r.resource")
    assert isinstance(encoded, Lazy)
    assert repr(encoded.select(tree)) == repr(select(plain(encoded), tree))
    assert not encoded.memo


ENTRIES = st.none() | st.fixed_dictionaries(
    {},
    optional={"resource": st.none() | ROOTS, "ready": st.none(), "connection_details": st.none()},
)
STATES = st.fixed_dictionaries(
    {},
    optional={
        "composite": ENTRIES,
        "resources": st.none()
        | st.dictionaries(st.sampled_from([ANY, "r", "s", "absent"]), ENTRIES, max_size=3),
    },
)


@given(RESOURCES, RESOURCES, STATES, st.sampled_from(["observed", "desired"]), st.booleans())
def test_selected_parts_of_state_equal_those_of_decoded_state(
    resource: Object, other: Object, tree: PartTree, state: str, sort_keys: bool
) -> None:
    indexed = message(resource, other)
    lazy, read = (scope_of(indexed, sort_keys=sort_keys).request[state] for _ in range(2))
    assert isinstance(lazy, Lazy)
    selected = paths.select(cast("Object", plain(read)), tree)
    assert repr(lazy.select(tree)) == repr(selected)
    assert not lazy.memo
