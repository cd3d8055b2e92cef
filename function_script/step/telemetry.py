"""Identity, counts and outcome of one request: the facts for its log line, metrics and trace.

The main path collects them; the server reads them itself for a request whose worker died. No
field holds the contents of a request, since everything here may be logged.
"""

import hashlib
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from function_script import inputs, wire
from function_script.inputs import Step
from function_script.request import cache
from function_script.request.program import Blocked
from function_script.texts.diagnostics import Diagnostic

IDENTITY: Final = (
    *("api_version", "kind", "namespace", "name", "uid"),
    *("step", "input", "language"),
)
"""The first fields of `RequestInfo`, which say whose request it is, in the order of a log line."""
COUNTS: Final = ("documents", "remembered", "looked_up")
"""Fields of `RequestInfo` that count something, in the order of a log line."""


class RequestInfo(NamedTuple):
    """Facts of one request; an empty text or None where a fact is not known.

    ``api_version`` to ``uid`` are the XR's. ``step`` is the input's ``metadata.name``, since
    Crossplane does not send the step's name. ``input`` is one of our kinds or "unknown".
    ``documents`` counts the resources that the program stated, ``looked_up`` and ``remembered``
    the texts that were looked up in the cache of documents and those that were in it. ``limit``
    names the limit that was reached. ``fingerprint`` has eight digits that identify the program,
    and then those of what the step added to desired state; "" if there are results. ``bug`` has
    the type and the code positions of an internal error.
    """

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    step: str = ""
    input: str = ""
    language: str = ""
    documents: int | None = None
    remembered: int | None = None
    looked_up: int | None = None
    program_microseconds: int | None = None
    fingerprint: str = ""
    limit: str = ""
    bug: str = ""

    def identity(self) -> dict[str, str]:
        """Return the fields of IDENTITY that are not empty."""
        return {field: value for field in IDENTITY if (value := getattr(self, field))}

    def counts(self) -> dict[str, int]:
        """Return the fields of COUNTS that are known."""
        return {field: value for field in COUNTS if (value := getattr(self, field)) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A request with a response, which may be FATAL.

    ``diagnostics`` are the problems behind a FATAL, ``blocked`` the resources that wait, unless the
    report of a worker has no room for them. ``missing`` are the remote programs and modules of a
    step, if any is not in the request. Worker and pool add the last fields: ``log`` is what the
    program printed, and ``cpu_seconds`` the CPU time that it used.
    """

    response: bytes
    diagnostics: tuple[Diagnostic, ...] = ()
    info: RequestInfo = field(default_factory=RequestInfo)
    blocked: tuple[Blocked, ...] = ()
    missing: tuple[inputs.MissingContent, ...] = ()
    log: str = ""
    waited_seconds: float = 0.0
    cpu_seconds: float = 0.0


def read(data: bytes) -> RequestInfo:
    """Read the identity in the bytes of a request; never raises.

    Only apiVersion and kind decide the kind of input.
    """
    identity = wire.read_identity(data)
    kind = inputs.find_named_kind(identity.input_api_version, identity.input_kind)
    return RequestInfo(
        identity.api_version,
        identity.kind,
        identity.namespace,
        identity.name,
        identity.uid,
        identity.input_name,
        identity.input_kind if kind else "unknown",
        inputs.LANGUAGES[kind].name if kind else "",
    )


class Recorder:
    """Collects the facts of one request while it is handled.

    ``identity`` has the fields that are read from the request alone. ``blocked`` is for the tools:
    it names resources, so it is not logged.
    """

    def __init__(self, data: bytes) -> None:
        self.identity: Final = read(data)
        self.blocked: tuple[Blocked, ...] = ()
        # The other fields of RequestInfo by name, as far as they are known.
        self._facts: dict[str, str | int] = {}

    @property
    def info(self) -> RequestInfo:
        """Return all facts so far."""
        return self.identity._replace(**self._facts)  # type: ignore[arg-type] # of its field's type

    def program(self, step: Step, nanoseconds: int) -> None:
        """Record the kind of input as parsed, and the time that its program took."""
        self._facts["input"] = step.kind
        self._facts["language"] = step.language.name
        self._facts["program_microseconds"] = nanoseconds // 1000

    def counts(self, resources: int) -> None:
        """Record how many resources the program stated, and reset the cache's statistics."""
        self._facts["looked_up"], self._facts["remembered"] = cache.reset_stats()
        self._facts["documents"] = resources

    def fingerprint(self, step: Step, added: Mapping[str, bytes]) -> None:
        """Record what the step added to desired state, by name, to count unchanged responses."""
        program = _digest_program(step.program.main.text)
        names = sorted(added)
        parts = [" ".join(names).encode("utf-8", "replace"), *map(added.__getitem__, names)]
        digest = hashlib.blake2b(b"\0".join(parts), digest_size=8).hexdigest()
        self._facts["fingerprint"] = program + digest

    def limit(self, name: str) -> None:
        """Record the limit that was reached."""
        self._facts["limit"] = name

    def bug(self, error: Exception) -> None:
        """Record where an internal error was raised: code positions only, values may be secret."""
        frames = traceback.extract_tb(error.__traceback__)
        positions = " > ".join(
            f"{Path(frame.filename).stem}:{frame.lineno} in {frame.name}" for frame in frames
        )
        self._facts["bug"] = f"{type(error).__name__} at {positions}"


@lru_cache(maxsize=8)
def _digest_program(text: str) -> str:
    """Return a digest of a program. Few are remembered: a text may have a quarter of a MiB."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
