"""The table of gRPC's settings is about those that are set, with their values."""

import re

from support.paths import ROOT

from function_script.server import channel_args

PAGE = (ROOT / "docs" / "how-to" / "run-in-production.md").read_text()
# Their values follow from a flag and from the host.
DERIVED = {"grpc.max_receive_message_length", "grpc.max_allowed_incoming_connections"}


def documented() -> dict[str, str]:
    """Arguments by name, with the text of their value."""
    table = re.search(r"<!-- channel arguments: .*?-->\n(.*?)<!-- end", PAGE, re.DOTALL)
    assert table is not None
    values = {}
    for line in table[1].splitlines():
        names, *rest = re.findall(r"^\| (`grpc\..*?) \| (.*?) \|", line) or [("", "")]
        assert not rest
        found = re.findall(r"`(.*?)`", names[0])
        texts = names[1].split(", ") if len(names[1].split(", ")) == len(found) else [names[1]]
        values.update(zip(found, texts * len(found), strict=False))
    return values


def test_argument_is_documented_with_its_value() -> None:
    """And no other is."""
    arguments = channel_args.for_service(1)
    page = documented()
    assert set(page) == set(arguments)
    fixed = {name: str(value) for name, value in arguments.items() if name not in DERIVED}
    assert {name: page[name] for name in fixed} == fixed


def test_health_port_has_the_same_arguments() -> None:
    """With smaller values where there are any."""
    service, health = channel_args.for_service(64 << 20), channel_args.for_health()
    assert set(service) == set(health)
    bounds = ("streams", "connections", "receive_message")
    for name in [name for name in service if any(bound in name for bound in bounds)]:
        assert health[name] < service[name]
