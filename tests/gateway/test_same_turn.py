# SPDX-License-Identifier: Apache-2.0
"""Several things at once: what a gateway finds in one turn of its loop must not be mixed up (http F8, F9, Q7, Q8)."""

import contextlib
import socket
import threading

import pytest

from harness import request_bytes

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class RawUpstream:
    """A listener; accept() gives bare sockets."""

    def __init__(self, backlog=64):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.listener.settimeout(5)
        self.sockets = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self):
        link = self.listener.accept()[0]
        link.settimeout(5)
        self.sockets.append(link)
        return link

    def is_left_alone(self, seconds=0.3):
        """Nobody connects."""
        self.listener.settimeout(seconds)
        try:
            self.accept()
        except TimeoutError:
            return True
        finally:
            self.listener.settimeout(5)
        return False

    def close(self):
        for one in [self.listener, *self.sockets]:
            one.close()


@pytest.fixture
def upstream():
    with contextlib.closing(RawUpstream()) as one:
        yield one


def start(launch, upstream, **changes):
    return launch(upstream.url, **{"workers": 1, **changes})


def head(link):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = link.recv(65536)
        if not piece:
            return data
        data += piece
    return data


def pooled(gateway, upstream, count=1):
    """Clients that have had an answer, and the idle connections of the gateway."""
    clients = [gateway.connect() for _ in range(count)]
    links = []
    for client in clients:
        client.send(request_bytes("GET", "/warm"))
        links.append(upstream.accept())
        head(links[-1])
    for client, link in zip(clients, links):
        link.sendall(OK)
        assert client.response().body == b"ok"
    return clients, links


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_late_answer_on_an_idle_connection_belongs_to_nobody(launch, upstream, method):
    gateway = start(launch, upstream)
    (client,), (idle,) = pooled(gateway, upstream)
    with gateway.frozen():
        client.send(request_bytes(method, "/mine", body=b"x" if method == "POST" else None))
        idle.sendall(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 5\r\n\r\nstale")
    fresh = upstream.accept()
    assert head(fresh).startswith(f"{method} /mine ".encode())
    fresh.sendall(OK)
    assert client.response(method).body == b"ok"


def test_idle_connections_that_end_as_requests_come_cost_nothing(launch, upstream):
    gateway = start(launch, upstream)
    clients, links = pooled(gateway, upstream, 12)
    with gateway.frozen():
        for client in clients:
            client.send(request_bytes("GET", "/again"))
        for link in links:
            link.close()
    for _ in clients:
        fresh = upstream.accept()
        head(fresh)
        fresh.sendall(OK)
    assert [client.response().status for client in clients] == [200] * 12


def test_a_host_whose_idle_connections_ended_is_not_left_out(launch):
    with contextlib.closing(RawUpstream()) as one, contextlib.closing(RawUpstream()) as other:
        gateway = start(launch, one, upstreams={"main": {"urls": [one.url, other.url]}})
        clients = [gateway.connect() for _ in range(12)]
        links = []
        for i, client in enumerate(clients):
            client.send(request_bytes())
            links.append((one, other)[i % 2].accept())
            head(links[-1])
        for client, link in zip(clients, links):
            link.sendall(OK)
            client.response()
        with gateway.frozen():
            for client in clients:
                client.send(request_bytes())
            for link in links:
                link.close()
        served = {one: 0, other: 0}

        def serve(at):
            with contextlib.suppress(OSError):
                while True:
                    link = at.accept()
                    head(link)
                    served[at] += 1
                    link.sendall(OK)
                    link.close()

        for at in (one, other):
            threading.Thread(target=serve, args=(at,), daemon=True).start()
        assert [client.response().status for client in clients] == [200] * 12
        before = dict(served)
        assert [gateway.ask().status for _ in range(8)] == [200] * 8
        assert all(served[at] > before[at] for at in (one, other)), (before, served)


# A request that was written may have been acted on: sending it again is what the budget is for.
def test_written_requests_are_sent_again_within_the_budget_only(launch, upstream):
    gateway = start(launch, upstream)
    clients, links = pooled(gateway, upstream, 20)
    for client in clients:
        client.send(request_bytes("GET", "/again"))
    for link in links:
        assert head(link)
    gateway.turn()
    with gateway.frozen():
        for link in links:
            link.close()
    again = 0
    upstream.listener.settimeout(1)
    with contextlib.suppress(TimeoutError):
        while fresh := upstream.accept():
            upstream.listener.settimeout(1)
            head(fresh)
            again += 1
            fresh.sendall(OK)
    assert 3 <= again <= 4  # one in five, at least three
    statuses = sorted(client.response().status for client in clients)
    assert statuses == [200] * again + [502] * (20 - again)
    assert gateway.metrics().total("weir_upstream_events_total", event="retry") == again


class Hesitant(RawUpstream):
    """Lets the gateway wait for its connection, so that the upstream is there before a byte of the request is."""

    def __init__(self):
        super().__init__(backlog=0)
        self.strangers = []
        for _ in range(3):  # they fill the backlog
            stranger = socket.socket()
            stranger.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                stranger.connect(self.listener.getsockname())
            self.strangers.append(stranger)
        self.listener.settimeout(8)

    def accept_gateway(self):
        ports = {stranger.getsockname()[1] for stranger in self.strangers}
        while (link := self.accept()).getpeername()[1] in ports:
            pass
        return link

    def close(self):
        super().close()
        for stranger in self.strangers:
            stranger.close()


@pytest.fixture
def hesitant():
    with contextlib.closing(Hesitant()) as one:
        yield one


PATIENT = {"connect": "20s", "response": "20s"}


def test_an_upstream_that_speaks_first_is_not_heard(launch, hesitant):
    gateway = start(launch, hesitant, upstreams={"main": {"url": hesitant.url, "timeouts": PATIENT}})
    client = gateway.connect()
    client.send(request_bytes("POST", "/", body=b"x"))
    with gateway.frozen():
        hesitant.accept_gateway().sendall(b"HTTP/1.1 200 OK\r\nX-Early: 1\r\nContent-Length: 2\r\n\r\nno")
    again = hesitant.accept_gateway()  # nothing had been written, so even a POST may go on a fresh connection
    assert head(again).startswith(b"POST / ")
    again.sendall(OK)
    response = client.response("POST", timeout=8)
    assert response.body == b"ok" and "X-Early" not in response.fields


def test_a_post_is_not_sent_again_when_the_upstream_ends_its_half_as_it_goes(launch, hesitant):
    gateway = start(launch, hesitant, upstreams={"main": {"url": hesitant.url, "timeouts": PATIENT}})
    client = gateway.connect()
    client.send(request_bytes("POST", "/pay", {"Content-Length": "1", "Expect": "100-continue"}))
    with gateway.frozen():
        link = hesitant.accept_gateway()
        link.shutdown(socket.SHUT_WR)
    assert b"POST /pay" in head(link)
    assert client.response("POST", timeout=8).status in (100, 502)
    assert hesitant.is_left_alone()


@pytest.mark.parametrize("fault", ["malformed", "too large"])
def test_an_answer_of_ours_behind_an_interim_one_is_sent(launch, upstream, fault):
    services = {"MAIN": {"upstream": "main", "max_body": "80KiB"}}
    gateway = start(launch, upstream, services=services)
    client = gateway.connect()
    client.send(request_bytes("POST", "/", {"Transfer-Encoding": "chunked"}, None) + b"1\r\na\r\n")
    link = upstream.accept()
    assert b"1\r\na\r\n" in head(link) or link.recv(100)
    with gateway.frozen():
        client.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        client.send(b"zz\r\n" if fault == "malformed" else b"8000\r\n" + b"y" * 32768 + b"\r\n")
        link.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    response = client.response("POST", timeout=3)
    assert response.status == (400 if fault == "malformed" else 413)


def test_an_answer_that_breaks_in_its_first_bytes_is_a_502_even_behind_an_interim_one(launch, upstream):
    gateway = start(launch, upstream)
    client = gateway.connect()
    client.send(request_bytes("POST", "/", {"Content-Length": "1", "Expect": "100-continue"}))
    link = upstream.accept()
    head(link)
    client.wait_for(b"100 Continue")
    client.send(b"a")
    link.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert client.response("POST").status == 502


# An answer that begins before the whole request was sent may be meant for something else.
def test_a_connection_whose_answer_came_early_is_not_used_again(launch, upstream):
    gateway = start(launch, upstream)
    client = gateway.connect()
    client.send(request_bytes("POST", "/", {"Content-Length": "4"}) + b"ab")
    link = upstream.accept()
    head(link)
    link.sendall(OK)
    client.wait_for(b"ok")
    client.send(b"cd")
    assert client.response("POST").body == b"ok"
    client.send(request_bytes("GET", "/next"))
    fresh = upstream.accept()
    assert head(fresh).startswith(b"GET /next ")
    fresh.sendall(OK)
    assert client.response().body == b"ok"
