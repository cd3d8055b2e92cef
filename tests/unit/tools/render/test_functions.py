"""How each step's function runs: the order of choice, and the words about it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.render_helpers import composition

from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools.render import functions, steps
from function_script.tools.render.functions import FunctionIndex
from function_script.tools.render.renderer import Options
from function_script.tools.render.runtimes.address import Remote
from function_script.tools.render.runtimes.container import Container
from function_script.tools.render.runtimes.local import Builtin, Local, Skip
from function_script.tools.render.runtimes.model import Runtime

LOCAL = Local()
SKIP = "skip"


def make_index(manifests: Sequence[Object] | None, **options: object) -> FunctionIndex:
    """The index of these Functions; None: there is no file of them."""
    return FunctionIndex(manifests=manifests, options=Options(**options))


def function(name: str, package: str = "", **annotations: str) -> Object:
    """A Function; its annotations without their prefix and with _ for -."""
    prefix = "render.crossplane.io/"
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {
            "name": name,
            "annotations": {
                prefix + key.replace("_", "-"): value for key, value in annotations.items()
            },
        },
        "spec": {"package": package},
    }


def find(step: Object, index: FunctionIndex) -> Runtime:
    (runtime,) = index.find_runtimes(steps.parse(composition(step)))
    return runtime


OURS: Object = {"apiVersion": "script.fn.crossplane.io/v1beta1", "kind": "StarlarkScript"}
PEER: Object = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate"}
SHAPED: Object = {"apiVersion": "x/v1", "kind": "Y", "source": "Inline", "inline": {}}
PACKAGE = "registry.example.org/team/function-script:v1.0.0"
ADDRESS = "127.0.0.1:9999"

# The Functions given (None: no file), the step, and where it is to run.
PLACES = {
    "no-file-but-our-input": (None, {"input": OURS}, LOCAL),
    "no-file-but-an-input-we-accept": (None, {"input": PEER}, LOCAL),
    "no-file-but-the-fields-of-one": (None, {"input": SHAPED}, LOCAL),
    "our-package": ([function("function-other", PACKAGE)], {}, LOCAL),
    "our-package-by-digest": (
        [function("function-other", PACKAGE.replace(":v1.0.0", "@sha256:0123"))],
        {},
        LOCAL,
    ),
    "our-name": (
        [function("function-script")],
        {"functionRef": {"name": "function-script"}},
        LOCAL,
    ),
    "address": (
        [function("function-other", runtime_development_target=ADDRESS)],
        {},
        Remote(address=ADDRESS),
    ),
    "target-of-go": (
        [function("function-other", runtime_development_target=f"passthrough:///{ADDRESS}")],
        {},
        Remote(address=ADDRESS),
    ),
    "last-of-two": (
        [
            function("function-other", runtime_development_target="old:1"),
            function("function-other", runtime_development_target=ADDRESS),
        ],
        {},
        Remote(address=ADDRESS),
    ),
}


@pytest.mark.parametrize(("manifests", "step", "place"), PLACES.values(), ids=PLACES)
def test_function_runs_where_the_table_chooses(
    manifests: list[Object] | None, step: Object, place: Runtime
) -> None:
    """Ours run here, others where their Function says."""
    assert find(step, make_index(manifests)) == place


def test_flags_win() -> None:
    """A place from the command line beats everything, an annotation those of the file."""
    manifests = [function("function-other", runtime_development_target="old:1")]
    prefix = "render.crossplane.io/"
    annotations = {f"{prefix}runtime-development-target": ADDRESS}
    index = make_index(manifests, annotations=annotations)
    assert find({"input": OURS}, index) == Remote(address=ADDRESS)
    index = make_index(manifests, runtimes={"function-other": SKIP}, annotations=annotations)
    assert find({"input": OURS}, index) == Skip()


def test_address_of_the_command_line_is_called_for_a_function_that_no_file_has() -> None:
    """It is nobody else's choice, wherever it is."""
    annotations = {"render.crossplane.io/runtime-development-target": "example.org:9443"}
    assert find({}, make_index([], annotations=annotations)) == Remote(address="example.org:9443")


REVISION: Object = {
    "functionRef": {"name": "function-other"},
    "functionRevisionRef": {"name": "function-other-4f1a"},
}
SELECTOR: Object = {"functionRevisionSelector": {"matchLabels": {"channel": "stable"}}}


NEWER = {
    "revision": (REVISION, "function-other-4f1a"),
    "function-of-a-revision": (REVISION, "function-other"),
    "selector": (SELECTOR, "function-other"),
    "alone": ({"functionRef": None, "functionRevisionRef": {"name": "other-1"}}, "other-1"),
    "oci": ({"functionRef": None, "function": "r.io/f@sha256:1"}, "r.io/f@sha256:1"),
}


@pytest.mark.parametrize(("step", "name"), NEWER.values(), ids=NEWER)
def test_function_of_newer_steps_may_have_a_place(step: Object, name: str) -> None:
    """By whichever name stands in the step; a selector's revision is not looked for."""
    manifest = composition(step)
    (whole,) = manifest["spec"]["pipeline"]
    manifest["spec"]["pipeline"] = [{key: value for key, value in whole.items() if value}]
    todo = steps.parse(manifest)
    runtimes = {name: SKIP}
    index = make_index([], runtimes=runtimes)
    assert index.find_runtimes(todo) == [Skip()]


