# SPDX-License-Identifier: Apache-2.0
"""Time limits towards clients, slow clients, and what happens when descriptors run out (http M2-M4, M7, M8)."""

import contextlib
import socket
import threading
import time

import pytest

from harness import Cut, RawClient, Silence, reply, request_bytes
from harness.poll import eventually


def test_a_head_that_does_not_end_in_time_gets_408(launch, origin):
    with launch(origin, http={"head": "200ms"}).connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n")
        response = client.response(timeout=2)
        assert response.status == 408 and response.says_close() and client.is_closed()
    assert not origin.begun


def test_the_time_for_a_head_does_not_begin_anew_with_each_byte(launch, origin):
    with launch(origin, http={"head": "400ms"}).connect() as client:
        start = time.monotonic()
        for byte in request_bytes(fields={"X-Long": "x" * 100}):
            if not client.is_quiet(0.05):
                break
            client.send_as_far_as_possible(bytes([byte]))
        assert time.monotonic() - start < 1.4
        assert client.response().status == 408


def test_a_connection_without_a_byte_ends_silently(launch, origin):
    with launch(origin, http={"head": "200ms"}).connect() as client:
        assert client.is_closed(within=2)


def test_an_idle_connection_ends_silently_after_its_time(launch, origin):
    with launch(origin, http={"idle": "300ms"}).connect() as client:
        for _ in range(3):
            assert client.ask().status == 200
            assert client.is_quiet(0.15)
        assert client.ask().status == 200
        start = time.monotonic()
        assert client.is_closed(within=2)
        assert 0.25 < time.monotonic() - start < 1.3


def test_the_time_for_a_second_head_begins_with_its_first_byte_at_the_latest(launch, origin):
    with launch(origin, http={"head": "200ms", "idle": "5s"}).connect() as client:
        assert client.ask().status == 200
        assert client.is_quiet(0.4)
        client.send(b"GET / HT")
        assert client.response(timeout=2).status == 408


def test_a_body_that_stops_gets_408_and_aborts_the_upstream(launch, origin):
    with launch(origin, http={"body": "200ms"}).connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "100"}) + b"half")
        response = client.response(timeout=2)
        assert response.status == 408 and response.says_close() and client.is_closed()
    eventually(lambda: not origin.open_links(), what="the end upstream")
    assert not origin.requests


def test_a_body_that_comes_slowly_but_steadily_is_accepted(launch, origin):
    with launch(origin, http={"body": "300ms"}).connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "8"}))
        for _ in range(8):
            assert client.is_quiet(0.1)
            client.send(b"x")
        assert client.response().status == 200


