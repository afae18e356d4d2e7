# SPDX-License-Identifier: Apache-2.0
"""Pipelining, reuse, retries, clients that go (http F4-F9, Q8)."""

import socket
import threading
import time

import pytest

from harness import Origin, RawClient, free_port, reply, request_bytes
from harness.poll import eventually


def test_a_thousand_requests_in_one_segment_are_answered_in_order(launch, origin):
    origin.answer = lambda exchange: reply(body=exchange.request.target.encode())(exchange)
    gateway = launch(origin, limits=[{"name": "all", "per": ["service"], "rate": "2000/day"}])
    with gateway.connect() as client:
        client.send(b"".join(request_bytes(target=f"/{index}") for index in range(1000)))
        responses = [client.response() for _ in range(1000)]
        assert [response.body.decode() for response in responses] == [f"/{index}" for index in range(1000)]
        assert [int(response.fields.get("X-RateLimit-Remaining")) for response in responses] == list(
            range(1999, 999, -1)
        )
    assert len(origin.links) == 1


def test_pipelined_requests_are_forwarded_one_at_a_time(launch, origin):
    go = threading.Event()

    def answer(exchange):
        go.wait(5)
        reply()(exchange)

    origin.answer = answer
    with launch(origin).connect() as client:
        client.send(request_bytes() * 50)
        origin.wait_for(1, whole=False)
        assert client.is_quiet(0.1) and len(origin.begun) == 1
        go.set()
        assert [client.response().status for _ in range(50)] == [200] * 50
    assert len(origin.links) == 1


def test_refusals_and_answers_keep_their_order_in_a_pipeline(launch, origin):
    gateway = launch(origin, limits=[{"name": "post", "per": ["service"], "match": ["POST /*"], "rate": "1/h"}])
    with gateway.connect() as client:
        client.send((request_bytes("POST", "/a", {}, b"x") + request_bytes(target="/b")) * 3)
        assert [client.response().status for _ in range(6)] == [200, 200, 429, 200, 429, 200]


def test_unanswered_requests_wait_in_the_socket_and_not_in_memory(launch, origin):
    """The first request hangs upstream; the client must be stopped long before 64 MB."""
    release = threading.Event()

    def answer(exchange):
        release.wait(20)
        reply()(exchange)

    origin.answer = answer
    gateway = launch(origin)
    before = gateway.memory()
    block, sent = request_bytes(fields={"X-Filler": "f" * 1000}) * 64, 0
    with gateway.connect(timeout=0.5) as client:
        try:
            while sent < 64 * 1024 * 1024:
                client.sock.settimeout(0.5)
                sent += client.sock.send(block)
        except TimeoutError:
            pass
        assert sent < 32 * 1024 * 1024, "the gateway keeps reading"
        assert gateway.memory() - before < 4 * 1024 * 1024
    release.set()


def test_a_request_may_be_split_at_every_byte(launch, origin):
    data = request_bytes(
        "POST", "/p?q", {"Transfer-Encoding": "chunked", "X-A": "b"}, b"5;x\r\nhello\r\n0\r\nT: v\r\n\r\n"
    )
    with launch(origin).connect() as client:
        for cut in range(1, len(data)):
            client.send(data[:cut])
            client.is_quiet(0.001)
            client.send(data[cut:])
            assert client.response().status == 200, data[:cut]
    assert {request.body for request in origin.requests} == {b"hello"}
    assert len(origin.requests) == len(data) - 1


@pytest.mark.parametrize(
    "version, connection, stays",
    [
        ("HTTP/1.1", None, True),
        ("HTTP/1.1", "close", False),
        ("HTTP/1.1", "Close", False),
        ("HTTP/1.1", "x, close", False),
        ("HTTP/1.0", None, False),
        ("HTTP/1.0", "keep-alive", True),
        ("HTTP/1.0", "close", False),
    ],
)
def test_the_client_says_whether_a_connection_stays(plain, version, connection, stays):
    gateway, origin = plain
    fields = {"Connection": connection} if connection else {}
    with gateway.connect() as client:
        response = client.ask(version=version, fields=fields)
        assert response.says_close() != stays
        if stays:
            assert client.ask().status == 200
        else:
            assert client.is_closed()
        if stays and version == "HTTP/1.0":
            assert response.fields.get("Connection").lower() == "keep-alive"


def test_the_last_request_that_a_connection_may_carry_says_close(launch, origin):
    gateway = launch(origin, http={"max_requests": 3})
    with gateway.connect() as client:
        assert [client.ask().says_close() for _ in range(3)] == [False, False, True]
        assert client.is_closed()


def test_one_upstream_connection_serves_many_clients_one_after_the_other(launch, origin):
    gateway = launch(origin, workers=1)
    for _ in range(20):
        assert gateway.ask().status == 200
    assert len(origin.links) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_idle_upstream_connection_that_ended_is_noticed_before_it_is_used(launch, origin, method):
    """http F9: whatever the method, no error is shown and nothing is sent twice."""
    gateway = launch(origin, workers=1)
    with gateway.connect() as client:
        for index in range(30):
            assert client.ask(method, f"/{index}", body=b"x" if method == "POST" else None).status == 200
            origin.end_all()
    assert [request.target for request in origin.begun] == [f"/{index}" for index in range(30)]


