"""Give loggers back as they were, for tests that start the server's log in this process."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from function_script.server.log import LineHandler

NAMES = ("function_script", "asyncio", "grpc")


@contextmanager
def restored() -> Iterator[None]:
    """Undo what happens to the loggers within the block."""
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    yield
    for handler in _started(loggers):
        handler.close()
    for logger, (handlers, level, propagates) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagates
        logger.setLevel(level)


def text(capfd: pytest.CaptureFixture[str]) -> str:
    """All that the log has written to standard error since the last call."""
    for handler in _started(logging.getLogger(name) for name in NAMES):
        handler.drain()
    return capfd.readouterr().err


def _started(loggers: Iterable[logging.Logger]) -> list[LineHandler]:
    handlers = [handler for logger in loggers for handler in logger.handlers]
    return [handler for handler in handlers if isinstance(handler, LineHandler)]
