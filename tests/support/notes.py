"""The note that commands print on stderr where programs run without Linux' sandbox."""

from function_script.sandbox import system


def without_note(text: str) -> str:
    """Cut the note off what a command has printed: it is there once at most, and not on Linux."""
    if not system.note():
        return text
    line = f"note: {system.note()}\n"
    assert text.count(line) <= 1
    return text.replace(line, "")
