"""The API groups of Kubernetes' own kinds, for objects that name a group without such a kind.

The table is `kubernetes_kinds.tsv`. The last row of a kind has the apiVersion to write.
"""

from typing import Final

from function_script.engines.tables import read_rows
from function_script.texts import spelling

RELEASE: Final = "1.37"
"""The release of Kubernetes whose kinds are in the table: a later one may have more."""
_SERVED: Final = [
    (version, kind) for version, kinds in read_rows("kubernetes_kinds") for kind in kinds.split()
]
_API_VERSIONS: Final = {kind: version for version, kind in _SERVED}
# The last one is taken for another, and no cluster has it.
_GROUPS: Final = {version.rpartition("/")[0] for version, _ in _SERVED} | {"rbac.k8s.io"}


def is_own(api_version: str, kind: str) -> bool:
    """Report whether an apiVersion and a kind are those of a kind of Kubernetes itself."""
    return (api_version, kind) in _SERVED


def find_api_version(api_version: str, kind: str, *, is_lasting: bool = False) -> str | None:
    """Return the apiVersion of a kind that its object does not have; None if there is no doubt.

    A group that is none of Kubernetes' own may have a kind of any name. Its name has a dot: the API
    server refuses others. ``is_lasting``: leaves out what a later release may have, and slips,
    which the schemas of the tools find.
    """
    right = _API_VERSIONS.get(kind)
    if right is None or is_own(api_version, kind):
        return None
    group, _, version = api_version.rpartition("/")
    is_later = group == right.rpartition("/")[0] and version[1:].isdigit()
    if is_lasting and (is_later or spelling.nearest(api_version, (right,))):
        return None
    return None if "." in group and group not in _GROUPS else right
