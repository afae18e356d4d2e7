# SPDX-License-Identifier: Apache-2.0
"""Framing of request bodies, Expect, and answers sent before the body came (http D9-D15, E1-E3, F1)."""

import json

import pytest

from harness import Cut, Hold, Malformed, RawClient, free_port, reply, request_bytes
from harness.poll import eventually

CHUNKED = {"Transfer-Encoding": "chunked"}
FORBIDDEN_TRAILERS = [
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
    "Host: evil",
    "Authorization: Bearer a",
    "Cookie: a=b",
    "Content-Type: text/evil",
    "Connection: close",
    "TE: trailers",
    "Upgrade: h2c",
    "X-Api-Key: other",
]


def chunked(*lines):
    """A chunked POST whose body is exactly these lines."""
    return request_bytes("POST", "/", CHUNKED) + b"".join(line + b"\r\n" for line in lines)


def keyed(launch, origin, **changes):
    return launch(
        origin, callers=[{"api_key": {"header": "X-Api-Key"}}], keys=[{"key": "demo", "partner": "acme"}], **changes
    )


def test_trailers_are_dropped_and_never_become_fields(launch, origin):
    gateway = keyed(launch, origin)
    with gateway.connect() as client:
        for trailer in ["X-Checksum: abc", *FORBIDDEN_TRAILERS]:
            client.send(chunked(b"5", b"hello", b"0", trailer.encode(), b""))
            assert client.response().status == 200, trailer
            request = origin.requests[-1]
            assert request.body == b"hello" and not request.trailers.pairs, trailer
            assert request.fields.get("Host") == "localhost"
            assert "X-Checksum" not in request.fields and "Authorization" not in request.fields


@pytest.mark.parametrize("trailer", [b"X Y: 1", b"X : 1", b": 1", b"X: a\x00b", b" X: 1", b"X: a\nb", b"X"])
def test_a_broken_trailer_breaks_the_request(plain, trailer):
    gateway, origin = plain
    broken_body(gateway, origin, chunked(b"5", b"hello", b"0", trailer, b""))


def test_trailers_obey_the_limits_of_heads(plain):
    gateway, origin = plain
    for lines in (
        [b"X-%d: 1" % index for index in range(101)],
        [b"X-%d: " % index + b"v" * 1000 for index in range(66)],
    ):
        with gateway.connect() as client:
            client.send_as_far_as_possible(chunked(b"5", b"hello", b"0", *lines, b""))
            assert client.response().status == 431
    assert not origin.requests


def broken_body(gateway, origin, data):
    """The client gets 400 or a cut connection; the origin gets no whole request, and its connection ends."""
    with RawClient(gateway.address) as client:
        client.send_as_far_as_possible(data)
        try:
            response = client.response()
            assert response.status == 400 and response.says_close(), response
            assert client.is_closed()
        except Cut:
            pass
    assert not origin.requests, origin.requests
    eventually(lambda: not origin.open_links(), what="the end of the upstream connection")
    origin.faults.clear()


@pytest.mark.parametrize(
    "lines",
    [
        [b"5", b"hello", b"xyz", b"a", b""],
        [b"5", b"hello!"],
        [b"5", b"hel\r\nlo"],
        [b"-1", b""],
        [b"0x5", b"hello"],
        [b"5 ", b"hello"],
        [b"", b""],
        [b"10000000000000000", b""],
        [b"8000000000000000", b""],
        [b"5;", b"hello"],
        [b'5;a="b', b"hello"],
        [b"5;a=\x01", b"hello"],
        [b"1_0", b""],
        [b"5\n", b"hello"],
    ],
)
def test_a_fault_in_the_body_aborts_the_upstream_and_is_answered_400(launch, origin, lines):
    gateway = launch(origin)
    broken_body(gateway, origin, chunked(*lines))
    assert gateway.ask("POST", "/", body=b"next").status == 200
    assert origin.requests[-1].index == 0, "the aborted upstream connection was used again"


