# SPDX-License-Identifier: Apache-2.0
"""A client that sends any bytes and reads answers strictly."""

import socket
import struct
import time

from .message import Cut, Silence, Wire, read_response


def request_bytes(method="GET", target="/", fields=(), body=None, host="localhost", version="HTTP/1.1"):
    """A request as it goes over the wire. `fields` is a mapping or pairs; a `body` brings its length along."""
    pairs = list(fields.items()) if hasattr(fields, "items") else list(fields)
    names = {name.lower() for name, _ in pairs}
    if host is not None and "host" not in names:
        pairs.insert(0, ("Host", host))
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        pairs.append(("Content-Length", str(len(body))))
    head = f"{method} {target} {version}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in pairs) + "\r\n"
    return head.encode("latin-1") + (body or b"")


class RawClient:
    """One connection. `address` is (host, port) or the path of a unix socket."""

    def __init__(self, address, timeout=5.0, source=None, receive_buffer=None):
        self.timeout = timeout
        if isinstance(address, tuple):
            self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if source:
                # The port is chosen at connect, so that many connections of one address never collide.
                self.sock.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
                self.sock.bind((source, 0))
        else:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(timeout)
        self.sock.connect(address)
        self.wire = Wire(self.sock)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.sock.settimeout(self.timeout)
        self.sock.sendall(data)

    def send_as_far_as_possible(self, data):
        """False when the peer ended the connection before it took everything."""
        try:
            self.send(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def response(self, method="GET", timeout=None):
        return read_response(self.wire, method, time.monotonic() + (timeout or self.timeout))

    def ask(self, method="GET", target="/", fields=(), body=None, **more):
        self.send(request_bytes(method, target, fields, body, **more))
        return self.response(method)

    def wait_for(self, data, within=3.0):
        """Waits until the bytes that came so far contain `data`; they stay unread."""
        deadline = time.monotonic() + within
        while data not in self.wire.buffer:
            assert self.wire.fill(deadline), f"the connection ended after {bytes(self.wire.buffer)!r}"

    def is_closed(self, within=2.0):
        """True when the peer ends the connection in time and sends nothing before that."""
        try:
            if self.wire.buffer or self.wire.fill(time.monotonic() + within):
                raise AssertionError(f"bytes nobody asked for: {bytes(self.wire.buffer[:300])!r}")
            return True
        except Silence:
            return False

    def is_quiet(self, during):
        """True when the connection stays open and nothing comes for `during` seconds."""
        try:
            return not self.wire.buffer and self.wire.fill(time.monotonic() + during) is None
        except Silence:
            return True

    def everything(self, within=3.0):
        """All bytes until the end of the connection, however it ends."""
        try:
            return self.wire.until_end(time.monotonic() + within)
        except Cut as cut:
            return cut.data

    def close(self):
        self.sock.close()

    def reset(self):
        """Ends the connection with RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
