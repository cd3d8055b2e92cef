"""Mistakes of operators: the start ends with the reason, the flag and the file."""

import os
import resource
import socket
from functools import partial
from pathlib import Path

import pytest
from e2e.authority import Authority
from e2e.serving import GOOD, SERVER_NAME, Server, call, serve_in_vain
from support import rejections


def test_address_in_use_is_told_with_its_flag() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        place = f"127.0.0.1:{other.getsockname()[1]}"
        text = serve_in_vain("--insecure", "--metrics-address", place)
    assert f'cannot listen on "{place}" (--metrics-address): address already in use' in text


def test_port_for_two_purposes_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    text = serve_in_vain("--insecure", "--address", place, "--health-address", place)
    assert f'cannot listen on "{place}" (--health-address): address already in use' in text
    assert "another flag of this command names it" in text


ADDRESSES = [
    ("--address", "192.0.2.1:0", "cannot assign requested address"),
    ("--metrics-address", "no-host.invalid:0", "its host has no address here"),
]


@pytest.mark.parametrize(("flag", "place", "reason"), ADDRESSES, ids=["of another host", "no host"])
def test_address_that_is_not_here_is_told(flag: str, place: str, reason: str) -> None:
    text = serve_in_vain("--insecure", flag, place)
    assert f'cannot listen on "{place}" ({flag}): {reason}' in text
    assert "[::] is every address of this host" in text


def test_key_that_may_not_be_read_is_told_with_its_mode(tmp_path: Path) -> None:
    python = rejections.write_wrapper(tmp_path / "python", rejections.NONE)
    directory = Authority().server(SERVER_NAME).write(tmp_path / "tls")
    (directory / "tls.key").chmod(0o040)
    text = serve_in_vain("--tls-certs-dir", str(directory), python=python)
    user = f"user {os.geteuid()} of group {os.getegid()} may not read it"
    mode = f"its mode is 0040, of user {os.geteuid()} and group {os.getegid()}"
    assert f'"{directory / "tls.key"}": {user}: {mode}' in text
    assert "defaultMode 0444, or 0440 and the fsGroup" in text


def test_directory_that_may_not_be_looked_into_is_told(tmp_path: Path) -> None:
    """The files may exist or not."""
    python = rejections.write_wrapper(tmp_path / "python", rejections.NONE)
    directory = Authority().server(SERVER_NAME).write(tmp_path / "tls")
    directory.chmod(0o600)
    text = serve_in_vain("--tls-certs-dir", str(directory), python=python)
    directory.chmod(0o700)
    assert f'"{directory / "tls.crt"}": user {os.geteuid()}' in text
    assert "a directory above it may not be looked into" in text


def test_swapped_certificates_are_told(tmp_path: Path) -> None:
    """The key belongs to neither; the start fails, instead of each handshake later."""
    directory = Authority().server(SERVER_NAME).write(tmp_path)
    certificate = (directory / "tls.crt").read_bytes()
    (directory / "tls.crt").write_bytes((directory / "ca.crt").read_bytes())
    (directory / "ca.crt").write_bytes(certificate)
    text = serve_in_vain("--tls-certs-dir", str(directory))
    assert f'"{directory / "tls.key"}": it is the key of another certificate' in text
    assert "tls.key must belong to tls.crt" in text


@pytest.mark.parametrize("mode", [0o500, None], ids=["not-writable", "not-there"])
def test_directory_for_captures_that_may_not_be_written_to_is_told(
    tmp_path: Path, mode: int | None
) -> None:
    """The error comes before the first request is lost."""
    python = rejections.write_wrapper(tmp_path / "python", rejections.NONE)
    directory = tmp_path / "captures"
    if mode is not None:
        directory.mkdir(mode=mode)
    text = serve_in_vain("--insecure", "--capture-dir", str(directory), python=python)
    assert f'cannot capture requests in "{directory}"' in text


def test_too_few_descriptors_are_told() -> None:
    few = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (30, 30))
    text = serve_in_vain("--insecure", "--workers", "2", prepare=few)
    assert "30 open files are allowed here, and a server with --workers 2 needs 72" in text


def test_largest_and_smallest_values_are_served() -> None:
    flags = ("--max-recv-message-size", "2047", "--memory-limit", "1Mi", "--timeout", "1000000h")
    with Server("--insecure", *flags, "--metrics-address", "") as server, server.channel() as out:
        assert server.metrics_address == "none"
        assert not call(out, GOOD).results
