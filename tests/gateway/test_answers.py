# SPDX-License-Identifier: Apache-2.0
"""Framing of answers on their way to the client (http E4-E10, F3, F8, Q3, Q6, Q7)."""

import json
import threading

import pytest

from harness import Cut, RawClient, replay, reply, request_bytes
from harness.poll import eventually

SIZE = b"Content-Length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    "interim",
    [b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n"],
)
def test_interim_answers_are_passed_on(plain, interim):
    gateway, origin = plain
    origin.answer = replay(interim + interim + b"HTTP/1.1 200 OK\r\n" + SIZE, close=False)
    response = gateway.ask()
    assert [one.status for one in response.interim] == [int(interim[9:12])] * 2
    assert response.interim[0].fields.get("Link") == ("</style.css>; rel=preload" if b"103" in interim else None)
    assert response.body == b"ok"


def test_a_100_that_nobody_waits_for_is_swallowed(plain):
    gateway, origin = plain
    origin.answer = replay(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + SIZE, close=False)
    response = gateway.ask("POST", "/", body=b"x")
    assert response.status == 200 and not response.interim


@pytest.mark.parametrize("count, status", [(10, 200), (11, 502)])
def test_more_than_ten_interim_answers_are_too_many(plain, count, status):
    gateway, origin = plain
    origin.answer = replay(b"HTTP/1.1 102 P\r\n\r\n" * count + b"HTTP/1.1 200 OK\r\n" + SIZE, close=False)
    assert gateway.ask().status == status


def test_head_gets_the_fields_of_get_and_no_body(plain):
    gateway, origin = plain

    def answer(exchange):
        exchange.read_body()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nX-A: 1\r\n\r\n")

    origin.answer = answer
    with gateway.connect() as client:
        for _ in range(2):
            response = client.ask("HEAD", "/")
            assert response.fields.get("Content-Length") == "12345"
        assert client.is_quiet(0.05)


def test_head_gets_errors_of_the_gateway_without_a_body(launch, origin):
    gateway = launch(origin, services={"ONE": {"upstream": "main", "paths": ["/api"]}})
    with gateway.connect() as client:
        get, head = client.ask("GET", "/else"), client.ask("HEAD", "/else")
        assert head.status == get.status == 404
        assert int(head.fields.get("Content-Length")) == pytest.approx(len(get.body), abs=2)
        assert client.is_quiet(0.05)


@pytest.mark.parametrize(
    "method, status_line", [("HEAD", b"200 OK"), ("GET", b"204 No Content"), ("GET", b"304 Not Modified")]
)
def test_a_body_where_none_may_be_is_not_passed_and_its_connection_not_used_again(
    launch, origin, method, status_line
):
    origin.answer = replay(b"HTTP/1.1 " + status_line + b"\r\nContent-Length: 5\r\n\r\nhello", close=False)
    with launch(origin).connect() as client:
        response = client.ask(method, "/")
        assert response.status == int(status_line[:3])
        origin.answer = reply(body=b"second")
        assert client.ask().body == b"second"
    assert origin.requests[1].connection != origin.requests[0].connection


