# SPDX-License-Identifier: Apache-2.0
"""Connections that begin with a PROXY header, and other ways in which trusted proxies tell who is behind them."""

import ipaddress
import struct

import pytest

from harness import request_bytes
from harness.poll import free_port

TRUSTED = ["127.0.0.0/8", "10.0.0.0/8"]
PER_ADDRESS = {"name": "address", "per": ["address"], "rate": "1/day"}
MARK = b"\r\n\r\n\x00\r\nQUIT\n"


def text(source, family="TCP4", destination="10.0.0.9"):
    return f"PROXY {family} {source} {destination} 4711 443\r\n".encode()


def binary(source, command=0x21, extra=b""):
    address = ipaddress.ip_address(source)
    family = 0x11 if address.version == 4 else 0x21
    body = address.packed * 2 + struct.pack(">HH", 4711, 443) + extra
    return MARK + struct.pack(">BBH", command, family, len(body)) + body


@pytest.fixture
def gateway(launch, origin):
    listeners = [{"address": f"127.0.0.1:{free_port()}", "proxy_protocol": True}]
    return launch(origin, listeners=listeners, trusted_proxies=TRUSTED, limits=[PER_ADDRESS])


def ask(gateway, header, fields=()):
    with gateway.connect() as client:
        client.send(header + request_bytes(fields=fields))
        return client.response()


def seen_by(origin):
    return origin.begun[-1].fields.get("X-Forwarded-For")


@pytest.mark.parametrize("header, client", [
    (text("203.0.113.9"), "203.0.113.9"),
    (text("2001:db8::5", "TCP6", "2001:db8::1"), "2001:db8::5"),
    (binary("203.0.113.9"), "203.0.113.9"),
    (binary("2001:db8::5"), "2001:db8::5"),
    (binary("203.0.113.9", extra=b"\x01\x00\x02h2"), "203.0.113.9"),
    (b"PROXY UNKNOWN\r\n", "127.0.0.1"),
    (binary("203.0.113.9", command=0x20), "127.0.0.1"),
])
def test_the_header_names_the_client(gateway, origin, header, client):
    assert ask(gateway, header).status == 200
    assert seen_by(origin) == client
    assert ask(gateway, header).status == 429, "it is counted by that address"


def test_the_client_is_counted_and_the_balancer_is_not(gateway):
    for number in range(1, 6):
        assert ask(gateway, binary(f"203.0.113.{number}")).status == 200
    assert ask(gateway, text("203.0.113.1")).status == 429


def test_a_client_behind_the_balancer_is_trusted_only_by_its_own_address(gateway, origin):
    fields = {"X-Forwarded-For": "198.51.100.7"}
    assert ask(gateway, text("203.0.113.9"), fields).status == 200
    assert seen_by(origin) == "203.0.113.9"
    assert ask(gateway, text("10.1.1.1"), fields).status == 200
    assert seen_by(origin) == "198.51.100.7, 10.1.1.1"


def test_the_header_may_come_in_pieces_and_holds_for_the_connection(gateway, origin):
    with gateway.connect() as client:
        for byte in binary("203.0.113.9"):
            client.send(bytes([byte]))
        client.send(request_bytes())
        assert client.response().status == 200
        assert client.ask().status == 429
    assert seen_by(origin) == "203.0.113.9"


@pytest.mark.parametrize("header", [
    b"", b"PROXY TCP4 203.0.113.9\r\n", text("garbage"), MARK + b"\x11\x11\x00\x0c" + bytes(12),
    MARK + b"\x21\x11\x00\x02ab", b"PROXY " + b"x" * 200, b"\x16\x03\x01\x02\x00",
])
def test_what_is_no_header_ends_the_connection_without_an_answer(gateway, origin, header):
    with gateway.connect() as client:
        client.send(header + request_bytes())
        assert client.is_closed()
    assert not origin.begun


def test_whoever_is_not_trusted_is_the_client_itself(launch, origin):
    listeners = [{"address": f"127.0.0.1:{free_port()}", "proxy_protocol": True}]
    gateway = launch(origin, listeners=listeners, trusted_proxies=["10.0.0.0/8"])
    assert gateway.ask().status == 200
    assert seen_by(origin) == "127.0.0.1"
    assert ask(gateway, text("203.0.113.9")).status == 400


def test_forwarded_is_read_where_the_configuration_says_so(launch, origin):
    gateway = launch(origin, trusted_proxies=TRUSTED, client_address={"header": "Forwarded"}, limits=[PER_ADDRESS])
    value = 'for=192.0.2.60;proto=http;by=203.0.113.43, for="[2001:db8:cafe::17]:4711"'
    assert gateway.ask(fields={"Forwarded": value}).status == 200
    assert gateway.ask(fields={"Forwarded": 'For="[2001:db8:cafe::99]"'}).status == 429, "the same /64"
    assert gateway.ask(fields={"Forwarded": "for=192.0.2.60"}).status == 200
    assert gateway.ask(fields={"X-Forwarded-For": "192.0.2.61"}).status == 200, "the proxy's own address"
    assert gateway.ask(fields={"X-Forwarded-For": "192.0.2.62"}).status == 429, "another field says nothing"


def test_a_field_of_ones_own_is_believed_from_proxies_and_kept_from_others(launch, origin):
    trusting = launch(origin, trusted_proxies=TRUSTED, client_address={"header": "X-Client-Address"},
                      limits=[PER_ADDRESS])
    for status in (200, 429):
        assert trusting.ask(fields={"X-Client-Address": "192.0.2.1", "Connection": "X-Client-Address"}).status == status
    assert origin.begun[-1].fields.get("X-Client-Address") == "192.0.2.1"
    strict = launch(origin, trusted_proxies=["10.0.0.0/8"], client_address={"header": "X-Client-Address"})
    assert strict.ask(fields={"X-Client-Address": "192.0.2.1"}).status == 200
    assert origin.begun[-1].fields.get("X-Client-Address") is None


def test_hops_may_be_counted_instead(launch, origin):
    gateway = launch(origin, trusted_proxies=TRUSTED, client_address={"trusted_hops": 2}, limits=[PER_ADDRESS])
    for number, status in ((1, 200), (2, 200), (1, 429)):
        fields = {"X-Forwarded-For": f"9.9.9.9, 192.0.2.{number}, 198.51.100.1"}
        assert gateway.ask(fields=fields).status == status
    assert gateway.ask(fields={"X-Forwarded-For": "192.0.2.1"}).status == 200, "too few: the peer"


def test_what_only_proxies_may_say_does_not_reach_an_upstream_from_others(launch, origin):
    callers = [{"header": {"name": "X-User-Id", "attribute": "user", "from": "trusted_proxies"}}]
    gateway = launch(origin, trusted_proxies=["10.0.0.0/8"], callers=callers,
                     bypass=[{"header": {"X-User-Role": "ADMIN"}, "from": "trusted_proxies"}])
    assert gateway.ask(fields={"X-User-Id": "root", "x-user-role": "ADMIN", "X-Other": "1"}).status == 200
    fields = origin.begun[-1].fields
    assert fields.get("X-User-Id") is None and fields.get("X-User-Role") is None and fields.get("X-Other") == "1"
