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
    """Render a template with REQUEST."""
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
    """A missing entry is a nil map or list, which templates can use."""
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
def test_condition_is_read_by_type(template: str, text: str) -> None:
    assert rendered(template) == text


@pytest.mark.parametrize("text", ["", "2024-05-06", "2024-05-06T07:08:09", "2024-05-06 07:08:09Z"])
def test_condition_with_a_time_that_go_cannot_read_is_unknown(text: str) -> None:
    """All conditions of the resource are then."""
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": text}]
    template = '{{ (getResourceCondition "Ready" .).Status }}'
    assert render_text(template, {"status": {"conditions": conditions}}) == "Unknown"


def test_texts_of_condition_are_texts_for_every_function() -> None:
    assert rendered('{{ upper (getResourceCondition "Ready" nil).Status }}') == "UNKNOWN"


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


@pytest.mark.parametrize(("name", "annotation"), NAMES)
def test_name_annotation_is_quoted_if_yaml_needs_it(name: str, annotation: str) -> None:
    key = "gotemplating.fn.crossplane.io/composition-resource-name"
    assert rendered(f"{{{{ setResourceNameAnnotation `{name}` }}}}") == f"{key}: {annotation}"


def test_random_choice_takes_one_of_its_arguments() -> None:
    assert rendered('{{ randomChoice "a" "b" }}') == "a"
    with pytest.raises(GoFailure, match="error calling randomChoice"):
        rendered("{{ randomChoice }}")


def test_getters_return_copies_to_mutating_templates() -> None:
    template = (
        '{{ $_ := set (getCompositeResource .) "kind" "X" }}{{ (getCompositeResource .).kind }}'
    )
    assert rendered(template) == "XR"
