"""The names and the version of releases: the single source of each.

`make names` rewrites manifests and documents that repeat one, and tests compare them with this
file.
"""

from typing import Final

VERSION: Final = "0.1.0"
SOURCE: Final = "https://github.com/function-script/function-script"

# The distribution that pip installs. Anyone could register a name that is not on the index yet, so
# no command, manifest or document installs it by that name.
DISTRIBUTION: Final = "function-script"
IS_ON_INDEX: Final[bool] = False

# The package that Crossplane installs. Anyone could register its name in the registry until it is
# published, so documents name the reader's own registry, on a reserved host.
PUBLISHED_PACKAGE: Final = "ghcr.io/function-script/function-script"
OWN_PACKAGE: Final = "registry.example.org/function-script"
IS_IN_REGISTRY: Final[bool] = False

PACKAGE: Final = PUBLISHED_PACKAGE if IS_IN_REGISTRY else OWN_PACKAGE
REFERENCE: Final = f"{PACKAGE}:v{VERSION}"
