# SPDX-License-Identifier: Apache-2.0
"""An issuer of tokens: keys, tokens signed with them, and an https server that tells its keys, well or badly."""

import base64
import http.server
import json
import ssl
import threading
import time

import pytest

jwt = pytest.importorskip("jwt")
pytest.importorskip("cryptography")

from cryptography.hazmat.primitives import serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: E402

ISSUER = "https://id.example"
AUDIENCE = "open-api"


def base64url(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def number(value, size=None):
    return base64url(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


class Key:
    """A private key with a name. `kind`: RSA, P-256, P-384, Ed25519, or secret."""

    def __init__(self, kid, kind="P-256"):
        self.kid = kid
        self.kind = kind
        if kind == "RSA":
            self.private, self.algorithm = rsa.generate_private_key(65537, 2048), "RS256"
        elif kind == "Ed25519":
            self.private, self.algorithm = ed25519.Ed25519PrivateKey.generate(), "EdDSA"
        elif kind == "secret":
            self.private, self.algorithm = b"s" * 64, "HS256"
        else:
            self.private = ec.generate_private_key(ec.SECP256R1() if kind == "P-256" else ec.SECP384R1())
            self.algorithm = "ES256" if kind == "P-256" else "ES384"

    def jwk(self):
        if self.kind == "secret":
            return {"kty": "oct", "kid": self.kid, "k": base64url(self.private)}
        public = self.private.public_key()
        if self.kind == "RSA":
            numbers = public.public_numbers()
            return {"kty": "RSA", "kid": self.kid, "n": number(numbers.n), "e": number(numbers.e)}
        if self.kind == "Ed25519":
            raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
            return {"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "x": base64url(raw)}
        size = 32 if self.kind == "P-256" else 48
        numbers = public.public_numbers()
        return {"kty": "EC", "crv": self.kind, "kid": self.kid, "x": number(numbers.x, size), "y": number(numbers.y, size)}

    def pem(self):
        spki = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.private.public_key().public_bytes(serialization.Encoding.PEM, spki).decode()

    def token(self, algorithm=None, headers=None, **claims):
        """Of ISSUER for AUDIENCE and the next hour, unless `claims` say otherwise; None leaves a claim out."""
        payload = {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 3600, **claims}
        payload = {name: value for name, value in payload.items() if value is not None}
        named = {"kid": self.kid, **(headers or {})}
        named = {name: value for name, value in named.items() if value is not None}
        return jwt.encode(payload, self.private, algorithm or self.algorithm, headers=named)


def key_set(*keys):
    return json.dumps({"keys": [key.jwk() for key in keys]})


def caller(keys, **more):
    """A caller of the configuration: of ISSUER, with keys from a file or a URL."""
    token = {"issuer": ISSUER, "audience": AUDIENCE, "keys": str(keys)}
    return {"jwt": {**token, "attributes": {"partner": "partner_id", "plan": "plan"}, **more}}


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def code(response):
    return json.loads(response.body)["code"]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server.owner
        server.asked += 1
        if server.mode == "hang":
            server.released.wait(30)
            return
        if server.mode == "redirect":
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            return
        body = {"garbage": b"<html>", "empty": b'{"keys":[]}', "huge": b" " * (2 << 20)}.get(server.mode)
        body = key_set(*server.keys).encode() if body is None else body
        self.send_response(500 if server.mode == "error" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, *_):
        pass  # clients that go away are part of the tests


class KeyServer:
    """Tells `keys` at `url`. `mode`: fine, error, garbage, empty, huge, redirect, hang."""

    def __init__(self, certificates, *keys, port=0):
        self.keys = list(keys)
        self.mode = "fine"
        self.asked = 0
        self.released = threading.Event()
        self.server = QuietServer(("127.0.0.1", port), Handler)
        self.server.owner = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.file("server.crt"), certificates.file("server.key"))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}/jwks.json"

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
