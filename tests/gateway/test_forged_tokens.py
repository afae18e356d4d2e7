# SPDX-License-Identifier: Apache-2.0
"""Tokens that somebody has made up, and tokens that say a little too much: none of them is believed (RFC 8725)."""

import base64
import hashlib
import hmac
import json
import time

import pytest

from harness.certificates import Certificates

pytest.importorskip("jwt")
pytest.importorskip("cryptography")

from cryptography.hazmat.primitives import hashes  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

from harness.issuer import (  # noqa: E402
    AUDIENCE, ISSUER, Key, KeyServer, base64url, bearer, caller, code, key_set)


@pytest.fixture(scope="module")
def keys():
    return {kind: Key(kind, kind) for kind in ("RSA", "P-256", "P-384", "Ed25519", "secret")}


@pytest.fixture
def key_file(tmp_path, keys):
    path = tmp_path / "jwks.json"
    path.write_text(key_set(*keys.values()))
    return path


def part(value):
    """A part of a token: of text as it is, else of the JSON of the value."""
    return base64url(value if isinstance(value, bytes) else json.dumps(value).encode())


CLAIMS = {"iss": ISSUER, "aud": AUDIENCE, "partner_id": "acme"}


def claims(**changes):
    return {**CLAIMS, "exp": int(time.time()) + 3600, **changes}


def signed_by(key, header, payload):
    """Two parts as they are given, with a good ES256 signature."""
    text = f"{part(header)}.{part(payload)}"
    return text + "." + base64url(raw_signature(key, text))


def der_signature(key, text):
    return key.private.sign(text.encode(), ec.ECDSA(hashes.SHA256()))


def raw_signature(key, text):
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    r, s = decode_dss_signature(der_signature(key, text))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def with_secret(secret, header, payload):
    text = f"{part(header)}.{part(payload)}"
    return text + "." + base64url(hmac.new(secret, text.encode(), hashlib.sha256).digest())


def without_signature(_):
    found = {}
    for name in ("none", "None", "NONE", "nOnE", "none ", ""):
        text = part({"alg": name, "kid": "RSA"}) + "." + part(claims())
        found[f"alg {name!r}"] = (text + ".", "token-algorithm")
        found[f"alg {name!r} with a signature"] = (text + "." + base64url(b"x" * 64), "token-algorithm")
    for value in (None, 0, ["none"], {}):
        found[f"alg {value!r}"] = (part({"alg": value}) + "." + part(claims()) + ".", "token-malformed")
    found["no alg"] = (part({"kid": "RSA"}) + "." + part(claims()) + ".", "token-malformed")
    found["another case"] = (part({"alg": "rs256", "kid": "RSA"}) + "." + part(claims()) + ".eHg", "token-algorithm")
    return found


def with_wrong_signatures(keys):
    good = keys["RSA"].token(partner_id="acme")
    header, payload, signature = good.split(".")
    octets = base64.urlsafe_b64decode(signature + "==")
    of_ec, es256 = keys["P-256"], {"alg": "ES256", "kid": "P-256"}
    text = f"{part(es256)}.{part(claims())}"
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    authentic, _, mac = with_secret(keys["secret"].private, {"alg": "HS256", "kid": "secret"}, claims()).rpartition(".")
    pair = lambda r, s: text + "." + base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))  # noqa: E731
    found = {
        "empty": f"{header}.{payload}.",
        "an octet less": f"{header}.{payload}.{base64url(octets[:-1])}",
        "half": f"{header}.{payload}.{base64url(octets[:128])}",
        "an octet more": f"{header}.{payload}.{base64url(octets + bytes(1))}",
        "zeros before it": f"{header}.{payload}.{base64url(bytes(1) + octets)}",
        "nothing but zeros": f"{header}.{payload}.{base64url(bytes(256))}",
        "one, which is its own power": f"{header}.{payload}.{base64url((1).to_bytes(256, 'big'))}",
        "of another token": f"{header}.{payload}.{keys['RSA'].token(partner_id='bolt').split('.')[2]}",
        "of another's key": Key("RSA", "RSA").token(partner_id="acme"),
        "other claims": f"{header}.{part(claims(partner_id='bolt'))}.{signature}",
        "other header": part({"alg": "RS512", "kid": "RSA"}) + f".{payload}.{signature}",
        "r and s are zero": pair(0, 0),
        "r is zero": pair(0, 1),
        "s is zero": pair(1, 0),
        "r and s are the order": pair(order, order),
        "r and s are one": pair(1, 1),
        "in DER": text + "." + base64url(der_signature(of_ec, text)),
        "r only": text + "." + base64url(raw_signature(of_ec, text)[:32]),
        "of another curve": part({"alg": "ES256", "kid": "P-256"}) + "." + part(claims()) + "." + base64url(bytes(96)),
        "zeros for Ed25519": part({"alg": "EdDSA", "kid": "Ed25519"}) + "." + part(claims()) + "." + base64url(bytes(64)),
        "no secret": with_secret(b"", {"alg": "HS256", "kid": "secret"}, claims()),
        "half a MAC": f"{authentic}.{mac[:20]}",
    }
    return {f"signature: {what}": (token, "token-signature") for what, token in found.items()}


