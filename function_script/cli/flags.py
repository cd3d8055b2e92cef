"""Flags that belong to a group, and commands whose help lists them group by group.

A flag names its group where it is declared: ``Flag([...], group="Input")`` or
``@click.option(..., cls=Flag, group="Input")``.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Final, Literal, get_args

import click

# In the order of --help.
Group = Literal[
    "Project",
    "Input",
    "Functions",
    "Validation",
    "Cases",
    "Limits",
    "Server",
    "Security",
    "Captures",
    "Remote programs",
    "Registry",
    "Output",
    "Other",
]
_GROUPS: Final = get_args(Group)


class Flag(click.Option):
    """An option in a group of its command's help."""

    def __init__(self, names: list[str], *, group: Group, **settings: object) -> None:
        super().__init__(names, **settings)  # type: ignore[arg-type] # click's own settings
        self.group: Group = group


class Command(click.Command):
    """A command whose help lists its flags group by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        for group, options in by_group(self.get_params(ctx)):
            rows = [row for option in options if (row := option.get_help_record(ctx))]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)


def by_group(parameters: list[click.Parameter]) -> Iterator[tuple[str, list[click.Option]]]:
    """Yield each group with its options; those without a group, such as --help, are Other."""
    options = [each for each in parameters if isinstance(each, click.Option)]
    options.sort(key=lambda option: _GROUPS.index(_group(option)))
    for group, members in groupby(options, key=_group):
        yield group, [*members]


def _group(option: click.Option) -> Group:
    return option.group if isinstance(option, Flag) else "Other"
