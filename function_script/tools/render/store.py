"""The objects functions may ask for, in place of a cluster's API server.

Filled from files before the pipeline runs; knows nothing of the protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from function_script.values import Object


class Store:
    """Objects by apiVersion, kind, namespace and name; of two with the same key the last stays."""

    def __init__(self, held: Iterable[Object]) -> None:
        self._objects = {_key(manifest): manifest for manifest in held}

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """The object with exactly this type, namespace ("" for none) and name."""
        return self._objects.get((api_version, kind, namespace, name))

    def find_all(
        self, api_version: str, kind: str, namespace: str, labels: Mapping[str, str]
    ) -> list[Object]:
        """Objects of a type by labels, sorted by namespace and name; namespace "" means all."""
        found = [
            manifest
            for key, manifest in self._objects.items()
            if key[:2] == (api_version, kind)
            and namespace in {"", key[2]}
            and labels.items() <= manifests.labels(manifest).items()
        ]
        return sorted(found, key=lambda item: f"{manifests.namespace(item)}/{manifests.name(item)}")


def _key(manifest: Object) -> tuple[str, str, str, str]:
    return (
        manifests.text_at(manifest, "apiVersion"),
        manifests.text_at(manifest, "kind"),
        manifests.namespace(manifest),
        manifests.name(manifest),
    )
