"""Read a Dockerfile into stages: what each instruction does is for ``image.stages``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dockerfile_parse import DockerfileParser
from dockerfile_parse.util import WordSplitter

_FROM: Final = re.compile(r"(?P<base>\S+)(?: AS (?P<name>\S+))?", re.IGNORECASE)
# dockerfile-parse reads ${name} and $name only.
_MODIFIED: Final = re.compile(r"\$\{\w+[^\w}]")


class DockerfileError(Exception):
    """A Dockerfile cannot be read, or one of its lines failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction: its line in the file, from 1, its name, and the text after the name."""

    line: int
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage: the name of its base with arguments filled in, and its instructions."""

    name: str
    base: str
    line: int
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dockerfile:
    """The stages in their order, and the arguments before the first one."""

    stages: tuple[Stage, ...]
    arguments: Mapping[str, str]


def read(path: Path, arguments: Mapping[str, str]) -> Dockerfile:
    """Read a Dockerfile with the arguments of its build; raises DockerfileError."""
    with path.open("rb") as file:
        structure = DockerfileParser(fileobj=file).structure
    defaults: dict[str, str] = {}
    stages: list[Stage] = []
    for entry in structure:
        instruction = Instruction(
            line=entry["startline"] + 1, name=entry["instruction"], text=entry["value"]
        )
        if instruction.name == "COMMENT":
            continue
        if instruction.name == "FROM":
            stages.append(_begin(instruction, defaults, len(stages)))
        elif stages:
            stage = stages.pop()
            stages.append(
                Stage(
                    name=stage.name,
                    base=stage.base,
                    line=stage.line,
                    instructions=(*stage.instructions, instruction),
                )
            )
        elif instruction.name == "ARG":
            name, sign, default = substitute(instruction.text, defaults).partition("=")
            defaults |= {name: arguments.get(name, default)} if sign else {}
        else:
            raise DockerfileError(f"line {instruction.line}: {instruction.name} before FROM")
    if not stages:
        raise DockerfileError(f'"{path}" has no FROM')
    return Dockerfile(stages=tuple(stages), arguments=defaults)


def _begin(instruction: Instruction, defaults: Mapping[str, str], number: int) -> Stage:
    match = _FROM.fullmatch(substitute(instruction.text, defaults))
    if match is None:
        raise DockerfileError(f"line {instruction.line}: cannot read FROM {instruction.text}")
    return Stage(
        name=match["name"] or str(number),
        base=match["base"],
        line=instruction.line,
        instructions=(),
    )


def substitute(text: str, values: Mapping[str, str]) -> str:
    """Fill variables into a text and take its quotes away, as Docker does."""
    return " ".join(words(text, values))


def words(text: str, values: Mapping[str, str]) -> list[str]:
    """Split a text into words with variables filled in, as Docker does."""
    if _MODIFIED.search(text):
        raise DockerfileError(f"cannot read {text}: a variable has a modifier")
    return list(WordSplitter(text, dict(values)).split())