def test_a_fault_after_the_answer_has_begun_cuts_the_connection(launch, origin):
    def answer(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        exchange.gateway_left()

    origin.answer = answer
    with launch(origin).connect() as client:
        client.send(chunked(b"5", b"hello"))
        client.wait_for(b"begun")
        client.send_as_far_as_possible(b"xyz\r\n")
        with pytest.raises(Cut):
            client.response()


def test_chunk_extensions_are_read_over_and_not_forwarded(plain):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send(chunked(b'5;a;b=c;d="e; \\" f"', b"hello", b"0;z", b""))
        assert client.response().status == 200
    assert origin.last().body == b"hello"
    assert b";" not in origin.last().raw_body


@pytest.mark.parametrize("length, good", [(4096, True), (4097, False)])
def test_chunk_extensions_of_one_message_are_bounded(launch, origin, length, good):
    """All extensions of a message count together; each is `;` and a name here."""
    gateway = launch(origin)
    half = b";" + b"x" * (length // 2 - 1)
    rest = b";" + b"x" * (length - len(half) - 1)
    data = chunked(b"5" + half, b"hello", b"1" + rest, b"!", b"0", b"")
    if good:
        with gateway.connect() as client:
            client.send(data)
            assert client.response().status == 200
    else:
        broken_body(gateway, origin, data)


@pytest.mark.parametrize("size", [b"5", b"05", b"000000000000005"])
def test_chunk_sizes_may_have_leading_zeros(plain, size):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send(chunked(size, b"hello", b"00", b"") + request_bytes(target="/next"))
        assert client.response().status == client.response().status == 200
    assert [request.body for request in origin.requests] == [b"hello", b""]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS", "POST", "PUT", "PATCH", "QUERY"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_body_is_read_by_its_framing_whatever_the_method(plain, method, framing):
    gateway, origin = plain
    body = b"GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"
    first = (
        request_bytes(method, "/first", {}, body)
        if framing == "length"
        else request_bytes(method, "/first", CHUNKED, b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    )
    with gateway.connect() as client:
        client.send(first + request_bytes(target="/second"))
        assert client.response(method).status == client.response().status == 200
    assert [(request.target, request.body) for request in origin.requests] == [("/first", body), ("/second", b"")]


def test_a_post_without_framing_has_an_empty_body_and_says_so(plain):
    gateway, origin = plain
    assert gateway.ask("POST", "/").status == 200
    assert origin.last().fields.get("Content-Length") == "0"
    assert "Transfer-Encoding" not in origin.last().fields


def test_a_get_without_a_body_gets_no_framing_upstream(plain):
    gateway, origin = plain
    gateway.ask()
    assert origin.last().fields.get("Content-Length", "0") == "0"
    assert "Transfer-Encoding" not in origin.last().fields


def test_framing_upstream_is_freshly_written(plain):
    gateway, origin = plain
    gateway.ask("POST", "/", {"content-LENGTH": " 5\t"}, b"hello")
    gateway.ask("POST", "/", {"transfer-ENCODING": "Chunked"}, b"5\r\nhello\r\n0\r\n\r\n")
    first, second = origin.wait_for(2)
    assert first.fields.all("Content-Length") == ["5"] and "Transfer-Encoding" not in first.fields
    assert second.body == b"hello"
    assert len(second.fields.all("Content-Length") + second.fields.all("Transfer-Encoding")) == 1
    assert second.fields.get("Transfer-Encoding", "chunked") == "chunked"


def sized(launch, origin):
    return launch(origin, services={"MAIN": {"upstream": "main", "max_body": "1KiB"}})


def test_a_body_of_exactly_the_limit_passes(launch, origin):
    gateway = sized(launch, origin)
    assert gateway.ask("POST", "/", body=b"x" * 1024).status == 200
    assert gateway.ask("POST", "/", CHUNKED, b"400\r\n" + b"x" * 1024 + b"\r\n0\r\n\r\n").status == 200


def test_a_declared_body_above_the_limit_is_refused_at_once(launch, origin):
    gateway = sized(launch, origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "1025"}))
        response = client.response(timeout=0.9)
    assert response.status == 413
    assert json.loads(response.body)["status"] == 413
    assert not origin.begun


def test_a_chunked_body_is_refused_when_it_passes_the_limit(launch, origin):
    with sized(launch, origin).connect() as client:
        client.send(request_bytes("POST", "/", CHUNKED) + b"400\r\n" + b"x" * 1024 + b"\r\n")
        client.send_as_far_as_possible(b"1\r\nx\r\n")
        assert client.response().status == 413
    assert not origin.requests
    eventually(lambda: not origin.open_links(), what="the end of the upstream connection")


def test_bytes_behind_a_closing_request_are_thrown_away(plain):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send(request_bytes(fields={"Connection": "close"}) + request_bytes(target="/never") + b"garbage")
        assert client.response().says_close()
        assert client.is_closed()
    assert [request.target for request in origin.requests] == ["/"]


EXPECT = {"Expect": "100-continue"}
REFUSALS = [  # (top-level keys, fields, length of the body, status)
    ({"services": {"ONE": {"upstream": "main", "paths": ["/api"]}}}, {}, 5, 404),
    ({"limits": [{"name": "one", "per": ["service"], "rate": "1/h"}]}, {}, 5, 429),
    ({"identify": "required"}, {}, 5, 401),
    ({"services": {"ONE": {"upstream": "main", "max_body": "1KiB"}}}, {}, 1025, 413),
]


@pytest.mark.parametrize("changes, fields, length, status", REFUSALS)
def test_a_request_that_waits_for_100_is_refused_at_once_without_it(launch, origin, changes, fields, length, status):
    gateway = keyed(launch, origin, **changes)
    if status == 429:
        assert gateway.ask().status == 200
    origin.forget()
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {**EXPECT, **fields, "Content-Length": str(length)}))
        response = client.response(timeout=0.9)
        assert response.status == status and not response.interim
        assert response.says_close() and client.is_closed()
    assert not origin.begun


