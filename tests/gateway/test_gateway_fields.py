# SPDX-License-Identifier: Apache-2.0
"""Fields between hops and fields that the gateway owns (http G1-G5, H)."""

import json
import re

import pytest

from harness import RawClient, reply

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}\Z")
TRACE_PARENT = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\Z")
CLIENT_ADDRESS_FIELDS = {
    "X-Forwarded-For": "1.1.1.1",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Port": "444",
    "Forwarded": "for=1.1.1.1",
    "X-Real-IP": "1.1.1.1",
    "True-Client-IP": "1.1.1.1",
    "CF-Connecting-IP": "1.1.1.1",
}


def test_hop_by_hop_fields_of_a_request_do_not_go_on(plain):
    gateway, origin = plain
    gateway.ask(
        fields=[
            ("Connection", "keep-alive, X-Named"),
            ("Keep-Alive", "timeout=5"),
            ("Proxy-Connection", "keep-alive"),
            ("Proxy-Authorization", "Basic a"),
            ("TE", "trailers, gzip"),
            ("Trailer", "X-T"),
            ("Upgrade", "h2c"),
            ("HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"),
            ("X-Named", "secret"),
            ("Connection", "x-also"),
            ("X-Also", "1"),
            ("X-Kept", "1"),
        ]
    )
    fields = origin.last().fields
    for name in (
        "Keep-Alive",
        "Proxy-Connection",
        "Proxy-Authorization",
        "TE",
        "Trailer",
        "Upgrade",
        "HTTP2-Settings",
        "X-Named",
        "X-Also",
        "Transfer-Encoding",
    ):
        assert name not in fields, name
    assert fields.get("Connection", "keep-alive").lower() in ("keep-alive", "close")
    assert fields.get("X-Kept") == "1"


def test_hop_by_hop_fields_of_an_answer_do_not_go_on(plain):
    gateway, origin = plain
    origin.answer = reply(
        fields=[
            ("Connection", "keep-alive, X-Named"),
            ("Keep-Alive", "timeout=5"),
            ("Proxy-Connection", "keep-alive"),
            ("Trailer", "X-T"),
            ("Upgrade", "h2c"),
            ("X-Named", "secret"),
            ("X-Kept", "1"),
        ]
    )
    fields = gateway.ask().fields
    for name in ("Keep-Alive", "Proxy-Connection", "Trailer", "Upgrade", "X-Named", "Transfer-Encoding"):
        assert name not in fields, name
    assert fields.get("Connection", "keep-alive").lower() == "keep-alive"
    assert fields.get("X-Kept") == "1"


@pytest.mark.parametrize(
    "name, value",
    [("Authorization", "Bearer a"), ("X-Api-Key", "demo"), ("X-Request-Id", "abc"), ("Host", "localhost")],
)
def test_connection_cannot_name_away_a_field_that_decides_something(launch, origin, name, value):
    gateway = launch(
        origin, callers=[{"api_key": {"header": "X-Api-Key"}}], keys=[{"key": "demo", "partner": "acme"}]
    )
    fields = [("Connection", name)] + ([] if name == "Host" else [(name, value)])
    assert gateway.ask(fields=fields).status == 200
    assert origin.last().fields.get(name) == value


def test_connection_cannot_name_away_the_key_that_is_counted(launch, origin):
    gateway = launch(
        origin,
        callers=[{"api_key": {"header": "X-Api-Key"}}],
        keys=[{"key": "demo", "partner": "acme"}],
        limits=[{"name": "one", "per": ["partner"], "rate": "1/h"}],
    )
    fields = {"Connection": "X-Api-Key", "X-Api-Key": "demo"}
    assert [gateway.ask(fields=fields).status for _ in range(2)] == [200, 429]


def test_connection_cannot_name_away_the_framing(launch, origin):
    gateway = launch(origin)
    assert gateway.ask("POST", "/", {"Connection": "Content-Length"}, b"hello").status == 200
    assert origin.last().body == b"hello"
    assert gateway.ask("POST", "/", {"Connection": "X-Forwarded-For"}, b"").status == 200
    assert origin.last().fields.get("X-Forwarded-For") == "127.0.0.1"


def test_an_upgrade_that_no_service_allows_is_served_as_an_ordinary_request(plain):
    gateway, origin = plain
    fields = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    assert gateway.ask(fields=fields).status == 200
    assert "Upgrade" not in origin.last().fields


def test_the_gateway_adds_itself_to_via(plain):
    gateway, origin = plain
    gateway.ask()
    assert origin.last().fields.joined("Via") == "1.1 weir"
    gateway.ask(fields=[("Via", "1.0 fred"), ("Via", "1.1 p.example (a, b)")])
    assert origin.last().fields.joined("Via") == "1.0 fred, 1.1 p.example (a, b), 1.1 weir"