def test_slow_clients_do_not_disturb_good_ones_and_are_gone_in_time(launch, origin):
    """A small version of http M7: slow heads, slow bodies and slow readers beside one good client."""
    limit, each = 1.0, 40
    gateway = launch(origin, http={"head": "1s", "body": "1s", "write": "1s"}, log={"access": "off"})
    idle_memory = gateway.memory()
    heads = [RawClient(gateway.address) for _ in range(each)]
    bodies = [RawClient(gateway.address) for _ in range(each)]
    for client in bodies:
        client.send(request_bytes("POST", "/", {"Content-Length": "1000"}))
    started, worst = time.monotonic(), []
    with gateway.connect() as good:
        while time.monotonic() - started < limit + 1:
            for client in heads:
                client.send_as_far_as_possible(b"G" if time.monotonic() - started < 0.05 else b"")
            begin = time.monotonic()
            assert good.ask().status == 200
            worst.append(time.monotonic() - begin)
            good.is_quiet(0.005)
    worst.sort()
    assert worst[len(worst) * 99 // 100] < 0.05, worst[-5:]
    for client in heads + bodies:
        try:
            assert client.response(timeout=0.05).status == 408
        except Cut:
            pass
        assert client.is_closed(within=0.05)
    assert gateway.memory() - idle_memory < 2 * each * 64 * 1024 + 4 * 1024 * 1024


def test_a_body_below_the_least_rate_ends_after_ten_seconds(launch, origin):
    with launch(origin, http={"body": "30s", "body_min_rate": 512}).connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": "100000"}))
        started, response = time.monotonic(), None
        while response is None and time.monotonic() - started < 20:
            client.send_as_far_as_possible(b"x" * 10)
            try:
                response = client.response(timeout=0.25)
            except Silence:
                pass
        assert response is not None and response.status == 408
        assert 9 < time.monotonic() - started < 15


def test_idle_connections_cost_little_memory(launch, origin):
    gateway = launch(origin, workers=1, http={"max_connections": 2000}, log={"access": "off"})
    with gateway.connect() as client:
        assert client.ask().status == 200
    before, clients = gateway.memory(), []
    for _ in range(500):
        client = gateway.connect()
        assert client.ask().status == 200
        clients.append(client)
    assert (gateway.memory() - before) / 500 < 16 * 1024


def test_above_the_most_connections_new_ones_wait_or_are_closed(launch, origin):
    gateway = launch(origin, workers=1, http={"max_connections": 10})
    kept = [gateway.connect() for _ in range(10)]
    assert [client.ask().status for client in kept] == [200] * 10
    cpu = gateway.cpu_seconds()
    extra = gateway.connect()
    extra.send_as_far_as_possible(request_bytes())
    assert is_refused_or_waits(extra)
    assert gateway.health("/livez") == 200
    assert [client.ask().status for client in kept] == [200] * 10
    assert gateway.cpu_seconds() - cpu < 0.3
    for client in kept:
        client.close()
    eventually(lambda: gateway.ask().status == 200, what="room for new connections")


def is_refused_or_waits(client):
    try:
        return client.response(timeout=0.5).status == 503
    except (Cut, Silence):
        return True


def test_without_descriptors_nothing_spins_and_admin_still_answers(launch, origin):
    gateway = launch(origin, workers=1, open_files=128, log={"access": "off"})
    clients = [gateway.connect()]
    assert clients[0].ask().status == 200
    clients += [gateway.connect(timeout=2) for _ in range(200)]
    cpu = gateway.cpu_seconds()
    assert clients[0].ask().status == 200
    assert clients[0].is_quiet(1.0)
    assert gateway.cpu_seconds() - cpu < 0.5, "a busy loop"
    assert gateway.health("/livez") == 200 and gateway.health("/readyz") == 200
    for client in clients:
        client.close()
    eventually(lambda: answers(gateway), within=5, what="answers after descriptors came back")


def answers(gateway):
    try:
        return gateway.ask().status == 200
    except (OSError, Cut, Silence):
        return False


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_slow_upstream_is_not_the_clients_fault(launch, origin, method):
    """The limits for clients do not run while the upstream works."""

    def answer(exchange):
        exchange.read_body()
        exchange.gateway_left(within=0.7)
        reply()(exchange)

    origin.answer = answer
    gateway = launch(origin, http={"head": "200ms", "idle": "200ms", "body": "200ms", "write": "200ms"})
    assert gateway.ask(method, "/", body=b"x" if method == "POST" else None).status == 200


def drips(client, seconds, every=0.2):
    """Sends a byte of a chunked body now and then; how long the gateway took it."""
    start = time.monotonic()
    while time.monotonic() - start < seconds and client.send_as_far_as_possible(b"1\r\na\r\n"):
        time.sleep(every)
    return time.monotonic() - start


def early(origin, body):
    """Answers before the request's body is there, and goes on."""

    def answer(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(body):
            exchange.send(b"10000\r\n" + b"z" * 65536 + b"\r\n")
        exchange.gateway_left()

    origin.answer = answer


def test_a_client_that_reads_nothing_cannot_keep_its_answer_by_dripping_a_body(launch, origin):
    early(origin, 400)
    gateway = launch(origin, http={"write": "1s"})
    with gateway.connect(receive_buffer=4096) as client:
        client.send(request_bytes("POST", "/", {"Transfer-Encoding": "chunked"}))
        assert drips(client, 6) < 5


def test_a_body_may_not_be_slower_after_an_early_answer(launch, origin):
    early(origin, 0)
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Transfer-Encoding": "chunked"}))
        client.wait_for(b"200 OK")
        assert 9 < drips(client, 18, every=1) < 15  # 512 B/s over 10 s


def test_a_slow_reader_that_goes_on_reading_is_not_cut(launch, origin):
    size = 4_000_000
    origin.answer = reply(body=b"z" * size)
    gateway = launch(origin, http={"write": "1s"})
    with gateway.connect(receive_buffer=8192) as client:
        client.send(request_bytes())
        client.wait_for(b"\r\n\r\n")
        got, start = len(client.wire.buffer), time.monotonic()
        while time.monotonic() - start < 4:  # some 200 KB/s, several times the timeout
            got += len(client.sock.recv(4096))
            time.sleep(0.02)
        while got < size:
            piece = client.sock.recv(1 << 20)
            assert piece, f"cut after {got} of {size} bytes"
            got += len(piece)


def test_an_upstream_that_takes_a_body_slowly_but_steadily_is_not_too_slow(launch):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as upstream:
        size = 700_000
        got = []

        def serve():
            link = upstream.accept()[0]
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
            taken = 0
            while taken < size:
                taken += len(link.recv(8192))
                time.sleep(0.04)  # some 200 KB a second
            got.append(taken)
            link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{upstream.getsockname()[1]}"
        gateway = launch(url, upstreams={"main": {"url": url, "timeouts": {"response": "2s"}}})
        with gateway.connect(timeout=20) as client:
            assert client.ask("POST", "/", body=b"x" * size).status == 200
        assert got and got[0] >= size


def test_a_client_is_not_slow_when_it_is_the_upstream_that_stalls(launch):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as upstream:
        size = 20_000_000
        go_on = threading.Event()

        def serve():
            link = upstream.accept()[0]
            link.recv(1000)
            go_on.wait(20)
            taken = 1000
            while taken < size:
                taken += len(link.recv(1 << 20))
            link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        threading.Thread(target=serve, daemon=True).start()
        gateway = launch(f"http://127.0.0.1:{upstream.getsockname()[1]}")
        with gateway.connect(timeout=30) as client:
            sock = client.sock.dup()  # whose timeout is its own
            sock.settimeout(30)
            sending = threading.Thread(target=sock.sendall, args=(request_bytes("POST", "/", body=b"x" * size),))
            sending.start()
            assert client.is_quiet(12)  # longer than the window in which a body's rate is measured
            go_on.set()
            sending.join()
            sock.close()
            assert client.response("POST").status == 200
