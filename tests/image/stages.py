"""Carry out package/Dockerfile without Docker: each instruction, in order, in a root file system.

RUN lines run verbatim by ``/bin/sh -c`` in the root file system. An instruction that is not known
here is an error, and so is a line that fails. Stages that nothing needs are left out.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from dockerfile_parse import DockerfileParser
from dockerfile_parse.util import WordSplitter
from image import bases, machine
from install.machine import check_out, quick_compiler
from support.paths import ROOT

TARGET: Final = ROOT / "build" / "image"
REVISION: Final = "0123456789abcdef0123456789abcdef01234567"
BUILT: Final = TARGET / "image.json"
_LINE_SECONDS: Final = 1800
# dockerfile-parse reads ${name} and $name only.
_MODIFIED: Final = re.compile(r"\$\{\w+[^\w}]")
# Docker has these arguments without a line that declares them.
_PREDEFINED: Final = "SOURCE_DATE_EPOCH"


class DockerfileError(Exception):
    """A Dockerfile cannot be carried out; the text begins with the number of the line."""


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


class Builder:
    """Builds stages of package/Dockerfile in a directory, each once."""

    def __init__(self, directory: Path, arguments: Mapping[str, str], *, quick: bool) -> None:
        self.finished: dict[str, Image] = {}
        self._directory = directory
        self._arguments = arguments
        self._quick = quick
        self._variables: dict[str, str] = {}
        self._defaults: dict[str, str] = {}
        self._stages: list[tuple[str, str, list[dict[str, str]]]] = []
        subprocess.run(["rm", "-rf", directory], check=True)
        self._source = check_out(directory / "source")
        with (ROOT / "package" / "Dockerfile").open("rb") as file:
            structure = DockerfileParser(fileobj=file).structure
        for entry in structure:
            if entry["instruction"] == "FROM":
                base, _, name = _words(entry["value"], self._defaults)
                self._stages.append((name, base, []))
            elif entry["instruction"] != "COMMENT" and self._stages:
                self._stages[-1][2].append(entry)
            elif entry["instruction"] == "ARG":
                name, _, default = " ".join(_words(entry["value"], self._defaults)).partition("=")
                self._defaults[name] = arguments.get(name, default)

    def build(self, name: str) -> Image:
        """Build the stage of that name and those that it needs; raises DockerfileError."""
        if name not in self.finished:
            (found,) = [stage for stage in self._stages if stage[0] == name]
            self.finished[name] = self._carry_out(*found)
        return self.finished[name]

    def _carry_out(self, name: str, base: str, entries: list[dict[str, str]]) -> Image:
        if any(base == other for other, *_ in self._stages):
            origin = self.build(base)
        else:
            origin = Image(**bases.find(base))
        image = replace(
            origin,
            root=self._directory / name,
            environment={**origin.environment},
            labels={**origin.labels},
            ports=[*origin.ports],
        )
        subprocess.run(["cp", "--archive", origin.root, image.root], check=True)
        values: dict[str, str] = {}
        for entry in entries:
            began = time.monotonic()
            place = f"line {int(entry['startline']) + 1}: {entry['instruction']}"
            try:
                self._follow(entry["instruction"], entry["value"], image, values)
            except (DockerfileError, subprocess.SubprocessError, OSError) as error:
                raise DockerfileError(f"{place}: {error}") from error
            if entry["instruction"] in {"COPY", "RUN"}:
                print(f"{place} of {name} ({time.monotonic() - began:.1f} s)", flush=True)
        if self._quick and name == "tools":
            self._variables["CC"] = Path(quick_compiler(image.root / "usr/local/bin")).name
        return image

    def _follow(self, name: str, text: str, image: Image, values: dict[str, str]) -> None:
        known = {**values, **image.environment}
        match name:
            case "ARG":
                self._declare(*" ".join(_words(text, known)).partition("="), values)
            case "ENV" | "LABEL":
                pairs = image.environment if name == "ENV" else image.labels
                pairs |= dict(word.split("=", 1) for word in _words(text, known))
            case "WORKDIR":
                image.directory = str(Path(image.directory, text))
                _inside(image, image.directory).mkdir(parents=True, exist_ok=True)
            case "USER":
                (image.user,) = _words(text, known)
            case "EXPOSE":
                image.ports += _words(text, known)
            case "ENTRYPOINT":
                image.entrypoint = json.loads(text)
            case "RUN":
                self._run(text, image, values)
            case "COPY":
                self._copy(_words(text, known), image)
            case _:
                raise DockerfileError("is not known here")

    def _declare(self, name: str, sign: str, default: str, values: dict[str, str]) -> None:
        if name in self._arguments:
            values[name] = self._arguments[name]
        elif sign or name in self._defaults:
            values[name] = default if sign else self._defaults[name]
        elif name != _PREDEFINED:
            raise DockerfileError(f"argument {name} has no value")

    def _copy(self, words: Sequence[str], image: Image) -> None:
        *sources, target = words
        origin = Image(root=self._source)
        if sources[0].startswith("--from="):
            origin = self.build(sources.pop(0).removeprefix("--from="))
        place = _inside(image, target)
        (place if target.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        for source in sources:
            path = _inside(origin, f"/{source}")
            if path.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            # `cp` copies a directory's content by the dot at the end.
            content = f"{path}/." if path.is_dir() else path
            command = ["cp", "--archive", "--no-preserve=ownership", content, place]
            subprocess.run(command, check=True)

    def _run(self, text: str, image: Image, values: Mapping[str, str]) -> None:
        def enter() -> None:
            os.chroot(image.root)
            os.chdir(image.directory)
            os.umask(0o022)

        if text.startswith(("[", "-", "<<")) or image.user != "0:0":
            raise DockerfileError("is known here for root alone, without a flag and a list")
        with machine.lent_to(image.root) as variables:
            result = subprocess.run(
                ["/bin/sh", "-c", text],
                check=False,
                env={
                    **variables,
                    **self._variables,
                    **image.environment,
                    **values,
                    "HOME": "/root",
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_LINE_SECONDS,
                preexec_fn=enter,
                text=True,
            )
        if result.returncode:
            raise DockerfileError(f"ended with exit code {result.returncode}:\n{result.stdout}")


def _words(text: str, values: Mapping[str, str]) -> list[str]:
    """Split a text into words with variables filled in, as Docker does."""
    if _MODIFIED.search(text):
        raise DockerfileError(f"cannot read {text}: a variable has a modifier")
    return list(WordSplitter(text, dict(values)).split())


def _inside(image: Image, path: str) -> Path:
    """Return a path of an image in its root file system, without leaving that one."""
    return image.root / os.path.normpath(Path("/", image.directory, path)).lstrip("/")


def read_image() -> Image:
    """Read what `make test-image` built."""
    entry = json.loads(BUILT.read_text())
    return Image(**{**entry, "root": Path(entry["root"])})