@pytest.mark.parametrize("text", ["name", "name=", "=local", ""])
def test_selection_needs_name_and_runtime(text: str) -> None:
    with pytest.raises(ValueError, match="is not of the form NAME=RUNTIME"):
        functions.parse_runtime(text)


def test_selection_of_an_unknown_word_names_the_nearest() -> None:
    with pytest.raises(ValueError, match='did you mean "docker"'):
        functions.parse_runtime("a=dokcer")


def test_selections_hold_references_and_addresses() -> None:
    assert functions.parse_runtime("a=local") == ("a", "local")
    assert functions.parse_runtime("r.io/f@sha256:0=h:1") == (
        "r.io/f@sha256:0",
        "h:1",
    )


REGISTRY = "xpkg.example.org/team"
READY = "function-auto-ready"


BUILTIN = {
    "no-functions": (None, {"functionRef": {"name": READY}}),
    "not-in-functions": ([], {"functionRef": {"name": READY}}),
    "package-manager": (None, {"functionRef": {"name": f"crossplane-contrib-{READY}"}}),
    "name": ([function(READY)], {"functionRef": {"name": READY}}),
    "package": ([function("function-other", f"{REGISTRY}/{READY}:v0.7.0")], {}),
    "digest": ([function("function-other", f"{REGISTRY}/{READY}@sha256:0")], {}),
}


@pytest.mark.parametrize(("manifests", "step"), BUILTIN.values(), ids=BUILTIN)
def test_builtin_function_runs_here(manifests: list[Object] | None, step: Object) -> None:
    runtime = find(step, make_index(manifests))
    assert isinstance(runtime, Builtin)
    assert runtime.function.name == READY
    assert runtime.note().startswith("function-auto-ready v0.7.0 is built in")


@pytest.mark.parametrize(
    ("manifests", "runtimes", "is_builtin"),
    [
        pytest.param([function(READY, runtime_development_target=ADDRESS)], {}, False, id="served"),
        pytest.param([function(READY)], {READY: ADDRESS}, False, id="address"),
        pytest.param([function(READY)], {READY: "skip"}, False, id="skip"),
        pytest.param(
            [function(READY, runtime_development_target=ADDRESS)],
            {READY: "local"},
            True,
            id="local",
        ),
    ],
)
def test_builtin_function_yields_to_an_explicit_runtime(
    manifests: list[Object], runtimes: dict[str, str], is_builtin: bool
) -> None:
    index = make_index(manifests, runtimes=runtimes)
    runtime = find({"functionRef": {"name": READY}}, index)
    assert isinstance(runtime, Builtin) is is_builtin


IMAGE = f"{REGISTRY}/function-other:v1.0.0"
RUNTIME = "render.crossplane.io/runtime"


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def install(folder: Path, name: str) -> None:
    (folder / name).touch(mode=0o755)


def explain(step: Object, index: FunctionIndex) -> str:
    """The explanation of a step whose function can run."""
    (choice,), () = functions.choose(steps.parse(composition(step)), index)
    return choice.explain()


def find_problem(step: Object, index: FunctionIndex) -> Diagnostic:
    """The problem of a step whose function cannot run."""
    (), (problem,) = functions.choose(steps.parse(composition(step)), index)
    return problem


def index_of(*manifests: Object, **flags: str) -> FunctionIndex:
    runtimes = {name.replace("_", "-"): value for name, value in flags.items()}
    return make_index(manifests, runtimes=runtimes)


ORDER = {
    "flag-before-annotation": (
        {},
        index_of(function("function-other", IMAGE, runtime="Development"), function_other="skip"),
        "function-other is skipped: --function function-other=skip",
    ),
    "annotation-before-local": (
        {"input": OURS},
        index_of(function("function-other", PACKAGE, runtime="Development")),
        f"function-other is called at localhost:9443: its Function has {RUNTIME}: Development",
    ),
    "our-input-before-docker": (
        {"input": OURS},
        index_of(function("function-other", IMAGE)),
        "function-other runs here, in the sandbox: its input is StarlarkScript, which runs here",
    ),
    "builtin-before-docker": (
        {},
        index_of(function("function-other", f"{REGISTRY}/{READY}:v0.7.0")),
        "function-other is built in, as v0.7.0: function-auto-ready needs no image here",
    ),
    "flag-before-local": (
        {"input": OURS},
        index_of(function("function-other", IMAGE), function_other="docker"),
        (
            f"function-other runs as a container of {IMAGE}, by docker: "
            "--function function-other=docker"
        ),
    ),
    "docker": (
        {},
        index_of(function("function-other", IMAGE, runtime="Docker")),
        (
            f"function-other runs as a container of {IMAGE}, by docker: "
            f"its Function has {RUNTIME}: Docker"
        ),
    ),
    "target-of-our-engine": (
        {"input": OURS},
        index_of(
            function(
                "function-other", IMAGE, runtime="Development", runtime_development_target="local"
            )
        ),
        (
            "function-other runs here, in the sandbox: "
            "render.crossplane.io/runtime-development-target: local"
        ),
    ),
}


