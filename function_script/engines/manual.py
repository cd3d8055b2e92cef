"""The entries of the manual, which ``docs NAME`` prints.

Each language lists the names of its programs in the module ``manual`` of its folder. Names without
a docstring or another table are in ``manual.yaml``, by section.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A name with its meaning.

    ``section`` is the kind of name, such as filters. ``usage`` shows how it is written, if that is
    more than the name. ``details`` are further lines.
    """

    name: str
    section: str
    summary: str
    usage: str = ""
    details: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return the usage, or else the name."""
        return self.usage or self.name

    @property
    def short_name(self) -> str:
        """Return the name without the object that it belongs to, such as rsp."""
        return self.name.rpartition(".")[2]


def read_table(package: str) -> Iterator[Entry]:
    """Read the entries in a language's ``manual.yaml``."""
    from importlib import resources  # noqa: PLC0415 - slow, and no run needs it

    from function_script import documents  # noqa: PLC0415 - slow, and `docs` alone reads tables

    sections = documents.read_value((resources.files(package) / "manual.yaml").read_text("utf-8"))
    for section, names in sections.items() if isinstance(sections, dict) else ():
        for name, summary in names.items() if isinstance(names, dict) else ():
            yield Entry(name=name, section=section, summary=str(summary))