def test_a_request_that_went_in_circles_gets_508(plain):
    gateway, origin = plain
    assert gateway.ask(fields={"Via": ", ".join(["1.1 weir"] * 10)}).status == 200
    assert gateway.ask(fields={"Via": ", ".join(["1.1 weir"] * 11)}).status == 508
    assert gateway.ask(fields=[("Via", "1.1 weir")] * 11).status == 508
    assert gateway.ask(fields={"Via": ", ".join(["1.1 weirdo"] * 11)}).status == 200
    assert len(origin.requests) == 2


def test_a_gateway_that_forwards_to_itself_ends_with_508(launch):
    gateway = launch("http://127.0.0.1:1")
    address = gateway.config["listeners"][0]["address"]
    gateway.reload(upstreams={"main": {"url": f"http://{address}"}})
    assert gateway.ask().status == 508


def test_a_good_request_id_goes_upstream_and_back_and_into_the_log(launch, origin):
    gateway = launch(origin)
    for request_id in ("a", "Az09._-", "x" * 128):  # on connections of their own, so the log's order is open
        response = gateway.ask(fields={"X-Request-Id": request_id})
        assert response.fields.get("X-Request-Id") == request_id
        assert origin.last().fields.get("X-Request-Id") == request_id
    logged = {entry["request_id"] for entry in gateway.access_log(3)}
    assert logged == {"a", "Az09._-", "x" * 128}


@pytest.mark.parametrize("bad", [None, "", "x" * 129, "a b", "a/b", "a\xe9", "<script>", 'a"b'])
def test_a_missing_or_bad_request_id_is_replaced(plain, bad):
    gateway, origin = plain
    fields = {} if bad is None else {"X-Request-Id": bad}
    response = gateway.ask(fields=fields)
    fresh = response.fields.get("X-Request-Id")
    assert fresh and fresh != bad and REQUEST_ID.match(fresh)
    assert origin.last().fields.get("X-Request-Id") == fresh


def test_request_ids_made_by_the_gateway_are_all_different(plain):
    gateway, origin = plain
    with gateway.connect() as one, gateway.connect() as two:
        ids = [client.ask().fields.get("X-Request-Id") for client in (one, two) * 50]
    assert len(set(ids)) == 100


def test_answers_made_by_the_gateway_carry_the_request_id_in_field_and_body(launch, origin):
    gateway = launch(origin, services={"ONE": {"upstream": "main", "paths": ["/api"]}})
    response = gateway.ask(fields={"X-Request-Id": "abc-1"})
    problem = json.loads(response.body)
    assert response.fields.get("X-Request-Id") == "abc-1"
    assert problem["request_id"] == "abc-1"
    assert problem["status"] == 404 and problem["title"]


GOOD_TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("good", [GOOD_TRACE, "01" + GOOD_TRACE[2:], "cc" + GOOD_TRACE[2:] + "-what-comes-later"])
def test_a_good_traceparent_passes_with_its_state(plain, good):
    gateway, origin = plain
    gateway.ask(fields={"traceparent": good, "tracestate": "congo=t61rcWkgMzE"})
    assert origin.last().fields.get("traceparent") == good
    assert origin.last().fields.get("tracestate") == "congo=t61rcWkgMzE"


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "x",
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
        GOOD_TRACE.upper(),
        "ff" + GOOD_TRACE[2:],
        GOOD_TRACE + "-more",
        GOOD_TRACE[:-1],
        "01" + GOOD_TRACE[2:] + ".more",
    ],
)
def test_a_malformed_traceparent_begins_a_new_trace(plain, bad):
    gateway, origin = plain
    seen = set()
    for _ in range(3):
        gateway.ask(fields={"traceparent": bad, "tracestate": "congo=t61rcWkgMzE"})
        fields = origin.last().fields
        assert TRACE_PARENT.match(fields.get("traceparent")), fields.get("traceparent")
        assert "tracestate" not in fields
        seen.add(fields.get("traceparent"))
    assert len(seen) == 3 and bad not in seen


def test_two_traces_are_no_trace_and_two_request_ids_no_id(plain):
    gateway, origin = plain
    response = gateway.ask(
        fields=[("traceparent", GOOD_TRACE), ("traceparent", GOOD_TRACE), ("X-Request-Id", "a"), ("X-Request-Id", "b")]
    )
    fields = origin.last().fields
    assert len(fields.all("traceparent")) == 1 and fields.get("traceparent") != GOOD_TRACE
    assert fields.all("X-Request-Id") == [response.fields.get("X-Request-Id")]
    assert response.fields.get("X-Request-Id") not in ("a", "b")


def test_nobody_is_believed_about_the_client_address_by_default(plain):
    gateway, origin = plain
    gateway.ask(fields=CLIENT_ADDRESS_FIELDS, host="real.example:81")
    fields = origin.last().fields
    assert fields.get("X-Forwarded-For") == "127.0.0.1"
    assert fields.get("X-Forwarded-Proto") == "http"
    assert fields.get("X-Forwarded-Host") == "real.example:81"
    for name in ("Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP"):
        assert name not in fields, name
    assert fields.get("X-Forwarded-Port") != "444"


