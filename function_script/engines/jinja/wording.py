"""The texts of Jinja's and Python's errors: no other module of this engine knows their words.

They are those of the versions that `requirements/runtime.txt` and the image pin.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from jinja2 import TemplateSyntaxError

# An apostrophe in a word quotes nothing.
_PHRASE: Final = re.compile(r"(?<!\w)'([^']*)'")
_NAME: Final = re.compile(r"'([^']+)'")
_SENTENCE_END: Final = re.compile(r"(?<=[a-z'\"])\. ")
_EXPECTED: Final = re.compile(r"expected token '([^']+)', got ")
_TAGS: Final = re.compile(r"(?:for the following tags:|but currently looking for) (.+?)\.(?: |$)")
# Generated code has other names for the template's variables.
_MANGLED: Final = re.compile(r"\bl_\d+_")

SyntaxCode = Literal["unclosed", "tag", "expected", "unexpected", "dot", ""]
_CODES: Final[Sequence[tuple[str, SyntaxCode]]] = (
    ("Unexpected end of template", "unclosed"),
    ("Encountered unknown tag", "tag"),
    ("expected token '", "expected"),
    ("unexpected '", "unexpected"),
    ("expected name or number", "dot"),
)


class SyntaxMistake(NamedTuple):
    """An error of Jinja's parser.

    ``name`` is the first quoted word, ``tags`` are those that would continue or close the open tag,
    and ``expected`` is the token that would do; "" for the end of an expression.
    """

    code: SyntaxCode
    text: str
    name: str | None
    tags: Sequence[str]
    expected: str


def read_syntax_error(error: TemplateSyntaxError) -> SyntaxMistake:
    """Return the parts of an error of Jinja's parser; its text is the first sentence."""
    message = error.message or "the text is no template"
    name, tags, expected = _NAME.search(message), _TAGS.search(message), _EXPECTED.match(message)
    token = "" if expected is None else expected[1]
    return SyntaxMistake(
        code=next((code for words, code in _CODES if message.startswith(words)), ""),
        text=reword(_SENTENCE_END.split(message, maxsplit=1)[0].rstrip(".")),
        name=None if name is None else name[1],
        tags=[] if tags is None else _NAME.findall(tags[1]),
        expected="" if token.startswith("end of ") else token,
    )


def reword(text: str) -> str:
    """Adapt a message of Jinja's or Python's: lower case, no full stop, double quotes."""
    text = text.removesuffix(" or have an __index__ method")
    return _PHRASE.sub(r'"\1"', text[:1].lower() + text[1:]).rstrip(".")


def reword_compilation(error: SyntaxError) -> str:
    """Return the message of Python's compiler for generated code, with the template's names."""
    return reword(_MANGLED.sub("", error.msg))


def is_unpacking(error: Exception) -> bool:
    """Report whether Python failed to unpack a value: generated code unpacks a loop's items."""
    return "unpack" in str(error)


def is_parameter(words: str) -> bool:
    """Report whether a value is that of a macro's parameter, which its call does not pass."""
    return words.startswith("parameter ")
