"""The part of an image's config that starts a process."""

import platform as system
from dataclasses import dataclass
from typing import Final

from function_script.tools import manifests
from function_script.values import Object

# By the kernel's name of a machine, the name in images.
_ARCHITECTURES: Final = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "ppc64le": "ppc64le",
    "riscv64": "riscv64",
    "s390x": "s390x",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """The command of an image: its arguments, environment, working directory and user."""

    arguments: tuple[str, ...]
    environment: dict[str, str]
    working_directory: str
    user: str


def parse(config: Object) -> ImageConfig:
    """Parse a config. Raises ValueError if it starts nothing on this machine."""
    platform = "/".join(manifests.text_at(config, key) for key in ("os", "architecture"))
    if platform != "/" and platform != this_platform():
        raise ValueError(f"it is built for {platform}, and this machine is {this_platform()}")
    arguments = (*_texts(config, "Entrypoint"), *_texts(config, "Cmd"))
    if not arguments or not arguments[0]:
        raise ValueError("it has no entrypoint: the package has no runtime")
    pairs = (entry.partition("=") for entry in _texts(config, "Env"))
    texts = (*arguments, *_texts(config, "Env"))
    if any("\0" in text for text in texts):
        raise ValueError("its entrypoint or environment has a character NUL")
    return ImageConfig(
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