def test_a_trusted_peer_is_appended_to_the_chain_it_sent(launch, origin):
    gateway = launch(origin, trusted_proxies=["127.0.0.0/8"])
    gateway.ask(
        fields=[
            ("X-Forwarded-For", "198.51.100.1"),
            ("X-Forwarded-For", "203.0.113.9"),
            ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-Host", "public.example"),
        ]
    )
    fields = origin.last().fields
    assert fields.get("X-Forwarded-For").endswith("203.0.113.9, 127.0.0.1")
    assert fields.get("X-Forwarded-Proto") == "https"
    assert fields.get("X-Forwarded-Host") == "public.example"


def test_a_peer_outside_the_trusted_networks_replaces_the_chain(launch, origin):
    gateway = launch(origin, trusted_proxies=["127.0.0.9/32"])
    gateway.ask(fields={"X-Forwarded-For": "203.0.113.9"}, source="127.0.0.8")
    assert origin.last().fields.get("X-Forwarded-For") == "127.0.0.8"
    gateway.ask(fields={"X-Forwarded-For": "203.0.113.9"}, source="127.0.0.9")
    assert origin.last().fields.get("X-Forwarded-For") == "203.0.113.9, 127.0.0.9"


def test_the_forwarded_chain_is_bounded(launch, origin):
    gateway = launch(origin, trusted_proxies=["127.0.0.0/8"])
    gateway.ask(fields={"X-Forwarded-For": ", ".join(f"203.0.113.{index}" for index in range(100))})
    entries = origin.last().fields.get("X-Forwarded-For").split(", ")
    assert len(entries) <= 32
    assert entries[-2:] == ["203.0.113.99", "127.0.0.1"]


SAME_CLIENT = [  # X-Forwarded-For of two requests that one client sent (trusted: 127.0.0.0/8 and 10.0.0.0/8)
    ("203.0.113.9", "1.1.1.1, 203.0.113.9"),
    ("203.0.113.9", "203.0.113.9, 10.0.0.7"),
    ("203.0.113.9", "203.0.113.9:80"),
    ("203.0.113.9", "::ffff:203.0.113.9"),
    ("203.0.113.9", "[::ffff:cb00:7109]:4711"),
    ("203.0.113.9", "64:ff9b::203.0.113.9"),
    ("2001:db8::5", "[2001:db8::5]:4711"),
    ("2001:db8:1:2::1", "2001:db8:1:2:3::9"),
    ("2001:db8::1.2.3.4", "2001:db8::9"),
    ("fe80::1", "fe80::1%eth0"),
    ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
    (None, "203.0.113.9, garbage"),
    (None, "203.0.113.9, unknown"),
    (None, "203.0.113.9,"),
    (None, "203.0.113.9, 010.0.0.1"),
    (None, "203.0.113.9, 1.2.3"),
    (None, "203.0.113.9, 0x1.2.3.4"),
]


@pytest.mark.parametrize("first, second", SAME_CLIENT)
def test_two_spellings_of_one_client_share_a_counter(launch, origin, first, second):
    gateway = launch(
        origin,
        trusted_proxies=["127.0.0.0/8", "10.0.0.0/8"],
        limits=[{"name": "one", "per": ["address"], "rate": "1/h"}],
    )
    statuses = [gateway.ask(fields=({"X-Forwarded-For": chain} if chain else {})).status for chain in (first, second)]
    assert statuses == [200, 429]
    assert gateway.ask(fields={"X-Forwarded-For": "198.51.100.77"}).status == 200


@pytest.mark.parametrize(
    "first, second",
    [
        ("203.0.113.9", "203.0.113.10"),
        ("2001:db8:1:2::1", "2001:db8:1:3::1"),
        ("1.2.3.4", "2001:db8::1.2.3.4"),
        ("203.0.113.9, 198.51.100.1", "203.0.113.9, 198.51.100.2"),
    ],
)
def test_different_clients_have_different_counters(launch, origin, first, second):
    gateway = launch(
        origin, trusted_proxies=["127.0.0.0/8"], limits=[{"name": "one", "per": ["address"], "rate": "1/h"}]
    )
    assert [gateway.ask(fields={"X-Forwarded-For": chain}).status for chain in (first, second)] == [200, 200]


def test_the_ipv6_prefix_is_a_setting(launch, origin):
    gateway = launch(
        origin,
        trusted_proxies=["127.0.0.0/8"],
        ipv6_prefix=56,
        limits=[{"name": "one", "per": ["address"], "rate": "1/h"}],
    )
    chains = ("2001:db8:1:2::1", "2001:db8:1:ff::1", "2001:db8:1:100::1")
    assert [gateway.ask(fields={"X-Forwarded-For": chain}).status for chain in chains] == [200, 429, 200]


def test_clients_of_a_unix_socket_share_one_counter(launch, origin, tmp_path):
    path = str(tmp_path / "in.sock")
    launch(
        origin, listeners=[{"address": f"unix:{path}"}], limits=[{"name": "one", "per": ["address"], "rate": "1/h"}]
    )
    statuses = []
    for _ in range(2):
        with RawClient(path) as client:
            statuses.append(client.ask().status)
    assert statuses == [200, 429]
