"""KRM functions: exchanges recorded of kustomize and kpt, and others written by hand.

A case has the list that an orchestrator gives, and what is changed in it, as a diff.
"""

import difflib
from pathlib import Path

import pytest
import yaml
from support import generated
from support.commands import Run

FOLDER = Path(__file__).parent / "krm"
CASES = sorted(path.name for path in FOLDER.iterdir())
FAILING = [name for name in CASES if name.startswith("error")]
# Recorded from the tools themselves, which write the annotations that only they know.
RECORDED = ("kustomize", "kpt", "kpt-again")


def read_input(name: str) -> str:
    return (FOLDER / name / "input.yaml").read_text()


@pytest.mark.parametrize("name", CASES)
def test_krm_exchange_has_its_output(
    name: str, update_goldens: bool, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(FOLDER / name)
    text = read_input(name)
    out, err = run("krm", stdin=text, code=1 if name in FAILING else 0)
    lines = difflib.unified_diff(text.splitlines(), out.splitlines(), lineterm="", n=1)
    # The lines after the names of two files.
    diff = "".join(f"{line}\n" for line in [*lines][2:])
    generated.check(FOLDER / name / "output.diff", diff, update=update_goldens)
    generated.check(FOLDER / name / "stderr.txt", err, update=update_goldens)
    results = yaml.safe_load(out).get("results", [])
    assert any(result["severity"] == "error" for result in results) == (name in FAILING)


@pytest.mark.parametrize("name", [name for name in CASES if name not in FAILING])
def test_krm_output_given_again_is_not_changed(
    name: str, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(FOLDER / name)
    first = run("krm", stdin=read_input(name)).out
    assert run("krm", stdin=first).out == first


@pytest.mark.parametrize("name", FAILING)
def test_krm_error_leaves_the_text_of_the_items(name: str, run: Run) -> None:
    text = read_input(name)
    out, err = run("krm", stdin=text, code=1)
    assert out.startswith(text)
    assert err.startswith("error: ")


@pytest.mark.parametrize("name", RECORDED)
def test_krm_keeps_annotations_of_the_orchestrator_and_shows_none(name: str, run: Run) -> None:
    """A program that sees them would copy them into what it composes."""
    text = read_input(name)
    before, items = (yaml.safe_load(each)["items"] for each in (text, run("krm", stdin=text).out))
    after = {item["metadata"]["name"]: item for item in items}

    for item in before:
        if (kept := after.pop(item["metadata"]["name"], None)) is not None:
            assert kept["metadata"]["annotations"] == item["metadata"]["annotations"]
    for item in after.values():
        assert "config.k" not in str(item["metadata"]["annotations"])


def test_krm_error_points_at_the_line_of_its_author(here: Path, run: Run) -> None:
    """The list has other lines, and neither kustomize nor kpt names the functionConfig's file."""
    text = read_input("error-in-program")
    config = yaml.safe_load(text)["functionConfig"]
    del config["metadata"]["annotations"]
    body = "inline: |\n" + "".join(f"  {line}\n" for line in config.pop("inline").splitlines())
    (here / "a.yaml").write_text("kind: Other\n")
    (here / "site.yaml").write_text(f"# mine\n---\n{body}{yaml.safe_dump(config)}")
    request = yaml.safe_load(text)
    del request["functionConfig"]["metadata"]["annotations"]
    out, err = run("krm", stdin=yaml.safe_dump(request), code=1)
    (result,) = yaml.safe_load(out)["results"]
    assert result["message"].startswith("site.yaml:7:")
    assert "--> site.yaml:7:" in err
    assert result["field"] == {"path": "inline"}
    assert result["file"] == {"path": "site.yaml", "index": 0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "it holds 0 objects instead of one ResourceList", id="empty"),
        pytest.param("a: [", "cannot read document 1", id="no-yaml"),
        pytest.param("kind: List\napiVersion: v1\nitems: []\n", "it is List of v1", id="list"),
        pytest.param(
            "kind: ResourceList\napiVersion: config.kubernetes.io/v1\nitems: 3\n",
            "items: they must be a list",
            id="items",
        ),
    ],
)
def test_krm_of_another_text_writes_nothing(text: str, message: str, run: Run) -> None:
    out, err = run("krm", stdin=text, code=1)
    assert out == ""
    assert message in err


def test_krm_without_a_function_config_names_what_to_give(run: Run) -> None:
    text = "apiVersion: config.kubernetes.io/v1beta1\nkind: ResourceList\nitems: []\n"
    out, err = run("krm", stdin=text, code=1)
    assert "the ResourceList has no functionConfig" in err
    assert yaml.safe_load(out)["results"][0]["severity"] == "error"


def test_krm_item_whose_annotations_cannot_be_read_is_named(run: Run) -> None:
    """With a number among them there are none, and the resource name is lost."""
    text = read_input("error-object-exists")
    annotations = "crossplane.io/composition-resource-name: zones, config.kubernetes.io/index: 1"
    text = text.replace("{name: zones}", f"{{name: zones, annotations: {{{annotations}}}}}")
    hint = "its annotation config.kubernetes.io/index is not a text: quote the value"
    assert hint in run("krm", stdin=text, code=1).err


def test_krm_container_starts_without_arguments(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Orchestrators pass none; both set this variable."""
    monkeypatch.setenv("STRUCTURED_RESULTS", "true")
    text = read_input("json")
    assert run(stdin=text).out == run("krm", stdin=text).out


def test_krm_step_that_is_left_out_deletes_nothing(run: Run) -> None:
    """The list without the flag shows that the resource would be deleted."""
    text = read_input("paused-xr")
    text = text.replace('crossplane.io/paused: "true"', "a: b")
    out, err = run("krm", "--function=function-script=skip", stdin=text)
    assert "a-host" in out
    assert 'nothing is deleted, because step "site" was left out' in err
    assert "a-host" not in run("krm", stdin=text).out


def test_krm_limit_of_the_operator_ends_a_program(run: Run) -> None:
    """The flags are those of every command that runs programs."""
    text = read_input("error-in-program")
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    text = text.replace("{{ spec.zoen }}", loop)
    out, err = run("krm", "--steps-limit=1000", stdin=text, code=1)
    assert "1000" in err.replace(",", "")
    assert yaml.safe_load(out)["results"][0]["severity"] == "error"


def test_krm_of_a_config_map_points_into_its_file(here: Path, run: Run) -> None:
    """The program is a text in a text in the author's file."""
    config = """\
# Two texts deep.
apiVersion: v1
kind: ConfigMap
metadata: {name: compose}
data:
  step.yaml: |
    apiVersion: script.fn.crossplane.io/v1beta1
    kind: JinjaTemplate
    inline: |
      a: 1
      b: {{ spec.zoen }}
"""
    (here / "config.yaml").write_text(config)
    request = yaml.safe_load(read_input("error-in-program"))
    request["functionConfig"] = yaml.safe_load(config)
    out, err = run("krm", stdin=yaml.safe_dump(request), code=1)
    (result,) = yaml.safe_load(out)["results"]
    assert "--> config.yaml:11:18" in err
    assert result["resourceRef"]["name"] == "compose"
    assert result["field"] == {"path": 'data["step.yaml"]'}
