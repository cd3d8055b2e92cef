"""Pages that people write, with parts between two comments that are generated."""

import re
from pathlib import Path
from typing import Final

_BEGIN: Final = "<!-- Written by `make goldens`. -->\n\n"
_END: Final = "\n<!-- End of what is written. -->\n"
_PART: Final = re.compile(f"{_BEGIN}.*?{_END}", re.DOTALL)


def fill(page: Path, *texts: str) -> str:
    """Return the page with the texts as its generated parts, in their order."""
    parts = iter(texts)
    text = _PART.sub(lambda _: f"{_BEGIN}{next(parts)}{_END}", page.read_text())
    if next(parts, None) is not None:
        raise ValueError(f"{page.name} has fewer than {len(texts)} parts")
    return text
