"""What connections read from sockets when all of them read into the same memory."""

from __future__ import annotations

import asyncio

from function_script.server.http2.intake import BUFFER_BYTES, Intake


class Hearer:
    """Keeps copies of what it is told."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.told: list[str] = []
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # noqa: ARG002 - the protocol
        self.told.append("made")

    def data_received(self, data: memoryview) -> None:
        self.heard.append(bytes(data))

    def take_rest(self) -> bytes:
        rest, self.rest = self.rest, b""
        return rest

    def connection_lost(self, error: Exception | None) -> None:
        self.told.append(f"lost: {error}")

    def pause_writing(self) -> None:
        self.told.append("pause")

    def resume_writing(self) -> None:
        self.told.append("resume")


def fill(intake: Intake, data: bytes) -> None:
    """As an event loop does it."""
    intake.get_buffer(-1)[: len(data)] = data
    intake.buffer_updated(len(data))


def test_what_one_connection_was_told_outlives_the_next_read_of_another() -> None:
    """Both read into the same memory."""
    buffer = memoryview(bytearray(BUFFER_BYTES))
    first, second = Hearer(), Hearer()
    fill(Intake(first, buffer), b"to the first")
    fill(Intake(second, buffer), b"something else")
    assert first.heard == [b"to the first"]
    assert second.heard == [b"something else"]


def test_what_was_left_stands_in_front_of_what_comes_next() -> None:
    """Whatever was read into the same memory meanwhile, and if nothing came at the first turn."""
    buffer = memoryview(bytearray(BUFFER_BYTES))
    inner = Hearer()
    intake = Intake(inner, buffer)
    fill(intake, b"a frame, and ha")
    inner.rest = b"ha"
    intake.get_buffer(-1)
    fill(Intake(Hearer(), buffer), b"to somebody else")
    fill(intake, b"lf of one")
    fill(intake, b"the next")
    assert inner.heard == [b"a frame, and ha", b"half of one", b"the next"]


def test_everything_else_that_happens_to_the_socket_is_passed_on() -> None:
    """The protocol behind it must not miss that a client is gone or slow."""
    inner = Hearer()
    intake = Intake(inner, memoryview(bytearray(8)))
    intake.connection_made(asyncio.Transport())
    intake.pause_writing()
    intake.resume_writing()
    intake.connection_lost(OSError("gone"))
    assert inner.told == ["made", "pause", "resume", "lost: gone"]
