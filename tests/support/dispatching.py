"""A dispatcher in a loop of its own, and the replies that it gives."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from support.timing import PATIENCE_SECONDS

from function_script.sandbox import Answered, Failed, Pool, PoolOptions, Reply
from function_script.sandbox.batch import Run
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.outcome import Cause

C = TypeVar("C", bound="Caller")


class Caller:
    """Starts requests and waits for replies."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher

    def start(self, data: bytes, seconds: float = PATIENCE_SECONDS) -> asyncio.Future[Reply]:
        """Start a request; return its future reply, which may be set once."""
        return self.begin(data, seconds)[1]

    def begin(
        self, data: bytes, seconds: float = PATIENCE_SECONDS
    ) -> tuple[Run, asyncio.Future[Reply]]:
        """Start a request; return it, for ``cancel``, and its future reply."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        return self.dispatcher.start(data, seconds, future.set_result), future


def run_in_loop(
    test: Callable[[C], Awaitable[None]], options: PoolOptions, caller: Callable[[Dispatcher], C]
) -> None:
    """Run a test in a loop with a pool."""

    async def main() -> None:
        with Pool(options) as pool:
            pool.prefork()
            dispatcher = Dispatcher(pool, asyncio.get_running_loop())
            try:
                await test(caller(dispatcher))
            finally:
                dispatcher.close()

    asyncio.run(main())


def parent_of(pid: int) -> int:
    """Return the process id of the parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def text(reply: Reply) -> bytes:
    """Return a response."""
    assert isinstance(reply, Answered), reply
    return reply.response


def answer(reply: Reply) -> str:
    """Return the text of a response."""
    return text(reply).decode()


def cause(reply: Reply) -> Cause:
    """Return the cause of a failure."""
    assert isinstance(reply, Failed), reply
    return reply.cause
