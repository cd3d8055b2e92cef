"""Remote programs and modules of requests: attach what is there, have the rest fetched.

A worker reports the references whose content a request lacks. The next request with the same input
gets their content in advance, so that its worker runs once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script import wire
from function_script.request.cache import ByteLruCache
from function_script.request.remote import content, login
from function_script.request.remote.reference import Allowlist
from function_script.request.remote.store import ContentStore, FetchKey
from function_script.server.handler import identify
from function_script.step import function
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem

if TYPE_CHECKING:
    from function_script.request.remote.reference import RemoteReference
    from function_script.sandbox import Answered

_MAX_STEPS: Final = 1_000
_MAX_ATTACHED_BYTES: Final = 2 * content.MAX_BYTES


class RemotePrograms:
    """The remote programs of a server.

    A request with its content has at most ``max_bytes``.
    """

    def __init__(self, store: ContentStore, allowlist: Allowlist, max_bytes: int) -> None:
        self._store = store
        self._allowlist = allowlist
        self._max_bytes = max_bytes
        self._references: ByteLruCache[Hashable, tuple[RemoteReference, ...]] = ByteLruCache(
            _MAX_STEPS, max_entries=_MAX_STEPS
        )

    def attach(self, data: bytes) -> bytes:
        """Return a request with the content of the references that its input had before."""
        if not self._references:
            return data
        references = self._references.get(identify(data).program)
        return data if references is None else self._attach(data, references) or data

    def resolve(self, data: bytes, reply: Answered) -> bytes | Answered:
        """Return a request with the content that ``reply`` reports missing, to be run again.

        While it is not there, return the reply with the state of the fetches as its FATAL result.
        """
        references = tuple(reference for _, reference in reply.missing)
        self._references.put(identify(data).program, references, 1)
        problems = [
            problem
            for path, reference in reply.missing
            if (problem := self._request(data, path, reference)) is not None
        ]
        if not problems:
            whole = self._attach(data, references)
            if whole is not None:
                return whole
            path = reply.missing[0][0]
            problems = [Problem(path, "the step's remote programs and modules are too large")]
        error = InputError(*(problem.to_diagnostic() for problem in problems))
        return replace(
            reply,
            response=function.pass_through_unread(data, error),
            diagnostics=error.diagnostics,
            missing=(),
        )

    def _attach(self, data: bytes, references: tuple[RemoteReference, ...]) -> bytes | None:
        """Return a request with content; None if a part is not in memory, or all is too large."""
        payloads = []
        size = 0
        # Several fields of an input may name the same content.
        for reference in dict.fromkeys(references):
            payload = self._store.find(
                FetchKey(reference, login.scope(_credentials(data, reference)))
            )
            if payload is None:
                return None
            size += len(payload)
            payloads.append((reference, payload))
        whole = content.attach(data, payloads)
        is_small = size <= _MAX_ATTACHED_BYTES and len(whole) <= self._max_bytes
        return whole if is_small else None

    def _request(self, data: bytes, path: str, reference: RemoteReference) -> Problem | None:
        """Have content fetched; return the reason why it is not there, None if it is."""
        if not self._allowlist.allows(reference):
            return Problem(
                path,
                f"cannot fetch {reference}: {reference.host} is not allowed",
                f"the function's operator allows it: --remote-allow {reference.host}",
            )
        credentials = _credentials(data, reference)
        if credentials is None and reference.credentials:
            return Problem(
                path,
                f'cannot fetch {reference}: the step has no credentials "{reference.credentials}"',
                "list them in the step's credentials, beside its input",
            )
        key = FetchKey(reference, login.scope(credentials))
        if self._store.has(key):
            return None
        failure = self._store.request(key, credentials, identify(data).owner)
        if failure is None:
            return Problem(path, f"waiting for {reference}, which is being fetched")
        text, hint = f"cannot fetch {reference}: {failure.reason}", failure.hint
        return Problem(path, text, hint or "it is tried again")


def _credentials(data: bytes, reference: RemoteReference) -> Mapping[str, bytes] | None:
    """Return the step's credentials that a reference names; None for none."""
    if not reference.credentials:
        return None
    try:
        return wire.index_request(data).credentials.get(reference.credentials)
    except wire.WireError:
        return None
