"""Names of packages in registries, and what is pushed there at all."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from function_script.texts.errors import InputError
from function_script.tools.progress import Progress
from function_script.tools.xpkg import images, references
from function_script.tools.xpkg.credentials import Trust
from function_script.tools.xpkg.packages import push

DIGEST = "sha256:" + "0" * 64
ADDRESSES = [
    pytest.param("localhost:5000/a:v1", "http://localhost:5000", "v1", id="localhost"),
    pytest.param("127.0.0.2:5000/a:v1", "http://127.0.0.2:5000", "v1", id="loopback"),
    pytest.param("[::1]:5000/a:v1", "http://[::1]:5000", "v1", id="loopback6"),
    pytest.param("r.localhost/a/b:v1", "http://r.localhost", "v1", id="below-localhost"),
    pytest.param("r.example.org/a/b:v1", "https://r.example.org", "v1", id="https"),
    pytest.param("r.example.org:443/a-b/c_d:v1.0", "https://r.example.org:443", "v1.0", id="port"),
    pytest.param(f"r.example.org/a:v1@{DIGEST}", "https://r.example.org", DIGEST, id="digest"),
    pytest.param("docker.io/a/b:v1", "https://registry-1.docker.io", "v1", id="hub"),
]


@pytest.mark.parametrize(("text", "address", "version"), ADDRESSES)
def test_plain_http_is_for_this_machine_only(text: str, address: str, version: str) -> None:
    """Every other registry is reached by HTTPS."""
    reference = references.parse(text)
    assert (reference.api_host, reference.version) == (urlsplit(address).netloc, version)
    assert reference.is_loopback == address.startswith("http:")


@pytest.mark.parametrize(
    "text", ["apps:v1", "team/apps:v1", "r.example.org/apps", "r.example.org/Apps:v1", "", "a:v1/b"]
)
def test_names_are_spelled_out(text: str) -> None:
    """Registry, repository and version: nothing is guessed."""
    with pytest.raises(InputError, match="name the registry and the version"):
        references.parse(text)


def test_image_that_is_no_package_is_not_pushed(tmp_path: Path) -> None:
    """Crossplane would not find package.yaml in it."""
    image = images.with_layer(images.EMPTY, b"", "other")
    (tmp_path / "image.tar").write_bytes(images.to_docker_archive(image))
    with pytest.raises(InputError, match="an image that is no package"):
        push("localhost:1/a:v1", [tmp_path / "image.tar"], Progress(), Trust())


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 40, "3072.0 GiB")]
)
def test_sizes_are_for_people(size: int, text: str) -> None:
    """The units are powers of 1024."""
    assert images.size_text(size) == text
