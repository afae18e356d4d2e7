# SPDX-License-Identifier: Apache-2.0
"""Large bodies: constant memory, and a slow side slows the other (design; http M5, N8)."""

import hashlib
import threading
import time

import pytest

from harness import Cut, RawClient, request_bytes
from harness.poll import eventually

BLOCK = bytes(range(256)) * 1024  # 256 KiB
BLOCKS = 400  # 100 MiB
MEMORY_LIMIT = 16 * 1024 * 1024
SOCKET_LIMIT = 48 * 1024 * 1024  # more than all socket buffers between two ends


def digest_of_blocks():
    digest = hashlib.blake2b()
    for _ in range(BLOCKS):
        digest.update(BLOCK)
    return digest.hexdigest()


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_large_answer_streams_through_in_constant_memory(launch, origin, framing):
    def answer(exchange):
        exchange.read_body()
        if framing == "length":
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(BLOCK) * BLOCKS))
        else:
            exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(BLOCKS):
            exchange.send(BLOCK if framing == "length" else b"%x\r\n%b\r\n" % (len(BLOCK), BLOCK))
        if framing == "chunked":
            exchange.send(b"0\r\n\r\n")

    origin.answer = answer
    gateway = launch(origin)
    before = gateway.memory()
    with gateway.connect(timeout=60) as client:
        response = client.ask()
    assert hashlib.blake2b(response.body).hexdigest() == digest_of_blocks()
    assert gateway.memory("VmHWM") - before < MEMORY_LIMIT


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_large_request_streams_through_in_constant_memory(launch, origin, framing):
    received = hashlib.blake2b()

    def answer(exchange):
        wire, left, deadline = exchange.link.wire, len(BLOCK) * BLOCKS, time.monotonic() + 60
        while left:
            if framing == "chunked" and not wire.buffer.find(b"\r\n") >= 0:
                wire.fill(deadline)
                continue
            size = left if framing == "length" else int(wire.line(deadline).split(b";")[0], 16)
            for part in range(size, 0, -65536):
                received.update(wire.exactly(min(part, 65536), deadline))
            left -= size
            if framing == "chunked":
                assert wire.line(deadline) == b""
        if framing == "chunked":
            assert wire.exactly(5, deadline) == b"0\r\n\r\n"
        exchange.body_was_read = exchange.request.complete = True
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    origin.answer = answer
    gateway = launch(origin)
    before = gateway.memory()
    with gateway.connect(timeout=60) as client:
        chunked = framing == "chunked"
        client.send(
            request_bytes(
                "PUT",
                "/",
                {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(BLOCK) * BLOCKS)},
            )
        )
        for _ in range(BLOCKS):
            client.send(b"%x\r\n%b\r\n" % (len(BLOCK), BLOCK) if chunked else BLOCK)
        if chunked:
            client.send(b"0\r\n\r\n")
        assert client.response().status == 200
    assert received.hexdigest() == digest_of_blocks()
    assert gateway.memory("VmHWM") - before < MEMORY_LIMIT


def stalled_at(count, during=0.4, within=10):
    """Waits until `count()` has not changed for a while, and returns it."""
    deadline = time.monotonic() + within
    last, since = count(), time.monotonic()
    while time.monotonic() - since < during:
        assert time.monotonic() < deadline, f"it never stalls: {last}"
        time.sleep(0.02)
        if count() != last:
            last, since = count(), time.monotonic()
    return last


def flood(exchange, sent):
    """Sends blocks for ever, noting how many bytes went."""
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(BLOCK) * 100000))
    exchange.link.sock.settimeout(20)
    while True:
        sent.append(exchange.link.sock.send(BLOCK))


def test_a_client_that_does_not_read_stops_the_upstream(launch, origin):
    sent = []
    origin.answer = lambda exchange: flood(exchange, sent)
    gateway = launch(origin)
    before = gateway.memory()
    with gateway.connect(receive_buffer=65536) as client:
        client.send(request_bytes())
        assert eventually(lambda: sum(sent)) and stalled_at(lambda: sum(sent)) < SOCKET_LIMIT
        assert gateway.memory() - before < MEMORY_LIMIT
        first = stalled_at(lambda: sum(sent))
        for _ in range(200):
            client.wire.fill(time.monotonic() + 5)
        eventually(lambda: sum(sent) > first, what="more bytes from the upstream after the client read on")


def test_an_upstream_that_does_not_read_stops_the_client(launch, origin):
    release = threading.Event()

    def answer(exchange):
        release.wait(20)
        exchange.reset()

    origin.answer = answer
    gateway = launch(origin)
    before, sent = gateway.memory(), 0
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", {"Content-Length": str(10**9)}))
        try:
            while sent < 10**8:
                client.sock.settimeout(0.5)
                sent += client.sock.send(BLOCK)
        except TimeoutError:
            pass
        assert sent < SOCKET_LIMIT
        assert gateway.memory() - before < MEMORY_LIMIT
    release.set()


def test_a_client_that_reads_nothing_for_too_long_is_reset(launch, origin):
    sent, ended = [], []

    def answer(exchange):
        try:
            flood(exchange, sent)
        except OSError as error:
            ended.append(error)
            raise

    origin.answer = answer
    gateway = launch(origin, http={"write": "300ms"})
    with gateway.connect(receive_buffer=65536) as client:
        client.send(request_bytes())
        eventually(lambda: ended, within=5, what="the end upstream")
        with pytest.raises(Cut):
            client.response(timeout=10)


def test_a_slow_reader_that_goes_on_reading_is_not_cut(launch, origin):
    body = b"x" * 20_000_000

    def answer(exchange):
        exchange.read_body()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    origin.answer = answer
    gateway = launch(origin, http={"write": "1s"})
    with RawClient(gateway.address, timeout=10) as client:
        client.send(request_bytes())
        for _ in range(10):
            client.wire.fill(time.monotonic() + 5, size=1 << 20)
            time.sleep(0.05)
        assert client.response(timeout=10).body == body
