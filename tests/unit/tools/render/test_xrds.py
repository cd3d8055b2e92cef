"""A claim becomes the XR that Crossplane makes of it."""

import pytest
import yaml
from support.render_helpers import xrd

from function_script.request.values import Object
from function_script.tools.render import xr as xrs

XRD = xrd("v1", claimNames={"kind": "Bucket"})
CLAIM: Object = yaml.safe_load("""\
apiVersion: example.org/v1
kind: Bucket
metadata:
  name: photos
  namespace: team
  labels: {app: a, app.kubernetes.io/name: b}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", note: n}
spec:
  region: eu
  compositionSelector: {matchLabels: {a: b}}
  writeConnectionSecretToRef: {name: secret}
  resourceRefs: []
""")
MADE = """\
apiVersion: example.org/v1
kind: XBucket
metadata:
  name: {name}
  labels: {{app: a, crossplane.io/claim-name: photos, crossplane.io/claim-namespace: team}}
  annotations: {{note: n}}
spec:
  region: eu
  compositionSelector: {{matchLabels: {{a: b}}}}
  claimRef: {{apiVersion: example.org/v1, kind: Bucket, namespace: team, name: photos}}
"""


def test_claim_becomes_the_xr_of_the_xrd() -> None:
    xr = xrs.resolve_claim(CLAIM, XRD)
    name = xr["metadata"]["name"]
    assert name.startswith("photos-")
    assert xr == yaml.safe_load(MADE.format(name=name))


def test_name_is_the_same_every_time_and_another_in_another_namespace() -> None:
    other = {**CLAIM, "metadata": {"name": "photos", "namespace": "other"}}
    names = [xrs.resolve_claim(claim, XRD)["metadata"]["name"] for claim in (CLAIM, CLAIM, other)]
    assert names[0] == names[1] != names[2]


def test_bound_claim_keeps_the_name_of_its_xr() -> None:
    claim = {**CLAIM, "spec": {"resourceRef": {"name": "photos-abcde"}}}
    assert xrs.resolve_claim(claim, XRD)["metadata"]["name"] == "photos-abcde"


def test_long_name_leaves_room_for_the_suffix() -> None:
    claim = {**CLAIM, "metadata": {"name": "n" * 63}}
    assert len(xrs.resolve_claim(claim, XRD)["metadata"]["name"]) == 63


@pytest.mark.parametrize(
    ("manifest", "definition"),
    [
        pytest.param(CLAIM, None, id="no-xrd"),
        pytest.param({**CLAIM, "kind": "XBucket"}, XRD, id="xr"),
        pytest.param({**CLAIM, "apiVersion": "other.org/v1"}, XRD, id="other-group"),
        pytest.param(
            CLAIM, {**XRD, "apiVersion": "apiextensions.crossplane.io/v2"}, id="not-legacy"
        ),
    ],
)
def test_everything_else_stays_as_it_is(manifest: Object, definition: Object | None) -> None:
    assert xrs.resolve_claim(manifest, definition) is manifest