def test_204_has_no_length_even_if_the_upstream_sent_one(plain):
    gateway, origin = plain
    origin.answer = replay(b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", close=False)
    with gateway.connect() as client:
        assert client.ask().status == 204  # the parser refuses a length here
        assert client.ask().status == 204


def test_304_keeps_its_length_and_has_no_body(plain):
    gateway, origin = plain
    origin.answer = replay(b'HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\nETag: "a"\r\n\r\n', close=False)
    with gateway.connect() as client:
        response = client.ask()
        assert response.fields.get("ETag") == '"a"' and response.fields.get("Content-Length", "77") == "77"
        assert client.ask().status == 304


def test_http10_gets_a_chunked_answer_unchunked_and_ended_by_close(launch, origin):
    origin.answer = replay(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", close=False
    )
    for fields in ({}, {"Connection": "keep-alive"}):
        response = launch(origin).ask(version="HTTP/1.0", fields=fields)
        assert response.body == b"abcde" and "Transfer-Encoding" not in response.fields
        assert response.framing in ("close", "length")


def test_an_answer_without_length_becomes_chunked(launch, origin):
    origin.answer = replay(b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nuntil the end")
    with launch(origin).connect() as client:
        for _ in range(2):
            response = client.ask()
            assert response.framing == "chunked" and response.body == b"until the end"


@pytest.mark.parametrize(
    "head, body",
    [
        (b"", b"until the reset"),
        (b"Content-Length: 100\r\n", b"short"),
        (b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n"),
        (b"Transfer-Encoding: chunked\r\n", b"5\r\nhel"),
        (b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n"),
    ],
)
@pytest.mark.parametrize("end", ["reset", "close"])
def test_an_answer_that_breaks_off_is_cut_and_never_ended_as_if_whole(plain, head, body, end):
    gateway, origin = plain
    if end == "close" and not head:
        pytest.skip("an orderly end is the end of such an answer")
    go = threading.Event()

    def answer(exchange):
        exchange.read_body()
        exchange.send(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body)
        go.wait(5)
        exchange.reset() if end == "reset" else exchange.close()

    origin.answer = answer
    with gateway.connect() as client:
        client.send(request_bytes())
        client.wait_for(b"\r\n\r\n")
        go.set()
        with pytest.raises(Cut) as cut:
            client.response()
        assert cut.value.partial.status == 200


def test_a_broken_chunk_in_an_answer_cuts_it(plain):
    gateway, origin = plain
    origin.answer = replay(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\nmore\r\n0\r\n\r\n"
    )
    with gateway.connect() as client:
        client.send(request_bytes())
        try:
            assert client.response().status == 502
        except Cut:
            pass


BROKEN_HEADS = [
    b"HTTP/1.1 20 OK\r\n" + SIZE,
    b"HTTP/1.1 2000 OK\r\n" + SIZE,
    b"HTTP/1.1 abc OK\r\n" + SIZE,
    b"HTTP/2 200 OK\r\n" + SIZE,
    b"HTTP/1.1 099 No\r\n" + SIZE,
    b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    b"HTTP/1.1 200 OK\r\nX Y: 1\r\n" + SIZE,
    b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n" + SIZE,
    b"HTTP/1.1 200 OK\r\n X: fold\r\n" + SIZE,
    b"HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\n" + SIZE,
    b"HTTP/1.1 200 OK\r\nno colon\r\n" + SIZE,
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
    b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X: " + b"v" * 66000 + b"\r\n" + SIZE,
    b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 101 + SIZE,
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: 1",
    b"garbage",
    b"\x00",
    b"HTTP/1.1 103 Early\r\n\r\n",
]


@pytest.mark.parametrize("number", range(len(BROKEN_HEADS)))
def test_an_answer_whose_head_is_broken_becomes_502(plain, number):
    gateway, origin = plain
    origin.answer = replay(BROKEN_HEADS[number])
    with gateway.connect() as client:
        response = client.ask("POST", "/", body=b"x")
        assert response.status == 502, response
        assert json.loads(response.body)["status"] == 502
        assert response.fields.get("Content-Type") == "application/problem+json"
        assert response.fields.get("Cache-Control") == "no-store"
        origin.answer = reply(body=b"second")
        assert client.ask().body == b"second"
    assert origin.requests[1].connection != origin.requests[0].connection


@pytest.mark.parametrize("rest", [b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen", b"x", b"\r\n"])
def test_bytes_behind_an_answer_are_never_another_clients_answer(launch, origin, rest):
    gateway = launch(origin)
    for _ in range(3):
        origin.answer = replay(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst" + rest, close=False)
        assert gateway.ask(target="/first").body == b"first"
        origin.answer = reply(body=b"second")
        assert gateway.ask(target="/second").body == b"second"


def test_an_unasked_answer_on_an_idle_connection_drops_it(launch, origin):
    gateway = launch(origin)
    assert gateway.ask().status == 200
    for link in origin.open_links():
        link.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen")
    origin.answer = reply(body=b"second")
    assert gateway.ask().body == b"second"
    assert origin.requests[1].connection != origin.requests[0].connection


def test_the_upstream_may_answer_before_it_read_the_body(launch, origin):
    """The answer passes at once, sending stops, and the connection upstream ends (http F3)."""
    ended = []

    def answer(exchange):
        exchange.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        ended.append(exchange.gateway_left())
        exchange.close()

    origin.answer = answer
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "1000000"}) + b"x" * 1000)
        response = client.response(timeout=2)
        assert response.status == 413 and response.body == b"big"
        eventually(lambda: ended and ended[0], what="the end of the upstream connection")
        assert response.says_close() or client.is_closed(within=2.5)


def test_trailers_of_an_answer_are_dropped(plain):
    gateway, origin = plain
    origin.answer = replay(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nX-T: 1\r\nSet-Cookie: a=b\r\n\r\n",
        close=False,
    )
    response = gateway.ask()
    assert response.body == b"ok" and not response.trailers.pairs


def test_an_upstream_that_says_close_is_not_used_again(launch, origin):
    origin.answer = reply(fields={"Connection": "close"}, close=True)
    with launch(origin).connect() as client:
        responses = [client.ask() for _ in range(3)]
    assert [response.status for response in responses] == [200] * 3
    assert not any(response.says_close() for response in responses)


def test_two_clients_at_once_never_share_an_upstream_connection(launch, origin):
    barrier = threading.Barrier(2, timeout=5)

    def answer(exchange):
        barrier.wait()
        reply(body=exchange.request.target.encode())(exchange)

    origin.answer = answer
    gateway = launch(origin, workers=1)
    with RawClient(gateway.address) as one, RawClient(gateway.address) as two:
        for _ in range(20):
            one.send(request_bytes(target="/one"))
            two.send(request_bytes(target="/two"))
            assert (one.response().body, two.response().body) == (b"/one", b"/two")
    assert len(origin.links) == 2
