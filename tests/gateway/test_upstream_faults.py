# SPDX-License-Identifier: Apache-2.0
"""Upstreams that are away, slow or odd (http Q1, Q2, Q5, Q9, M6), and where they may live."""

import json
import socket
import threading

import pytest

from harness import Cut, Origin, RawClient, free_port, reply, request_bytes
from harness.poll import eventually


def is_problem(response, status):
    assert response.status == status, response
    assert response.fields.get("Content-Type") == "application/problem+json"
    assert response.fields.get("Cache-Control") == "no-store"
    assert response.fields.get("Server") == "weir"
    assert response.fields.get("X-Request-Id")
    problem = json.loads(response.body)
    assert (
        problem["status"] == status
        and problem["title"]
        and problem["request_id"] == response.fields.get("X-Request-Id")
    )
    assert b"127.0.0.1" not in response.body and b"main" not in response.body
    return problem


def slow(origin, **timeouts):
    return {"main": {"url": origin if isinstance(origin, str) else origin.url, "timeouts": timeouts}}


def test_an_upstream_that_refuses_connections_is_a_bad_gateway(launch):
    gateway = launch(f"http://127.0.0.1:{free_port()}")
    with gateway.connect() as client:
        for method in ("GET", "POST"):
            is_problem(client.ask(method, "/", body=b"x" if method == "POST" else None), 502)
        assert client.ask("HEAD", "/").status == 502
        assert client.is_quiet(0.05)


def test_an_upstream_that_comes_back_is_used_again(launch):
    port = free_port()
    gateway = launch(f"http://127.0.0.1:{port}")
    assert gateway.ask().status == 502
    with Origin(port=port):
        eventually(lambda: gateway.ask().status == 200, what="an answer of the upstream that came back")


