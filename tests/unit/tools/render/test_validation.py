"""What a pipeline writes is compared with the schemas at hand, at the author's lines."""

import os
from pathlib import Path
from textwrap import indent

import pytest
from support import one_step
from support.commands import Run

from function_script.engines.tables import read_rows
from function_script.tools.validate.builtin import find_misspelt_kind

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: web}
spec:
  replcas: 3
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}
"""
BUCKET = """\
apiVersion: s3.example.org/v1
kind: Bucket
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: bucket}
spec:
  region: 7
"""
# The provider may change an object that has a selector and a template.
OBJECT = """\
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: Object
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: web}
spec:
  forProvider:
    manifest:
      apiVersion: apps/v1
      kind: Deployment
      spec:
        replcas: 3
"""
_WITH_VOLUMES = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
      restartPolicy: Always
      initContainers: [{name: init, image: busybox}]
      volumes: [{name: data, emptyDir: {}}, {name: other, emptyDir: {}}]
      containers:
      - name: web
        image: nginx
        volumeMounts: [{name: data, mountPath: /data}]
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: job}}
spec:
  template: {spec: {containers: [{name: a, image: b}]}}
"""
CRON_JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: job}}
spec:
  schedule: "0 3 * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}
"""
# Its volumes come with its claims.
STATEFUL = (
    _WITH_VOLUMES.replace("kind: Deployment", "kind: StatefulSet").replace(
        "volumes: [{name: data, emptyDir: {}}, {name: other, emptyDir: {}}]", "dnsPolicy: Default"
    )
    + """\
  serviceName: web
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}
"""
)
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: service}}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: htp}]
"""
METADATA = "{annotations: {script.fn.crossplane.io/composition-resource-name: it}}"
STATUS = "apiVersion: example.org/v1\nkind: XThing\nstatus:\n  adress: a\n"
XRD = one_step.xrd("status: {type: object, properties: {address: {type: string}}}")
CRD = one_step.crd(
    "spec: {type: object, properties: "
    "{region: {type: string}, tier: {type: string, enum: [fast, slow]}, "
    "names: {type: array, items: {type: string}}}}",
    "Bucket",
    "s3.example.org",
)


def write(directory: Path, document: str) -> None:
    """Write a project of one Jinja template, whose text begins in line 15."""
    program = "".join(f"          {line}\n" for line in document.splitlines())
    (directory / "composition.yaml").write_text(
        one_step.composition("JinjaTemplate", program, field="inline")
    )
    (directory / "xr.yaml").write_text(f"{one_step.XR}spec: {{}}\n")


