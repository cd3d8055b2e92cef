"""Build the stages of package/Dockerfile into build/image, for the tests beside this file.

The image on a base without a shell, the one on a slim base, the one with OpenTelemetry, and the
bills of materials of all; and the image with git that a page describes.
Stages that are the same for all, such as the one that compiles, are built once.
"""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from image import dockerfile
from image.bases import Bases
from image.stages import Builder, Image
from support.paths import ROOT

FOLDER: Final = ROOT / "package"
TARGET: Final = ROOT / "build" / "image"
SLIM: Final = {"RUNTIME_BASE": "docker.io/library/python:3.13-slim", "PREFIX": "/usr/local"}
REVISION: Final = "0123456789abcdef0123456789abcdef01234567"
VARIANTS: Final[Mapping[str, Mapping[str, str]]] = {
    "slim": {"REVISION": REVISION, **SLIM},
    "bare": {"REVISION": REVISION},
    "otel": {"REVISION": REVISION, "REQUIREMENTS": "image-otel.txt"},
}
# Stages that look neither at the base of the last one nor at its requirements.
_SHARED: Final = ("tools", "wheel", "scanner")
_PAGE: Final = ROOT / "docs" / "how-to" / "share-modules.md"
_LISTING: Final = TARGET / "images.json"


def build(report: Callable[[str], None]) -> None:
    """Build everything; raises DockerfileError."""
    report("base images, made of Debian's packages")
    make_bases().make()
    subprocess.run(["rm", "-rf", TARGET / "stages"], check=True)
    images: dict[str, Image] = {}
    shared: dict[str, Image] = {}
    for name, arguments in VARIANTS.items():
        report(f"package/Dockerfile with {' '.join(f'{k}={v}' for k, v in arguments.items())}")
        builder = make_builder(arguments, TARGET / "stages" / name, report)
        for stage in _SHARED:
            shared[stage] = builder.finished[stage] = shared.get(stage) or builder.build(stage)
        for stage in ("image", "sbom"):
            images[f"{name}-{stage}"] = builder.build(stage)
    images["git-image"] = _build_recipe(images["slim-image"], report)
    listing = {name: {**asdict(image), "root": str(image.root)} for name, image in images.items()}
    _LISTING.write_text(json.dumps(listing))


def _build_recipe(image: Image, report: Callable[[str], None]) -> Image:
    """Build the image with git that a page describes, on ours; raises DockerfileError."""
    report("the recipe of an image with git")
    text = _PAGE.read_text()
    folder = TARGET / "recipe"
    folder.mkdir(exist_ok=True)
    path = folder / "Dockerfile"
    path.write_text(text[text.index("FROM ") : text.index("```", text.index("FROM "))])
    recipe = dockerfile.read(path, {})
    return Builder(
        dockerfile=recipe,
        source=folder,
        ignore_file=FOLDER / "Dockerfile.dockerignore",
        bases=make_bases(),
        directory=TARGET / "stages" / "git",
        arguments={},
        report=report,
        published={recipe.stages[0].base: image},
    ).build()


def make_bases() -> Bases:
    """Name the directory of the base images."""
    return Bases(directory=TARGET / "bases")


def make_builder(
    arguments: Mapping[str, str],
    directory: Path,
    report: Callable[[str], None],
    path: Path = FOLDER / "Dockerfile",
) -> Builder:
    """Prepare to build from a Dockerfile with arguments; raises DockerfileError."""
    return Builder(
        dockerfile=dockerfile.read(path, arguments),
        source=ROOT,
        ignore_file=FOLDER / "Dockerfile.dockerignore",
        bases=make_bases(),
        directory=directory,
        arguments=arguments,
        report=report,
    )


def read_image(name: str) -> Image:
    """Read what was built: `slim-image`, `bare-sbom` and so on."""
    entry = json.loads(_LISTING.read_text())[name]
    return Image(**{**entry, "root": Path(entry["root"])})