def test_an_upstream_that_never_accepts_is_too_slow(launch):
    """A listener whose queue is full drops what comes after; the kernel keeps trying, the gateway must not."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        url = f"http://127.0.0.1:{address[1]}"
        is_problem(launch(url, upstreams=slow(url, connect="200ms")).ask(), 504)
        for filler in fillers:
            filler.close()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_upstream_whose_first_byte_is_too_slow_is_a_timeout(launch, origin, method):
    origin.answer = lambda exchange: exchange.gateway_left()
    gateway = launch(origin, upstreams=slow(origin, response="200ms"))
    is_problem(gateway.ask(method, "/", body=b"x" if method == "POST" else None), 504)
    eventually(lambda: not origin.open_links(), what="the end upstream")


def test_the_time_for_the_first_byte_begins_after_the_body_was_sent(launch, origin):
    gateway = launch(origin, upstreams=slow(origin, response="300ms"))
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "3"}))
        for byte in (b"a", b"b", b"c"):
            assert client.is_quiet(0.2)
            client.send(byte)
        assert client.response().status == 200


def test_a_gap_in_an_answer_cuts_it(launch, origin):
    def answer(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        exchange.gateway_left()

    origin.answer = answer
    with launch(origin, upstreams=slow(origin, response="200ms")).connect() as client:
        client.send(request_bytes())
        with pytest.raises(Cut):
            client.response(timeout=3)
    eventually(lambda: not origin.open_links(), what="the end upstream")


def test_a_long_answer_without_gaps_is_not_cut(launch, origin):
    def answer(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
        for _ in range(10):
            threading.Event().wait(0.06)
            exchange.send(b"x")

    origin.answer = answer
    assert launch(origin, upstreams=slow(origin, response="300ms")).ask().body == b"x" * 10


def test_an_idle_upstream_connection_ends_after_its_time(launch, origin):
    gateway = launch(origin, upstreams=slow(origin, idle="200ms"))
    assert gateway.ask().status == 200
    eventually(lambda: not origin.open_links(), what="the end of the idle connection")
    assert gateway.ask().status == 200


def test_a_refused_connection_upstream_does_not_leak(launch):
    gateway = launch(f"http://127.0.0.1:{free_port()}")
    gateway.ask()
    before = len(gateway.descriptors())
    for _ in range(50):
        assert gateway.ask().status in (502, 503)
    eventually(lambda: len(gateway.descriptors()) <= before + 2, what="the return of all descriptors")


def test_all_urls_dead_is_an_error_that_ends_soon(launch):
    urls = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]
    gateway = launch(urls[0], upstreams={"main": {"urls": urls}})
    for _ in range(12):
        response = gateway.ask()
        is_problem(response, response.status)
        assert response.status in (502, 503)
        assert response.status != 503 or int(response.fields.get("Retry-After")) >= 1


def test_a_url_that_only_fails_is_left_out_for_a_while(launch, origin):
    """http Q9: five consecutive 5xx, then it is out for 30 s; one host may always be out here, one stays."""
    with Origin(reply(500, body=b"broken")) as broken:
        gateway = launch(origin, workers=1, upstreams={"main": {"urls": [broken.url, origin.url]}})
        with gateway.connect() as client:
            statuses = [client.ask().status for _ in range(60)]
    assert statuses.count(500) <= 6 and statuses[-40:] == [200] * 40, statuses


def test_a_single_url_is_never_left_out(launch, origin):
    origin.answer = reply(500, body=b"broken")
    with launch(origin).connect() as client:
        assert [client.ask().status for _ in range(20)] == [500] * 20
        origin.answer = reply()
        assert client.ask().status == 200


def test_an_upstream_gets_no_more_requests_at_once_than_it_may_have(launch, origin):
    go_on = threading.Event()

    def answer(exchange):
        go_on.wait(5)
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    origin.answer = answer
    gateway = launch(origin, upstreams={"main": {"url": origin.url, "max_running": 2}})
    busy = [gateway.connect() for _ in range(2)]
    for client in busy:
        client.send(request_bytes())
    eventually(lambda: len(origin.open_links()) == 2, what="two requests upstream")
    refused = gateway.ask()
    is_problem(refused, 503)
    assert refused.fields.get("Retry-After") == "1"
    go_on.set()
    assert [client.response().status for client in busy] == [200, 200]
    assert gateway.ask().status == 200


def test_an_upstream_may_be_a_unix_socket(launch, tmp_path):
    with Origin(path=str(tmp_path / "up.sock")) as origin:
        gateway = launch(origin)
        assert gateway.ask("POST", "/p?q", body=b"hello", host="open.example.com").status == 200
        assert origin.last().target == "/p?q" and origin.last().body == b"hello"
        assert origin.last().fields.get("Host") == "open.example.com"


def test_a_unix_socket_that_is_not_there_is_a_bad_gateway(launch, tmp_path):
    assert launch(f"unix:{tmp_path}/none.sock").ask().status == 502


def test_a_listener_may_be_a_unix_socket_even_one_left_behind(launch, origin, tmp_path):
    path = str(tmp_path / "in.sock")
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(path)
    gateway = launch(origin, listeners=[{"address": f"unix:{path}"}])
    with gateway.connect() as client:
        assert client.ask().status == 200
    assert "X-Forwarded-For" not in origin.last().fields or origin.last().fields.get("X-Forwarded-For") != ""


def test_several_listeners_serve_at_once(launch, origin, tmp_path):
    ports = [free_port(), free_port()]
    listeners = [{"address": f"127.0.0.1:{port}"} for port in ports] + [{"address": f"unix:{tmp_path}/in.sock"}]
    launch(origin, listeners=listeners)
    for address in [("127.0.0.1", port) for port in ports] + [f"{tmp_path}/in.sock"]:
        with RawClient(address) as client:
            assert client.ask().status == 200


def test_an_ipv6_listener_serves(launch, origin):
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
            port = probe.getsockname()[1]
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    launch(origin, listeners=[{"address": f"[::1]:{port}"}])
    with socket.create_connection(("::1", port), timeout=5) as sock:
        sock.sendall(request_bytes(fields={"Connection": "close"}))
        assert sock.recv(100).startswith(b"HTTP/1.1 200 ")
    assert origin.last().fields.get("X-Forwarded-For") in ("::1", "[::1]")
