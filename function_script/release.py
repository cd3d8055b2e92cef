"""Names under which this project is released, and its version: each is written here alone.

Manifests and documents that repeat one are rewritten by `make names`, and tested against this file.
"""

from typing import Final

VERSION: Final = "0.1.0"
SOURCE: Final = "https://github.com/function-script/function-script"

# The distribution that pip installs. While it is not on the index, anybody could register the
# name there, so no command, manifest or document installs it by that name.
DISTRIBUTION: Final = "function-script"
IS_ON_INDEX: Final[bool] = False

# The package that Crossplane installs. Until it is in its registry, its name could be registered
# there by anybody, so all places name the reader's own registry, on a host that is reserved.
PUBLISHED_PACKAGE: Final = "ghcr.io/function-script/function-script"
OWN_PACKAGE: Final = "registry.example.org/function-script"
IS_IN_REGISTRY: Final[bool] = False

PACKAGE: Final = PUBLISHED_PACKAGE if IS_IN_REGISTRY else OWN_PACKAGE
REFERENCE: Final = f"{PACKAGE}:v{VERSION}"
