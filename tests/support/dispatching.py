"""A dispatcher in a loop of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import signature
from typing import Concatenate, ParamSpec, TypeVar

from support.timing import PATIENCE_SECONDS

from function_script.sandbox.batch import Run
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.outcome import Reply
from function_script.sandbox.pool import Pool, PoolOptions

C = TypeVar("C", bound="Caller")
P = ParamSpec("P")


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


def in_loop(
    options: PoolOptions, caller: Callable[[Dispatcher], C]
) -> Callable[[Callable[Concatenate[C, P], Awaitable[None]]], Callable[P, None]]:
    """Return the decorator of a test that gets a caller first, in a loop with a pool."""

    def decorate(test: Callable[Concatenate[C, P], Awaitable[None]]) -> Callable[P, None]:
        async def main(*args: P.args, **kwargs: P.kwargs) -> None:
            with Pool(options) as pool:
                pool.prefork()
                dispatcher = Dispatcher(pool, asyncio.get_running_loop())
                try:
                    await test(caller(dispatcher), *args, **kwargs)
                finally:
                    dispatcher.close()

        @wraps(test)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            asyncio.run(main(*args, **kwargs))

        _, *others = signature(test).parameters.values()
        # For pytest, which has fixtures for the others alone.
        run.__signature__ = signature(test).replace(parameters=others)  # type: ignore[attr-defined] # see above
        return run

    return decorate
