"""A real registry that trusts a token service: clients fetch a token there."""

import base64
import datetime as dt
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from e2e.registries import needs_registry, serve
from support.commands import Run

from function_script.tools.xpkg.manifest import Contents
from function_script.tools.xpkg.packages import build

pytestmark = needs_registry

META = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata: {name: apps}
"""
BASIC = f"Basic {base64.b64encode(b'me:secret').decode()}"
NOW = dt.datetime.now(dt.UTC)


def encoded(data: bytes) -> str:
    """Return a part of a token."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Service:
    """A token service with its certificate, and the scopes and accounts of its requests."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tokens")])
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
        builder = builder.public_key(self.key.public_key()).serial_number(1)
        day = dt.timedelta(days=1)
        builder = builder.not_valid_before(NOW - day).not_valid_after(NOW + day)
        self.certificate = builder.sign(self.key, hashes.SHA256())
        self.asked: list[tuple[str, str]] = []

    def token(self, scope: str) -> str:
        """Return a token for a scope such as ``repository:team/apps:pull,push``."""
        kind, name, actions = scope.split(":")
        der = self.certificate.public_bytes(serialization.Encoding.DER)
        head = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
        now = int(NOW.timestamp())
        claims = {"iss": "tokens", "aud": "registry", "sub": "me", "jti": "1"}
        claims |= {"nbf": now - 60, "iat": now, "exp": now + 3600}
        claims["access"] = [{"type": kind, "name": name, "actions": actions.split(",")}]
        text = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        signature = self.key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{encoded(signature)}"


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[Service, str]]:
    """The service and its address."""
    tokens = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            scope = parse_qs(urlsplit(self.path).query).get("scope", [""])[0]
            account = self.headers.get("Authorization", "")
            tokens.asked.append((scope, account))
            is_known = account == BASIC or scope.endswith(":pull")
            self.send_response(200 if is_known else 401)
            self.end_headers()
            self.wfile.write(
                json.dumps({"token": tokens.token(scope) if is_known else ""}).encode()
            )

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield tokens, f"http://127.0.0.1:{server.server_address[1]}/token"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def registry(
    service: tuple[Service, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A registry that requires tokens of the service."""
    tokens, realm = service
    base = tmp_path_factory.mktemp("tokens")
    (base / "ca.pem").write_bytes(tokens.certificate.public_bytes(serialization.Encoding.PEM))
    token = f"realm: {realm}, service: registry, issuer: tokens, rootcertbundle: {base}/ca.pem"
    yield from serve(base / "registry", f"auth: {{token: {{{token}}}}}\n")


def test_token_is_fetched_with_the_credentials(
    registry: str,
    service: tuple[Service, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
) -> None:
    """Without credentials the token allows reading only."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "crossplane.yaml").write_text(META)
    contents = Contents(package_root=tmp_path / "project")
    (built,) = build(contents, output=tmp_path / "apps.xpkg")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    config = tmp_path / "config.json"

    name = f"{registry}/team/apps:v1"
    refused = run("package", "push", name, built.path, code=1).err
    assert "its token service refuses (HTTP 401: unauthorized)" in refused

    config.write_text(json.dumps({"auths": {registry: {"username": "me", "password": "secret"}}}))
    service[0].asked.clear()
    run("package", "push", name, built.path)
    assert service[0].asked == [("repository:team/apps:pull,push", BASIC)]

    config.unlink()
    assert built.digest in run("package", "inspect", name).out
    assert service[0].asked[-1] == ("repository:team/apps:pull", "")
