"""The server's side of the fetcher, with a real process."""

from collections.abc import Hashable

from support.timing import wait_until

from function_script.request.remote.reference import RemoteReference
from function_script.request.remote.store import FetchKey
from function_script.sandbox.fetcher import Fetcher, FetcherOptions


def absent(number: int) -> FetchKey:
    """Return the key of content on a port where nobody listens."""
    version = f"sha256:{number:064x}"
    location = f"127.0.0.1:1/{number}"
    return FetchKey(RemoteReference(transport="oci", location=location, version=version), "")


def test_process_that_is_forgotten_while_it_gets_an_order_stops_no_fetch() -> None:
    """The thread that reads outcomes forgets a process at any time, and orders go on."""
    fetcher = Fetcher(FetcherOptions())
    process = fetcher._process
    assert process is not None

    class Keys(dict[int, FetchKey]):
        def __setitem__(self, number: int, key: FetchKey) -> None:
            super().__setitem__(number, key)
            fetcher._process = None

    try:
        fetcher._keys = Keys()
        owner: Hashable = "xr"
        fetcher.store.request(absent(1), None, owner)
        wait_until(lambda: fetcher.store.counts["failure"] == 1)
        fetcher._keys = {}
        fetcher.store.request(absent(2), None, owner)
        wait_until(lambda: fetcher.store.counts["failure"] == 2)
    finally:
        fetcher.close()
        process.close()
