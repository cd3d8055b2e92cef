"""``docs``: every name that programs, inputs and documents can use."""

import re

import pytest
import starlark
import yaml
from support.commands import Run
from support.paths import ROOT

from function_script.cli import commands, options
from function_script.contribution import dialects
from function_script.contribution.dialects import SCRIPT
from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.syntax.lexer import KEYWORDS
from function_script.engines.jinja.filters import FILTERS, TESTS
from function_script.engines.jinja.functions import NAMES
from function_script.engines.jinja.lookups import MAPPING_METHODS, STRING_METHODS
from function_script.engines.library import FUNCTIONS, Function
from function_script.engines.starlark import predeclared
from function_script.tools import manual, structural_schema
from function_script.tools.cases import parser
from function_script.tools.validate import catalog

STARLARK_PAGE = (ROOT / "docs" / "reference" / "starlark.md").read_text()
BUILTINS = re.search(
    r"^\| builtins \| `([a-zA-Z_ ]+)`, `(.+?)`, `(.+?)`", STARLARK_PAGE, re.MULTILINE
)


def _names(group: str) -> set[str]:
    entries = manual.entries(group)
    return {entry.name for entry in entries} | {entry.short_name for entry in entries}


def _module() -> starlark.Module:
    return starlark.Module()


def _methods(value: str) -> set[str]:
    names = starlark.eval(
        _module(), starlark.parse("dir", f"dir({value})"), starlark.Globals.standard()
    )
    return {*names}


def test_docs_lists_every_group(run: Run) -> None:
    lines = run("docs").out
    listing = "".join(run("docs", group).out for group in manual.groups())
    assert [group for group in manual.groups() if f"\n  {group} " not in lines] == []
    for function in FUNCTIONS:
        assert re.search(rf"^  {function.name} ", listing, re.MULTILINE)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_docs_of_a_library_function_has_all_of_it(function: Function, run: Run) -> None:
    text = run("docs", function.name).out
    assert function.signature.usage in text
    assert function.example in text
    for parameter in function.parameters:
        assert f"  {parameter.rule.name}: {parameter.type.name}," in text


def test_manual_of_starlark_has_every_name() -> None:
    builtins, *modules = BUILTINS.groups()
    names = _names("starlark") | _names("library")
    assert {*predeclared.NAMES} - names == set()
    assert {*builtins.split(), *modules} - names == set()
    entries = manual.entries("starlark")
    sections = {
        section: {entry.name for entry in entries if entry.section == section}
        for section in ("methods of texts", "methods of lists", "methods of objects", "builtins")
    }
    assert sections["methods of texts"] == _methods('""')
    assert sections["methods of lists"] == _methods("[]")
    assert sections["methods of objects"] == _methods("{}")
    assert sections["builtins"] == {*builtins.split(), "True", "False", "None"}


def test_manual_of_jinja_has_every_name() -> None:
    names = _names("jinja") | _names("library")
    wanted = {*NAMES, *FILTERS, *TESTS, *STRING_METHODS, *MAPPING_METHODS, "loop"}
    assert wanted - names - {"dig", "tojson"} == set()
    statements = {"if", "for", "set", "macro", "call", "filter", "import", "from", "include"}
    assert statements | {"extends", "block", "with", "raw"} <= names


def test_manual_of_go_templates_has_every_name() -> None:
    names = _names("gotemplate")
    assert {*registry.FUNCTIONS, *registry.OWN_FUNCTIONS, *registry.UNAVAILABLE} - names == set()
    assert {*KEYWORDS} - names == set()


def test_manual_has_every_field_of_inputs() -> None:
    names = _names("inputs")
    for (_, kind), schema in catalog.read_schemas(catalog.INPUTS).items():
        assert kind in names
        fields = structural_schema.properties(schema)
        assert {*fields} - {"apiVersion", "kind", "metadata"} - names == set()
        for name, field in fields.items():
            below = {f"{name}.{each}" for each in structural_schema.properties(field)}
            assert name == "metadata" or below - names == set()


