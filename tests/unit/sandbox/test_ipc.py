"""The frames between pool and worker."""

import socket

import pytest

from function_script.sandbox import ipc
from function_script.sandbox.ipc import ReplyHeader


def test_longer_report_than_a_mebibyte_is_refused() -> None:
    """Its length is checked before it is copied or parsed."""
    longest = 1 << 20
    header = ReplyHeader(is_last=False, payload_length=9, report_length=longest)
    assert ReplyHeader.unpack(header.pack()) == header
    with pytest.raises(ValueError, match="a report of 1048577 bytes"):
        ReplyHeader.unpack(header._replace(report_length=longest + 1).pack())


def test_reply_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="a frame of 3 bytes"):
        ReplyHeader.unpack(b"abc")


def test_batch_of_replies_is_read_in_order() -> None:
    """A frame that is cut, or has more replies than there were requests, is a ValueError."""
    header = ReplyHeader(is_last=False, payload_length=1, report_length=2)
    headers = [header, header._replace(is_last=True, cpu_microseconds=3)]
    frame = b"".join(each.pack() for each in headers)
    assert ReplyHeader.unpack_batch(frame, 2) == headers
    with pytest.raises(ValueError, match="2 replies to 1 requests"):
        ReplyHeader.unpack_batch(frame, 1)
    with pytest.raises(ValueError, match="a frame of 1 bytes"):
        ReplyHeader.unpack_batch(frame + b"x", 3)


@pytest.mark.linux
def test_longer_frame_than_that_of_a_batch_is_refused() -> None:
    """It is cut when it is received, and so not read as a batch."""
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with sender, receiver:
        header = ReplyHeader(is_last=False, payload_length=1, report_length=2)
        sender.send(header.pack() * 50)
        frame = ipc.receive(receiver)
    with pytest.raises(ValueError, match="7 replies to 4 requests"):
        ReplyHeader.unpack_batch(frame, 4)
