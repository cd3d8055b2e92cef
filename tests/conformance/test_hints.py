"""Texts can be followed: a flag or command that one names exists where the text is printed.

The texts are those of the package's source that are more than a flag: errors, hints, help.
"""

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from functools import cache

import pytest
from support.paths import ROOT

from function_script.cli import execute

PACKAGE = ROOT / "function_script"
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
COMMAND = re.compile(r"function-script (render operation|package [a-z]+|[a-z]+)")
# Another program in an example.
OTHER_PROGRAM = re.compile(r"^ *(?:kustomize|kpt|crossplane) ")
PIPELINE = ("render", "render operation", "test", "playground", "krm")
REGISTRY = ("package push", "package inspect")
FILES = (*PIPELINE, "check", "template", "validate", "vendor", "package build", "package push")
# "a bug in function-script or an attack".
NO_COMMANDS = {"or"}
# The commands that print the texts of a module. A module of a command prints those of its own; a
# text that names the command needs no row.
COMMANDS = {
    ("cli/__init__.py", "--help"): ("",),
    ("cli/__init__.py", "--insecure"): ("serve",),
    ("cli/__init__.py", "--tls-certs-dir"): ("serve",),
    ("cli/check.py", "--seed-file"): ("serve",),
    # Printed where the command has the flag.
    ("cli/exit_codes.py", "--debug"): ("check", "render", "run", "serve", "template", "test"),
    ("cli/options.py", "--diagnostics"): ("check", "render", "test", "validate"),
    ("cli/options.py", "--function"): PIPELINE,
    ("cli/options.py", "--offline"): (*PIPELINE, "run"),
    ("cli/options.py", "--output"): ("check", "render", "test", "validate"),
    ("cli/package.py", "--package-root"): ("package build",),
    ("cli/package.py", "--plain-http"): REGISTRY,
    ("cli/validate.py", "--validate"): ("render",),
    ("contribution/predictable_secrets.py", "--seed-file"): ("serve",),
    ("step/function.py", "--remote-allow"): ("serve",),
    ("tools/validate/packages.py", "--fetch"): ("check", "render", "validate"),
    ("inputs/external_sources.py", "--program-root"): ("serve",),
    ("sandbox/fork_server.py", "--require-sandbox"): ("serve",),
    ("sandbox/outcome.py", "--workers"): ("serve",),
    ("server/capture_writer.py", "--capture-limit"): ("serve",),
    ("server/certificates.py", "--insecure"): ("serve",),
    ("server/lifecycle.py", "--insecure"): ("serve",),
    ("server/lifecycle.py", "--tls-certs-dir"): ("serve",),
    ("server/lifecycle.py", "--workers"): ("serve",),
    ("server/metrics.py", "--remote-allow"): ("serve",),
    ("server/remote_programs.py", "--remote-allow"): ("serve",),
    ("testing/plugin.py", "--seed-file"): ("test",),
    ("tools/cases/runner.py", "--update"): ("test",),
    ("tools/check/rules.py", "--program-root"): ("check",),
    ("tools/check/rules.py", "--seed-file"): ("serve",),
    ("tools/check/runs.py", "--run-functions"): ("check",),
    ("tools/check/xr_runs.py", "--variant"): ("check",),
    ("tools/compare/report.py", "--with"): ("compare",),
    ("tools/manual.py", "--capture-dir"): ("serve",),
    ("tools/plan/planning.py", "--before"): ("plan",),
    ("tools/playground/server.py", "--port"): ("playground",),
    ("tools/playground/workbench.py", "--function"): ("playground",),
    ("tools/playground/workbench.py", "--insecure"): ("serve",),
    ("tools/processes/server.py", "--function"): (*PIPELINE, "run"),
    ("tools/project.py", "--allow-outside"): FILES,
    ("tools/remote/fetching.py", "--offline"): (*PIPELINE, "run"),
    ("tools/render/engine.py", "--insecure"): ("serve",),
    ("tools/render/functions.py", "--function"): PIPELINE,
    ("tools/render/functions.py", "--function-annotations"): ("render", "render operation"),
    ("tools/render/functions.py", "--strict-versions"): PIPELINE,
    ("tools/render/pipeline.py", "--function-credentials"): ("render", "render operation", "krm"),
    ("tools/render/requirements.py", "--required-resources"): ("render", "render operation"),
    ("tools/render/runtimes/address.py", "--function"): PIPELINE,
    ("tools/render/runtimes/address.py", "--insecure"): ("serve",),
    ("tools/render/runtimes/container.py", "--function"): PIPELINE,
    ("tools/render/runtimes/model.py", "--allow-addresses"): PIPELINE,
    ("tools/starters/example_project.py", "--from"): ("init",),
    ("tools/template.py", "--step"): ("template",),
    ("tools/xpkg/manifest.py", "--ignore"): ("package build",),
    ("tools/xpkg/manifest.py", "--input-crds"): ("package build",),
    ("tools/xpkg/manifest.py", "--package-root"): ("package build",),
    ("tools/xpkg/registry.py", "--plain-http"): REGISTRY,
}
# Flags of the official command, which starts the engine.
OTHERS = {("tools/render/engine.py", "--crossplane-binary")}


