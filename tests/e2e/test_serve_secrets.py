"""What a served function writes to its log when a program fails over a secret."""

from __future__ import annotations

import builders
from e2e.serving import Server, call

PROGRAMS = [
    builders.jinja('a: b: {{ get_credential_data("db").password }}\n', credentials=["db"]),
    builders.jinja('{{ get_credential_data("db").password | int }}\n', credentials=["db"]),
    builders.starlark(
        'def main(req):\n    fail(get_credentials(req, "db")["password"])\n', credentials=["db"]
    ),
]


def test_no_log_line_has_a_secret() -> None:
    """Not even with --debug, when a program fails over a line that holds one."""
    secret = {"credentialData": {"data": {"password": "aHVudGVyMg=="}}}
    with Server("--insecure", "--debug") as server, server.channel() as channel:
        requests = [builders.request(each, credentials={"db": secret}) for each in PROGRAMS]
        responses = [call(channel, request) for request in requests]
        server.stop()
    assert [len(response.results) for response in responses] == [1, 1, 1]
    assert "[secret]" in "".join(server.text)
    assert "hunter2" not in "".join([*server.text, *map(str, responses)])
