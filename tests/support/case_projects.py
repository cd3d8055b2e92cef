"""A small project with a Composition, for tests that run cases in it."""

from dataclasses import replace
from pathlib import Path

from function_script.tools.cases import command, model
from function_script.tools.cases.runner import RunOptions
from function_script.tools.cases.verdicts import CaseVerdict

XR = """\
apiVersion: example.org/v1
kind: XThing
metadata:
  name: demo
  namespace: here
spec:
  size: 2
"""

COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: things
spec:
  compositeTypeRef:
    apiVersion: example.org/v1
    kind: XThing
  mode: Pipeline
  pipeline:
"""

HEAD = f"""\
{COMPOSITION}\
  - step: things
    functionRef:
      name: function-script
    input:
"""

INPUT = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: StarlarkScript
script: |
  def main(req):
      xr = req["observed"]["composite"]["resource"]
      observed = req["observed"]["resources"]
      if xr["spec"]["size"] > 9:
          fail("size %d is too much" % xr["spec"]["size"])
      print("size", xr["spec"]["size"])
      found = req["required_resources"].get("zones", {"items": []})["items"]
      database = {
          "apiVersion": "example.org/v1",
          "kind": "Database",
          "metadata": {"labels": {"app": "demo"}},
          "spec": {
              "size": xr["spec"]["size"],
              "zones": [zone["resource"]["metadata"]["name"] for zone in found],
              "ports": [{"name": "sql", "port": 5432}, {"name": "web", "port": 80}],
          },
      }
      resources = {"database": {"resource": database}}
      status = {"runs": get(xr, "status.runs", 0) + 1}
      if "database" in observed:
          seen = observed["database"]["resource"]
          resources["database"]["ready"] = is_ready(seen)
          status["address"] = get(seen, "status.address", "none")
          if is_ready(seen):
              user = {"apiVersion": "example.org/v1", "kind": "User"}
              resources["user"] = {"resource": user, "ready": True}
      return {
          "desired": {"composite": {"resource": {"status": status}}, "resources": resources},
          "requirements": {
              "resources": {
                  "zones": {"api_version": "v1", "kind": "Zone", "match_labels": {"in": "use"}},
              },
          },
          "results": [{"severity": "Warning", "reason": "Sized", "message": "it is small"}],
          "conditions": [
              {"type": "Sized", "status": True, "reason": "Small", "message": "as asked"},
          ],
          "context": {"example.org/size": xr["spec"]["size"]},
      }
"""


def indented(text: str, by: int) -> str:
    """``text`` as it stands deeper in YAML."""
    return "".join(f"{' ' * by}{line}" for line in text.splitlines(keepends=True))


def project(path: Path, **cases: str) -> Path:
    """A directory with XR and Composition; ``cases`` are texts of single files by name."""
    (path / "xr.yaml").write_text(XR)
    (path / "composition.yaml").write_text(HEAD + indented(INPUT, 6))
    for name, text in cases.items():
        (path / f"{name}.case.yaml").write_text(text)
    return path


def folder(path: Path, **files: str) -> Path:
    """A folder case with these YAML files."""
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / f"{name}.yaml").write_text(text)
    return path


def run(path: Path, terms: RunOptions | None = None, jobs: int = 2) -> dict[str, CaseVerdict]:
    """The verdicts of all cases below ``path``, by the last part of their names."""
    terms = terms or RunOptions()
    options = replace(terms, pool=replace(terms.pool, workers=jobs))
    verdicts = command.run_all(model.find_cases([path]), options)
    return {verdict.name.rpartition("/")[2]: verdict for verdict in verdicts}


def run_one(path: Path, case: str, terms: RunOptions | None = None) -> CaseVerdict:
    """The verdict of a single case."""
    return run(project(path, one=case), terms)["one"]


def messages(verdict: CaseVerdict) -> list[str]:
    """What is wrong with a case, in short."""
    return [problem.message for problem, _ in verdict.problems]
