"""The descriptor of ToySheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from function_script.engines.language import Language

if TYPE_CHECKING:
    from function_script.request.reader import ObjectReader
    from function_script.request.values import Object

_CASES: Final = {"Upper": "upper", "Lower": "lower"}


class ToyLanguage(Language):
    """An expression for each resource."""

    name = "toy"
    kind = "ToySheet"
    package = __package__
    text_field = "resources"
    has_named_texts = True
    default_file = ""
    warmup: ClassVar = {"config": "size=small"}
    is_template = True
    options = ("case",)
    extensions = (".toy",)
    file_types: ClassVar = {"*.toy": "properties"}

    def parse_options(self, _fields: ObjectReader, options: ObjectReader) -> Object:
        """Parse ``case``."""
        return {"case": options.choice("case", _CASES) or "lower"}


LANGUAGE: Final = ToyLanguage()