def test_an_admitted_request_that_waits_gets_exactly_one_100(plain):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {**EXPECT, "Content-Length": "5"}))
        client.wait_for(b"\r\n\r\n")
        assert bytes(client.wire.buffer).startswith(b"HTTP/1.1 100 ")
        client.send(b"hello")
        response = client.response()
        assert response.status == 200 and [interim.status for interim in response.interim] == [100]
        assert client.ask().status == 200
    assert origin.requests[0].body == b"hello"
    assert "Expect" not in origin.requests[0].fields


def test_an_upstream_that_says_100_itself_does_not_make_a_second_one(plain):
    gateway, origin = plain

    def answer(exchange):
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        reply()(exchange)

    origin.answer = answer
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {**EXPECT, "Content-Length": "5"}))
        client.wait_for(b"\r\n\r\n")
        client.send(b"hello")
        assert len(client.response().interim) == 1


def test_no_100_is_sent_when_the_body_is_already_here(plain):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", EXPECT, b"hello"))
        response = client.response()
    assert response.status == 200 and not response.interim
    assert origin.last().body == b"hello"


def test_another_expectation_fails(plain):
    gateway, origin = plain
    assert gateway.ask("POST", "/", {"Expect": "miracles"}, b"x").status == 417
    assert not origin.begun


def test_http10_never_sees_an_interim_answer(plain):
    gateway, origin = plain

    def answer(exchange):
        exchange.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        reply()(exchange)

    origin.answer = answer
    response = gateway.ask("POST", "/", EXPECT, b"hello", version="HTTP/1.0")
    assert response.status == 200 and not response.interim


def refusing(launch, origin):
    """A gateway whose only limit is used up."""
    gateway = launch(origin, limits=[{"name": "one", "per": ["service"], "rate": "1/h"}])
    assert gateway.ask().status == 200
    origin.forget()
    return gateway


SMUGGLED = b"GET /admin HTTP/1.1\r\nHost: a\r\nX-Padding: 1\r\n\r\n"


def test_a_small_body_of_a_refused_request_is_read_and_the_connection_stays(launch, origin):
    gateway = refusing(launch, origin)
    with gateway.connect() as client:
        for _ in range(3):
            assert client.ask("POST", "/", body=SMUGGLED).status == 429
            assert (
                client.ask("POST", "/", CHUNKED, b"%x\r\n%b\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)).status == 429
            )
        assert client.is_quiet(0.1)
    assert not origin.begun


def test_a_body_that_comes_after_the_refusal_is_not_read_as_a_request(launch, origin):
    gateway = refusing(launch, origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": str(len(SMUGGLED))}))
        first = client.response()
        assert first.status == 429
        client.send_as_far_as_possible(SMUGGLED)
        rest = client.everything(within=0.3) if first.says_close() else b"" if client.is_quiet(0.2) else b"more"
        assert not rest
    assert not origin.begun


def test_a_large_body_of_a_refused_request_is_not_read(launch, origin):
    gateway = refusing(launch, origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "10000000"}))
        client.send_as_far_as_possible(SMUGGLED * 100)
        response = client.response()
        assert response.status == 429 and response.says_close()
        assert not client.everything()
    assert not origin.begun


def test_a_body_of_a_refused_request_that_does_not_come_ends_the_connection(launch, origin):
    gateway = refusing(launch, origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "1000"}) + b"ten bytes.")
        assert client.response().status == 429
        assert client.is_closed(within=2.5)


def test_a_broken_body_of_a_refused_request_ends_the_connection(launch, origin):
    gateway = refusing(launch, origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", CHUNKED, b"zz\r\n" + SMUGGLED))
        try:
            assert client.response().status in (400, 429)
            assert not client.everything()
        except (Cut, Malformed):
            pass
    assert not origin.begun


REFUSING = [{"name": "none", "per": ["address"], "rate": "0/h"}]


@pytest.mark.parametrize(
    "framing", [{"Content-Length": "31"}, {"Transfer-Encoding": "chunked"}], ids=["length", "chunked"]
)
@pytest.mark.parametrize("fault", ["refused", "unreachable", "busy"])
def test_a_final_answer_without_100_ends_the_connection(launch, origin, framing, fault):
    """Or the client's next request, which it may send at once, would be taken for the body (http E1)."""
    changes = {
        "refused": {"limits": REFUSING},
        "unreachable": {"upstreams": {"main": {"url": f"http://127.0.0.1:{free_port()}"}}},
        "busy": {"upstreams": {"main": {"url": origin.url, "max_running": 1}}},
    }[fault]
    origin.answer = hold = Hold()
    gateway = launch(origin, **changes)
    with gateway.connect() as other, gateway.connect() as client:
        if fault == "busy":
            other.send(request_bytes())
            eventually(lambda: origin.open_links(), what="a request upstream")
        client.send(request_bytes("POST", "/", {**framing, **EXPECT}))
        response = client.response("POST")
        assert response.status == {"refused": 429, "unreachable": 502, "busy": 503}[fault]
        assert not response.interim and response.says_close()
        client.send_as_far_as_possible(request_bytes("GET", "/next"))
        assert client.is_closed()
        hold.go.set()
