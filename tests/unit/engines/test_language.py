"""Every language of the registry has all that a descriptor promises."""

import importlib
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
import yaml
from support.paths import ROOT

from function_script import engines
from function_script.engines.language import Language
from function_script.engines.lint import Lint
from function_script.engines.registry import LANGUAGES

EVERY = pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)
HEAVY = ("jinja2", "starlark", "re2", "yaml", "function_script.engines.gotemplate.run")


def test_folder_with_a_descriptor_is_named_in_the_registry() -> None:
    folders = {path.parent.name for path in Path(engines.__path__[0]).glob("*/language.py")}
    assert folders == {*engines.NAMES}, "write the folder's name in function_script/engines"


@EVERY
def test_names_agree(language: Language) -> None:
    assert LANGUAGES[language.name] is language
    assert language.package == f"function_script.engines.{language.name}"


@EVERY
def test_parts_are_there(language: Language) -> None:
    for function in ("evaluate", "check", "unused_modules"):
        assert callable(getattr(language.engine, function))
    assert isinstance(language.lint, Lint)
    parts = [
        ("manual", "entries"),
        *[("plain", "render_program")] * language.has_plain_data,
        *[("branches", "find")] * language.has_branches,
    ]
    for module, function in parts:
        part = importlib.import_module(f"{language.package}.{module}")
        assert callable(getattr(part, function))
    folder = resources.files(language.package)
    for name in (
        "starter/app/composition.yaml",
        "starter/from_xr/composition.yaml",
        "snippet.yaml",
        *language.editor_files.values(),
    ):
        assert (folder / name).is_file(), f"write {name} in the folder of {language.name}"


@EVERY
def test_crd_is_the_kind_s(language: Language) -> None:
    """The CRD has the fields and the default that the parser goes by."""
    plural = f"{language.kind.lower()}s"
    file = ROOT / "input_crds" / f"script.fn.crossplane.io_{plural}.yaml"
    kinds = "docs/generate/input_kinds.yaml"
    assert file.is_file(), f"describe {language.kind} in {kinds}, and run make goldens"
    crd = yaml.safe_load(file.read_text())
    assert crd["spec"]["names"]["kind"] == language.kind
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert {language.text_field, *language.fields} <= schema.keys()
    is_object = schema[language.text_field]["type"] == "object"
    assert is_object is language.has_named_texts, f"write text_schema of {language.kind} in {kinds}"
    assert set(language.options) <= schema["options"]["properties"].keys()
    main = schema["fileSystem"]["properties"].get("main", {"default": ""})
    assert main["default"] == language.default_file, f"write main of {language.kind} in {kinds}"


@EVERY
def test_package_names_the_kind(language: Language) -> None:
    """Its readers see which languages it runs."""
    text = (ROOT / "package" / "crossplane.yaml").read_text()
    assert f"`{language.kind}`" in text, f"write `{language.kind}` in package/crossplane.yaml"


def test_descriptors_are_light() -> None:
    """A command that only needs names, such as a completion, imports no engine."""
    code = f"import sys, function_script.engines; print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
