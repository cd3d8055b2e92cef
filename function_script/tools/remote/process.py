"""The fetcher: a process that reads orders from a socket and writes contents to it.

It has a network and the operator's credentials, and no requests. It ends with its socket.
"""

import json
import os
import resource
import signal
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from function_script.request.remote import login
from function_script.request.remote.store import MAX_FETCHES, Failure, FetchKey
from function_script.sandbox import fetcher, rlimits
from function_script.texts.errors import cause_of
from function_script.tools.remote.fetching import DiskCache, Source
from function_script.tools.remote.selection import FetchError

_MAX_MEMORY_BYTES: Final = 2 << 30


def main(descriptor: int, options_text: str) -> None:
    """Serve orders until the socket is closed."""
    # The server ends this process; a Ctrl-C in a terminal is for the server.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # This process's memory holds credentials.
    rlimits.forbid_inspection()
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    options = fetcher.FetcherOptions(**json.loads(options_text))
    source = build_source(options)
    connection = socket.socket(fileno=descriptor)
    stream = connection.makefile("rwb")
    lock = threading.Lock()

    def serve(number: int, key: FetchKey, credentials: Mapping[str, bytes] | None) -> None:
        outcome = _fetch(source, key, credentials)
        with lock, suppress(OSError):
            fetcher.write_outcome(stream, number, outcome)

    threads = ThreadPoolExecutor(MAX_FETCHES, "fetch")
    with suppress(*fetcher.LINE_ERRORS):
        while True:
            threads.submit(serve, *fetcher.read_order(stream))
    # Threads that wait for a slow host must not delay the end.
    os._exit(0)


def build_source(options: fetcher.FetcherOptions) -> Source:
    """Return the source of an operator's options."""
    path = options.credentials

    def find_login(host: str) -> login.Login | None:
        if not path:
            return None
        try:
            # Read each time: a mounted Secret may change.
            return login.of_docker_config(Path(path).read_text(encoding="utf-8"), host)
        except OSError as error:
            raise ValueError(f'"{path}": {cause_of(error)}') from error

    return Source(
        find_login=find_login,
        cache=DiskCache(Path(options.cache)) if options.cache else None,
        ca_file=Path(options.ca_file) if options.ca_file else None,
        plain_http=options.plain_http,
    )


def _fetch(
    source: Source, key: FetchKey, credentials: Mapping[str, bytes] | None
) -> bytes | Failure:
    try:
        return source.fetch(key, credentials)
    except FetchError as error:
        return Failure(error.reason, error.hint)
    except Exception as error:  # noqa: BLE001 - the server must get an outcome
        return Failure(f"internal error ({type(error).__name__})")