ROWS = {
    "kind-of-kubernetes": (
        DEPLOYMENT,
        "replcas",
        'invalid resource "web": unknown field "spec.replcas"',
        'did you mean "replicas"?',
    ),
    "misspelt-kind": (
        DEPLOYMENT.replace("kind: Deployment", "kind: Deploymnet"),
        "kind: Deploymnet",
        'invalid resource "web": kind: Kubernetes',
        'did you mean "Deployment"?',
    ),
    "misspelt-group": (
        DEPLOYMENT.replace("apps/v1", "app/v1"),
        "apiVersion: app/v1",
        'invalid resource "web": apiVersion: Kubernetes',
        'did you mean "apps/v1"?',
    ),
    "number-in-quotes": (
        DEPLOYMENT.replace("replcas: 3", 'replicas: "3"'),
        "replicas: ",
        'invalid resource "web": spec.replicas: Invalid value: "string"',
        "leave the quotes out, or make it a number",
    ),
    "text-without-quotes": (
        DEPLOYMENT.replace("replcas: 3", "replicas: 3").replace("image: b", "image: 1"),
        "template: ",
        'invalid resource "web": spec.template.spec.containers[0].image: Invalid value: "number"',
        "quote it in YAML, or make it a text in a script",
    ),
    "field-of-the-object-around": (
        DEPLOYMENT.replace("replcas: 3", "replicas: 3").replace(
            "selector: {matchLabels: {a: b}}", "selector: {matchLabels: {a: b}, paused: true}"
        ),
        "selector: ",
        'invalid resource "web": unknown field "spec.selector.paused"',
        "it is a field of the object around: spec.paused",
    ),
    "labels-that-are-not-selected": (
        _WITH_VOLUMES.replace("labels: {app: web}", "labels: {app: other}"),
        "labels: {app: other}",
        'invalid resource "web": spec.template.metadata.labels: Invalid value: {"app":"other"}: ',
        "`selector` does not match template `labels`",
    ),
    "volume-that-is-not-there": (
        _WITH_VOLUMES.replace("name: data, mount", "name: daat, mount"),
        "volumeMounts: ",
        'invalid resource "web": spec.template.spec.containers[0].volumeMounts[0].name: Not found',
        'did you mean "data"?',
    ),
    "two-containers-of-one-name": (
        _WITH_VOLUMES.replace("initContainers: [{name: init", "initContainers: [{name: web"),
        "- name: web",
        'invalid resource "web": spec.template.spec.containers[0].name: Duplicate value: "web"',
        "Deployment of apps/v1",
    ),
    "name-of-a-container": (
        _WITH_VOLUMES.replace("- name: web", "- name: My_web"),
        "- name: My_web",
        'invalid resource "web": spec.template.spec.containers[0].name: Invalid value: "My_web"',
        "a lowercase RFC 1123 label must consist of",
    ),
    "pods-that-are-not-restarted": (
        _WITH_VOLUMES.replace("restartPolicy: Always", "restartPolicy: Never"),
        "restartPolicy",
        'invalid resource "web": spec.template.spec.restartPolicy: Unsupported value: "Never"',
        'supported values: "Always"',
    ),
    "job-that-is-restarted": (
        JOB,
        "template: ",
        'invalid resource "job": spec.template.spec.restartPolicy: Required value',
        'valid values: "OnFailure", "Never"',
    ),
    "volume-of-two-types": (
        _WITH_VOLUMES.replace(
            "{name: other, emptyDir", "{name: other, hostPath: {path: /}, emptyDir"
        ),
        "volumes: ",
        'invalid resource "web": spec.template.spec.volumes[1].',
        "Forbidden: may not specify more than 1 volume type",
    ),
    "schedule-of-four-fields": (
        CRON_JOB,
        "schedule: ",
        'invalid resource "job": spec.schedule: Invalid value: "0 3 * *"',
        "expected exactly 5 fields, found 4",
    ),
    "key-of-a-label": (
        BUCKET.replace("spec:", "  labels: {a b: c}\nspec:").replace("7", "a"),
        "labels: ",
        'invalid resource "bucket": metadata.labels["a b"]: Invalid value: "a b"',
        "a key is a name of letters",
    ),
    "probe-of-a-port-that-is-not-there": (
        _WITH_VOLUMES.replace(
            "        image: nginx\n",
            "        ports: [{name: http, containerPort: 80}]\n"
            "        readinessProbe: {httpGet: {port: htp}}\n",
        ),
        "readinessProbe: ",
        'container "web" has no port "htp" to probe',
        'did you mean "http"?',
    ),
    "port-of-a-service-that-no-pod-has": (
        f"{_WITH_VOLUMES}---\n{SERVICE}".replace(
            "        image: nginx\n", "        ports: [{name: http, containerPort: 80}]\n"
        ),
        "ports: [{port",
        'the pods that Service "service" selects here have no port "htp"',
        'did you mean "http"?',
    ),
    "metadata-of-an-extension": (
        BUCKET.replace("spec:", "  label: {a: b}\nspec:").replace("7", "a"),
        "label: ",
        'invalid resource "bucket": unknown field "metadata.label"',
        'did you mean "labels"?',
    ),
    "metadata-of-an-unknown-kind": (
        BUCKET.replace("s3.example", "s4.example").replace("spec:", "  label: {a: b}\nspec:"),
        "label: ",
        'invalid resource "bucket": unknown field "metadata.label"',
        'did you mean "labels"?',
    ),
    "kind-of-an-extension": (
        BUCKET.replace("kind: Bucket", "kind: Bukcet"),
        "kind: Bukcet",
        'invalid resource "bucket": kind: there is no Bukcet in s3.example.org/v1',
        'did you mean "Bucket"?',
    ),
    "version-of-an-extension": (
        BUCKET.replace("example.org/v1", "example.org/v2"),
        "apiVersion: s3.example.org/v2",
        'invalid resource "bucket": apiVersion: the Bucket at hand has s3.example.org/v1',
        "Bucket of s3.example.org/v2",
    ),
    "word-of-an-enum": (
        BUCKET.replace("region: 7", "tier: fsat"),
        "tier: ",
        'invalid resource "bucket": spec.tier: Unsupported value: "fsat"',
        'did you mean "fast"?',
    ),
    "in-an-object-of-provider-kubernetes": (
        OBJECT,
        "replcas",
        'invalid resource "web": unknown field "spec.replcas"',
        "Deployment of apps/v1 in spec.forProvider.manifest",
    ),
    "null-item-of-a-loop": (
        BUCKET.replace(
            "region: 7", "names:\n  - a\n  {% for _ in [1, 2] %}\n  - {{ '' }}\n  {% endfor %}"
        ),
        "- {{ '' }}",
        'invalid resource "bucket": spec.names[1]: Invalid value: "null"',
        "Bucket of s3.example.org/v1",
    ),
    "status-of-the-xr": (
        STATUS,
        "adress",
        'invalid XR: unknown field "status.adress"',
        'did you mean "address"?',
    ),
}


