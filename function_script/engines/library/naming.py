"""Names that Kubernetes accepts, and choices that stay the same.

FROZEN: a changed result would rename resources that live in clusters, so tests hold vectors.
A new rule needs a new function.
"""

import hashlib
import hmac
import re
import string
import unicodedata
from typing import Final

import orjson

from function_script.engines.library.function import Group
from function_script.request.objects import LABEL, LABEL_VALUE, MAX_LABEL, MAX_SUBDOMAIN
from function_script.request.values import Value

GROUP: Final = Group(
    name="naming",
    summary="Names that Kubernetes accepts, and choices that stay. Their results never change from "
    "one release to the next. Stable identifiers and choices derive from the composite resource's "
    "UID: they are the same in every reconcile, and no secret.",
)


_HASH_DIGITS = 8
_MIN_LENGTH = 2 * (_HASH_DIGITS + 1)
_MAX_ID_LENGTH = 64
_MIN_SECRET_LENGTH = 8
_MAX_SECRET_LENGTH = 256
_CHARACTERS = string.ascii_letters + string.digits


@GROUP.filter(example='dns1123("My App")', result="my-app-96c6f417")
def dns1123(text: str, max_length: int = 63) -> str:
    """A DNS-1123 label: the text itself if it is one, else its letters and digits and a hash."""
    _check(max_length, text=text)
    if LABEL.fullmatch(text) and len(text) <= max_length:
        return text
    return _with_hash(_letters_and_digits(text), text, max_length)


@GROUP.function(example='child_name("my-xr", "bucket")', result="my-xr-bucket")
def child_name(parent: str, name: str, max_length: int = 63) -> str:
    """``parent-name`` as a DNS-1123 label; when too long, both are cut and a hash is added."""
    _check(max_length, parent=parent, name=name)
    whole = f"{parent}-{name}"
    if LABEL.fullmatch(whole) and len(whole) <= max_length:
        return whole
    head, tail = _letters_and_digits(parent), _letters_and_digits(name)
    room = max_length - _HASH_DIGITS - 2
    tail = tail[: max(room - len(head), room // 2)]
    head = head[: room - len(tail)]
    return _with_hash(f"{head}-{tail}".strip("-"), whole, max_length)


@GROUP.filter(example='slugify("Café au lait")', result="cafe-au-lait")
def slugify(text: str, max_length: int = 63) -> str:
    """Lower-case ASCII letters, digits and dashes of a text, without a hash: may collide."""
    _check(max_length)
    return _letters_and_digits(text)[:max_length].rstrip("-")


def _letters_and_digits(text: str) -> str:
    # Normal forms never change for characters that are assigned, so this is stable too.
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text.lower()).strip("-")


@GROUP.filter(example='label_value("team/platform")', result="team-platform-57b7c7f6")
def label_value(text: str) -> str:
    """A label's value: the text itself if it may be one, else what may stay of it and a hash."""
    if LABEL_VALUE.fullmatch(text) and len(text) <= MAX_LABEL:
        return text
    readable = re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-_.")
    return _with_hash(readable, text, MAX_LABEL)


@GROUP.seeded(example='stable_id("bucket")', result="8e64d960", gives_random_text=True)
def stable_id(uid: str, key: str, length: int = 8) -> str:
    """Hexadecimal digits (1 to 64) that stay for one composite resource and key; not secret."""
    if not 1 <= length <= _MAX_ID_LENGTH:
        raise ValueError(f"length: must be between 1 and {_MAX_ID_LENGTH}, not {length}")
    return hmac.digest(uid.encode(), key.encode(), "sha256").hex()[:length]


@GROUP.seeded(
    example='stable_secret("password")',
    result="shhQw1JfkWoKhqAvIrVxrINiRYD6iCdu",
    gives_random_text=True,
    is_secret=True,
)
def stable_secret(seed: str, key: str, length: int = 32) -> str:
    """Letters and digits (8 to 256) for one composite resource and key; secret with a salt."""
    if not _MIN_SECRET_LENGTH <= length <= _MAX_SECRET_LENGTH:
        limits = f"{_MIN_SECRET_LENGTH} and {_MAX_SECRET_LENGTH}"
        raise ValueError(f"length: must be between {limits}, not {length}")
    # Each character is of a number of its own, so that a longer text begins with the shorter one.
    digests = (
        hmac.digest(seed.encode(), f"stable_secret\0{key}\0{index}".encode(), "sha256")
        for index in range(length)
    )
    return "".join(_CHARACTERS[int.from_bytes(digest) % len(_CHARACTERS)] for digest in digests)


@GROUP.seeded(example='stable_choice(["a", "b", "c"])', result="b")
def stable_choice(uid: str, choices: list[Value], key: str = "") -> Value:
    """One of the choices, that stays for one composite resource and key while it is offered."""
    if not choices:
        raise ValueError("choices: there is nothing to choose from")

    # Rendezvous hashing: a choice's score depends neither on the order of the choices nor on the
    # others, so a new choice moves few composite resources.
    def score(choice: Value) -> bytes:
        encoded = orjson.dumps(choice, option=orjson.OPT_SORT_KEYS)
        return hmac.digest(uid.encode(), key.encode() + b"\0" + encoded, "sha256")

    return max(choices, key=score)


def _with_hash(readable: str, hashed: str, max_length: int) -> str:
    digest = hashlib.sha256(hashed.encode()).hexdigest()[:_HASH_DIGITS]
    head = readable[: max_length - _HASH_DIGITS - 1].rstrip("-_.")
    return f"{head}-{digest}" if head else digest


def _check(max_length: int, **texts: str) -> None:
    for parameter, text in texts.items():
        if not text:
            raise ValueError(f"{parameter}: must not be empty")
    if not _MIN_LENGTH <= max_length <= MAX_SUBDOMAIN:
        raise ValueError(
            f"max_length: must be between {_MIN_LENGTH} and {MAX_SUBDOMAIN}, not {max_length}"
        )
