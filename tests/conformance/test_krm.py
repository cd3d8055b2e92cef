"""KRM functions: exchanges recorded of kustomize and kpt, and others written by hand."""

import io
from pathlib import Path

import pytest
import yaml
from support import generated

from function_script.cli import execute

FOLDER = Path(__file__).parent / "krm"
CASES = sorted(path.name for path in FOLDER.iterdir())
# Recorded from the tools themselves, which write the annotations that only they know.
RECORDED = ("kustomize", "kpt", "kpt-again")


def run_text(
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *flags: str,
) -> tuple[int, str, str]:
    """Run the function with a text on stdin; return the exit code, stdout and stderr."""
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    code = execute(["krm", *flags])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize("name", CASES)
def test_krm_exchange_has_its_output(
    name: str,
    update_goldens: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(FOLDER / name)
    text = (FOLDER / name / "input.yaml").read_text()
    code, out, err = run_text(text, monkeypatch, capsys)

    generated.check(FOLDER / name / "output.yaml", out, update=update_goldens)
    generated.check(FOLDER / name / "stderr.txt", err, update=update_goldens)
    results = yaml.safe_load(out).get("results", [])
    has_error = any(result["severity"] == "error" for result in results)
    assert code == (1 if has_error else 0)
    assert has_error == name.startswith("error")


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("error")])
def test_krm_output_given_again_is_not_changed(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = (FOLDER / name / "output.yaml").read_text()
    monkeypatch.chdir(FOLDER / name)
    code, second, _ = run_text(first, monkeypatch, capsys)

    assert (code, second) == (0, first)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("error")])
def test_krm_error_leaves_the_text_of_the_items(name: str) -> None:
    files = FOLDER / name
    assert (files / "output.yaml").read_text().startswith((files / "input.yaml").read_text())
    assert (files / "stderr.txt").read_text().startswith("error: ")


@pytest.mark.parametrize("name", RECORDED)
def test_krm_keeps_annotations_of_the_orchestrator_and_shows_none(name: str) -> None:
    """A program that sees them would copy them into what it composes."""
    before, items = (
        yaml.safe_load((FOLDER / name / file).read_text())["items"]
        for file in ("input.yaml", "output.yaml")
    )
    after = {item["metadata"]["name"]: item for item in items}

    for item in before:
        if (kept := after.pop(item["metadata"]["name"], None)) is not None:
            assert kept["metadata"]["annotations"] == item["metadata"]["annotations"]
    for item in after.values():
        assert "config.k" not in str(item["metadata"]["annotations"])


def test_krm_error_points_at_the_line_of_its_author(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list has other lines, and neither kustomize nor kpt names the functionConfig's file."""
    text = (FOLDER / "error-in-program" / "input.yaml").read_text()
    config = yaml.safe_load(text)["functionConfig"]
    del config["metadata"]["annotations"]
    body = "inline: |\n" + "".join(f"  {line}\n" for line in config.pop("inline").splitlines())
    (tmp_path / "a.yaml").write_text("kind: Other\n")
    (tmp_path / "site.yaml").write_text(f"# mine\n---\n{body}{yaml.safe_dump(config)}")
    monkeypatch.chdir(tmp_path)

    request = yaml.safe_load(text)
    del request["functionConfig"]["metadata"]["annotations"]
    code, out, err = run_text(yaml.safe_dump(request), monkeypatch, capsys)

    (result,) = yaml.safe_load(out)["results"]
    assert code == 1
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
def test_krm_of_another_text_writes_nothing(
    text: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run_text(text, monkeypatch, capsys)

    assert (code, out) == (1, "")
    assert message in err


def test_krm_without_a_function_config_names_what_to_give(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "apiVersion: config.kubernetes.io/v1beta1\nkind: ResourceList\nitems: []\n"
    code, out, err = run_text(text, monkeypatch, capsys)

    assert code == 1
    assert "the ResourceList has no functionConfig" in err
    assert yaml.safe_load(out)["results"][0]["severity"] == "error"


def test_krm_container_starts_without_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Orchestrators pass none; both set this variable."""
    monkeypatch.setenv("STRUCTURED_RESULTS", "true")
    monkeypatch.setattr("sys.stdin", io.StringIO((FOLDER / "json" / "input.yaml").read_text()))

    assert execute([]) == 0
    assert capsys.readouterr().out == (FOLDER / "json" / "output.yaml").read_text()


def test_krm_step_that_is_left_out_deletes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list without the flag shows that the resource would be deleted."""
    text = (FOLDER / "paused-xr" / "input.yaml").read_text()
    text = text.replace('crossplane.io/paused: "true"', "a: b")
    flag = "--function=function-script=skip"

    code, out, err = run_text(text, monkeypatch, capsys, flag)
    assert (code, "a-host" in out) == (0, True)
    assert 'nothing is deleted, because step "site" was left out' in err

    code, out, _ = run_text(text, monkeypatch, capsys)
    assert (code, "a-host" in out) == (0, False)


def test_krm_limit_of_the_operator_ends_a_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The flags are those of every command that runs programs."""
    text = (FOLDER / "error-in-program" / "input.yaml").read_text()
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    text = text.replace("{{ spec.zoen }}", loop)

    code, out, err = run_text(text, monkeypatch, capsys, "--steps-limit=1000")

    assert code == 1
    assert "1000" in err.replace(",", "")
    assert yaml.safe_load(out)["results"][0]["severity"] == "error"


def test_krm_of_a_config_map_points_into_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
    (tmp_path / "config.yaml").write_text(config)
    monkeypatch.chdir(tmp_path)
    request = yaml.safe_load((FOLDER / "error-in-program" / "input.yaml").read_text())
    request["functionConfig"] = yaml.safe_load(config)

    code, out, err = run_text(yaml.safe_dump(request), monkeypatch, capsys)

    (result,) = yaml.safe_load(out)["results"]
    assert code == 1
    assert "--> config.yaml:11:18" in err
    assert result["resourceRef"]["name"] == "compose"
    assert result["field"] == {"path": 'data["step.yaml"]'}
