"""How each step's function runs: the order of choice, and the words about it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.render_helpers import composition

from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools.project import Project
from function_script.tools.render import functions, steps
from function_script.tools.render.functions import FunctionIndex
from function_script.tools.render.renderer import Options
from function_script.tools.render.runtimes.container import Container

PREFIX = "render.crossplane.io/"
RUNTIME = f"{PREFIX}runtime"
TARGET = f"{PREFIX}runtime-development-target"


def function(package: str = "", name: str = "function-other", **annotations: str) -> Object:
    """A Function; its annotations without their prefix and with _ for -."""
    texts = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name, "annotations": texts},
        "spec": {"package": package},
    }


def choose(
    step: Object, manifests: Sequence[Object] | None = (), **options: object
) -> tuple[functions.Choice | None, Diagnostic | None]:
    """The choice for a step, or its problem; ``manifests`` is None without a file of them."""
    index = FunctionIndex(manifests=manifests, options=Options(**options))
    choices, problems = functions.choose(steps.parse(composition(step)), index)
    return (*choices, None)[0], (*problems, None)[0]


def explain(step: Object, manifests: Sequence[Object] | None = (), **options: object) -> str:
    """The explanation of a step whose function can run, without the step's name."""
    choice, problem = choose(step, manifests, **options)
    assert choice is not None, problem
    return choice.explain().removeprefix("step-0: ")


def find_problem(step: Object, manifests: Sequence[Object] = (), **options: object) -> Diagnostic:
    """The problem of a step whose function cannot run."""
    choice, problem = choose(step, manifests, **options)
    assert choice is None
    assert problem is not None
    return problem


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def install(folder: Path, name: str) -> None:
    (folder / name).touch(mode=0o755)


