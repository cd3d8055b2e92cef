"""Carry out a Dockerfile without Docker: each instruction, in order, in a root file system.

RUN lines run verbatim by ``/bin/sh -c`` in the root file system. An instruction that is not known
here is an error, and so is a line that fails. Stages that nothing needs are left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from image import context, machine
from image.bases import Bases
from image.dockerfile import Dockerfile, DockerfileError, Instruction, Stage, words

_LINE_SECONDS: Final = 1800.0
# Docker has these arguments without a line that declares them.
_PREDEFINED: Final = "SOURCE_DATE_EPOCH"


class LineError(DockerfileError):
    """A line failed; the text begins with its number."""


@dataclass(slots=True, kw_only=True)
class Image:
    """A root file system with what an image says about its containers."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)
    directory: str = "/"
    user: str = "0:0"

    def copy_to(self, root: Path) -> Image:
        """Copy the image, for a stage to go on with."""
        subprocess.run(["cp", "--archive", self.root, root], check=True)
        return Image(
            root=root,
            environment={**self.environment},
            labels={**self.labels},
            entrypoint=[*self.entrypoint],
            ports=[*self.ports],
            directory=self.directory,
            user=self.user,
        )


@dataclass(slots=True, kw_only=True)
class Builder:
    """Builds stages of one Dockerfile in a directory, each once."""

    dockerfile: Dockerfile
    source: Path
    ignore_file: Path
    bases: Bases
    directory: Path
    arguments: Mapping[str, str]
    report: Callable[[str], None]
    finished: dict[str, Image] = field(default_factory=dict)
    # Images of a registry, by the names that a FROM line has.
    published: Mapping[str, Image] = field(default_factory=dict)

    def build(self, name: str | None = None) -> Image:
        """Build the stage of that name, else the last one; raises DockerfileError."""
        return self._build(name or self.dockerfile.stages[-1].name, self.dockerfile.stages)

    def _build(self, name: str, stages: Sequence[Stage]) -> Image:
        """Build one of these stages with those before it that it needs."""
        for index, stage in enumerate(stages):
            if stage.name == name:
                if name not in self.finished:
                    self.finished[name] = self._carry_out(stage, stages[:index])
                return self.finished[name]
        raise DockerfileError(f'no stage before it is called "{name}"')

    def _carry_out(self, stage: Stage, before: Sequence[Stage]) -> Image:
        root = self.directory / stage.name
        subprocess.run(["rm", "-rf", root], check=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        if any(other.name == stage.base for other in before):
            image = self._build(stage.base, before).copy_to(root)
        elif stage.base in self.published:
            image = self.published[stage.base].copy_to(root)
        else:
            base = self.bases.find(stage.base)
            image = Image(root=base.root, environment={**base.environment}).copy_to(root)
        self.report(f"line {stage.line}: FROM {stage.base} AS {stage.name}")
        values: dict[str, str] = {}
        for instruction in stage.instructions:
            began = time.monotonic()
            try:
                if instruction.name == "COPY":
                    self._copy(instruction.text, image, values, before)
                else:
                    self._follow(instruction, image, values)
            except LineError:
                raise
            except DockerfileError as error:
                raise LineError(f"line {instruction.line}: {error}") from error
            seconds = time.monotonic() - began
            if instruction.name in {"COPY", "RUN"}:
                self.report(f"line {instruction.line}: {instruction.name} ({seconds:.1f} s)")
        return image

    def _follow(self, instruction: Instruction, image: Image, values: dict[str, str]) -> None:
        text, variables = instruction.text, {**values, **image.environment}
        match instruction.name:
            case "ARG":
                self._declare(text, values, variables)
            case "ENV":
                image.environment |= _pairs(text, variables)
            case "LABEL":
                image.labels |= _pairs(text, variables)
            case "WORKDIR":
                image.directory = str(Path(image.directory, *words(text, variables)))
                _inside(image.root, image.directory).mkdir(parents=True, exist_ok=True)
            case "USER":
                (image.user,) = words(text, variables)
            case "EXPOSE":
                image.ports += words(text, variables)
            case "ENTRYPOINT":
                image.entrypoint = json.loads(text)
            case "RUN":
                _run(text, image, values)
            case name:
                raise DockerfileError(f"{name} is not known here")

    def _declare(self, text: str, values: dict[str, str], known: Mapping[str, str]) -> None:
        name, sign, default = " ".join(words(text, known)).partition("=")
        if name in self.arguments:
            values[name] = self.arguments[name]
        elif sign:
            values[name] = default
        elif name in self.dockerfile.arguments:
            values[name] = self.dockerfile.arguments[name]
        elif name != _PREDEFINED:
            raise DockerfileError(f"argument {name} has no value")

    def _copy(
        self, text: str, image: Image, values: Mapping[str, str], before: Sequence[Stage]
    ) -> None:
        *sources, target = words(text, {**values, **image.environment})
        directory = _inside(image.root, str(Path(image.directory, target)))
        is_directory = target.endswith("/") or directory.is_dir()
        if sources[0].startswith("--from="):
            origin = self._build(sources.pop(0).removeprefix("--from="), before).root
            paths = [_inside(origin, name) for name in sources]
            context.copy(paths, directory, is_directory=is_directory)
        elif any(name.startswith("--") for name in sources):
            raise DockerfileError(f"COPY {sources[0]} is not known here")
        else:
            rules = context.read_rules(self.ignore_file)
            with context.selected(self.source, sources, rules) as paths:
                context.copy(paths, directory, is_directory=is_directory)


def _pairs(text: str, known: Mapping[str, str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words(text, known)]
    if not all(sign for _, sign, _ in pairs):
        raise DockerfileError("a word has no =")
    return {name: value for name, _, value in pairs}


def _inside(root: Path, path: str) -> Path:
    """Find a path of an image in its root file system, without leaving that one."""
    return root / os.path.normpath(f"/{path}").lstrip("/")


def _run(text: str, image: Image, values: Mapping[str, str]) -> None:
    if text.startswith(("[", "-", "<<")):
        raise DockerfileError("RUN with a list, a flag or a document is not known here")
    numbers = _numbers(image)
    with machine.lent_to(image.root) as variables:
        try:
            result = subprocess.run(
                ["/bin/sh", "-c", text],
                check=False,
                env={**variables, **image.environment, **values, "HOME": "/root"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_LINE_SECONDS,
                preexec_fn=lambda: _enter(image, *numbers),
            )
        except subprocess.TimeoutExpired as error:
            raise DockerfileError(f"RUN took longer than {_LINE_SECONDS:g} s") from error
    if result.returncode:
        output = result.stdout.decode(errors="replace")
        raise DockerfileError(f"RUN ended with exit code {result.returncode}:\n{output}")


def _enter(image: Image, user: int, group: int) -> None:
    os.chroot(image.root)
    os.chdir(image.directory)
    os.umask(0o022)
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)


def _numbers(image: Image) -> tuple[int, int]:
    """Return the numbers of an image's user and group, which may be a name of its own."""
    user, _, group = image.user.partition(":")
    if user.isdecimal():
        return int(user), int(group or user)
    for line in (image.root / "etc/passwd").read_text().splitlines():
        name, _, user_number, group_number, *_ = line.split(":")
        if name == user:
            return int(user_number), int(group or group_number)
    raise DockerfileError(f"the image has no user {user}")
