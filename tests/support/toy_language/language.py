"""The descriptor of ToyText."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from function_script.engines.language import Language

if TYPE_CHECKING:
    from function_script.request.reader import ObjectReader
    from function_script.request.values import Object

_CASES: Final = {"Upper": "upper", "Lower": "lower"}


class ToyLanguage(Language):
    """Lines with a key and a value."""

    name = "toy"
    kind = "ToyText"
    package = __package__
    text_field = "inline"
    default_file = "main.toy"
    warmup = "size: small\n"
    is_template = True
    options = ("case",)
    extensions = (".toy",)
    file_types: ClassVar = {"*.toy": "properties"}

    def parse_options(self, _fields: ObjectReader, options: ObjectReader) -> Object:
        """Parse ``case``."""
        return {"case": options.choice("case", _CASES) or "lower"}


LANGUAGE: Final = ToyLanguage()
