"""A dispatcher in a loop of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from support.timing import PATIENCE_SECONDS

from function_script.sandbox import Pool, PoolOptions, Reply
from function_script.sandbox.batch import Run
from function_script.sandbox.dispatcher import Dispatcher

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
