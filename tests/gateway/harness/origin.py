# SPDX-License-Identifier: Apache-2.0
"""An upstream that writes down every byte it got and answers as the test says, well or badly."""

import os
import socket
import struct
import threading
import time

from .message import Cut, Fields, Malformed, Silence, Wire, framing_of, read_chunked, read_fields
from .poll import eventually


class Request:
    """A request as the origin read it. `complete` once its whole body is there."""

    def __init__(self, connection, index):
        self.connection = connection  # number of the connection, from 0
        self.index = index  # number of the request on its connection, from 0
        self.method = self.target = self.version = ""
        self.fields = Fields()
        self.raw_head = b""
        self.body = b""
        self.raw_body = b""  # with chunk lines, as it was framed
        self.trailers = Fields()
        self.complete = False
        self.at = time.monotonic()

    def __repr__(self):
        return f"<{self.method} {self.target} {self.fields.pairs} {self.body[:100]!r} complete={self.complete}>"


class Exchange:
    """One request and the way to answer it. An answer function gets one of these."""

    def __init__(self, origin, link, request):
        self.origin = origin
        self.link = link
        self.request = request
        self.body_was_read = False

    def read_body(self, timeout=20.0):
        """Reads the body by its framing; returns it. Raises Cut when the gateway gives up."""
        if not self.body_was_read:
            self.body_was_read = True
            request, deadline = self.request, time.monotonic() + timeout
            framing, length = framing_of(request.fields)
            if framing == "length":
                request.body = request.raw_body = self.link.wire.exactly(length, deadline)
            elif framing == "chunked":
                request.body, request.trailers, request.raw_body = read_chunked(self.link.wire, deadline, True)
            request.complete = True
            self.origin.note()
        return self.request.body

    def send(self, data):
        self.link.sock.settimeout(30)
        self.link.sock.sendall(data)

    def close(self):
        """An orderly end (FIN)."""
        self.link.end()

    def reset(self):
        """The end of a crash (RST)."""
        self.link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.link.sock.close()
        self.link.open = False

    def gateway_left(self, within=5.0):
        """The monotonic time at which the gateway ended this connection, or None."""
        try:
            while self.link.wire.fill(time.monotonic() + within):
                self.link.wire.buffer.clear()
            return time.monotonic()
        except Silence:
            return None


class Link:
    """One accepted connection."""

    def __init__(self, number, sock):
        self.number = number
        self.sock = sock
        self.wire = Wire(sock)
        self.open = True

    def end(self):
        self.open = False
        for step in (lambda: self.sock.shutdown(socket.SHUT_RDWR), self.sock.close):
            try:
                step()
            except OSError:
                pass


def reply(status=200, fields=(), body=b"ok", reason="OK", close=False):
    """Answers with a Content-Length after the whole request was read."""
    pairs = list(fields.items()) if hasattr(fields, "items") else list(fields)
    names = {name.lower() for name, _ in pairs}
    head = f"HTTP/1.1 {status} {reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in pairs)
    if status not in (204, 304) and not names & {"content-length", "transfer-encoding"}:
        head += f"Content-Length: {len(body)}\r\n"

    def answer(exchange):
        exchange.read_body()
        without_body = exchange.request.method == "HEAD" or status in (204, 304)
        exchange.send(head.encode("latin-1") + b"\r\n" + (b"" if without_body else body))
        if close:
            exchange.close()

    return answer


def replay(data, close=True):
    """Answers with exactly these bytes after the whole request was read."""

    def answer(exchange):
        exchange.read_body()
        exchange.send(data)
        if close:
            exchange.close()

    return answer


class Hold:
    """An answer that waits until it is let go."""

    def __init__(self):
        self.go = threading.Event()

    def __call__(self, exchange):
        exchange.read_body()
        self.go.wait(10)
        reply(body=b"held")(exchange)


class Origin:
    """Listens on a free port, or on a unix socket. `answer` may be changed while it runs."""

    def __init__(self, answer=None, path=None, port=0, backlog=512):
        self.answer = answer or reply()
        self.path = path
        self.begun = []  # every request whose head came
        self.links = []
        self.faults = []  # what the gateway sent that it must not send
        self.changed = threading.Condition()
        family = socket.AF_UNIX if path else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(str(path) if path else ("127.0.0.1", port))
        self.listener.listen(backlog)
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    @property
    def port(self):
        return self.listener.getsockname()[1]

    @property
    def url(self):
        return f"unix:{self.path}" if self.path else f"http://127.0.0.1:{self.port}"

    @property
    def requests(self):
        """The requests that came whole, in the order of their heads."""
        return [request for request in self.begun if request.complete]

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            if not self.path:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = Link(len(self.links), sock)
            self.links.append(link)
            thread = threading.Thread(target=self.serve, args=(link,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def serve(self, link):
        index = 0
        try:
            while link.open and (exchange := self.next_exchange(link, index)):
                self.answer(exchange)
                if link.open:
                    exchange.read_body()
                index += 1
        except (Cut, Silence, OSError):
            pass
        except Malformed as fault:
            self.faults.append(fault)
        finally:
            link.end()
            self.note()

    def next_exchange(self, link, index):
        deadline = time.monotonic() + 300
        if not link.wire.buffer and not link.wire.fill(deadline):
            return None
        request = Request(link.number, index)
        line = link.wire.line(deadline)
        request.method, request.target, request.version = line.decode("latin-1").split(" ")
        request.fields, raw = read_fields(link.wire, deadline)
        request.raw_head = line + b"\r\n" + raw
        self.begun.append(request)
        self.note()
        return Exchange(self, link, request)

    def note(self):
        with self.changed:
            self.changed.notify_all()

    def wait_for(self, count, within=5.0, whole=True):
        """Waits until `count` requests came (whole, or at least begun) and returns them."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.requests if whole else self.begun) >= count, within)
        found = self.requests if whole else self.begun
        assert len(found) >= count, f"the origin saw {len(found)} requests, not {count}"
        return found

    def last(self):
        return self.wait_for(1)[-1]

    def open_links(self):
        return [link for link in self.links if link.open]

    def end_all(self):
        """Ends every connection, as a server does with idle ones or when it restarts."""
        for link in self.open_links():
            link.end()

    def forget(self):
        self.begun.clear()

    def stop_listening(self):
        """From now on connections are refused."""
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        eventually(lambda: not self.threads[0].is_alive(), what="the end of the accepting thread")

    def close(self):
        self.stop_listening()
        self.end_all()
        if self.path and os.path.exists(self.path):
            os.unlink(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
