"""The descriptor of ToyText."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.language import Language

if TYPE_CHECKING:
    from function_script.fields import ObjectReader
    from function_script.values import Object

_CASES: Final = {"Upper": "upper", "Lower": "lower"}


def _parse_options(_: ObjectReader, options: ObjectReader) -> Object:
    return {"case": options.choice("case", _CASES) or "lower"}


LANGUAGE: Final = Language(
    name="toy",
    kind="ToyText",
    package=__package__,
    text_field="inline",
    default_file="main.toy",
    warmup="size: small\n",
    is_template=True,
    options=("case",),
    parse_options=_parse_options,
    extensions=(".toy",),
    highlight="text",
    file_types={"*.toy": "properties"},
)
