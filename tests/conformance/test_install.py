"""What is installed fits together: image, manifests and the server's own flags."""

import re

import celpy
import click
import pytest
from support.paths import ROOT

from function_script import documents
from function_script.cli.serve import serve
from function_script.request import objects, quantities
from function_script.request.values import Object
from function_script.server import metrics
from function_script.server.grpc_server import GRACE_SECONDS
from function_script.texts.source import Source

CONTAINER = "spec.deploymentTemplate.spec.template.spec.containers[0]"


def load(name: str) -> Object:
    """A manifest of examples/install."""
    path = ROOT / "examples" / "install" / name
    (document,) = documents.read_source(Source(name=name, text=path.read_text()))
    return document.value


def container() -> Object:
    """The function's container in the DeploymentRuntimeConfig."""
    found = objects.find_path(load("deploymentruntimeconfig.yaml"), CONTAINER)
    assert isinstance(found, dict)
    return found


def arguments() -> dict[str, str]:
    """The flags the manifest gives the server."""
    found = container()["args"]
    assert isinstance(found, list)
    return dict(re.fullmatch(r"(--[a-z-]+)=(.+)", str(item)).groups() for item in found)


def flag(name: str) -> click.Option:
    """A flag of `serve`."""
    (option,) = [
        option
        for option in serve.params
        if isinstance(option, click.Option) and name in option.opts
    ]
    return option


def test_function_uses_the_runtime_config() -> None:
    """By its name; the package has a registry and a tag, which Crossplane asks for."""
    function, config = load("function.yaml"), load("deploymentruntimeconfig.yaml")
    reference = objects.find_path(function, "spec.runtimeConfigRef")
    assert reference == {
        "apiVersion": config["apiVersion"],
        "kind": config["kind"],
        "name": objects.find_path(config, "metadata.name"),
    }
    package = str(objects.find_path(function, "spec.package"))
    assert re.fullmatch(r"[a-z0-9.-]+\.[a-z]+/function-script:v[0-9.]+", package)


def test_argument_is_a_flag_of_the_server() -> None:
    """A misspelt one would keep the function from starting."""
    for name, value in arguments().items():
        option = flag(name)
        option.type.convert(value, option, None)


def test_salted_configuration_is_the_other_one_with_a_secret() -> None:
    """The flag names a key of the Secret that the README creates, in the volume that is mounted."""
    salted, plain = load("salt/deploymentruntimeconfig.yaml"), load("deploymentruntimeconfig.yaml")
    pod = objects.find_path(salted, CONTAINER.rpartition(".")[0])
    assert isinstance(pod, dict)
    container = objects.find_path(salted, CONTAINER)
    assert isinstance(container, dict)
    (volume,), (mount,) = pod.pop("volumes"), container.pop("volumeMounts")  # type: ignore[misc, union-attr] # lists of one
    *arguments, seed_file = container["args"]  # type: ignore[misc, union-attr] # a list
    container["args"] = arguments
    assert salted == plain
    assert mount["name"] == volume["name"]  # type: ignore[index, call-overload] # objects
    assert "subPath" not in mount  # type: ignore[operator] # an object
    name, _, path = str(seed_file).partition("=")
    option = flag(name)
    option.type.convert(path, option, None)
    directory, _, key = path.rpartition("/")
    assert directory == objects.find_path(mount, "mountPath")
    secret = objects.find_path(volume, "secret.secretName")
    readme = (ROOT / "examples" / "install" / "README.md").read_text()
    assert f"create secret generic {secret} --from-literal={key}=" in readme


