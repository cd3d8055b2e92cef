"""The client of a soak: calls at a steady rate, each answer judged and counted.

soak.py starts the threads; nothing here knows of faults or of the server's processes.
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
# A worker that is killed takes the request it has with it, and the FATAL says so.
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
_KEPT_WORDS = 20


class Good(NamedTuple):
    """A request in one language, in as many variants as real ones have."""

    workload: Workload
    variants: Sequence[bytes]


class Tally:
    """What came of all calls: by outcome, good latencies in seconds by phase, words of failures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.outcomes: Counter[str] = Counter()
        self.latencies: defaultdict[str, list[float]] = defaultdict(list)
        self.words: list[str] = []

    def add(self, outcome: str, words: str = "") -> None:
        """Count a call; ``words`` say what was wrong, and only the first ones are kept."""
        with self._lock:
            self.outcomes[outcome] += 1
            if words and len(self.words) < _KEPT_WORDS:
                self.words.append(f"{outcome}: {words}")


def good_requests(inputs: Mapping[str, Callable[..., dict[str, object]]]) -> list[Good]:
    """Every language and kind of work, for an XR of its own each."""
    return [
        Good(workload, [_owned(data, f"{language}-{n}") for data in requests(workload, step_input)])
        for language, make in inputs.items()
        for workload in _MIX
        for step_input in [make(few=workload.few)]
        for n in [_MIX.index(workload)]
    ]


def hostile_request(attack: Attack, number: int) -> bytes:
    """A request of that attack; attackers are a few XRs, as in a cluster."""
    empty = Workload(observed=0, produced=1)
    return _owned(requests(empty, attack.step_input)[0], f"attacker-{number % 5}")


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
        """One call with a value that no other has, which its answer must show."""
        data = renewed(good.variants[number % len(good.variants)], number)
        phase, began = self.phase, time.perf_counter()
        response = self._answer("good", data)
        if response is None:
            return
        seconds = time.perf_counter() - began
        mistake = _mistake(good, response, number)
        self._tally.add(_outcome(mistake), mistake)
        self._tally.latencies[phase].append(seconds)

    def send_hostile(self, number: int) -> None:
        """One attack, which must end in the FATAL that is expected."""
        attack = ATTACKS[number % len(ATTACKS)]
        data = self._answer("hostile", self.hostile[number % len(ATTACKS)])
        if data is None:
            return
        response = pb.RunFunctionResponse.FromString(data)
        said = [result.message for result in response.results if result.severity == 1]
        text = said[0] if len(said) == 1 else f"{len(said)} fatal results"
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
    """What is wrong with the answer, if anything."""
    try:
        check(good.workload, response)
    except RuntimeError as error:
        return str(error)
    return "" if b"nonce-%010d" % number in response else "somebody else's answer"


def _outcome(mistake: str) -> str:
    if not mistake:
        return "good"
    if KILLED in mistake:
        return "lost to a kill"
    return "out of time" if LATE.search(mistake) else "wrong"


def steadily(per_second: float, stop: threading.Event) -> Iterator[int]:
    """Numbers at that rate until ``stop``; what a busy machine misses is left out."""
    due, number = time.monotonic(), 0
    while per_second and not stop.wait(max(0.0, due - time.monotonic())):
        yield number
        number += 1
        due = max(due + 1 / per_second, time.monotonic() - 1.0)


class Threads(ThreadPoolExecutor):
    """Where calls wait for their answers; what one raises ends the soak and not only the call."""

    def __init__(self) -> None:
        super().__init__(_THREADS)
        self.failures: list[BaseException] = []

    def start(self, task: Callable[..., None], *values: object) -> None:
        """Call ``task`` in a thread."""
        self.submit(task, *values).add_done_callback(self._note)

    def _note(self, done: object) -> None:
        error = done.exception()  # type: ignore[attr-defined] # a future of any result
        if error is not None:
            self.failures.append(error)
