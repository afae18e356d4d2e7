# SPDX-License-Identifier: Apache-2.0
"""A way to Redis on which messages come twice, late, or not at all."""

import collections
import random
import socket
import threading
import time


class MessageFaults:
    """Listens on a free port of the loopback and leads to `server`. Of the scripts that are called on the way, a part
    `repeated` reaches the server twice (the client sees one answer), a part `late` waits for up to `delay` seconds,
    with everything behind it, and a part `lost` ends the connection: every second time before the server has seen it,
    else before the client has seen the answer. `counts` says how often that was."""

    def __init__(self, server, seed, repeated=0.3, late=0.1, lost=0.06, delay=0.05):
        self.server = server
        self.random = random.Random(seed)
        self.repeated, self.late, self.lost, self.delay = repeated, late, lost, delay
        self.counts = collections.Counter()
        self.ended = False
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True
        self.listener.close()
        for connection in self.connections:
            connection.end()

    def accept(self):
        while not self.ended:
            try:
                client, _ = self.listener.accept()
                self.connections.append(Connection(self, client))
            except OSError:
                continue

    def fate(self):
        """What becomes of the next script."""
        chance = self.random.random()
        for name, share in (("repeated", self.repeated), ("late", self.late), ("lost", self.lost)):
            if chance < share:
                self.counts[name] += 1
                return name
            chance -= share
        return "passed"


class Connection:
    def __init__(self, faults, client):
        self.faults = faults
        self.client = client
        self.server = socket.create_connection(("127.0.0.1", faults.server.port))
        self.swallowed = collections.deque()  # of the answers that are to come: whether the client is not to see it
        for run in (self.up, self.down):
            threading.Thread(target=self.guarded, args=(run,), daemon=True).start()

    def guarded(self, run):
        try:
            run()
        except (OSError, ValueError):
            pass
        self.end()

    def end(self):
        for sock in (self.client, self.server):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def up(self):
        with self.client.makefile("rb") as stream:
            while message := read_message(stream):
                fate = self.faults.fate() if b"EVAL" in message[:24] else "passed"
                if fate == "late":
                    time.sleep(self.faults.random.random() * self.faults.delay)
                if fate == "lost" and self.faults.counts[fate] % 2:
                    return
                self.swallowed.extend([False, True] if fate == "repeated" else [fate == "lost"])
                self.server.sendall(message * (2 if fate == "repeated" else 1))
                if fate == "lost":
                    time.sleep(self.faults.delay)  # the server takes it
                    return

    def down(self):
        with self.server.makefile("rb") as stream:
            while message := read_message(stream):
                if not (self.swallowed and self.swallowed.popleft()):
                    self.client.sendall(message)


def read_message(stream):
    """One message of RESP 2 as it came; empty at the end."""
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        return b""
    if line[:1] == b"$" and line[1:2] != b"-":
        return line + stream.read(int(line[1:]) + 2)
    if line[:1] == b"*":
        return line + b"".join(read_message(stream) for _ in range(int(line[1:])))
    return line
