# SPDX-License-Identifier: Apache-2.0
"""Callers known by a signed token: keys from files and from https servers, and who guesses (config: callers, guessing)."""

import json
import subprocess
import time

import pytest

from harness import eventually, free_port
from harness.certificates import Certificates

pytest.importorskip("jwt")
pytest.importorskip("cryptography")

from harness.issuer import Key, KeyServer, bearer, caller, code, key_set  # noqa: E402

PER_PARTNER = {"name": "partner", "per": ["partner"], "rate": "1/h", "by": {"plan": {"gold": "2/h"}}}


@pytest.fixture(scope="module")
def keys():
    return {kind: Key(kind, kind) for kind in ("RSA", "P-256", "P-384", "Ed25519", "secret")}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def key_file(tmp_path, keys):
    path = tmp_path / "jwks.json"
    path.write_text(key_set(*keys.values()))
    return path


@pytest.fixture
def by_url(launch, origin, certificates):
    def start(server, **more):
        refresh = more.pop("refresh", "10min")
        more.setdefault("identify", "required")
        ca = certificates.file("authority.crt")
        return launch(origin, callers=[caller(server.url, ca=ca, refresh=refresh)], **more)

    return start


def test_a_token_of_every_algorithm_tells_who_is_asking(launch, origin, keys, key_file):
    gateway = launch(origin, callers=[caller(key_file)], identify="required")
    algorithms = {
        "RSA": ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
        "P-256": ["ES256"],
        "P-384": ["ES384"],
        "Ed25519": ["EdDSA"],
        "secret": ["HS256", "HS384", "HS512"],
    }
    for kind, names in algorithms.items():
        for name in names:
            token = keys[kind].token(name, partner_id="acme")
            assert gateway.ask(fields=bearer(token)).status == 200, name
            assert origin.last().fields.get("Authorization") == f"Bearer {token}", "it is forwarded as it is"
    assert gateway.access_log(1)[0]["partner"] == "acme"
    assert gateway.metrics().value("weir_credentials_total", result="verified") == 12


def test_strangers_are_told_every_way_to_say_who_they_are(launch, origin, key_file):
    callers = [caller(key_file), {"api_key": {"header": "X-Api-Key"}}]
    gateway = launch(origin, callers=callers, keys=[{"key": "k", "partner": "p"}], identify="required")
    response = gateway.ask()
    assert response.status == 401 and code(response) == "unidentified"
    challenges = [value for name, value in response.fields if name.lower() == "www-authenticate"]
    assert challenges == ['Bearer realm="weir"', 'ApiKey realm="weir"']


def test_the_field_can_neither_be_doubled_nor_stripped(launch, origin, keys, key_file):
    gateway = launch(origin, callers=[caller(key_file)], identify="required")
    token = keys["P-256"].token(partner_id="acme")
    assert gateway.ask(fields=[*bearer(token).items()] * 2).status == 400
    response = gateway.ask(fields={**bearer(token), "Connection": "Authorization"})
    assert response.status == 400 or origin.last().fields.get("Authorization") == f"Bearer {token}"


def test_other_schemes_are_not_ours(launch, origin, key_file):
    gateway = launch(origin, callers=[caller(key_file)])
    assert gateway.ask(fields={"Authorization": "Basic dTpw"}).status == 200
    assert origin.last().fields.get("Authorization") == "Basic dTpw"


def test_limits_count_by_what_tokens_say(launch, origin, keys, key_file):
    limits = [PER_PARTNER, {"name": "tenant", "per": ["claim:realm.tenant"], "rate": "3/h"}]
    gateway = launch(origin, callers=[caller(key_file)], limits=limits)
    key = keys["P-256"]

    def statuses(count, **claims):
        return [gateway.ask(fields=bearer(key.token(jti=str(i), **claims))).status for i in range(count)]

    assert statuses(2, partner_id="acme") == [200, 429]
    assert statuses(3, partner_id=4711, plan="gold") == [200, 200, 429]
    assert statuses(4, realm={"tenant": "t1"}) == [200, 200, 200, 429]
    assert statuses(1, realm={"tenant": "t2"}) == [200]
    assert statuses(4, realm={"tenant": ["t1"]}) == [200] * 4, "a list is nobody"


