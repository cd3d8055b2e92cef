"""The inputs of a reconcile that Compositions and Operations share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineInputs:
    """The inputs that Compositions and Operations share: the objects of the cluster.

    ``schemas`` are OpenAPI documents. ``is_prepared``: the official command has checked the
    manifests and filled in defaults before it called its engine; what a real engine accepts is
    accepted, such as two steps of one name.
    """

    required: Sequence[Object] = ()
    credentials: Sequence[Object] = ()
    schemas: Sequence[Object] = ()
    context: Object = field(default_factory=dict)
    is_prepared: bool = False
