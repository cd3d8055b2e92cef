"""The API groups of Kubernetes' own kinds, for objects that name a group without such a kind.

The table is `kubernetes_kinds.tsv`. It also has the versions in which no supported release of
Kubernetes serves the kinds of a row.
"""

from typing import Final

from function_script.engines.tables import read_rows

_ROWS: Final = tuple(read_rows("kubernetes_kinds"))
_API_VERSIONS: Final = {kind: version for version, _, kinds in _ROWS for kind in kinds.split()}
KINDS: Final = frozenset(_API_VERSIONS)
"""The kinds that `find_api_version` may have a doubt about."""
_REMOVED: Final = frozenset(each for _, removed, _ in _ROWS for each in removed.split())
# No cluster has these groups: two names that are taken for others, and a former one.
_ABSENT: Final = {"core", "extensions", "rbac.k8s.io"}
_GROUPS: Final = _ABSENT | {version.rpartition("/")[0] for version, *_ in _ROWS}


def is_own(api_version: str, kind: str) -> bool:
    """Report whether an apiVersion and a kind are those of a kind of Kubernetes itself."""
    return _API_VERSIONS.get(kind) == api_version


def find_api_version(api_version: str, kind: str) -> str | None:
    """Return the apiVersion of a kind that its object does not have; None if there is no doubt.

    A group that is none of Kubernetes' own may have a kind of any name.
    """
    right = _API_VERSIONS.get(kind)
    if right is None or api_version == right:
        return None
    group = api_version.rpartition("/")[0]
    if group not in _GROUPS or (group == right.rpartition("/")[0] and api_version not in _REMOVED):
        return None
    return right