def _documentation(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as value):
                yield value


def _constants(tree: ast.Module) -> dict[str, object]:
    """Return the values of a module's own constants."""
    values: dict[str, object] = {}
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=value)):
                values[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                values[name] = value
    return values


def texts_of(source: str) -> Iterator[str]:
    """Yield the texts of a module that are more than a flag; values in them are {}."""
    tree = ast.parse(source)
    constants = _constants(tree)
    inner = {id(part) for node in ast.walk(tree) for part in _parts(node)}
    inner.update(map(id, _documentation(tree)))
    for node in ast.walk(tree):
        text = "" if id(node) in inner else _text(node, constants)
        if " " in text:
            yield text


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr):
        yield from node.values


def _text(node: ast.AST, constants: dict[str, object]) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name)):
            return str(constants.get(name, "{}"))
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, constants) for part in parts)
    return "{}"


@cache
def lines() -> list[tuple[str, str]]:
    """Return all lines of texts, each with its module."""
    sources = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    return [
        (path.relative_to(PACKAGE).as_posix(), line)
        for path, source in sources.items()
        # Most modules name neither a flag nor a command, and need not be parsed.
        if "--" in source or "function-script " in source
        for text in texts_of(source)
        for line in re.split(r"[\n|]", text.replace("\\\n", ""))
    ]


@cache
def named() -> dict[tuple[str, str], set[str]]:
    """Return the modules' flags with the commands that they stand beside, "" for none."""
    pairs: dict[tuple[str, str], set[str]] = {}
    for module, line in lines():
        if not OTHER_PROGRAM.search(line):
            command = COMMAND.search(line)
            for flag in FLAG.findall(line):
                pairs.setdefault((module, flag), set()).add(command[1] if command else "")
    return pairs


def _places() -> Iterator[tuple[str, str, str]]:
    """Yield modules, flags, and the commands that must have them."""
    for (module, flag), beside in sorted(named().items()):
        if (module, flag) in OTHERS:
            continue
        commands = beside - {""}
        if "" in beside:
            own = module.removeprefix("cli/").removesuffix(".py")
            commands.update(COMMANDS.get((module, flag)) or [own])
        for command in sorted(commands):
            yield module, flag, command


def refuse(command: str, *flags: str) -> str:
    """Run a command line as far as its usage; return why that is wrong, "" if it is right."""
    errors = io.StringIO()
    # With --help nothing runs. A flag after it that takes a value lacks one, and is known.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = execute([*command.split(), "--help", *flags])
    text = errors.getvalue()
    return "" if code == 0 or "requires an argument" in text else text


def test_no_row_of_the_table_is_without_a_text() -> None:
    assert set(COMMANDS) | OTHERS <= set(named())


def test_flag_that_a_text_names_is_one_of_the_command() -> None:
    places = [*_places()]
    assert len(places) > 100
    refusals = {place: refuse(place[2], place[1]) for place in places}
    assert {place: text for place, text in refusals.items() if text} == {}


def test_command_that_a_text_names_exists() -> None:
    names = {name for _, line in lines() for name in COMMAND.findall(line)} - NO_COMMANDS
    assert names >= {"render", "init", "vendor", "run", "package build", "test"}
    assert [each for name in sorted(names) if (each := refuse(name))] == []


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        pytest.param("bulid", "--quiet", id="command"),
        pytest.param("render", "--quite", id="flag"),
        pytest.param("render", "--cred", id="beginning-of-a-flag"),
    ],
)
def test_wrong_usage_is_refused(command: str, flag: str) -> None:
    assert "Error: No such" in refuse(command, flag)
