"""The frames between pool and worker."""

import pytest

from function_script.sandbox.ipc import ReplyHeader


def test_longer_report_than_a_mebibyte_is_refused() -> None:
    """Its length is checked before it is copied or parsed."""
    longest = 1 << 20
    header = ReplyHeader(is_answer=True, is_last=False, payload_length=9, report_length=longest)
    assert ReplyHeader.unpack(header.pack()) == header
    with pytest.raises(ValueError, match="a report of 1048577 bytes"):
        ReplyHeader.unpack(header._replace(report_length=longest + 1).pack())


def test_reply_of_another_size_is_refused() -> None:
    """Any other frame is a ValueError."""
    with pytest.raises(ValueError, match="a frame of 3 bytes"):
        ReplyHeader.unpack(b"abc")
