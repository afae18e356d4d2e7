# SPDX-License-Identifier: Apache-2.0
"""A network that breaks on command, by the tool `faultproxy`."""

import json
import shutil
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from .poll import eventually, free_port
from .process import Process

FAULTPROXY = Path(__file__).resolve().parents[4] / "shared" / "tools" / "faultproxy.py"
START_LIMIT = 10.0


class FaultProxy:
    """FaultProxy(store=server): a link of that name to a server (or to a port of the loopback), which changes nothing
    until it is told to. A node of a cluster tells clients its own port: give it `announce`."""

    def __init__(self, **targets):
        if not FAULTPROXY.exists():
            pytest.skip("the tool faultproxy.py is not beside the repository (../shared/tools)")
        self.targets = {name: getattr(target, "port", target) for name, target in targets.items()}
        self.ports = {}
        self.control = 0
        self.process = None
        self.folder = Path(tempfile.mkdtemp(prefix="weir-faults-"))
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        for _ in range(8):
            self.control = free_port()
            self.ports = {name: free_port() for name in self.targets}
            links = [f"{name}={port}:127.0.0.1:{self.targets[name]}" for name, port in self.ports.items()]
            command = [sys.executable, FAULTPROXY, "--control", self.control, *links]
            self.process = Process(command, self.folder / "log")
            eventually(lambda: self.answers() or not self.process.is_running(), START_LIMIT, what="the proxy")
            if self.process.is_running():
                return
        raise AssertionError(f"the proxy did not start:\n{self.process.output()}")

    def answers(self):
        try:
            return self.status().keys() == self.targets.keys()
        except (OSError, ValueError):
            return False

    def address(self, name):
        return ("127.0.0.1", self.ports[name])

    def close(self):
        if self.process:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ctl(self, command):
        """One command, such as "store delay 50" or "* pass": fails unless the tool understood it."""
        with socket.create_connection(("127.0.0.1", self.control), 5) as sock, sock.makefile("r") as answers:
            sock.sendall(command.encode() + b"\n")
            answer = answers.readline().strip()
        assert not answer.startswith("error"), f"{command}: {answer}"
        return answer

    def status(self):
        """By link: state, value, open, accepted, to_target, from_target."""
        return json.loads(self.ctl("status"))

    def announce(self, name, node):
        """From now on the node tells clients the port of this link."""
        node.command("CONFIG", "SET", "cluster-announce-port", self.ports[name])