def with_keys_of_their_own(keys):
    """Keys that the token itself brings, or names, are nobody's; a kid is a name and nothing else."""
    own = Key("own")
    chain = [base64.b64encode(b"not a certificate").decode()]
    found = {}
    for kid, wanted in (("P-256", "token-signature"), ("own", "token-key"), (None, "token-signature")):
        for more in ({"jwk": own.jwk()}, {"x5c": chain}, {"x5t": base64url(b"x" * 20)}, {"x5u": "https://127.0.0.1:1/"}):
            header = {"alg": "ES256", **({"kid": kid} if kid else {}), **more}
            found[f"{next(iter(more))}, kid {kid}"] = (signed_by(own, header, claims()), wanted)
    for kid in ("../../../../dev/null", "/dev/null", "' OR '1'='1", "P-256' UNION SELECT 'own", "P-256 ", "p-256", "*",
                "", "%2e%2e/P-256", "x" * 4000, "|/bin/true", "\n"):
        found[f"kid {kid[:20]!r}"] = (signed_by(own, {"alg": "ES256", "kid": kid}, claims()), "token-key")
        found[f"kid {kid[:20]!r}, MAC of nothing"] = (with_secret(b"", {"alg": "HS256", "kid": kid}, claims()), "token-key")
    for kid in (1, None, ["P-256"], {"P-256": 1}):
        found[f"kid {kid!r}"] = (signed_by(keys["P-256"], {"alg": "ES256", "kid": kid}, claims()), "token-malformed")
    octets = b'{"alg":"ES256","kid":"P-256\\u0000"}'
    found["kid with a NUL"] = (signed_by(keys["P-256"], octets, claims()), "token-malformed")
    return found


def with_wrong_headers(keys):
    good = keys["P-256"]
    sign = lambda header: signed_by(good, header, claims())  # noqa: E731
    return {
        "crit": (sign({"alg": "ES256", "kid": "P-256", "crit": ["urn:x"], "urn:x": 1}), "token-critical"),
        "crit of what is known": (sign({"alg": "ES256", "kid": "P-256", "crit": ["exp"]}), "token-critical"),
        "empty crit": (sign({"alg": "ES256", "kid": "P-256", "crit": []}), "token-critical"),
        "crit is no list": (sign({"alg": "ES256", "kid": "P-256", "crit": "exp"}), "token-critical"),
        "crit is null": (sign({"alg": "ES256", "kid": "P-256", "crit": None}), "token-critical"),
        "b64": (sign({"alg": "ES256", "kid": "P-256", "b64": False}), "token-critical"),
        "typ of another kind": (sign({"alg": "ES256", "kid": "P-256", "typ": "dpop+jwt"}), "token-type"),
        "typ of an ID token of logout": (sign({"alg": "ES256", "kid": "P-256", "typ": "logout+jwt"}), "token-type"),
        "typ is no text": (sign({"alg": "ES256", "kid": "P-256", "typ": ["JWT"]}), "token-malformed"),
        "alg twice": (sign(b'{"alg":"none","alg":"ES256","kid":"P-256"}'), "token-malformed"),
        "alg twice, once escaped": (sign(b'{"alg":"ES256","\\u0061lg":"none","kid":"P-256"}'), "token-malformed"),
        "kid twice": (sign(b'{"alg":"ES256","kid":"other","kid":"P-256"}'), "token-malformed"),
        "something behind it": (sign(b'{"alg":"ES256","kid":"P-256"}{}'), "token-malformed"),
        "a list": (sign([{"alg": "ES256"}]), "token-malformed"),
        "no JSON": (sign(b"ES256"), "token-malformed"),
        "not UTF-8": (sign(b'{"alg":"ES256","kid":"P-256","x":"\xff"}'), "token-malformed"),
        "the algorithm of another key": (sign({"alg": "ES256", "kid": "RSA"}), "token-algorithm"),
    }


