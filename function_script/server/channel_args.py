"""gRPC channel arguments of the server, each with its reason in docs/how-to.

They bound what a client can do before Python code sees its call.
"""

import math
import resource
from typing import Final, TypeAlias

Arguments: TypeAlias = dict[str, int]

MAX_STREAMS: Final = 1_000
_MAX_CONNECTIONS: Final = 2_000
_MAX_HEALTH_CONNECTIONS: Final = 64
_MAX_HEALTH_STREAMS: Final = 8
_MAX_HEALTH_MESSAGE_BYTES: Final = 4_096
# Connections may use one descriptor in this many.
_CONNECTION_DIVISOR: Final = 3
_DESCRIPTORS: Final = 16_384
_UNLIMITED: Final = -1
# Bits of gRPC's compression algorithms. The second, deflate, is disabled.
_IDENTITY: Final = 0b001
_GZIP: Final = 0b100

KEEPALIVE_MS: Final = "grpc.keepalive_time_ms"
# The first becomes TCP_USER_TIMEOUT: the time without an acknowledgement. The second is the time
# without an answer to a ping.
KEEPALIVE_TIMEOUT_MS: Final = "grpc.keepalive_timeout_ms"
PING_TIMEOUT_MS: Final = "grpc.http2.ping_timeout_ms"
IDLE_MS: Final = "grpc.max_connection_idle_ms"
AGE_MS: Final = "grpc.max_connection_age_ms"
AGE_GRACE_MS: Final = "grpc.max_connection_age_grace_ms"

_COMMON: Final[Arguments] = {
    "grpc.so_reuseport": 0,
    "grpc.max_send_message_length": _UNLIMITED,
    "grpc.max_metadata_size": 16 * 1024,
    "grpc.absolute_max_metadata_size": 16 * 1024,
    "grpc.server_handshake_timeout_ms": 10_000,
    # Until a client has acknowledged the server's settings, its headers may have 16 MiB.
    "grpc.http2.settings_timeout": 10_000,
    KEEPALIVE_MS: 20_000,
    KEEPALIVE_TIMEOUT_MS: 20_000,
    PING_TIMEOUT_MS: 20_000,
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.http2.min_ping_interval_without_data_ms": 10_000,
    IDLE_MS: 600_000,
    AGE_MS: 3_600_000,
    AGE_GRACE_MS: 120_000,
    "grpc.http2.bdp_probe": 0,
    "grpc.http2.lookahead_bytes": 64 * 1024,
    "grpc.server.max_pending_requests": 8_000,
    "grpc.server.max_pending_requests_hard_limit": 8_000,
    "grpc.compression_enabled_algorithms_bitset": _IDENTITY | _GZIP,
    # The server decompresses, because gRPC would do it before the server can count the bytes.
    "grpc.per_message_decompression": 0,
    "grpc.enable_channelz": 0,
}


def for_service(max_request_bytes: int) -> Arguments:
    """Return the arguments of the port that Crossplane calls."""
    return {
        **_COMMON,
        "grpc.max_receive_message_length": max_request_bytes,
        "grpc.max_concurrent_streams": MAX_STREAMS,
        "grpc.max_allowed_incoming_connections": max_connections(),
    }


def for_health() -> Arguments:
    """Return the arguments of the plain-text health port."""
    return {
        **_COMMON,
        "grpc.max_receive_message_length": _MAX_HEALTH_MESSAGE_BYTES,
        "grpc.max_concurrent_streams": _MAX_HEALTH_STREAMS,
        "grpc.max_allowed_incoming_connections": _MAX_HEALTH_CONNECTIONS,
    }


def raise_descriptor_limit() -> None:
    """Raise the soft limit of descriptors for connections, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def allowed_descriptors() -> float:
    """Return the hard limit of descriptors, infinity if there is none."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if hard == resource.RLIM_INFINITY else hard


def max_connections() -> int:
    """Return the number of connections that may be open, from the soft limit of descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _MAX_CONNECTIONS
    return max(min(_MAX_CONNECTIONS, soft // _CONNECTION_DIVISOR), 1)
