"""The client of a soak: calls at a steady rate, of which each answer is checked and counted.

Nothing in here knows about faults or the server's processes.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import grpc
from hostility import ATTACKS, Attack
from load import METHOD
from workloads import Workload, check, renewed, requests

from function_script.proto.v1 import run_function_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

CALL_SECONDS = 60.0
# The request of a killed worker is lost, and its FATAL says so.
KILLED = "killed from outside"
# On a machine with too little CPU any program may reach its limit.
LATE = re.compile("more CPU time than")
_THREADS = 64
_MIX = (
    Workload(observed=3, produced=3, new=True),
    Workload(observed=0, produced=10, new=True),
    Workload(observed=20, produced=3, few=True, new=True),
    Workload(observed=20, produced=10, new=True),
)
_MAX_WORDS = 20
# The prefix of the XR names of hostile requests.
ATTACKER = "attacker"


class Good(NamedTuple):
    """A request in one language, with its variants."""

    workload: Workload
    variants: Sequence[bytes]


class Tally:
    """The numbers of calls by outcome, good latencies (seconds) by phase, and texts of failures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.outcomes: Counter[str] = Counter()
        self.latencies: defaultdict[str, list[float]] = defaultdict(list)
        self.words: list[str] = []

    def add(self, outcome: str, words: str = "") -> None:
        """Count a call; ``words`` describe its failure, and only the first ones are kept."""
        with self._lock:
            self.outcomes[outcome] += 1
            if words and len(self.words) < _MAX_WORDS:
                self.words.append(f"{outcome}: {words}")


def good_requests(inputs: Mapping[str, Callable[..., dict[str, object]]]) -> list[Good]:
    """Return requests of every language and kind of work, each for an XR of its own."""
    return [
        Good(workload, [_owned(data, f"{language}-{n}") for data in requests(workload, step_input)])
        for language, make in inputs.items()
        for workload in _MIX
        for step_input in [make(few=workload.few)]
        for n in [_MIX.index(workload)]
    ]


def hostile_request(attack: Attack, number: int) -> bytes:
    """Return a request of an attack; the attackers are a few XRs, as in a cluster."""
    empty = Workload(observed=0, produced=1)
    return _owned(requests(empty, attack.step_input)[0], f"{ATTACKER}-{number % 5}")


def _owned(data: bytes, name: str) -> bytes:
    message = pb.RunFunctionRequest.FromString(data)
    message.observed.composite.resource["metadata"]["name"] = name
    return message.SerializeToString()


class Client:
    """Sends over one connection, as Crossplane does."""

    def __init__(self, channel: grpc.Channel, tally: Tally) -> None:
        self._call = channel.unary_unary(METHOD)
        self._tally = tally
        self.phase = "warming up"
        self.hostile = [hostile_request(attack, n) for n, attack in enumerate(ATTACKS)]

    def send_good(self, good: Good, number: int) -> None:
        """Make a call with a unique value, which its answer must have."""
        data = renewed(good.variants[number % len(good.variants)], number)
        phase, started = self.phase, time.perf_counter()
        response = self._answer("good", data)
        if response is None:
            return
        seconds = time.perf_counter() - started
        mistake = _mistake(good, response, number)
        self._tally.add(_outcome(mistake), mistake)
        self._tally.latencies[phase].append(seconds)

    def send_hostile(self, number: int) -> None:
        """Make an attack, which must end in the expected FATAL."""
        attack = ATTACKS[number % len(ATTACKS)]
        data = self._answer("hostile", self.hostile[number % len(ATTACKS)])
        if data is None:
            return
        response = pb.RunFunctionResponse.FromString(data)
        fatal = [result.message for result in response.results if result.severity == 1]
        text = fatal[0] if len(fatal) == 1 else f"{len(fatal)} fatal results"
        is_expected = attack.says in text or KILLED in text or LATE.search(text)
        if response.meta.tag == "bench" and is_expected:
            self._tally.add("hostile")
        else:
            self._tally.add("wrong", f"{attack.name}: {text}")

    def _answer(self, kind: str, data: bytes) -> bytes | None:
        try:
            answer: bytes = self._call(data, timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                outcome = "hostile" if kind == "hostile" else "out of time"
            else:
                outcome = "unanswered"
            self._tally.add(outcome, f"{kind}: {error}")
            return None
        return answer


def _mistake(good: Good, response: bytes, number: int) -> str:
    """Return the mistake of an answer, or an empty text."""
    try:
        check(good.workload, response)
    except RuntimeError as error:
        return str(error)
    return "" if b"nonce-%010d" % number in response else "the answer to another request"


def _outcome(mistake: str) -> str:
    if not mistake:
        return "good"
    if KILLED in mistake:
        return "lost to a kill"
    return "out of time" if LATE.search(mistake) else "wrong"


def steadily(per_second: float, stop: threading.Event) -> Iterator[int]:
    """Yield numbers at that rate until ``stop``; a busy machine skips some."""
    due, number = time.monotonic(), 0
    while per_second and not stop.wait(max(0.0, due - time.monotonic())):
        yield number
        number += 1
        due = max(due + 1 / per_second, time.monotonic() - 1.0)


class Threads(ThreadPoolExecutor):
    """The threads of the calls; an exception of one ends the soak, not only the call."""

    def __init__(self) -> None:
        super().__init__(_THREADS)
        self.failures: list[BaseException] = []

    def start(self, task: Callable[..., None], *values: object) -> None:
        """Call ``task`` in a thread."""
        self.submit(task, *values).add_done_callback(self._note)

    def _note(self, future: object) -> None:
        error = future.exception()  # type: ignore[attr-defined] # a future of any result
        if error is not None:
            self.failures.append(error)
