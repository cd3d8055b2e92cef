"""Compare a generated file with what its generator gives, or write it anew."""

from pathlib import Path


def check(path: Path, text: str, *, update: bool) -> None:
    """Assert that ``path`` holds ``text``; write it first if ``update``."""
    if update:
        path.write_text(text)
    assert path.read_text() == text, f"{path.name} is stale: run `make goldens` and review it"
