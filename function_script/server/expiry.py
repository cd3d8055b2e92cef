"""When a certificate expires, read from its PEM text without a library for certificates.

The metrics ask on every scrape, so that a renewed certificate shows.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_END = "-----END CERTIFICATE-----"
_LONG_FORM = 0x80
_VERSION_TAG = 0xA0
_UTC_TIME_TAG = 0x17
# RFC 5280: two digits from 50 on are of the last century.
_PIVOT = 50


def read(path: Path) -> float | None:
    """Seconds since 1970 at which the first certificate in a file expires; None: unreadable."""
    try:
        pem = path.read_text().partition(_END)[0] + _END
        return _not_after(ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN") :]))
    except (OSError, ValueError, IndexError):
        return None


def _not_after(der: bytes) -> float:
    """Certificate > TBSCertificate > version? serial signature issuer validity > notAfter."""
    _, position, _ = _element(der, 0)
    _, position, _ = _element(der, position)
    tag, _, end = _element(der, position)
    if tag == _VERSION_TAG:
        position = end
    for _ in ("serial", "signature", "issuer"):
        position = _element(der, position)[2]
    _, position, _ = _element(der, position)
    position = _element(der, position)[2]
    tag, start, end = _element(der, position)
    return _moment(tag, der[start:end].decode("ascii"))


def _element(der: bytes, position: int) -> tuple[int, int, int]:
    """Tag, start and end of the content of the element at ``position``."""
    length = der[position + 1]
    start = position + 2
    if length & _LONG_FORM:
        size = length & ~_LONG_FORM
        length = int.from_bytes(der[start : start + size], "big")
        start += size
    return der[position], start, start + length


def _moment(tag: int, text: str) -> float:
    if tag == _UTC_TIME_TAG:
        text = ("19" if int(text[:2]) >= _PIVOT else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()