@pytest.mark.parametrize(("document", "text", "message", "advice"), ROWS.values(), ids=ROWS)
def test_problem_is_a_warning_at_its_line(
    tmp_path: Path, run: Run, document: str, text: str, message: str, advice: str
) -> None:
    """The documents and the exit code are those of a rendering without schemas."""
    write(tmp_path, document)
    (tmp_path / "xrd.yaml").write_text(XRD)
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "bucket.yaml").write_text(CRD)
    printed = run("render", tmp_path)
    composition = tmp_path / "composition.yaml"
    lines = composition.read_text().splitlines()
    (line,) = [number for number, each in enumerate(lines, 1) if each.strip().startswith(text)]
    assert f"warning: {message}" in printed.err
    assert f"--> {composition}:{line}:" in printed.err
    assert advice in printed.err
    assert printed.err.count("warning: ") == 1
    quiet = run("render", tmp_path, "--quiet")
    assert (quiet.out, quiet.err) == (printed.out, "")


NATIVE = [
    pytest.param(*row, id=name)
    for name, *row in read_rows("native_mistakes", Path(__file__).parent)
]


@pytest.mark.parametrize(("type_", "manifest", "message"), NATIVE)
def test_mistake_that_an_api_server_refuses_is_a_warning_at_its_line(
    type_: str, manifest: str, message: str, tmp_path: Path, run: Run
) -> None:
    *version, kind = type_.split()
    head = f"apiVersion: {(version or ['v1'])[0]}\nkind: {kind}\nmetadata: {METADATA}\n"
    write(tmp_path, head + manifest.replace("\\n", "\n"))
    err = run("render", tmp_path).err
    last = len((tmp_path / "composition.yaml").read_text().splitlines())
    assert (err.count("warning: "), message in err) == (1, True)
    assert f"composition.yaml:{last}:" in err


VALID = {
    "ports-of-two-containers": _WITH_VOLUMES.replace(
        "        image: nginx\n",
        "        ports: [{name: http, containerPort: 80, protocol: ''}]\n"
        "        livenessProbe: {httpGet: {port: http}}\n",
    )
    + f"      - {{name: b, image: c}}\n---\n{SERVICE.replace('htp', 'http')}",
    "service-of-other-pods": SERVICE,
    "headless-service": SERVICE.replace("ports: [{port: 80, targetPort: htp}]", "clusterIP: None"),
    "volumes": _WITH_VOLUMES,
    "volumes-of-claims": STATEFUL,
    "job": JOB.replace("spec: {containers", "spec: {restartPolicy: Never, containers"),
    "cron-job": CRON_JOB.replace("0 3 * *", "0 3 * * 1-5"),
    "cron-job-of-a-macro": CRON_JOB.replace("0 3 * *", "@every 1h"),
    "volume-without-a-type": _WITH_VOLUMES.replace("{name: other, emptyDir: {}}", "{name: other}"),
    "kind-of-another-package": BUCKET.replace("kind: Bucket", "kind: BucketPolicy"),
    "ports-with-empty-names": JOB.replace(
        "spec: {containers: [{",
        "spec: {restartPolicy: Never, containers: [{ports: [{containerPort: 80, name: ''}, "
        "{containerPort: 81, name: ''}], ",
    ),
    "service-of-an-empty-target-port": SERVICE.replace("targetPort: htp", "targetPort: ''"),
    "stateful-set-without-a-bound-of-revisions": STATEFUL.replace(
        "spec:\n", "spec:\n  revisionHistoryLimit: -1\n", 1
    ),
    "storage-class": f"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {METADATA}\n"
    "provisioner: a.b/c\nreclaimPolicy: ''\n",
}


