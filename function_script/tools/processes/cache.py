"""The images of function packages: their configs, and their files on disk.

Each image has a directory named by its manifest's digest:

    references/HASH.json        the digest that a reference was resolved to
    images/DIGEST/config.json   the image's config
    images/DIGEST/rootfs/       the files of its layers

An image gets its name by a rename, after all of it is on the disk, so that no command sees a part
of one. Nothing is written outside of the cache's directory.
"""

import ctypes
import fcntl
import hashlib
import json
import os
import platform as system
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError, cause_of
from function_script.tools import bounded, manifests
from function_script.tools.processes.messages import Assignment
from function_script.tools.processes.options import PackageOptions, cannot_run, default_root
from function_script.tools.project import create
from function_script.tools.xpkg import images

# By the kernel's name of a machine, the name in images.
_ARCHITECTURES: Final = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "ppc64le": "ppc64le",
    "riscv64": "riscv64",
    "s390x": "s390x",
}
_CONFIG: Final = "config.json"
ROOT_FILES: Final = "rootfs"
# A function of another user than ours reads the files: root runs functions as nobody.
_DIRECTORY_MODE: Final = 0o755


def parse_config(config: Object) -> Assignment:
    """Parse the command of a config. Raises ValueError if it starts nothing on this machine."""
    platform = images.platform(config)
    if platform and platform != this_platform():
        raise ValueError(f"it is built for {platform}, and this machine is {this_platform()}")
    arguments = (*_texts(config, "Entrypoint"), *_texts(config, "Cmd"))
    if not arguments or not arguments[0]:
        raise ValueError("it has no entrypoint: the package has no runtime")
    pairs = (entry.partition("=") for entry in _texts(config, "Env"))
    texts = (*arguments, *_texts(config, "Env"))
    if any("\0" in text for text in texts):
        raise ValueError("its entrypoint or environment has a character NUL")
    return Assignment(
        arguments=arguments,
        environment={name: value for name, equals, value in pairs if name and equals},
        working_directory=manifests.text_at(config, "config", "WorkingDir") or "/",
        # USER, or USER:GROUP.
        user=manifests.text_at(config, "config", "User").partition(":")[0],
    )


def this_platform() -> str:
    """Return the platform of images for this machine, such as ``linux/amd64``."""
    machine = system.machine()
    return f"{system.system().lower()}/{_ARCHITECTURES.get(machine, machine)}"


def _texts(config: Object, key: str) -> tuple[str, ...]:
    items = manifests.object_at(config, "config").get(key)
    texts = items if isinstance(items, list) else []
    return tuple(text for text in texts if isinstance(text, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedImage:
    """An unpacked image: ``directory`` has the files below `ROOT_FILES`."""

    directory: Path
    config: Object


class ImageCache:
    """The images below ``root``, a directory that is made when the first one is added."""

    def __init__(self, root: Path) -> None:
        self.root: Final = root
        self._references = root / "references"
        self._images = root / "images"

    def find(self, reference: str) -> CachedImage | None:
        """Return the image that a reference had for this platform when it was last resolved."""
        try:
            entry = bounded.read_object(self._reference_path(reference).read_bytes())
        except (OSError, ValueError):
            return None
        return self.image(manifests.text_at(entry, "digest"))

    def image(self, digest: str) -> CachedImage | None:
        """Return the image of a manifest, if it is here."""
        try:
            directory = self._image_path(digest)
            config = bounded.read_object((directory / _CONFIG).read_bytes())
        except (OSError, ValueError):
            return None
        return CachedImage(directory=directory, config=config)

    def add(self, digest: str, config: Object, unpack: Callable[[Path], None]) -> CachedImage:
        """Add an image, whose files ``unpack`` writes into an empty directory.

        Another command that adds the same image is waited for, and its image returned. Raises
        InputError if the cache cannot be written, and what ``unpack`` raises.
        """
        try:
            self._images.mkdir(parents=True, exist_ok=True, mode=_DIRECTORY_MODE)
            directory = self._image_path(digest)
            with directory.with_suffix(".lock").open("a") as lock:
                # Held until this process ends, at the latest.
                fcntl.flock(lock, fcntl.LOCK_EX)
                image = self.image(digest)
                return image or self._add(directory, config, unpack)
        except OSError as error:
            raise InputError.of(
                f'cannot write into the cache "{self._images}": {cause_of(error)}'
            ) from error

    def _add(self, directory: Path, config: Object, unpack: Callable[[Path], None]) -> CachedImage:
        # Only the owner of the lock writes here, so a leftover is that of a killed command.
        partial = directory.with_suffix(".partial")
        _remove(partial)
        # What has the name of the image and is none is broken.
        _remove(directory)
        try:
            files = partial / ROOT_FILES
            files.mkdir(parents=True)
            unpack(files)
            (partial / _CONFIG).write_text(json.dumps(config), encoding="utf-8")
            partial.chmod(_DIRECTORY_MODE)
            files.chmod(_DIRECTORY_MODE)
            _write_to_disk(partial)
            partial.rename(directory)
        except BaseException:
            _remove(partial)
            raise
        return CachedImage(directory=directory, config=config)

    def add_reference(self, reference: str, digest: str) -> None:
        """Record the digest that a reference was resolved to. Raises InputError."""
        entry: Object = {"reference": reference, "platform": this_platform(), "digest": digest}
        data = json.dumps(entry).encode()
        create(self._references).write(self._reference_path(reference), data)

    def _reference_path(self, reference: str) -> Path:
        # Machines of several platforms may share a home directory.
        name = hashlib.sha256(f"{this_platform()} {reference}".encode()).hexdigest()
        return self._references / f"{name}.json"

    def _image_path(self, digest: str) -> Path:
        """Return the directory of an image. Raises ValueError for an invalid digest."""
        return self._images / images.read_digest({"digest": digest}).replace(":", "-")


def load_package(function: str, package: str, options: PackageOptions) -> CachedImage:
    """Return the unpacked image of a package for this machine. Raises InputError."""
    cache = ImageCache(options.root or default_root())
    if options.pull != "Always" and (image := cache.find(package)):
        return image
    # The client of registries is slow to import.
    from function_script.tools.processes import fetching  # noqa: PLC0415 - see above
    from function_script.tools.xpkg import references  # noqa: PLC0415 - as above

    try:
        reference = references.parse(package)
        if options.pull == "Never":
            raise InputError.of(
                f'package "{package}" is not in the cache "{cache.root}"', hint=options.never_hint
            )
        image, digest = fetching.fetch(reference, cache, options)
        cache.add_reference(package, digest)
    except ValueError as error:
        raise cannot_run(function, f'package "{package}": {error}') from error
    except FatalError as error:
        first = error.diagnostics[0]
        raise cannot_run(function, first.message, hint=first.hint) from error
    return image


def _remove(directory: Path) -> None:
    if directory.exists():
        shutil.rmtree(directory)


def _write_to_disk(directory: Path) -> None:
    """Have the kernel write the directory's file system to the disk, before the rename."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        ctypes.CDLL(None, use_errno=True).syncfs(descriptor)
    finally:
        os.close(descriptor)
