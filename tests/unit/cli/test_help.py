"""What the command line says of itself: examples, exit codes."""

import re

import click
import pytest
from generate import cli_page
from support.commands import Run
from support.paths import ROOT

from function_script import cli
from function_script.cli import exit_codes
from function_script.cli.options import Flag, by_group, list_commands

# It has nothing to show, and is called by another program.
WITHOUT_CALL = {"version", "internal render"}
CONTEXT = click.Context(cli.commands, terminal_width=80)
# Tests run these files, and the commands of the pages that test_walk does to the letter.
FILES = [
    *(path for end in ("py", "sh") for path in ROOT.glob(f"tests/**/*.{end}")),
    *(path for folder in ("how-to", "tutorial") for path in ROOT.glob(f"docs/{folder}/*.md")),
]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
NAMED = {" ".join(words): command for words, command in list_commands(cli.commands)}
COMMANDS = [pytest.param(name, command, id=name) for name, command in NAMED.items()]


def test_help_shows_examples() -> None:
    missing = [
        name
        for name, command in NAMED.items()
        if name not in WITHOUT_CALL and f"  function-script {name}" not in (command.epilog or "")
    ]
    assert missing == []


def test_flag_is_in_a_test() -> None:
    """One that no test passes has no test that could fail."""
    words = {*re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT)}
    options = (each for command in NAMED.values() for each in command.params)
    flags = {max(each.opts, key=len) for each in options if isinstance(each, click.Option)}
    assert flags - words == set()


def test_command_is_in_a_test() -> None:
    missing = []
    for name in NAMED:
        words = '", "'.join(name.split())
        if f"function-script {name}" not in TEXT and f'"{words}"' not in TEXT:
            missing.append(name)
    assert missing == []


def test_lists_of_commands_are_not_cut() -> None:
    package = cli.commands.get_command(CONTEXT, "package")
    for group in (cli.commands, package):
        lines = group.get_help(click.Context(group, terminal_width=80)).splitlines()
        assert [line for line in lines if line.endswith("...") and "Usage" not in line] == []


def test_exit_codes_are_what_the_page_says() -> None:
    """The table has every code there is, and `--help` the same ones."""
    codes = {
        value
        for name, value in vars(exit_codes).items()
        if name.isupper() and isinstance(value, int)
    }
    assert set(cli_page.EXIT_CODES) == codes
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert listed == codes
    in_help = re.findall(r"^  (\d+) ", cli.commands.epilog or "", re.MULTILINE)
    assert {int(code) for code in in_help} == codes


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_flag_is_in_a_group_of_help(name: str, command: click.Command) -> None:
    options = [each for each in command.params if isinstance(each, click.Option)]
    without = [option.name for option in options if not isinstance(option, Flag)]
    assert without == [], f"declare the flags of {name} as cli.options.Flag, with a group"
    text = command.get_help(click.Context(command))
    for group, members in by_group(command.params):
        section = text.partition(f"\n{group}:\n")[2].partition("\n\n")[0]
        for option in members:
            assert option.hidden or max(option.opts, key=len) in section


def test_help_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    widths = {}
    for columns in (60, 80, 140):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = run("render", "--help").out.partition("Examples:")[0]
        widths[columns] = max(map(len, text.splitlines()))
    assert widths[60] <= 69  # the longest name of a flag
    assert 70 < widths[80] <= 80
    assert 120 < widths[140] <= 140


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_help_with_its_examples_fits_into_eighty_columns(name: str, command: click.Command) -> None:
    context = click.Context(command, info_name=name, terminal_width=80)
    assert [line for line in command.get_help(context).splitlines() if len(line) > 80] == []


def test_command_is_in_one_section_of_help() -> None:
    text = cli.commands.get_help(CONTEXT)
    sections = text.partition("Write and test:\n")[2].partition("Exit codes:")[0]
    listed = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", sections, re.MULTILINE)
    names = cli.commands.list_commands(CONTEXT)
    visible = [name for name in names if not cli.commands.get_command(CONTEXT, name).hidden]
    assert sorted(listed) == sorted(visible)
    assert listed[:2] == ["init", "playground"]