@pytest.mark.parametrize("document", VALID.values(), ids=VALID)
def test_document_that_an_api_server_takes_has_no_warning(
    tmp_path: Path, run: Run, document: str
) -> None:
    write(tmp_path, document)
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "bucket.yaml").write_text(CRD)
    assert "warning: " not in run("render", tmp_path).err


REFUSED = {
    "name": ("name: Bad_name", 'cannot compose resource "web": invalid metadata.name "Bad_name"'),
    "none": (
        "name: None-admin",
        'cannot compose resource "web": invalid metadata.name "None-admin"',
    ),
    "controller": (
        "ownerReferences: [{uid: a, kind: Node, name: b, controller: true}]",
        'cannot compose resource "web": it is already controlled by Node "b" (uid a)',
    ),
}


@pytest.mark.parametrize(("field", "message"), REFUSED.values(), ids=REFUSED)
def test_value_that_crossplane_refuses_is_an_error_at_its_line(
    tmp_path: Path, run: Run, field: str, message: str
) -> None:
    """Our kinds ask for a name that Kubernetes takes; inputs of function-go-templating do not."""
    head = (
        "apiVersion: gotemplating.fn.crossplane.io/v1beta1\n"
        "kind: GoTemplate\n"
        "source: Inline\n"
        "inline:\n"
        "  template: |\n"
        "    apiVersion: v1\n"
        "    kind: ConfigMap\n"
        "    metadata:\n"
        "      annotations: {gotemplating.fn.crossplane.io/composition-resource-name: web}\n"
    )
    path = tmp_path / "composition.yaml"
    path.write_text(one_step.HEAD + indent(f"{head}      {field}\n", " " * 6))
    (tmp_path / "xr.yaml").write_text(f"{one_step.XR}spec: {{}}\n")
    error = run("render", tmp_path, code=1).err
    assert f"error: {message}\n  --> {path}:20:13\n" in error
    assert ("a value in it is None" in error) == ("None" in field)


def test_schema_tells_each_field_of_a_line_in_a_loop(tmp_path: Path, run: Run) -> None:
    """Nothing is told without a schema."""
    write(tmp_path, BUCKET.replace("region: 7", "{% for a in 'xy' %}{{ a }}: 1\n  {% endfor %}"))
    assert "warning" not in run("render", tmp_path).err
    (tmp_path / "crd.yaml").write_text(CRD)
    assert run("render", tmp_path, "--crds", tmp_path / "crd.yaml").err.count("unknown field") == 2


@pytest.mark.parametrize(
    ("document", "kinds"),
    [
        pytest.param(BUCKET, "Bucket of s3.example.org/v1", id="composed"),
        pytest.param(
            OBJECT.replace("apps/v1", "a.org/v1"),
            "Deployment of a.org/v1, Object of kubernetes.m.crossplane.io/v1alpha1",
            id="in-an-object-of-provider-kubernetes",
        ),
    ],
)
def test_kind_without_a_schema_is_noted_where_crds_are_at_hand(
    document: str, kinds: str, tmp_path: Path, run: Run
) -> None:
    """Silence would read as a comparison."""
    write(tmp_path, document)
    (tmp_path / "crd.yaml").write_text(CRD.replace("kind: Bucket", "kind: Queue"))
    note = f"note: no schema, not compared: {kinds}\n"
    assert run("render", tmp_path, "--crds", tmp_path / "crd.yaml").err.count(note) == 1


@pytest.mark.parametrize("flags", [[], ["--skip-validation"]], ids=["validates", "does-not"])
def test_package_whose_schemas_are_not_at_hand_is_noted(
    flags: list[str], tmp_path: Path, run: Run
) -> None:
    """`check` says it, too; without validation no schema is asked for."""
    write(tmp_path, BUCKET)
    meta = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nspec:\n  dependsOn:\n"
    meta += "  - {provider: registry.example.org/none, version: v1.0.0}\n"
    (tmp_path / "crossplane.yaml").write_text(meta)
    printed = run("render", tmp_path, "--crds", tmp_path / "crossplane.yaml", *flags)
    empty = run("render", tmp_path, "--crds", os.devnull, *flags).err
    assert empty.count('there is no XRD, CRD or package in "/dev/null"') == (0 if flags else 1)
    note = 'note: the schemas of package "registry.example.org/none:v1.0.0" are not in the cache'
    assert printed.err.count(note) == (0 if flags else 1)