def with_wrong_claims(keys):
    now = int(time.time())
    sign = lambda payload: signed_by(keys["P-256"], {"alg": "ES256", "kid": "P-256"}, payload)  # noqa: E731

    def raw(exp):
        return json.dumps(CLAIMS)[:-1].encode() + b',"exp":' + exp + b"}"

    malformed = {
        "no exp": {**CLAIMS},
        "exp is text": claims(exp=str(now + 3600)),
        "exp is null": claims(exp=None),
        "exp is true": claims(exp=True),
        "exp is a list": claims(exp=[now + 3600]),
        "exp is too long for any number": raw(b"9" * 40),
        "exp is too great for any number": raw(b"1e999"),
        "exp is not a number": raw(b"NaN"),
        "exp twice": raw(b"1,\"exp\":%d" % (now + 3600)),
        "nbf is text": claims(nbf=str(now)),
        "iat is text": claims(iat="yesterday"),
        "aud holds a number": claims(aud=[AUDIENCE, 1]),
        "aud is an object": claims(aud={AUDIENCE: 1}),
        "partner twice": json.dumps(claims())[:-1].encode() + b',"partner_id":"bolt"}',
        "a list": [claims()],
        "a token": keys["P-256"].token(partner_id="acme").encode(),
        "deep": json.dumps(claims())[:-1].encode() + b',"x":' + b"[" * 2000 + b"]" * 2000 + b"}",
    }
    others = {
        "of the past": (claims(exp=now - 60), "token-expired"),
        "of the far past": (claims(exp=-1), "token-expired"),
        "exp long ago, with a fraction": (claims(exp=now - 60.5), "token-expired"),
        "exp is the least number": (raw(b"-1e308"), "token-expired"),
        "exp is zero": (claims(exp=0), "token-expired"),
        "nbf of the future": (claims(nbf=now + 600), "token-early"),
        "nbf of the far future": (claims(nbf=1e300), "token-early"),
        "iat of the future": (claims(iat=now + 600), "token-early"),
        "aud of others": (claims(aud="others"), "token-audience"),
        "aud of others, as a list": (claims(aud=["others", AUDIENCE + "s"]), "token-audience"),
        "aud of nobody": (claims(aud=[]), "token-audience"),
        "aud in another case": (claims(aud=AUDIENCE.upper()), "token-audience"),
        "iss of others": (claims(iss="https://other.example"), "token-issuer"),
        "iss as a list": (claims(iss=[ISSUER]), "token-issuer"),
        "iss with a slash": (claims(iss=ISSUER + "/"), "token-issuer"),
        "iss is null": (claims(iss=None), "token-issuer"),
    }
    found = {what: (sign(payload), "token-malformed") for what, payload in malformed.items()}
    found.update({what: (sign(payload), wanted) for what, (payload, wanted) in others.items()})
    found["no iss"] = (sign({k: v for k, v in claims().items() if k != "iss"}), "token-issuer")
    found["no aud"] = (sign({k: v for k, v in claims().items() if k != "aud"}), "token-audience")
    return found


def written_wrongly(keys):
    """Not the one way in which RFC 7515 writes a token."""
    key = keys["P-256"]
    token = next(t for t in (key.token(partner_id="acme", n=n) for n in range(1000)) if "-" in t.split(".")[2])
    header, payload, signature = token.split(".")
    standard = signature.replace("-", "+").replace("_", "/")
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    loose = signature[:-1] + last[last.index(signature[-1]) + 1]  # bits that belong to no octet
    found = {
        "padded": token + "==",
        "padded header": f"{header}=.{payload}.{signature}",
        "+ and /": f"{header}.{payload}.{standard}",
        "bits left over": f"{header}.{payload}.{loose}",
        "characters of no octet": token + "AAA",
        "trailing dot": token + ".",
        "trailing dots": token + "...",
        "leading dot": "." + token,
        "one part": header,
        "two parts": f"{header}.{payload}",
        "dots": "..",
        "no header": f".{payload}.{signature}",
        "no payload": f"{header}..{signature}",
        "encrypted": f"{part({'alg': 'RSA-OAEP', 'enc': 'A256GCM', 'zip': 'DEF', 'kid': 'RSA'})}.e30.e30.e30.e30",
        "something else": "x",
        "too long": key.token(partner_id="acme", more="x" * 12400),
        "a character of no alphabet": f"{header}.{payload}.{signature[:-1]}!",
        "a blank in it": f"{header}.{payload}. {signature}",
        "twice": f"{token},{token}",
    }
    return {f"written: {what}": (bad, "token-malformed") for what, bad in found.items()}


