from __future__ import annotations

import pytest

from function_script.engines.gotemplate.plain import GoFailure, render_text

REQUEST = {
    "observed": {
        "composite": {"resource": {"kind": "XR", "spec": {"zones": ["a", "b"]}}},
        "resources": {
            "vpc": {
                "resource": {
                    "kind": "VPC",
                    "status": {
                        "conditions": [
                            {
                                "type": "Ready",
                                "status": "True",
                                "reason": "Available",
                                "lastTransitionTime": "2024-05-06T07:08:09Z",
                            },
                            {"type": "Synced", "status": "False", "message": "wait"},
                        ]
                    },
                },
                "connectionDetails": {"user": "YWRtaW4="},
            },
            "1": {"resource": {"kind": "Numbered"}},
            "br[1]": {"resource": {"kind": "Bracketed"}},
        },
    },
    "context": {
        "apiextensions.crossplane.io/extra-resources": {
            "listed": [{"kind": "L"}],
            "items": {"items": [{"resource": {"kind": "I"}}]},
        }
    },
    "requiredResources": {"new": {"items": [{"resource": {"kind": "N"}}]}},
    "extraResources": {"old": {"items": [{"resource": {"kind": "O"}}]}},
    "credentials": {"creds": {"credentialData": {"data": {"user": "YWRtaW4="}}}},
}


def rendered(template: str) -> str:
    """What a template gives for REQUEST."""
    return render_text(template, REQUEST)  # type: ignore[arg-type] # a plain object


GETTERS = [
    ("composite", "{{ (getCompositeResource .).kind }}", "XR"),
    ("composed", '{{ (getComposedResource . "vpc").kind }}', "VPC"),
    ("composed-absent", '{{ getComposedResource . "x" }}', "map[]"),
    ("composed-absent-is-false", '{{ if getComposedResource . "x" }}a{{ else }}b{{ end }}', "b"),
    ("composed-absent-chains", '{{ (getComposedResource . "x").a.b }}', "<no value>"),
    ("composed-absent-is-nil", '{{ eq (getComposedResource . "x") nil }}', "true"),
    ("composed-number", '{{ (getComposedResource . "1").kind }}', "Numbered"),
    ("composed-brackets", '{{ (getComposedResource . "br[1]").kind }}', "Bracketed"),
    ("composed-quoted", '{{ (getComposedResource . (quote "vpc")).kind }}', "VPC"),
    ("composed-quoted-in-part", """{{ (getComposedResource . "'vpc").kind }}""", "VPC"),
    ("required-quoted", '{{ len (getExtraResources . (squote "new")) }}', "1"),
    ("listed-quoted", '{{ len (getExtraResourcesFromContext . (quote "items")) }}', "1"),
    ("details", '{{ (getComposedConnectionDetails . "vpc").user }}', "YWRtaW4="),
    ("required", '{{ (index (getExtraResources . "new") 0).resource.kind }}', "N"),
    ("extra", '{{ (index (getExtraResources . "old") 0).resource.kind }}', "O"),
    ("extra-absent", '{{ getExtraResources . "x" }}{{ len (getExtraResources . "x") }}', "[]0"),
    ("context", '{{ (index (getExtraResourcesFromContext . "items") 0).resource.kind }}', "I"),
    (
        "context-list",
        '{{ (index (getExtraResourcesFromContext . "listed") 0).resource.kind }}',
        "L",
    ),
    ("credentials", '{{ printf "%s" (getCredentialData . "creds").user }}', "admin"),
    ("credentials-bytes", '{{ (getCredentialData . "creds").user }}', "[97 100 109 105 110]"),
    ("credentials-absent", '{{ getCredentialData . "x" }}', "map[]"),
    ("nil-request", '{{ getComposedResource nil "vpc" }}', "map[]"),
]


@pytest.mark.parametrize(
    ("template", "text"), [g[1:] for g in GETTERS], ids=[g[0] for g in GETTERS]
)
def test_getters_read_the_request(template: str, text: str) -> None:
    """What is not there is a nil map or list, on which templates go on."""
    assert rendered(template) == text


UNKNOWN = """\
type: Nope
status: Unknown
lasttransitiontime: "0001-01-01T00:00:00Z"
reason: ""
message: ""
observedgeneration: 0
"""
CONDITIONS = [
    ('{{ (getResourceCondition "Ready" .observed.resources.vpc).Status }}', "True"),
    ('{{ (getComposedResource . "vpc" | getResourceCondition "Synced").Message }}', "wait"),
    ('{{ (getResourceCondition "Nope" .observed.resources.vpc).Status }}', "Unknown"),
    ('{{ (getResourceCondition "Ready" nil).Status }}', "Unknown"),
    (
        '{{ (getResourceCondition "Ready" .observed.resources.vpc).LastTransitionTime.Year }}',
        "2024",
    ),
    (
        '{{ getResourceCondition "Ready" .observed.resources.vpc }}',
        "{Ready True 2024-05-06 07:08:09 +0000 UTC Available  0}",
    ),
    (
        '{{ getResourceCondition "Nope" nil | toYaml }}',
        UNKNOWN,
    ),
]


@pytest.mark.parametrize(("template", "text"), CONDITIONS)
def test_a_condition_is_found_by_type(template: str, text: str) -> None:
    """In an entry of the observed resources or in a resource; Unknown when it is not there."""
    assert rendered(template) == text


def test_a_condition_has_fields_and_no_others() -> None:
    """Field names are Go's, with a capital letter."""
    with pytest.raises(GoFailure, match=r"can't evaluate field status in type v2\.Condition"):
        rendered('{{ (getResourceCondition "Ready" nil).status }}')


NAMES = [
    ("vpc", "vpc"),
    ("subnet-1", "subnet-1"),
    ("1", '"1"'),
    ("true", '"true"'),
    ("a: b", "'a: b'"),
    ('"a: b"', '"a: b"'),
    ("'1'", "'1'"),
    ("'", "''''"),
    ("", ""),
]


@pytest.mark.parametrize(("name", "written"), NAMES)
def test_a_name_annotation_is_quoted_where_yaml_needs_it(name: str, written: str) -> None:
    """Names that are numbers, booleans or hold a colon stay names."""
    key = "gotemplating.fn.crossplane.io/composition-resource-name"
    assert rendered(f"{{{{ setResourceNameAnnotation `{name}` }}}}") == f"{key}: {written}"


def test_random_choice_takes_one_of_its_arguments() -> None:
    """Without any there is nothing to take."""
    assert rendered('{{ randomChoice "a" "b" }}') == "a"
    with pytest.raises(GoFailure, match="error calling randomChoice"):
        rendered("{{ randomChoice }}")


def test_getters_give_copies_to_templates_that_change_them() -> None:
    """Changing what a getter gave does not change what it gives next time."""
    template = (
        '{{ $_ := set (getCompositeResource .) "kind" "X" }}{{ (getCompositeResource .).kind }}'
    )
    assert rendered(template) == "XR"