def failing_once(how):
    """The first request is read and then its connection ends without an answer byte; later ones are answered."""

    def answer(exchange):
        exchange.read_body()
        if len(exchange.origin.begun) == 1:
            exchange.reset() if how == "reset" else exchange.close()
        else:
            reply()(exchange)

    return answer


@pytest.mark.parametrize("how", ["reset", "close"])
@pytest.mark.parametrize(
    "method, body, tries, status",
    [
        ("GET", None, 2, 200),
        ("HEAD", None, 2, 200),
        ("OPTIONS", None, 2, 200),
        ("DELETE", None, 2, 200),
        ("PUT", b"small", 2, 200),
        ("POST", b"x", 1, 502),
        ("POST", None, 1, 502),
        ("PATCH", b"x", 1, 502),
        ("PROPFIND", None, 1, 502),
    ],
)
def test_only_safe_or_idempotent_requests_are_sent_twice(launch, origin, how, method, body, tries, status):
    origin.answer = failing_once(how)
    assert launch(origin).ask(method, "/", body=body).status == status
    assert len(origin.begun) == tries


def test_a_post_on_a_used_connection_is_never_sent_twice(launch, origin):
    gateway = launch(origin, workers=1)
    with gateway.connect() as client:
        assert client.ask().status == 200
        origin.forget()
        origin.answer = failing_once("close")
        assert client.ask("POST", "/", body=b"x").status == 502
    assert len(origin.begun) == 1


def test_there_is_at_most_one_retry(launch, origin):
    origin.answer = lambda exchange: exchange.reset()
    assert launch(origin).ask().status == 502
    assert len(origin.begun) == 2


def test_a_retry_is_not_charged_again(launch, origin):
    origin.answer = failing_once("close")
    gateway = launch(origin, limits=[{"name": "ten", "per": ["service"], "rate": "10/h"}])
    assert gateway.ask().fields.get("X-RateLimit-Remaining") == "9"
    assert len(origin.begun) == 2


def test_a_request_whose_first_byte_was_too_slow_is_not_sent_again(launch, origin):
    origin.answer = lambda exchange: exchange.gateway_left()
    gateway = launch(origin, upstreams={"main": {"url": origin.url, "timeouts": {"response": "200ms"}}})
    assert gateway.ask().status == 504
    assert len(origin.begun) == 1


def test_a_request_that_was_never_written_goes_to_another_url(launch, origin):
    dead = f"http://127.0.0.1:{free_port()}"
    gateway = launch(origin, upstreams={"main": {"urls": [dead, origin.url]}})
    for index in range(20):
        assert gateway.ask("POST", f"/{index}", body=b"x").status == 200
    assert len(origin.begun) == 20


def test_requests_go_round_all_urls(launch, origin):
    with Origin(reply(body=b"other")) as other:
        gateway = launch(origin, workers=1, upstreams={"main": {"urls": [origin.url, other.url]}})
        with gateway.connect() as client:
            bodies = [client.ask().body for _ in range(20)]
    assert bodies.count(b"ok") == bodies.count(b"other") == 10


@pytest.mark.parametrize("goodbye", [RawClient.close, RawClient.reset])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_client_that_leaves_takes_its_upstream_request_along(launch, origin, goodbye, method):
    """http F5: within 100 ms; the best of five counts, because other processes share the machine."""
    ended = []
    origin.answer = lambda exchange: ended.append(exchange.gateway_left())
    gateway = launch(origin)
    delays = []
    for turn in range(5):
        client = RawClient(gateway.address)
        client.send(request_bytes(method, "/", {"Content-Length": "100"} if method == "POST" else {}) + b"")
        origin.wait_for(turn + 1, whole=False)
        left = time.monotonic()
        goodbye(client)
        eventually(lambda: len(ended) > turn, what="the end upstream")
        delays.append(ended[-1] - left)
    assert min(delays) < 0.1, delays


def test_a_request_whose_client_left_stays_counted(launch, origin):
    origin.answer = lambda exchange: exchange.gateway_left()
    gateway = launch(origin, limits=[{"name": "one", "per": ["service"], "rate": "1/h"}])
    client = RawClient(gateway.address)
    client.send(request_bytes())
    origin.wait_for(1, whole=False)
    client.close()
    origin.answer = reply()
    assert gateway.ask().status == 429


def test_a_client_that_leaves_in_the_middle_of_its_answer_stops_the_upstream(launch, origin):
    ended = []

    def answer(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        ended.append(exchange.gateway_left())

    origin.answer = answer
    client = RawClient(launch(origin).address)
    client.send(request_bytes())
    client.wait_for(b"hello")
    client.close()
    eventually(lambda: ended and ended[0], what="the end upstream")


def test_what_comes_behind_the_last_answer_is_not_met_with_a_reset(plain):
    gateway, _ = plain
    with gateway.connect() as client:
        assert client.ask(fields={"Connection": "close"}).says_close()
        for _ in range(3):
            client.send(request_bytes("GET", "/late"))  # fails after a reset
            time.sleep(0.02)
        assert client.is_closed()


def test_urgent_data_does_not_hide_what_is_behind_it(launch, origin):
    """In line, it is a byte like any other (RFC 6093 section 4); here one that does not belong."""
    gateway = launch(origin, workers=1)
    with gateway.connect() as client:
        with gateway.frozen():
            client.send(b"GET / HT")
            client.sock.send(b"!", socket.MSG_OOB)
            client.send(b"TP/1.1\r\nHost: x\r\n\r\n")
        assert client.response(timeout=2).status == 400
