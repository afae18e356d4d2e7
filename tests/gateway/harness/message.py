# SPDX-License-Identifier: Apache-2.0
"""HTTP/1 messages as a strict peer reads them: what RFC 9112 does not allow is an exception, never a guess."""

import re
import time

TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2}) ([\t \x21-\x7e\x80-\xff]*)\Z")
VALUE = re.compile(rb"[\t \x21-\x7e\x80-\xff]*\Z")
DECIMAL = re.compile(r"[0-9]+\Z")
CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]+\Z")


class Malformed(Exception):
    """The peer sent what no peer may send."""


class Cut(Exception):
    """The connection ended in the middle of a message; `partial` is what was understood until then."""

    def __init__(self, text, partial=None, data=b""):
        super().__init__(text)
        self.partial = partial
        self.data = data


class Silence(Exception):
    """Nothing more came before the deadline."""

    def __init__(self, text, partial=None):
        super().__init__(text)
        self.partial = partial


class Fields:
    """Field lines in the order and spelling in which they came; text is Latin-1."""

    def __init__(self, pairs=()):
        self.pairs = list(pairs)

    def all(self, name):
        return [value for key, value in self.pairs if key.lower() == name.lower()]

    def get(self, name, default=None):
        """The only value of a field. A field that came twice is a fault of whoever sent it."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times: {values}"
        return values[0] if values else default

    def joined(self, name):
        return ", ".join(self.all(name))

    def names(self):
        return [key for key, _ in self.pairs]

    def __contains__(self, name):
        return bool(self.all(name))

    def __iter__(self):
        return iter(self.pairs)

    def __repr__(self):
        return repr(self.pairs)


class Response:
    """One final answer with the interim answers before it."""

    def __init__(self):
        self.version = ""
        self.status = 0
        self.reason = ""
        self.fields = Fields()
        self.body = b""
        self.trailers = Fields()
        self.interim = []
        self.framing = "none"  # none | length | chunked | close
        self.head = b""

    def says_close(self):
        return "close" in [word.strip().lower() for word in self.fields.joined("Connection").split(",")]

    def __repr__(self):
        return f"<{self.status} {self.reason!r} {self.fields.pairs} {self.framing} {self.body[:200]!r}>"


class Wire:
    """The receiving half of a socket. Every read has a deadline (monotonic seconds)."""

    def __init__(self, sock):
        self.sock = sock
        self.buffer = bytearray()
        self.ended = False
        self.was_reset = False

    def fill(self, deadline, size=65536):
        """Reads more bytes; False when the peer has ended the connection."""
        if self.ended:
            return False
        left = deadline - time.monotonic()
        if left <= 0:
            raise Silence("the deadline passed")
        self.sock.settimeout(left)
        try:
            data = self.sock.recv(size)
        except (TimeoutError, BlockingIOError) as error:
            raise Silence("nothing came before the deadline") from error
        except OSError:
            self.was_reset = True
            data = b""
        if not data:
            self.ended = True
            return False
        self.buffer += data
        return True

    def take(self, count):
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def line(self, deadline):
        """A line without its CRLF; a lone CR or LF is malformed."""
        start = 0
        while (at := self.buffer.find(b"\n", start)) < 0:
            start = len(self.buffer)
            if not self.fill(deadline):
                raise Cut("the connection ended inside a line", data=bytes(self.buffer))
        text = self.take(at + 1)
        if not text.endswith(b"\r\n") or b"\r" in text[:-2]:
            raise Malformed(f"a line that does not end with CRLF: {text!r}")
        return text[:-2]

    def exactly(self, count, deadline):
        while len(self.buffer) < count:
            if not self.fill(deadline):
                raise Cut(f"{len(self.buffer)} of {count} bytes came", data=self.take(count))
        return self.take(count)

    def until_end(self, deadline):
        while self.fill(deadline):
            pass
        if self.was_reset:
            raise Cut("the connection was reset", data=bytes(self.buffer))
        return self.take(len(self.buffer))


def read_fields(wire, deadline):
    """Field lines up to and including the empty line, and their raw bytes."""
    pairs, raw = [], b""
    while True:
        line = wire.line(deadline)
        raw += line + b"\r\n"
        if not line:
            return Fields(pairs), raw
        name, colon, value = line.partition(b":")
        if not colon or not TOKEN.match(name) or not VALUE.match(value):
            raise Malformed(f"field line {line!r}")
        pairs.append((name.decode("latin-1"), value.strip(b" \t").decode("latin-1")))


def framing_of(fields):
    """('length', n), ('chunked', None) or ('none', None); two framings at once are malformed."""
    lengths, codings = fields.all("Content-Length"), fields.all("Transfer-Encoding")
    if lengths and codings:
        raise Malformed("Content-Length and Transfer-Encoding in one message")
    if len(lengths) > 1 or (lengths and not DECIMAL.match(lengths[0])):
        raise Malformed(f"Content-Length {lengths}")
    if codings:
        if [coding.lower() for coding in codings] != ["chunked"]:
            raise Malformed(f"Transfer-Encoding {codings}")
        return "chunked", None
    return ("length", int(lengths[0])) if lengths else ("none", None)


def read_chunked(wire, deadline, extensions=False):
    """(body, trailers, raw bytes); `Cut.data` holds the body that came before a cut."""
    body, raw = bytearray(), bytearray()
    try:
        while True:
            line = wire.line(deadline)
            raw += line + b"\r\n"
            size = line.split(b";")[0] if extensions else line
            if not CHUNK_SIZE.match(size):
                raise Malformed(f"chunk line {line!r}")
            if int(size, 16) == 0:
                break
            data = wire.exactly(int(size, 16) + 2, deadline)
            raw += data
            if data[-2:] != b"\r\n":
                raise Malformed("a chunk without CRLF behind it")
            body += data[:-2]
        trailers, tail = read_fields(wire, deadline)
        return bytes(body), trailers, bytes(raw + tail)
    except Cut as cut:
        raise Cut(str(cut), data=bytes(body) + cut.data) from None


def read_response(wire, method, deadline):
    """Interim answers, then one final answer with its whole body."""
    response, interim = Response(), []
    response.interim = interim
    try:
        while True:
            read_head(wire, response, deadline)
            if response.status >= 200 or response.status == 101:
                break
            interim.append(response)
            response = Response()
            response.interim = interim
        read_body(wire, response, method, deadline)
    except Cut as cut:
        cut.partial = response if response.status else None
        if cut.partial is not None:
            cut.partial.body = cut.data
        raise
    except Silence as silence:
        silence.partial = response if response.status else None
        raise
    return response


def read_head(wire, response, deadline):
    line = wire.line(deadline)
    match = STATUS_LINE.match(line)
    if not match:
        raise Malformed(f"status line {line!r}")
    fields, raw = read_fields(wire, deadline)
    response.version = "HTTP/1." + match[1].decode()
    response.status = int(match[2])
    response.reason = match[3].decode("latin-1")
    response.fields = fields
    response.head = line + b"\r\n" + raw
    if (response.status < 200 or response.status == 204) and (
        "Content-Length" in fields or "Transfer-Encoding" in fields
    ):
        raise Malformed(f"a length in an answer that has no body: {response}")


def read_body(wire, response, method, deadline):
    framing, length = framing_of(response.fields)
    if method == "HEAD" or response.status in (101, 204, 304):
        return
    if framing == "length":
        response.framing = "length"
        response.body = wire.exactly(length, deadline)
    elif framing == "chunked":
        if response.version == "HTTP/1.0":
            raise Malformed("Transfer-Encoding in HTTP/1.0")
        response.framing = "chunked"
        response.body, response.trailers, _ = read_chunked(wire, deadline)
    else:
        response.framing = "close"
        response.body = wire.until_end(deadline)