OURS: Object = {
    "input": {"apiVersion": "script.fn.crossplane.io/v1beta1", "kind": "StarlarkScript"}
}
PEER: Object = {
    "input": {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate"}
}
SHAPED: Object = {"input": {"apiVersion": "x/v1", "kind": "Y", "source": "Inline", "inline": {}}}
REGISTRY = "xpkg.example.org/team"
PACKAGE = f"{REGISTRY}/function-script:v1.0.0"
IMAGE = f"{REGISTRY}/function-other:v1.0.0"
ADDRESS = "127.0.0.1:9999"
READY = "function-auto-ready"
READY_IMAGE = f"{REGISTRY}/{READY}:v0.7.0"


def calls(name: str) -> Object:
    """A step that calls the function of this name."""
    return {"functionRef": {"name": name}}


HERE = "runs here, in the sandbox: "
BUILTIN = f"is built in, as v0.7.0: {READY} needs no image here"
CONTAINER = f"runs as a container of {IMAGE}, by docker: "
BOTH = "--function function-other=process or --function function-other=docker"
CALLED = f"is called at {ADDRESS}: its Function has the annotation {TARGET}"
# The step, the Functions (None: no file), those that --function selects, and the explanation.
ORDER = {
    "no-file-but-our-input": (OURS, None, {}, f"{HERE}its input is StarlarkScript"),
    "no-file-but-an-input-we-accept": (
        PEER,
        None,
        {},
        f"{HERE}its input is GoTemplate, which runs here",
    ),
    "no-file-but-the-fields-of-one": (SHAPED, None, {}, f"{HERE}its input is Y"),
    "our-package": ({}, [function(PACKAGE)], {}, f"{HERE}it is this function"),
    "our-package-by-digest": (
        {},
        [function(PACKAGE.replace(":v1.0.0", "@sha256:0123"))],
        {},
        f"{HERE}it is this function",
    ),
    "our-name": (
        calls("function-script"),
        [function(name="function-script")],
        {},
        f"{HERE}it is this function",
    ),
    "our-input-before-docker": (OURS, [function(IMAGE)], {}, f"{HERE}its input is"),
    "address": ({}, [function(runtime_development_target=ADDRESS)], {}, CALLED),
    "target-of-go": (
        {},
        [function(runtime_development_target=f"passthrough:///{ADDRESS}")],
        {},
        CALLED,
    ),
    "last-of-two": (
        {},
        [
            function(runtime_development_target="old:1"),
            function(runtime_development_target=ADDRESS),
        ],
        {},
        CALLED,
    ),
    "flag-before-annotation": (
        {},
        [function(IMAGE, runtime="Development")],
        {"function-other": "skip"},
        "is skipped: --function function-other=skip",
    ),
    "annotation-before-local": (
        OURS,
        [function(PACKAGE, runtime="Development")],
        {},
        f"is called at localhost:9443: its Function has {RUNTIME}: Development",
    ),
    "flag-before-local": (
        OURS,
        [function(IMAGE)],
        {"function-other": "docker"},
        f"{CONTAINER}--function function-other=docker",
    ),
    "docker": (
        {},
        [function(IMAGE, runtime="Docker")],
        {},
        f"{CONTAINER}its Function has {RUNTIME}: Docker",
    ),
    "target-of-our-engine": (
        OURS,
        [function(IMAGE, runtime="Development", runtime_development_target="local")],
        {},
        f"{HERE}{TARGET}: local",
    ),
    "flag-of-a-function-that-no-step-calls": (OURS, [], {"function-absent": "skip"}, HERE),
    "builtin-without-functions": (calls(READY), None, {}, BUILTIN),
    "builtin-not-in-functions": (calls(READY), [], {}, BUILTIN),
    "builtin-of-the-package-manager": (calls(f"crossplane-contrib-{READY}"), None, {}, BUILTIN),
    "builtin-name": (calls(READY), [function(name=READY)], {}, BUILTIN),
    "builtin-package-before-docker": (
        {},
        [function(READY_IMAGE)],
        {},
        f"{BUILTIN}; {BOTH} is possible, too",
    ),
    "builtin-digest": ({}, [function(f"{REGISTRY}/{READY}@sha256:0")], {}, BUILTIN),
    "builtin-name-of-another-package": (
        calls(READY),
        [function(IMAGE, READY)],
        {},
        f"runs as a process, from {IMAGE}",
    ),
    "builtin-served": (
        calls(READY),
        [function(name=READY, runtime_development_target=ADDRESS)],
        {},
        f"is called at {ADDRESS}: its Function has the annotation {TARGET}",
    ),
    "builtin-by-a-flag": (
        calls(READY),
        [function(name=READY, runtime_development_target=ADDRESS)],
        {READY: "local"},
        f"is built in, as v0.7.0: --function {READY}=local",
    ),
    "builtin-with-an-address": (
        calls(READY),
        [function(name=READY)],
        {READY: ADDRESS},
        f"is called at {ADDRESS}: --function {READY}={ADDRESS}",
    ),
    "builtin-skipped": (calls(READY), [function(name=READY)], {READY: "skip"}, "is skip"),
}


@pytest.mark.parametrize(("step", "manifests", "runtimes", "line"), ORDER.values(), ids=ORDER)
def test_explanation_has_the_runtime_and_the_reason(
    step: Object,
    manifests: list[Object] | None,
    runtimes: dict[str, str],
    line: str,
    commands: Path,
) -> None:
    install(commands, "docker")
    name = step.get("functionRef", {"name": "function-other"})["name"]
    assert explain(step, manifests, runtimes=runtimes).startswith(f"{name} {line}")


@pytest.mark.usefixtures("commands")
def test_docker_annotation_yields_where_no_command_is_installed() -> None:
    line = explain({}, [function(READY_IMAGE, runtime="Docker")])
    assert line.startswith("function-other is built in, as v0.7.0")
    assert f"its Function has {RUNTIME}: Docker, but neither docker nor podman is installed" in line


def test_podman_stands_in_for_docker(commands: Path) -> None:
    install(commands, "podman")
    choice, _ = choose({}, [function(IMAGE)], runtimes={"function-other": "docker"})
    assert choice is not None
    assert isinstance(choice.runtime, Container)
    assert choice.runtime.command == "podman"


@pytest.mark.parametrize("target", [ADDRESS, "example.org:9443"])
@pytest.mark.parametrize("manifests", [[], [function(runtime_development_target="old:1")]])
def test_annotation_of_the_command_line_wins(target: str, manifests: list[Object]) -> None:
    annotations = {TARGET: target}
    line = explain(OURS, manifests, annotations=annotations)
    assert line.startswith(f"function-other is called at {target}: ")
    skipped = {"function-other": "skip"}
    line = explain(OURS, manifests, annotations=annotations, runtimes=skipped)
    assert line.startswith("function-other is skipped: ")


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
    """Any name in the step selects it; a selector's revision is not looked for."""
    manifest = composition(step)
    (whole,) = manifest["spec"]["pipeline"]
    manifest["spec"]["pipeline"] = [{key: value for key, value in whole.items() if value}]
    index = FunctionIndex(manifests=[], options=Options(runtimes={name: "skip"}))
    (choice,), () = functions.choose(steps.parse(manifest), index)
    assert " is skipped: " in choice.explain()


@pytest.mark.parametrize("text", ["name", "name=", "=local", ""])
def test_selection_needs_name_and_runtime(text: str) -> None:
    with pytest.raises(ValueError, match="is not of the form NAME=RUNTIME"):
        functions.parse_runtime(text)


def test_selection_of_an_unknown_word_names_the_nearest() -> None:
    with pytest.raises(ValueError, match='did you mean "docker"'):
        functions.parse_runtime("a=dokcer")


def test_selections_hold_references_and_addresses() -> None:
    assert functions.parse_runtime("a=local") == ("a", "local")
    assert functions.parse_runtime("r.io/f@sha256:0=h:1") == ("r.io/f@sha256:0", "h:1")


def test_unknown_annotation_is_an_error() -> None:
    message = find_problem({}, [function(IMAGE, runtime="Lambda")]).message
    assert f'invalid annotation {RUNTIME} "Lambda": must be one of Development, Docker' in message


def test_name_that_functions_spells_otherwise_runs_only_by_flag() -> None:
    """A cluster has no such function, though the input is ours."""
    step = {**OURS, **calls("function-own")}
    manifests = [function(name="function-onw")]
    assert (
        find_problem(step, manifests).hint
        == 'there is a Function "function-onw": both names must be the same'
    )
    line = explain(step, manifests, runtimes={"function-own": "local"})
    assert line.startswith(f"function-own {HERE}")


def test_two_functions_of_one_name_are_no_hint() -> None:
    manifests = [function(IMAGE, name="function-onw"), function(READY_IMAGE, name="function-onw")]
    assert find_problem(calls("function-own"), manifests).hint is None


def test_function_under_another_name_is_no_function_of_the_step() -> None:
    """Crossplane compares names letter by letter, whatever the package is."""
    problem = find_problem(calls(f"crossplane-contrib-{READY}"), [function(READY_IMAGE, READY)])
    assert "no Function is named" in problem.message
    assert problem.hint == f'there is a Function "{READY}": both names must be the same'


@pytest.mark.usefixtures("commands")
def test_function_that_cannot_run_has_the_possible_ways_in_its_hint() -> None:
    manifests = [function(name="function-unlike")]
    problem = find_problem({}, manifests, runtimes={"function-othr": "skip"})
    assert 'nothing says how function "function-other" runs' in problem.message
    assert "no annotation says where it is served" in problem.notes
    assert 'no Function is named "function-other"' in problem.notes
    assert '--function names "function-othr"' in problem.notes
    assert problem.hint == (
        'functions.yaml needs a Function "function-other" with spec.package; '
        "--function function-other=HOST:PORT calls it there, in plain text; "
        "--function function-other=skip leaves the step out"
    )


def test_problems_of_all_steps_are_one_error() -> None:
    index = FunctionIndex(manifests=[], options=Options())
    with pytest.raises(InputError) as caught:
        index.find_runtimes(steps.parse(composition({}, calls("function-more"))))
    assert len(caught.value.diagnostics) == 2


VERSIONS = {
    "same": (READY_IMAGE, False),
    "other": (f"{REGISTRY}/{READY}:v0.6.0", True),
    "digest": (f"{REGISTRY}/{READY}@sha256:0123", True),
    "none": (READY, False),
}


@pytest.mark.parametrize(("package", "is_refused"), VERSIONS.values(), ids=VERSIONS)
def test_strict_versions_refuse_another_version(package: str, is_refused: bool) -> None:
    _, problem = choose({}, [function(package)], is_strict=True)
    assert (problem is not None) is is_refused
    assert problem is None or "is built in; the Function names" in problem.message


def test_hint_about_another_version_names_the_ways_that_are_possible(commands: Path) -> None:
    install(commands, "docker")
    problem = find_problem({}, [function(f"{REGISTRY}/{READY}:v0.6.0")], is_strict=True)
    assert "--function function-other=docker runs v0.6.0" in str(problem.hint)


OTHERS = {
    "other": ("apiVersion: pkg.crossplane.io/v1\nkind: Provider\n", []),
    "misspelt": ("apiVersion: pkg.crossplane.io/v1\nkind: Functon\n", None),
}


@pytest.mark.parametrize(("text", "expected"), OTHERS.values(), ids=OTHERS)
def test_file_beside_a_composition_was_read_whatever_it_holds(
    text: str, expected: list[Object] | None, tmp_path: Path
) -> None:
    """Nothing says then that there is no such file, and a Function is not lost for a typo."""
    (tmp_path / "functions.yaml").write_text(text)
    project = Project([tmp_path])
    if expected is None:
        with pytest.raises(InputError, match="as a function"):
            functions.find_beside(tmp_path, [], project)
    else:
        assert functions.find_beside(tmp_path, [], project) == expected
