# SPDX-License-Identifier: Apache-2.0
"""A client of Redis: one connection, one command after the other (RESP 2)."""

import socket


class RedisError(Exception):
    """An error that Redis answered with; its text is Redis's own."""


class RedisClient:
    """`address` is (host, port) or the path of a unix socket; `tls` an ssl.SSLContext. Text is UTF-8, and other bytes
    survive as surrogates."""

    def __init__(self, address, tls=None, timeout=5.0):
        family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            self.sock.settimeout(timeout)
            self.sock.connect(address)
            if tls:
                self.sock = tls.wrap_socket(self.sock, server_hostname=address[0])
        except OSError:
            self.sock.close()
            raise
        self.input = self.sock.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.input.close()
        self.sock.close()

    def command(self, *words):
        """The reply as str, int, None or a list of them."""
        parts = [word if isinstance(word, bytes) else str(word).encode(errors="surrogateescape") for word in words]
        self.sock.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        reply = self.reply()
        if isinstance(reply, RedisError):
            raise reply
        return reply

    def reply(self):
        """Errors are returned, because they may be elements of arrays."""
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else text(self.exactly(int(rest) + 2)[:-2])
        if kind == b"*":
            return None if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        if kind == b"-":
            return RedisError(text(rest))
        assert kind == b"+", f"not a reply: {line!r}"
        return text(rest)

    def exactly(self, size):
        data = self.input.read(size)
        if len(data) < size:
            raise ConnectionError("Redis closed the connection")
        return data


def text(data):
    return data.decode(errors="surrogateescape")