def test_a_file_without_a_usable_key_is_a_fault_of_the_configuration(binary, tmp_path, key_file):
    config = {
        "listeners": [{"address": f"127.0.0.1:{free_port()}"}],
        "upstreams": {"u": {"url": "http://127.0.0.1:1"}},
        "services": {"S": {"upstream": "u"}},
        "callers": [caller("keys.json")],
    }
    file = tmp_path / "weir.yaml"
    file.write_text(json.dumps(config, indent=1))
    weak = {"kty": "oct", "k": "c2hvcnQ"}
    for text, words in ((None, "cannot be read"), ("{}", "no list `keys`"), (json.dumps({"keys": [weak]}), "5 bytes")):
        if text is not None:
            (tmp_path / "keys.json").write_text(text)
        for command in ("check", "run"):
            done = subprocess.run([binary, command, str(file)], capture_output=True, text=True, timeout=20)
            assert done.returncode == 78, done.stderr
            assert "keys.json" in done.stderr and words in done.stderr and "error" in done.stderr
    (tmp_path / "keys.json").write_text(key_file.read_text())
    assert subprocess.run([binary, "check", str(file)], capture_output=True, timeout=20).returncode == 0


def test_a_reload_reads_the_file_again(launch, origin, keys, key_file):
    gateway = launch(origin, callers=[caller(key_file)], identify="required")
    old, new = keys["P-256"], Key("new")
    assert gateway.ask(fields=bearer(old.token(partner_id="a"))).status == 200
    key_file.write_text(key_set(new))
    gateway.reload()
    assert gateway.ask(fields=bearer(new.token(partner_id="a"))).status == 200
    assert gateway.ask(fields=bearer(old.token(partner_id="a"))).status == 401


def test_keys_are_fetched_and_a_new_key_is_found_at_once(by_url, certificates):
    old, new = Key("old"), Key("new", "RSA")
    with KeyServer(certificates, old) as server:
        gateway = by_url(server)
        token = old.token(partner_id="a")
        assert gateway.ask(fields=bearer(token)).status == 200
        assert server.asked == 1
        server.keys = [old, new]
        eventually(lambda: gateway.ask(fields=bearer(new.token(partner_id="a"))).status == 200, within=5)
        assert server.asked == 2
        assert gateway.ask(fields=bearer(token)).status == 200
        metrics = gateway.metrics()
        assert metrics.value("weir_jwks_refreshes_total", url=server.url, result="success") == 2
        assert metrics.value("weir_jwks_keys", url=server.url) == 2
        assert 0 <= metrics.value("weir_jwks_age_seconds", url=server.url) < 60


def test_unknown_kids_do_not_hammer_the_server(by_url, certificates):
    key = Key("a")
    with KeyServer(certificates, key) as server:
        gateway = by_url(server, guessing="off")
        for i in range(300):
            assert gateway.ask(fields=bearer(Key("a").token(headers={"kid": f"k{i % 50}"}))).status == 401
        assert server.asked <= 2


def test_a_key_that_is_gone_takes_its_tokens_with_it(by_url, certificates):
    old, new = Key("old"), Key("new")
    with KeyServer(certificates, old) as server:
        gateway = by_url(server, refresh="1s")
        token = old.token(partner_id="a")
        assert gateway.ask(fields=bearer(token)).status == 200
        server.keys = [new]
        eventually(lambda: gateway.ask(fields=bearer(token)).status == 401, within=10, every=0.1)
        assert gateway.ask(fields=bearer(new.token(partner_id="a"))).status == 200