@pytest.mark.parametrize(("step", "index", "line"), ORDER.values(), ids=ORDER)
def test_explanation_has_the_runtime_and_the_reason(
    step: Object, index: FunctionIndex, line: str, commands: Path
) -> None:
    install(commands, "docker")
    assert explain(step, index).startswith(f"step-0: {line}")


def test_explanation_names_the_other_ways(commands: Path) -> None:
    install(commands, "docker")
    index = index_of(function("function-other", f"{REGISTRY}/{READY}:v0.7.0"))
    assert "--function function-other=docker" in explain({}, index)


def test_docker_annotation_yields_where_no_command_is_installed(commands: Path) -> None:
    del commands
    index = index_of(function("function-other", f"{REGISTRY}/{READY}:v0.7.0", runtime="Docker"))
    line = explain({}, index)
    assert line.startswith("step-0: function-other is built in, as v0.7.0")
    assert f"its Function has {RUNTIME}: Docker, but neither docker nor podman is installed" in line


def test_unknown_annotation_is_an_error() -> None:
    index = index_of(function("function-other", IMAGE, runtime="Lambda"))
    problem = find_problem({}, index)
    assert (
        f'invalid annotation {RUNTIME} "Lambda": must be one of Development, Docker'
        in problem.message
    )


def test_name_that_functions_spells_otherwise_runs_only_by_flag() -> None:
    """A cluster has no such function, though the input is ours."""
    index = make_index([function("function-onw")])
    step: Object = {"functionRef": {"name": "function-own"}, "input": OURS}
    with pytest.raises(InputError) as caught:
        find(step, index)
    (problem,) = caught.value.diagnostics
    assert problem.hint == 'did you mean "function-onw"?'
    chosen = make_index(index.manifests, runtimes={"function-own": "local"})
    assert find(step, chosen) == LOCAL


def test_function_under_another_name_is_no_function_of_the_step() -> None:
    """Crossplane compares names letter by letter, whatever the package is."""
    index = index_of(function(READY, f"{REGISTRY}/{READY}:v0.7.0"))
    with pytest.raises(InputError) as caught:
        find({"functionRef": {"name": f"crossplane-contrib-{READY}"}}, index)
    (problem,) = caught.value.diagnostics
    assert "no Function is named" in problem.message
    assert problem.hint == f'did you mean "{READY}"?'


def test_podman_stands_in_for_docker(commands: Path) -> None:
    install(commands, "podman")
    runtime = find({}, index_of(function("function-other", IMAGE), function_other="docker"))
    assert isinstance(runtime, Container)
    assert runtime.command == "podman"


def test_function_that_cannot_run_has_the_possible_ways_in_its_hint(commands: Path) -> None:
    del commands
    index = make_index([function("function-otter")], runtimes={"function-othr": SKIP})
    with pytest.raises(InputError) as caught:
        find({}, index)
    (problem,) = caught.value.diagnostics
    assert 'nothing says how function "function-other" runs' in problem.message
    assert "no annotation says where it is served" in problem.notes
    assert 'no Function is named "function-other", did you mean "function-otter"?' in problem.notes
    assert '--function names "function-othr"' in problem.notes
    assert problem.hint == (
        'functions.yaml needs a Function "function-other" with spec.package; '
        "--function function-other=HOST:PORT calls it there, in plain text; "
        "--function function-other=skip leaves the step out"
    )


def test_selection_of_a_function_that_no_step_calls_is_no_error() -> None:
    assert find({"input": OURS}, index_of(function_absent="skip")) == LOCAL


VERSIONS = {
    "same": (f"{REGISTRY}/{READY}:v0.7.0", False),
    "other": (f"{REGISTRY}/{READY}:v0.6.0", True),
    "digest": (f"{REGISTRY}/{READY}@sha256:0123", True),
    "none": (READY, False),
}


@pytest.mark.parametrize(("package", "is_refused"), VERSIONS.values(), ids=VERSIONS)
def test_strict_versions_refuse_another_version(package: str, is_refused: bool) -> None:
    index = make_index([function("function-other", package)], is_strict=True)
    _, problems = functions.choose(steps.parse(composition({})), index)
    assert bool(problems) is is_refused
    assert all("is built in; the Function names" in problem.message for problem in problems)


def test_name_of_a_builtin_function_yields_to_its_package(commands: Path) -> None:
    install(commands, "docker")
    runtime = find({"functionRef": {"name": READY}}, index_of(function(READY, IMAGE)))
    assert not isinstance(runtime, Builtin)


def test_hint_about_another_version_names_the_ways_that_are_possible(commands: Path) -> None:
    install(commands, "docker")
    manifests = [function("function-other", f"{REGISTRY}/{READY}:v0.6.0")]
    index = make_index(manifests, is_strict=True)
    problem = find_problem({}, index)
    assert "--function function-other=docker runs v0.6.0" in str(problem.hint)