CORPUS = [without_signature, with_wrong_signatures, with_keys_of_their_own, with_wrong_headers, with_wrong_claims,
          written_wrongly]


@pytest.mark.parametrize("made", CORPUS, ids=lambda made: made.__name__)
def test_no_forged_token_is_believed(launch, origin, keys, key_file, made):
    gateway = launch(origin, workers=1, callers=[caller(key_file)], guessing="off")
    faults, corpus = [], made(keys)
    for what, (token, wanted) in corpus.items():
        for _ in range(2):
            response = gateway.ask(fields=bearer(token))
            if response.status != 401 or code(response) != wanted:
                faults.append(f"{what}: {response.status} {response.body!r}, not {wanted}")
                break
            challenge = response.fields.get("WWW-Authenticate")
            assert challenge.startswith('Bearer realm="weir", error="invalid_token", error_description="'), what
            assert token.encode() not in response.body or len(token) < 3
    assert not faults, "\n".join(faults)
    assert not origin.begun
    seen = gateway.metrics().value("weir_credentials_total", result="refused_again")
    lasting = sum(wanted != "token-early" for _, wanted in corpus.values())
    assert seen == lasting, "what time can mend is not remembered"
    good = keys["P-256"].token(partner_id="acme")
    assert gateway.ask(fields=bearer(good)).status == 200, "and good ones still are"


def test_what_is_unusual_but_right_is_believed(launch, origin, keys, key_file):
    gateway = launch(origin, callers=[caller(key_file)], identify="required")
    now = int(time.time())
    key, header = keys["P-256"], {"alg": "ES256", "kid": "P-256"}
    good = {
        "a fraction": (header, claims(exp=now + 3600.5, nbf=now - 0.5)),
        "a far end": (header, claims(exp=1e300)),
        "the end of 64 bits": (header, claims(exp=2**63 - 1)),
        "several audiences": (header, claims(aud=["others", AUDIENCE])),
        "no kid": ({"alg": "ES256"}, claims()),
        "a type of its own spelling": ({**header, "typ": "application/AT+JWT"}, claims()),
        "members that nobody knows": ({**header, "zip": "DEF", "cty": "JWT", "jku": "https://127.0.0.1:1/"}, claims()),
    }
    for what, (head, payload) in good.items():
        assert gateway.ask(fields=bearer(signed_by(key, head, payload))).status == 200, what


@pytest.mark.parametrize("final_newline", [True, False])
@pytest.mark.parametrize("form", ["pem", "json"])
def test_public_keys_as_secrets_are_not_believed(launch, origin, keys, tmp_path, form, final_newline):
    """The oldest trick: what everybody knows, the public key, taken for a secret."""
    path = tmp_path / "keys"
    public = (keys["RSA"], keys["P-256"])
    path.write_text("".join(key.pem() for key in public) if form == "pem" else key_set(*public))
    gateway = launch(origin, callers=[caller(path)])
    for key in public:
        assert gateway.ask(fields=bearer(key.token(partner_id="acme"))).status == 200
        pem = key.pem().encode()
        for secret in (pem if final_newline else pem.rstrip(b"\n"), json.dumps(key.jwk()).encode()):
            for header in ({"alg": "HS256"}, {"alg": "HS256", "kid": key.kid}):
                response = gateway.ask(fields=bearer(with_secret(secret, header, claims())))
                assert (response.status, code(response)) == (401, "token-algorithm"), header


def test_servers_that_tokens_name_are_not_asked(launch, origin, keys, key_file, tmp_path):
    own = Key("own")
    gateway = launch(origin, callers=[caller(key_file)])
    with KeyServer(Certificates(tmp_path), own) as server:
        for name in ("jku", "x5u", "iss"):
            header = {"alg": "ES256", "kid": "own", name: server.url}
            response = gateway.ask(fields=bearer(signed_by(own, header, claims())))
            assert (response.status, code(response)) == (401, "token-key")
        gateway.turn()
        assert server.asked == 0


@pytest.mark.parametrize("second", ["same", "forged", "other scheme", "empty"])
def test_two_fields_are_not_one(launch, origin, keys, key_file, second):
    gateway = launch(origin, callers=[caller(key_file)])
    good = f"Bearer {keys['P-256'].token(partner_id='acme')}"
    other = {"same": good, "forged": "Bearer x.y.z", "other scheme": "Basic dTpw", "empty": ""}[second]
    for values in ((good, other), (other, good)):
        assert gateway.ask(fields=[("Authorization", value) for value in values]).status == 400
    assert not origin.begun