@pytest.mark.parametrize("mode", ["error", "garbage", "empty", "huge", "redirect", "hang"])
def test_a_server_that_fails_leaves_the_keys_as_they_were(by_url, certificates, mode):
    key = Key("a")
    with KeyServer(certificates, key) as server:
        gateway = by_url(server, refresh="1s")
        assert gateway.ask(fields=bearer(key.token(partner_id="a"))).status == 200
        server.mode = mode
        before = server.asked
        eventually(lambda: server.asked > before + (0 if mode == "hang" else 1), within=10, every=0.05)
        for i in range(5):
            assert gateway.ask(fields=bearer(key.token(partner_id="a", jti=str(i)))).status == 200
        failures = gateway.metrics().value("weir_jwks_refreshes_total", url=server.url, result="failure")
        assert mode == "hang" or failures >= 1
        if mode != "hang":
            assert gateway.errors().count("those of before stay") == 1, "said once"
            server.mode = "fine"
            eventually(lambda: "1 in force" in gateway.errors().rpartition("those of before stay")[2], within=15)


def test_without_keys_the_gateway_starts_and_says_that_it_cannot_know(by_url, launch, origin, certificates):
    key = Key("a")
    port = free_port()
    url = f"https://127.0.0.1:{port}/jwks.json"
    began = time.monotonic()
    gateway = launch(
        origin,
        callers=[caller(url, ca=certificates.file("authority.crt"))],
        guessing={"rate": "1/h"},
    )
    assert time.monotonic() - began < 9
    for _ in range(3):
        response = gateway.ask(fields=bearer(key.token(partner_id="a")))
        assert (response.status, code(response)) == (503, "keys-unavailable")
        assert int(response.fields.get("Retry-After")) >= 1
    assert gateway.ask().status == 200, "who has no token needs no keys"
    with KeyServer(certificates, key, port=port):
        eventually(lambda: gateway.ask(fields=bearer(key.token(partner_id="a"))).status == 200, within=15, every=0.1)


def test_a_server_that_nobody_vouches_for_is_not_believed(launch, origin, certificates):
    key = Key("a")
    with KeyServer(certificates, key) as server:
        gateway = launch(origin, callers=[caller(server.url)])
        assert gateway.ask(fields=bearer(key.token(partner_id="a"))).status == 503
        assert "certificate" in gateway.errors()


def test_a_gateway_ends_at_once_while_a_server_hangs(by_url, certificates):
    with KeyServer(certificates, Key("a")) as server:
        server.mode = "hang"
        gateway = by_url(server)
        began = time.monotonic()
        gateway.stop()
        assert time.monotonic() - began < 3
        server.released.set()


def test_who_guesses_is_held_off_and_known_credentials_pass(launch, origin, keys, key_file):
    gateway = launch(
        origin,
        workers=1,
        callers=[caller(key_file), {"api_key": {"header": "X-Api-Key"}}],
        keys=[{"key": "right", "partner": "p"}],
        guessing={"rate": "3/h"},
    )
    known = keys["P-256"].token(partner_id="a")
    assert gateway.ask(fields=bearer(known)).status == 200
    answers = [gateway.ask(fields=fields) for fields in ({"X-Api-Key": "wrong"}, bearer("x"), bearer("x"))]
    assert [answer.status for answer in answers] == [401] * 3
    fresh = keys["P-256"].token(partner_id="b")
    for fields in ({"X-Api-Key": "wrong"}, bearer("x"), bearer(fresh)):
        response = gateway.ask(fields=fields)
        assert (response.status, code(response)) == (429, "too-many-failures")
        assert 1 <= int(response.fields.get("Retry-After")) <= 1200
    assert gateway.ask(fields=bearer(known)).status == 200
    assert gateway.ask(fields={"X-Api-Key": "right"}).status == 200
    assert gateway.ask().status == 200
    assert gateway.ask(fields=bearer(fresh), source="127.0.0.9").status == 200, "another address"
    assert gateway.metrics().value("weir_credentials_total", result="held_off") == 3


def test_guessing_can_be_off(launch, origin):
    callers = [{"api_key": {"header": "X-Api-Key"}}]
    gateway = launch(origin, callers=callers, keys=[{"key": "right", "partner": "p"}], guessing="off")
    for i in range(100):
        assert gateway.ask(fields={"X-Api-Key": f"wrong{i}"}).status == 401
