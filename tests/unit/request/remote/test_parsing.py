"""References as authors write them."""

from __future__ import annotations

import pytest

from function_script.request.remote import parsing
from function_script.request.remote.reference import RemoteReference

DIGEST = "sha256:" + "a" * 64
COMMIT = "b" * 40
URLS = {
    "git://github.com/acme/lib//net/a.star?ref=v1": (
        "{git: {url: https://github.com/acme/lib, commit: …, path: net/a.star}}"
    ),
    f"git::https://me:secret@github.com/acme/lib.git//net@{COMMIT}": (
        f"{{git: {{url: https://github.com/acme/lib.git, commit: {COMMIT}, path: net}}}}"
    ),
    f"https://github.com/acme/lib#{COMMIT}": (
        f"{{git: {{url: https://github.com/acme/lib, commit: {COMMIT}}}}}"
    ),
    "git@github.com": "{git: {url: https://HOST/REPOSITORY, commit: …}}",
    "oci://ghcr.io/acme/lib:v1": "{oci: {ref: ghcr.io/acme/lib@sha256:…}}",
    f"oci://ghcr.io/acme/lib@{DIGEST}": f"{{oci: {{ref: ghcr.io/acme/lib@{DIGEST}}}}}",
}


@pytest.mark.parametrize("text", URLS)
def test_form_of_a_url_is_the_object_for_it(text: str) -> None:
    assert parsing.form_of(text) == f"remote: {URLS[text]}"


INVALID = {
    "option": {"transport": "git", "location": "--upload-pack=id", "version": COMMIT},
    "protocol": {"transport": "git", "location": "ext::sh -c id", "version": COMMIT},
    "branch": {"transport": "git", "location": "https://a.org/b", "version": "main"},
    "tag": {"transport": "oci", "location": "a.org/b", "version": "v1"},
    "parent": {"transport": "oci", "location": "a.org/b", "version": DIGEST, "path": "../x"},
    "slashes": {"transport": "git", "location": "https://a.org//../b", "version": COMMIT},
}


@pytest.mark.parametrize("fields", INVALID.values(), ids=INVALID)
def test_reference_of_a_hostile_worker_is_invalid(fields: dict[str, str]) -> None:
    assert not parsing.is_valid(RemoteReference(**fields))  # type: ignore[arg-type] # as in a report


def test_name_of_a_file_leads_to_it() -> None:
    reference = RemoteReference(
        transport="git", location="https://github.com/acme/lib.git", version=COMMIT, path="net"
    )
    assert reference.name_of("a.star") == "github.com/acme/lib@bbbbbbbbbbbb/net/a.star"