def test_kubelet_probes_the_plain_port() -> None:
    """The port that Crossplane calls asks for certificates."""
    default = str(flag("--metrics-address").default).rpartition(":")[2]
    assert objects.find_path(container(), "ports[0].name") == "metrics"
    assert objects.find_path(container(), "ports[0].containerPort") == int(default)
    pages = {"startupProbe": "/readyz", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
    for probe, page in pages.items():
        request = objects.find_path(container(), f"{probe}.httpGet")
        assert request == {"path": page, "port": "metrics"}
    assert not flag("--health-address").default


MANIFESTS = sorted((ROOT / "examples" / "install").rglob("*.yaml"))
KINDS = {
    "function.yaml": ["Function"],
    "deploymentruntimeconfig.yaml": ["DeploymentRuntimeConfig"],
    "poddisruptionbudget.yaml": ["PodDisruptionBudget"],
    "networkpolicy.yaml": ["NetworkPolicy"],
    "salt/deploymentruntimeconfig.yaml": ["DeploymentRuntimeConfig"],
    "verification/imageconfig.yaml": ["ImageConfig"],
    "monitoring/podmonitor.yaml": ["PodMonitor"],
    "monitoring/prometheusrule.yaml": ["PrometheusRule"],
    "autoscaling/horizontalpodautoscaler.yaml": ["HorizontalPodAutoscaler"],
    "autoscaling/keepreplicas.yaml": [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    ],
}


def documents_of(name: str) -> list[Object]:
    """The objects of a manifest."""
    text = (ROOT / "examples" / "install" / name).read_text()
    return [found.value for found in documents.read_source(Source(name=name, text=text))]


def test_folder_holds_what_its_readme_says() -> None:
    """`kubectl apply -f` of the folder itself takes all that every cluster has, and no JSON."""
    found = {str(path.relative_to(ROOT / "examples" / "install")) for path in MANIFESTS}
    assert found == set(KINDS)
    for name, kinds in KINDS.items():
        assert [document["kind"] for document in documents_of(name)] == kinds
    assert not list((ROOT / "examples" / "install").glob("*.json"))
    readme = (ROOT / "examples" / "install" / "README.md").read_text()
    assert all(name.split("/")[0] in readme for name in found)


SELECTORS = [
    pytest.param("poddisruptionbudget.yaml", "spec.selector.matchLabels", id="disruption"),
    pytest.param("networkpolicy.yaml", "spec.podSelector.matchLabels", id="network"),
    pytest.param("monitoring/podmonitor.yaml", "spec.selector.matchLabels", id="monitor"),
]


@pytest.mark.parametrize(("name", "path"), SELECTORS)
def test_selectors_find_the_functions_pods(name: str, path: str) -> None:
    """By the label that Crossplane gives them, in the namespace where it runs them."""
    (manifest,) = documents_of(name)
    function = objects.find_path(load("function.yaml"), "metadata.name")
    assert objects.find_path(manifest, path) == {"pkg.crossplane.io/function": function}
    assert objects.find_path(manifest, "metadata.namespace") == "crossplane-system"


def test_replicas_are_spread_by_the_same_label() -> None:
    """Over nodes and zones."""
    spec = objects.find_path(load("deploymentruntimeconfig.yaml"), CONTAINER.rpartition(".")[0])
    assert isinstance(spec, dict)
    selectors = [
        objects.find_path(spec, f"topologySpreadConstraints[{index}].labelSelector.matchLabels")
        for index in range(2)
    ]
    term = "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]"
    path = f"{term}.podAffinityTerm.labelSelector.matchLabels"
    function = objects.find_path(load("function.yaml"), "metadata.name")
    for found in (*selectors, objects.find_path(spec, path)):
        assert found == {"pkg.crossplane.io/function": function}


def test_drain_fits_into_the_grace_period() -> None:
    """A stopping server finishes before Kubernetes kills it, with the time of one run to spare."""
    config = load("deploymentruntimeconfig.yaml")
    path = f"{CONTAINER.rpartition('.')[0]}.terminationGracePeriodSeconds"
    grace = objects.find_path(config, path)
    timeout = quantities.parse_duration(arguments()["--time-limit"])
    assert isinstance(grace, int)
    assert grace >= GRACE_SECONDS + timeout


def test_autoscaler_looks_at_a_metric_there_is() -> None:
    """A gauge of ours, on the Deployment of a revision of the function."""
    (scaler,) = documents_of("autoscaling/horizontalpodautoscaler.yaml")
    metric = objects.find_path(scaler, "spec.metrics[1].pods.metric.name")
    rendered = metrics.Metrics(metrics.Gauges).render().decode()
    assert f"\n{metric} " in rendered
    target = str(objects.find_path(scaler, "spec.scaleTargetRef.name"))
    assert re.fullmatch(r"function-script-[0-9a-f]{12}", target)


CROSSPLANE = "system:serviceaccount:crossplane-system:crossplane"
UPDATES = [
    pytest.param("function-script", CROSSPLANE, 3, 2, True, id="crossplane sets it back"),
    pytest.param("function-other", CROSSPLANE, 3, 2, False, id="another function"),
    pytest.param("function-script", "somebody", 3, 2, False, id="the autoscaler, or a person"),
    pytest.param("function-script", CROSSPLANE, 0, 2, False, id="from nothing"),
    pytest.param("function-script", CROSSPLANE, 3, 0, False, id="to nothing"),
]


@pytest.mark.parametrize(("function", "user", "before", "after", "is_kept"), UPDATES)
def test_number_of_replicas_is_kept(
    function: str, user: str, before: int, after: int, *, is_kept: bool
) -> None:
    """Only where Crossplane undoes what the autoscaler did to this function's Deployment."""
    policy, binding = documents_of("autoscaling/keepreplicas.yaml")
    assert objects.find_path(binding, "spec.policyName") == objects.find_path(
        policy, "metadata.name"
    )

    def deployment(replicas: int) -> Object:
        selector: Object = {"matchLabels": {"pkg.crossplane.io/function": function}}
        return {"spec": {"replicas": replicas, "selector": selector}}

    given = {
        "request": {"userInfo": {"username": user}},
        "oldObject": deployment(before),
        "object": deployment(after),
    }
    activation = {name: celpy.json_to_cel(value) for name, value in given.items()}
    conditions = objects.find_path(policy, "spec.matchConditions")
    assert isinstance(conditions, list)
    environment = celpy.Environment()
    verdicts = []
    for index in range(len(conditions)):
        text = objects.find_path(policy, f"spec.matchConditions[{index}].expression")
        program = environment.program(environment.compile(str(text)))
        verdicts.append(bool(program.evaluate(activation)))
    assert all(verdicts) is is_kept


def test_network_lets_in_what_is_served() -> None:
    """The function's port from Crossplane, the metrics from monitoring, and nothing out."""
    (policy,) = documents_of("networkpolicy.yaml")
    ports = [
        objects.find_path(policy, f"spec.ingress[{index}].ports[0].port") for index in range(2)
    ]
    flags = ("--address", "--metrics-address")
    assert ports == [int(str(flag(name).default).rpartition(":")[2]) for name in flags]
    assert objects.find_path(policy, "spec.policyTypes[1]") == "Egress"
    # The API server stores no empty list: each apply would be a new generation.
    assert "[]" not in (ROOT / "examples/install/networkpolicy.yaml").read_text()


def test_memory_limit_holds_every_worker() -> None:
    """All at their own limit at once, long runs as well, and the server: the rule of the docs."""
    size = quantities.parse_size(arguments()["--memory-limit"])
    limit = quantities.parse_size(str(objects.find_path(container(), "resources.limits.memory")))
    rule = "100 MB + (workers + 4) \N{MULTIPLICATION SIGN} (memory limit + 10 MB)"
    assert rule in (ROOT / "docs" / "how-to" / "run-in-production.md").read_text()
    runs = int(arguments()["--workers"]) + 4
    assert limit > 100_000_000 + runs * (size + 10_000_000)


def test_container_can_do_as_little_as_it_needs() -> None:
    """No escalation, no capabilities, nothing to write."""
    assert container()["name"] == "package-runtime"
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_image_is_what_crossplane_expects() -> None:
    """User and group 2000, port 9443, and the one argument `--insecure` starts it."""
    lines = (ROOT / "package" / "Dockerfile").read_text().splitlines()
    last = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM")) :]
    assert "USER 2000:2000" in last
    assert "EXPOSE 9443" in last
    assert 'ENTRYPOINT ["/venv/bin/function-script"]' in last


def test_image_is_built_from_files_that_exist() -> None:
    """What the Dockerfile copies from the checkout is there and is not ignored."""
    folder = ROOT / "package"
    text = (folder / "Dockerfile").read_text()
    kept = (folder / "Dockerfile.dockerignore").read_text()
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists(), name
            assert f"!{name.rstrip('/')}\n" in kept


def test_policies_are_of_an_api_that_is_served_by_default() -> None:
    """Beta versions are off by default, so those who have only them are told what to do."""
    for document in documents_of("autoscaling/keepreplicas.yaml"):
        assert document["apiVersion"] == "admissionregistration.k8s.io/v1"
    text = (ROOT / "examples" / "install" / "autoscaling" / "keepreplicas.yaml").read_text()
    assert "--runtime-config=admissionregistration.k8s.io/v1beta1=true" in text
    for page in ("examples/install/README.md", "docs/how-to/run-in-production.md"):
        assert "Kubernetes 1.36 or later" in (ROOT / page).read_text()
