from pathlib import Path

import pytest
from support.commands import Run
from support.validate_helpers import CRD, GOOD, OTHER, check, write

from function_script.texts.errors import InputError
from function_script.tools.validate.command import validate

FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-script}
spec: {package: registry.example.org/function-script:v1.0.0}
---
apiVersion: pkg.crossplane.io/v1
kind: Provider
metadata: {name: provider-things}
spec: {package: registry.example.org/provider-things:v1.0.0}
"""


PROVIDER = """\
apiVersion: pkg.crossplane.io/v1
kind: Provider
metadata: {name: provider-things}
spec: {package: "%s"}
"""


def test_packages_are_taken_from_the_cache(tmp_path: Path) -> None:
    cached = tmp_path / "cache" / "registry.example.org" / "provider-things@v1.0.0"
    write(cached, package=CRD)
    report = check(tmp_path, GOOD, extensions=FUNCTIONS)
    assert (report.count("valid"), report.notes) == (1, ())


def test_package_that_is_not_there_is_noted(tmp_path: Path) -> None:
    """Its kinds are missing, which is no failure; our own package is always there."""
    report = check(tmp_path, GOOD, extensions=FUNCTIONS)
    assert report.count("missingSchema") == 1
    assert report.notes == (
        (
            'the schemas of package "registry.example.org/provider-things:v1.0.0" '
            f'are not in the cache "{tmp_path / "cache"}": pass --fetch, '
            "or give the package's CRDs"
        ),
    )


META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata: {name: platform}
spec:
  dependsOn:
  - {%s: %s, version: "%s"}
"""
OUTSIDE = {
    "above": "../../secret:v1",
    "above in between": "registry.example.org/../../../secret:v1",
    "absolute": "{outside}/secret:v1",
    "an empty part": "{outside}//secret:v1",
    "longer than files are named": "registry.example.org/" + "a" * 256 + ":v1",
    "longer than paths are": "registry.example.org/" + "a/" * 600 + ":v1",
    "a zero": "registry.example.org/a\\0b:v1",
    "a terminal's order": "registry.example.org/a\\e[2Jb:v1",
}


@pytest.mark.parametrize("image", OUTSIDE.values(), ids=OUTSIDE)
def test_package_names_never_lead_out_of_the_cache(tmp_path: Path, image: str) -> None:
    write(tmp_path / "secret@v1", package=CRD)
    work = tmp_path / "work" / "deep"
    package = image.format(outside=tmp_path)
    report = check(work, GOOD, extensions=PROVIDER % package)
    assert report.count("missingSchema") == 1
    assert "invalid package reference" in "".join(report.notes)


RANGES = {
    "there": (">=v1", ["v0.9.0", "v1.0.0"], 1),
    "too-old": (">=v1", ["v0.9.0", "latest"], 0),
    "none": ("~v2", [], 0),
}


@pytest.mark.parametrize(("constraint", "versions", "count"), RANGES.values(), ids=RANGES)
def test_greatest_version_of_a_range_is_taken(
    tmp_path: Path, constraint: str, versions: list[str], count: int
) -> None:
    for version in versions:
        crd = CRD if version == "v1.0.0" else "# nothing"
        write(tmp_path / "cache" / "example.org" / f"a@{version}", package=crd)
    meta = META % ("provider", "example.org/a", constraint)
    report = check(tmp_path, GOOD, extensions=meta)
    assert report.count("valid") == count
    assert bool(report.notes) is not bool(count)


def test_crossplanes_own_kinds_are_of_the_image_that_is_named(tmp_path: Path, run: Run) -> None:
    """Its schemas are in the cache as well."""
    write(tmp_path / "cache" / "example.org" / "crossplane@v9", package=CRD)
    extensions, resources = write(tmp_path, none=OTHER), write(tmp_path, thing=GOOD)
    image = ("--crossplane-image", "example.org/crossplane:v9")
    flags = ("--cache-dir", tmp_path / "cache", *image, "--skip-success-results")
    text = run("validate", extensions[0], resources[0], *flags).out
    assert text == "Total 1 resources: 0 missing schemas, 1 success cases, 0 failure cases\n"


def test_empty_run_is_noted(tmp_path: Path) -> None:
    extensions, resources = write(tmp_path, thing=GOOD), write(tmp_path, none="# nothing")
    assert validate(extensions, resources).notes == (
        f'there is no XRD, CRD or package in "{extensions[0]}"',
        f'there is no resource in "{resources[0]}"',
    )


DEFINITIONS = {
    "spec": ("spec: 5", ["spec: must be an object, not an integer"]),
    "fields": (
        "spec: {names: {}, versions: {a: b}}",
        [
            "spec.group: is required",
            "spec.names.kind: is required",
            "spec.versions: must be a list, not an object",
        ],
    ),
    "versions": (
        "spec: {group: g.io, names: {kind: K}, versions: [{schema: {}}]}",
        [
            "spec.versions[0].name: is required",
            "spec.versions[0].schema.openAPIV3Schema: is required",
        ],
    ),
}


@pytest.mark.parametrize(("spec", "messages"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_xrd_whose_schema_would_get_lost_is_refused(
    tmp_path: Path, spec: str, messages: list[str]
) -> None:
    xrd = (
        "apiVersion: apiextensions.crossplane.io/v2\n"
        f"kind: CompositeResourceDefinition\nmetadata: {{name: x}}\n{spec}\n"
    )
    with pytest.raises(InputError) as caught:
        check(tmp_path, GOOD, extensions=xrd)
    assert [problem.message for problem in caught.value.diagnostics] == messages
    assert all(
        problem.span is not None and problem.span.line == 4 for problem in caught.value.diagnostics
    )


@pytest.mark.parametrize("flag", ["served", "referenceable", "deprecated"])
def test_flags_of_a_version_are_booleans(tmp_path: Path, flag: str) -> None:
    """The official command cannot read another type, nor can an API server."""
    text = CRD.replace("    - name: v1\n", f"    - name: v1\n      {flag}: 'true'\n")
    with pytest.raises(InputError, match=f"{flag}: must be a boolean, not a string"):
        check(tmp_path, GOOD, extensions=text)


def test_user_without_a_home_has_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation works for any user id in a container."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54321)
    resources = write(tmp_path, thing=GOOD)
    assert validate(write(tmp_path, crd=CRD), resources).count("valid") == 1