def test_manual_has_every_annotation() -> None:
    rows = {f"{dialects.PREFIX}/{annotation.name}" for annotation in dialects.ANNOTATIONS}
    assert rows == {*SCRIPT.annotations.keys} <= _names("documents")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("limits.timeout", "CPU time of the program"),
        ("spec.limits", "limits.timeout: "),
        ("input.ttl", "Go duration"),
        ("depends_on", "script.fn.crossplane.io/depends-on\n\n"),
        ("depends-on", "script.fn.crossplane.io/depends-on"),
        ("script.fn.crossplane.io/merge", "Replace"),
        ("resource", "rsp.resource(name, body"),
        ("selectattr", "value | selectattr"),
        ("divisibleby", "(jinja: tests)"),
        ("endswith", "(starlark: methods of texts)"),
        ("mustToJson", "Like toJson"),
        ("genCA", "Unavailable"),
        ("with", "{% with name = VALUE %}"),
        (".observed", "the XR"),
        ("json.encode", "as JSON"),
        ("Results", "A document with results"),
        ("capture", "--capture-dir"),
        ("ready", "before the reconcile, by the rule of their kind"),
        ("GoTemplate", "fileSystem.dirPath"),
        ("rsp", "rsp.set_status"),
        ("for", "[f(x) for x in LIST if COND]"),
        # What to write for a name of another language.
        ("toYaml", "\n  in Starlark: write to_yaml(...)\n"),
        ("regex_search", "\n  in Jinja as a filter: write value | regex_find\n"),
        (".Chart.Name", "\n  in Go templates: there is no Helm chart"),
        (".Release.Name", "\n  in Go templates: there is no Helm release: "),
        (".Values", "\n  in Go templates: there are no Helm values: "),
        ("ocds", '\n  in Starlark: write get_observed(req, "name")\n'),
        ("deep_merge", "\n  in Starlark: write merge(target, source)\n"),
        ("push", "\n  in Starlark for a list: write list.append(item)\n"),
        ("foreach", "\n  in Jinja as a tag: write {% for item in list %}\n"),
        # The names that contain a word.
        ("cidr", "\n  cidr_subnet "),
        ("skip", "\n  skipXrValidation "),
        # Also of a word that is a name of another language.
        ("regex", "\n  regex_groups "),
        ("delete", "\n  is_deleting "),
        # The names whose meaning has a word that no name has.
        ("order", "\n  script.fn.crossplane.io/depends-on "),
        ("Wait", "\n  missing "),
        ("snapshot", "function-script snapshot --help\n"),
        ("package build", "function-script package build --help\n"),
        ("template", "(gotemplate: "),
        # Flags, with and without dashes, and their variables.
        ("workers", "--workers N\n\n  Number of programs"),
        ("--workers", "\n  Commands: serve\n  Variables: FUNCTION_SCRIPT_WORKERS\n"),
        ("TLS_SERVER_CERTS_DIR", "--tls-certs-dir DIR\n"),
        ("-x", "--include-full-xr"),
        ("program-root", "\n  Default of krm: programs/ in the current directory\n"),
        ("message", "\n  --max-recv-message-size  Largest request"),
        # A name that each language spells in its own way.
        ("get_observed", "\nThe same in each language\n\n  in Starlark: "),
    ],
)
def test_docs_finds_a_name(name: str, text: str, run: Run) -> None:
    assert text in run("docs", name).out


@pytest.mark.parametrize("name", ["true", "false", "none"])
def test_docs_does_not_translate_a_name_to_itself(name: str, run: Run) -> None:
    assert f"in Jinja: write {name}\n" not in run("docs", name).out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("to_yml", 'did you mean "to_yaml"?'),
        ("limits.timout", 'did you mean "limits.timeout"?'),
        ("--wokers", 'did you mean "--workers"?'),
        ("qqqqqq", "function-script docs"),
        ("claim", "all else is in the pages of docs/"),
    ],
)
def test_docs_of_an_unknown_name_names_the_nearest(name: str, hint: str, run: Run) -> None:
    assert hint in run("docs", name, code=1).err


def test_docs_lists_the_flags_of_all_commands(run: Run) -> None:
    listing = run("docs", "flags").out
    listed = [
        option
        for _, command in options.list_commands(commands)
        for option in options.visible_options(command)
    ]
    assert [option for option in listed if f"\n  {options.long_name(option)} " not in listing] == []
    assert len(listed) > listing.count("\n")


def test_tables_of_the_manual_name_nothing_twice() -> None:
    for language in manual.LANGUAGES:
        seen = [(entry.section, entry.name) for entry in manual.entries(language)]
        assert len(seen) == len({*seen})
    for path in (ROOT / "function_script" / "engines").glob("*/manual.yaml"):
        assert all(yaml.safe_load(path.read_text()).values())


def test_manual_of_cases_has_every_key() -> None:
    known = {*parser.CASE_FIELDS, *parser.STEP_FIELDS, *parser.EXPECT_FIELDS, *parser.QUESTIONS}
    assert {entry.name for entry in manual.entries("cases")} == known
