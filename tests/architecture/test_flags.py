"""A flag or a command that no test names has no test that could fail."""

import re

import click
from support.paths import ROOT
from unit.cli.test_help import every_command

# What tests run: those here, and the commands of the pages that test_walk does to the letter.
FILES = [
    *ROOT.glob("tests/**/*.py"),
    *ROOT.glob("tests/**/*.sh"),
    *ROOT.glob("docs/how-to/*.md"),
    *ROOT.glob("docs/tutorial/*.md"),
]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
WORDS = {*re.findall(r"(?<![\w-])--[a-z][a-z-]*", TEXT)}


def test_every_flag_is_in_a_test() -> None:
    flags = {
        max(option.opts, key=len)
        for _, command in every_command()
        for option in command.params
        if isinstance(option, click.Option)
    }
    assert flags - WORDS == set()


def test_every_command_is_in_a_test() -> None:
    missing = []
    for name, _ in every_command():
        words = '", "'.join(name.split())
        if f"function-script {name}" not in TEXT and f'"{words}"' not in TEXT:
            missing.append(name)
    assert missing == []
