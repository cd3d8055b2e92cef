"""Build, read, push and inspect Crossplane packages (xpkg) without Docker.

A package is a container image whose base layer holds package.yaml. As a file it has the format of
`docker save`, which Crossplane's tools push.
"""

from function_script.tools.xpkg.credentials import Trust
from function_script.tools.xpkg.inspector import (
    Inspected,
    fetch_package,
    inspect,
    read_package,
    to_json,
    to_text,
)
from function_script.tools.xpkg.manifest import Contents
from function_script.tools.xpkg.packages import Built, build, list_tags, push
from function_script.tools.xpkg.registry import Repository
from function_script.tools.xpkg.transport import NullProgress, Progress

__all__ = [
    "Built",
    "Contents",
    "Inspected",
    "NullProgress",
    "Progress",
    "Repository",
    "Trust",
    "build",
    "fetch_package",
    "inspect",
    "list_tags",
    "push",
    "read_package",
    "to_json",
    "to_text",
]
