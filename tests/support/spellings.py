"""Find and rewrite the places of a checkout that repeat a name of texts/release.py."""

import itertools
import os
import re
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.paths import ROOT

_GENERATED: Final = {"build", "dist", "__pycache__", "node_modules"}
_BINARY: Final = {".png", ".so", ".xpkg", ".whl", ".gz", ".tar"}
_HOST: Final = r"(?P<host>localhost:\d+|(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?)"
_PATH: Final = r"(?P<path>(?:[a-z0-9_-]+/)*function-script)"
_PACKAGE: Final = re.compile(
    rf"(?P<verb>push )?(?<![\w./@-]){_HOST}/{_PATH}(?P<tag>:v[\w.-]+)?(?![\w/.-]*[\w/-])"
)
_MENTION: Final = re.compile(r"^.*/function-script.*$", re.MULTILINE)
_CONSTRAINT: Final = re.compile(r'(function-script(?:\n +version:)? "?>=v)(\d[\w.-]*)')
_IMAGE: Final = re.compile(r"(?<=^ARG VERSION=)\S+", re.MULTILINE)
_SOURCE: Final = re.compile(
    r'(?<=meta\.crossplane\.io/source: )\S+|(?<=Source = "https://)[^"]+'
    r"|github\.com/[\w.-]+/function-script(?![\w-])"
)
_INSTALL: Final = re.compile(
    r"\b(?:pip[\d.]*\s+(?:install|download|wheel)|pipx\s+(?:install|run|upgrade)|uvx"
    r"|uv\s+(?:pip\s+install|tool\s+install|tool\s+run|add)|(?:poetry|pdm)\s+add)\b"
    r"(?P<arguments>[^\n`]*)"
)
_BARE_NAME: Final = re.compile(r"(?i)function[-_.]+script(?:\[[^\]]*\])?(?:[=<>!~].*)?[.,;:]?")
# Hosts of no registry: of the source, and of an object's kind in an argument of kubectl.
_OTHERS: Final = re.compile(r"github\.com|(?:.+\.)?pkg\.crossplane\.io")
_RELEASE: Final = "function_script/texts/release.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of a checkout: ``package`` has no tag, ``source`` no scheme."""

    version: str
    package: str
    source: str

    def rewrite(self, text: str) -> str:
        """Return the text with each of the names as it is in this checkout."""
        # A pattern that may begin with any word is tried only on lines that can match.
        text = _MENTION.sub(lambda line: _PACKAGE.sub(self._reference, line[0]), text)
        text = _CONSTRAINT.sub(lambda match: match[1] + self.version, text)
        text = _IMAGE.sub(self.version, text)
        return _SOURCE.sub(self.source, text)

    @property
    def _next_version(self) -> str:
        major, minor, *_ = self.version.split(".")
        return f"{major}.{int(minor) + 1}.0"

    def _reference(self, match: re.Match[str]) -> str:
        name = f"{match['host']}/{match['path']}"
        if _OTHERS.fullmatch(match["host"]):
            return match[0]
        if "next/" in name:
            return f"{name}:v{self._next_version}"
        tag = f":v{self.version}" if match["tag"] else ""
        # A reader pushes to a registry of their own.
        return f"{match['verb']}{name}{tag}" if match["verb"] else self.package + tag


def unpublished_installs(text: str) -> list[str]:
    """Return the commands of a text that install this project by its bare name from an index."""
    return [match[0] for match in _INSTALL.finditer(text) if _has_bare_name(match["arguments"])]


def _has_bare_name(arguments: str) -> bool:
    words = [word.strip("\"'") for word in arguments.split()]
    if {"--from", "--spec"} & set(words):
        return False  # the name is that of the command to run
    pairs = itertools.pairwise([*words, ""])
    return any(_BARE_NAME.fullmatch(word) and after != "@" for word, after in pairs)


def names(root: Path = ROOT) -> Names:
    """Return the names that a checkout's own release file has."""
    values = runpy.run_path(str(root / _RELEASE))
    return Names(
        version=values["VERSION"],
        package=values["PACKAGE"],
        source=values["SOURCE"].removeprefix("https://"),
    )


def texts(root: Path = ROOT, *, with_tests: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each text file of a checkout, by its path: no caches, and tests on demand."""
    for name, folders, files in os.walk(root):
        folder = Path(name)
        # Folders are left out before they are entered: those of tools have many files.
        left_out = set() if with_tests or folder != root else {"tests"}
        folders[:] = [each for each in folders if _has_sources(each) and each not in left_out]
        for path in (folder / each for each in files if not each.startswith(".")):
            if path.suffix not in _BINARY and not path.is_symlink() and path.is_file():
                yield path.relative_to(root).as_posix(), path.read_text("utf-8", "surrogateescape")


def _has_sources(folder: str) -> bool:
    if folder.startswith("."):
        return folder in {".ci", ".github"}
    return folder not in _GENERATED and not folder.endswith(".egg-info")


def differing(root: Path = ROOT) -> dict[str, str]:
    """Return the files whose names are not those of the release file, with their right texts."""
    current = names(root)
    pairs = ((name, text, current.rewrite(text)) for name, text in texts(root) if name != _RELEASE)
    return {name: right for name, text, right in pairs if text != right}
