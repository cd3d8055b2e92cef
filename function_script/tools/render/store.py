"""The objects that functions may require, in place of a cluster's API server."""

from collections.abc import Iterable, Mapping

from function_script.tools import manifests
from function_script.values import Object


class Store:
    """Objects by apiVersion, kind, namespace and name; of two with one key the last counts."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._objects = {
            (
                manifests.text_at(manifest, "apiVersion"),
                manifests.text_at(manifest, "kind"),
                manifests.namespace(manifest),
                manifests.name(manifest),
            ): manifest
            for manifest in objects
        }

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """Return the object of this type, namespace ("" for none) and name, or None."""
        return self._objects.get((api_version, kind, namespace, name))

    def find_all(
        self, api_version: str, kind: str, namespace: str, labels: Mapping[str, str]
    ) -> list[Object]:
        """Return objects of a type by labels, in order of namespace and name.

        Namespace "" means all.
        """
        matches = [
            manifest
            for key, manifest in self._objects.items()
            if key[:2] == (api_version, kind)
            and namespace in {"", key[2]}
            and labels.items() <= manifests.labels(manifest).items()
        ]
        return sorted(
            matches, key=lambda item: f"{manifests.namespace(item)}/{manifests.name(item)}"
        )
