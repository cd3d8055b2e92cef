"""A ResourceList: the text that an orchestrator such as kustomize or kpt writes and reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from function_script import objects
from function_script.documents import Document, editing
from function_script.errors import InputError
from function_script.source import Source
from function_script.tools import bounded
from function_script.values import Object, Value

_KIND: Final = "ResourceList"
_GROUPS: Final = ("config.kubernetes.io", "fn.apiextensions.crossplane.io")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceList:
    """A ResourceList with its text; ``config`` is the functionConfig, None if there is none."""

    text: str
    document: Document
    items: Sequence[Value]
    config: Object | None

    def write(self, items: Sequence[Value], results: Sequence[Object]) -> str:
        """Return the text with other items and results; lines of equal items are unchanged."""
        after = {key: value for key, value in self.document.value.items() if key != "results"}
        after["items"] = [*items]
        if results:
            after["results"] = [*results]
        return editing.edit(self.text, self.document.value, after)


def parse(source: Source) -> ResourceList:
    """Parse the text of stdin. Raises FatalError unless it is a single ResourceList."""
    documents = bounded.read_documents(source)
    if len(documents) != 1:
        raise InputError.of(
            f"cannot read {source.name}: it holds {len(documents)} objects instead of one "
            f"{_KIND} of {_GROUPS[0]}/v1",
            hint="kustomize and kpt write it; to render files, use `function-script render`",
        )
    (document,) = documents
    api_version, kind = objects.api_version_and_kind(document.value)
    if kind != _KIND or api_version.partition("/")[0] not in _GROUPS:
        raise InputError.of(
            f"cannot read {source.name}: it is {kind or 'an object'} of {api_version or 'no type'} "
            f"instead of {_KIND} of {_GROUPS[0]}/v1",
            span=document.span(),
        )
    items, config = (document.value.get(key) for key in ("items", "functionConfig"))
    if not isinstance(items, list | None):
        raise InputError.of(
            "cannot read items: they must be a list", span=document.span(("items",))
        )
    if not isinstance(config, dict | None):
        span = document.span(("functionConfig",))
        raise InputError.of("cannot read functionConfig: it must be an object", span=span)
    return ResourceList(text=source.text, document=document, items=items or [], config=config)
