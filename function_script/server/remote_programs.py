"""Remote programs and modules of requests: attach what is there, have the rest fetched.

A worker reports the references whose content a request lacks. The next request with the same input
gets their content in advance, so that its worker runs once.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from function_script import wire
from function_script.request.cache import ByteLruCache
from function_script.request.remote import content, login
from function_script.request.remote.reference import Allowlist, RemoteReference
from function_script.request.remote.store import ContentStore, FetchKey
from function_script.server.handler import identify
from function_script.step import function
from function_script.step.telemetry import Answered
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem

_Credentials: TypeAlias = Mapping[str, Mapping[str, bytes]]
_MAX_STEPS: Final = 1_000
# Of one XR kind and size of the input, former versions among them.
_MAX_ALIKE: Final = 4
_MAX_ATTACHED_BYTES: Final = 2 * content.MAX_BYTES


class RemotePrograms:
    """The remote programs of a server.

    A request with its content has at most ``max_bytes``.
    """

    def __init__(self, store: ContentStore, allowlist: Allowlist, max_bytes: int) -> None:
        self._store = store
        self._allowlist = allowlist
        self._max_bytes = max_bytes
        # The references of each of the steps that are alike. An entry counts as one byte.
        self._references: ByteLruCache[Hashable, tuple[tuple[RemoteReference, ...], ...]]
        self._references = ByteLruCache(_MAX_STEPS)

    def attach(self, data: bytes) -> bytes:
        """Return a request with the content of the references that its input had before."""
        if not self._references:
            return data
        alike = self._references.get(identify(data).program) or ()
        references = next((each for each in alike if _states(data, each)), ())
        try:
            credentials = _read_credentials(data, references)
        except wire.WireError:
            # Its worker misses the content, and `resolve` says why.
            return data
        return self._attach(data, references, credentials) or data

    def resolve(self, data: bytes, reply: Answered) -> bytes | Answered:
        """Return a request with the content that ``reply`` reports missing, to be run again.

        While it is not there, return the reply with the state of the fetches as its FATAL result.
        """
        references = tuple(reference for _, reference in reply.missing)
        identity = identify(data)
        others = self._references.get(identity.program) or ()
        alike = (references, *(each for each in others if each != references))
        self._references.put(identity.program, alike[:_MAX_ALIKE], 1)
        first_path, _ = reply.missing[0]
        credentials: _Credentials = {}
        try:
            credentials = _read_credentials(data, references)
        except wire.WireError as cause:
            text = f"cannot read the step's credentials: {cause}"
            hint = "name a Secret that has a login and nothing else"
            problems = [Problem(first_path, text, hint)]
        else:
            problems = [
                problem
                for path, reference in reply.missing
                if (problem := self._request(path, reference, credentials, identity.owner))
            ]
        if not problems:
            whole = self._attach(data, references, credentials)
            if whole is not None:
                return whole
            text = "the step's remote programs and modules are too large"
            problems = [Problem(first_path, text)]
        error = InputError(*(problem.to_diagnostic() for problem in problems))
        return replace(
            reply,
            response=function.pass_through_unread(data, error),
            diagnostics=error.diagnostics,
            missing=(),
        )

    def _attach(
        self, data: bytes, references: tuple[RemoteReference, ...], credentials: _Credentials
    ) -> bytes | None:
        """Return a request with content; None if a part is not in memory, or all is too large."""
        payloads = []
        size = 0
        # Several fields of an input may name the same content.
        for reference in dict.fromkeys(references):
            scope = login.scope(credentials.get(reference.credentials))
            payload = self._store.find(FetchKey(reference, scope))
            if payload is None:
                return None
            size += len(payload)
            payloads.append((reference, payload))
        whole = content.attach(data, payloads)
        is_small = size <= _MAX_ATTACHED_BYTES and len(whole) <= self._max_bytes
        return whole if is_small else None

    def _request(
        self, path: str, reference: RemoteReference, credentials: _Credentials, owner: Hashable
    ) -> Problem | None:
        """Have content fetched; return the reason why it is not there, None if it is."""
        if not self._allowlist.allows(reference):
            return Problem(
                path,
                f"cannot fetch {reference}: {reference.host} is not allowed",
                f"the function's operator allows it: --remote-allow {reference.host}",
            )
        own = credentials.get(reference.credentials)
        if own is None and reference.credentials:
            return Problem(
                path,
                f'cannot fetch {reference}: the step has no credentials "{reference.credentials}"',
                "list them in the step's credentials, beside its input",
            )
        key = FetchKey(reference, login.scope(own))
        if self._store.has(key):
            return None
        failure = self._store.request(key, own, owner)
        if failure is None:
            return Problem(path, f"waiting for {reference}, which is being fetched")
        text, hint = f"cannot fetch {reference}: {failure.reason}", failure.hint
        return Problem(path, text, hint or "it is tried again")


def _states(data: bytes, references: tuple[RemoteReference, ...]) -> bool:
    """Report whether a request has the texts of all references: an input states them verbatim."""
    return all(each.version.encode() in data and each.path.encode() in data for each in references)


def _read_credentials(data: bytes, references: tuple[RemoteReference, ...]) -> _Credentials:
    """Return the step's credentials that references name. Raises WireError."""
    # A reference without a name is one without credentials.
    names = frozenset(reference.credentials for reference in references) - {""}
    return wire.read_credentials(data, names) if names else {}