def test_null_item_is_of_the_step_that_wrote_it(tmp_path: Path, run: Run) -> None:
    """A later step returns it as it got it."""
    write(tmp_path, STATUS.replace("adress: a", "names:\n  - {{ '' }}"))
    names = "status: {type: object, properties: {names: {type: array, items: {type: string}}}}"
    (tmp_path / "xrd.yaml").write_text(one_step.xrd(names))
    with (tmp_path / "composition.yaml").open("a") as file:
        file.write("  - step: ready\n    functionRef: {name: function-auto-ready}\n")
    printed = run("render", tmp_path).err
    assert "status.names[0]" in printed
    assert 'written by step "one"' in printed


HEAD = "metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: x}}"
CLUSTER_CRD = one_step.crd("spec: {}", "Bucket", "s3.example.org").replace(
    "spec:\n", "spec:\n  scope: Cluster\n", 1
)
CLUSTER_XRD = one_step.xrd("spec: {}", "Other").replace("spec:\n", "spec:\n  scope: Cluster\n", 1)
SCOPES = {
    "kubernetes": ("apiVersion: v1\nkind: Namespace", "", True),
    "kubernetes-in-a-namespace": ("apiVersion: v1\nkind: ConfigMap", "", False),
    "kind-of-the-same-name": ("apiVersion: e.org/v1\nkind: Namespace", "", False),
    "crd": ("apiVersion: s3.example.org/v1\nkind: Bucket", CLUSTER_CRD, True),
    "xrd": ("apiVersion: example.org/v1\nkind: Other", CLUSTER_XRD, True),
    "crd-in-a-namespace": ("apiVersion: s3.example.org/v1\nkind: Bucket", CRD, False),
    "kind-in-another-domain": ("apiVersion: networking.x-k8s.io/v1\nkind: Ingress", "", False),
}


@pytest.mark.parametrize(("type_", "definition", "is_refused"), SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("namespace", ["", "workshop"], ids=["cluster", "namespaced"])
def test_kind_without_a_namespace_is_for_an_xr_without_one(
    tmp_path: Path, run: Run, type_: str, definition: str, namespace: str, *, is_refused: bool
) -> None:
    write(tmp_path, f"{type_}\n{HEAD}\n")
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "crd.yaml").write_text(definition)
    (tmp_path / "xrd.yaml").write_text(one_step.xrd("spec: {}"))
    xr = f"{one_step.XR}spec: {{}}\n".replace("name: demo", f"name: demo, namespace: '{namespace}'")
    (tmp_path / "xr.yaml").write_text(xr)
    texts = 'invalid resource "x": kind: ', 'invalid resource "x": apiVersion: '
    printed = run("render", tmp_path).err
    assert any(text in printed for text in texts) is (is_refused and namespace != "")
    # A domain of Kubernetes may be misspelt.
    assert [*find_misspelt_kind("rbac.authorisation.k8s.io/v1", "Role")]
    # Without an XRD, its scope is not certain.
    (tmp_path / "xrd.yaml").unlink()
    printed = run("render", tmp_path).err
    assert (f"warning: {texts[0]}" in printed) is (is_refused and namespace != "")
    (tmp_path / "xrd.yaml").write_text(one_step.xrd("spec: {}"))
    # XRs of the other scopes lose their namespace in a cluster.
    (tmp_path / "xrd.yaml").write_text(one_step.xrd("spec: {}").replace("/v2", "/v1", 1))
    assert texts[0] not in run("render", tmp_path).err


@pytest.mark.parametrize("output", ["text", "json"])
def test_report_names_the_resource_and_the_line(tmp_path: Path, run: Run, output: str) -> None:
    """The line is that of the value in the author's file."""
    write(tmp_path, DEPLOYMENT)
    text = run("render", tmp_path, "--validate", "--output", output, code=1).out.replace('\\"', '"')
    lines = (tmp_path / "composition.yaml").read_text().splitlines()
    line = 1 + next(number for number, each in enumerate(lines) if "replcas" in each)
    assert f'resource "web", {tmp_path}/composition.yaml:{line}' in text
