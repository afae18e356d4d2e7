# SPDX-License-Identifier: Apache-2.0
"""The gateway as a process: started with a configuration, asked for readiness, stopped by its id."""

import atexit
import contextlib
import copy
import functools
import itertools
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

from .client import RawClient
from .message import Cut, Silence
from .metrics import parse_metrics
from .poll import eventually, free_port
from .redis import RedisServer

START_LIMIT = 10.0
STOP_LIMIT = 8.0


def configuration(origin, **changes):
    """A catch-all service in front of `origin`; `changes` replace or add top-level keys."""
    base = {
        "workers": 2,
        "upstreams": {"main": {"url": origin if isinstance(origin, str) else origin.url}},
        "services": {"MAIN": {"upstream": "main"}},
        "log": {"level": "info", "access": "stdout"},
    }
    base.update(copy.deepcopy(changes))
    return base


@functools.cache
def redis_of_all():
    server = RedisServer()
    atexit.register(server.close)
    return server


class Gateway:
    """`config` is the configuration without listeners and admin: the addresses are chosen here.

    WEIR_IO in the environment says how it is to receive and send (weir run --io), WEIR_STORE=redis that it is to count
    in a Redis of all tests unless the test says where, in accounts of its own."""

    stores = itertools.count()

    def __init__(self, binary, folder, config, open_files=None):
        self.binary = binary
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config = config
        if os.environ.get("WEIR_STORE") == "redis" and "store" not in config:
            store = {"urls": [redis_of_all().url], "prefix": f"test{next(Gateway.stores)}", "budget": "1s"}
            config["store"] = {"redis": store}
        self.own_listeners = "listeners" in config
        self.open_files = open_files
        self.arguments = ["--io", os.environ["WEIR_IO"]] if os.environ.get("WEIR_IO") else []
        self.file = self.folder / "weir.yaml"
        self.stdout = self.folder / "stdout"
        self.stderr = self.folder / "stderr"
        self.process = None
        self.clients = []
        self.expect_exit = 0

    # Start and stop

    def start(self):
        for _ in range(4):
            self.choose_addresses()
            self.write(self.config)
            self.spawn()
            if self.became_ready():
                return self
            if self.process.returncode == 78:
                break
        raise AssertionError(f"the gateway did not start (exit {self.process.returncode}):\n{self.errors()}")

    def choose_addresses(self):
        """Ports are chosen anew when a chosen one was taken meanwhile; listeners given by a test stay."""
        if not self.own_listeners:
            self.config["listeners"] = [{"address": f"127.0.0.1:{free_port()}"}]
        self.config["admin"] = {"address": f"127.0.0.1:{free_port()}"}

    def spawn(self):
        def limit_files():
            if self.open_files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (self.open_files, self.open_files))

        with open(self.stdout, "ab") as out, open(self.stderr, "ab") as err:
            self.process = subprocess.Popen(
                [self.binary, "run", str(self.file), *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                preexec_fn=limit_files,
            )
        self.started_at = time.monotonic()

    def became_ready(self):
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.health("/readyz") == 200:
                return self.is_alone()
            time.sleep(0.005)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        return False

    def is_alone(self):
        """True when nobody else listens on our ports; other processes may choose the same ones at the same time."""
        ports = {at[1] for at in map(address_of, self.addresses()) if isinstance(at, tuple)}
        own = self.descriptors()
        alone = all(f"socket:[{inode}]" in own for port, inode in listening_sockets() if port in ports)
        if not alone:
            self.process.kill()
            self.process.wait()
        return alone

    def addresses(self):
        return [listener["address"] for listener in [*self.config["listeners"], self.config["admin"]]]

    def stop(self):
        """Ends the process as an operator would, and insists on a clean exit."""
        for client in self.clients:
            client.close()
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the gateway did not end on TERM\n{self.errors()}") from None
        assert code == self.expect_exit, f"the gateway ended with {code}, not {self.expect_exit}\n{self.errors()}"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.expect_exit = -signal.SIGKILL

    def signal(self, number):
        self.process.send_signal(number)

    @contextlib.contextmanager
    def frozen(self):
        """What happens meanwhile is found by the gateway all at once, in one turn of its loop."""
        self.turn()
        self.signal(signal.SIGSTOP)
        eventually(lambda: "State:\tT" in Path(f"/proc/{self.process.pid}/status").read_text(), what="the stop")
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)

    def turn(self):
        """Waits until the gateway (of one worker) has done what it had to do."""
        assert self.ask("OPTIONS", "*").status == 204

    def exit_code(self, within=STOP_LIMIT):
        """Waits for the end of the process."""
        return self.process.wait(within)

    # Configuration

    def write(self, config):
        self.file.write_text(config if isinstance(config, str) else json.dumps(config, indent=2))

    def reload(self, config=None, **changes):
        """Writes a configuration (the addresses stay), sends HUP and waits until the reload was counted."""
        before = self.reloads()
        if isinstance(config, str):
            self.write(config)
        else:
            self.config = {**self.config, **(config or {}), **copy.deepcopy(changes)}
            self.write(self.config)
        self.signal(signal.SIGHUP)
        eventually(lambda: self.reloads() > before, within=3, what="the reload")

    def reloads(self):
        return self.metrics().total("weir_config_reloads_total")

    # Talking to it

    @property
    def address(self):
        return address_of(self.config["listeners"][0]["address"])

    @property
    def admin_address(self):
        return address_of(self.config["admin"]["address"])

    def connect(self, **options):
        client = RawClient(self.address, **options)
        self.clients.append(client)
        return client

    def ask(self, method="GET", target="/", fields=(), body=None, source=None, **more):
        """One request on a connection of its own."""
        with RawClient(self.address, source=source) as client:
            return client.ask(method, target, fields, body, **more)

    def admin(self, target, timeout=5.0):
        with RawClient(self.admin_address, timeout=timeout) as client:
            return client.ask("GET", target, {"Connection": "close"})

    def health(self, target):
        """The status of a health check; 0 when nobody answers."""
        try:
            return self.admin(target, timeout=1.0).status
        except (OSError, Cut, Silence):
            return 0

    def metrics(self):
        return parse_metrics(self.admin("/metrics").body.decode())

    # Looking at it

    def errors(self):
        return self.stderr.read_text(errors="replace")[-8000:] if self.stderr.exists() else ""

    def output(self):
        return self.stdout.read_text(errors="replace") if self.stdout.exists() else ""

    def access_log(self, count=1, file=None, within=3.0):
        """The first `count` or more entries of the access log, once they are written."""
        path = file or self.stdout

        def entries():
            lines = path.read_text().splitlines() if path.exists() else []
            return [json.loads(line) for line in lines if line.startswith("{")]

        eventually(lambda: len(entries()) >= count, within, what=f"{count} lines in the access log")
        return entries()

    def memory(self, key="VmRSS"):
        """Resident bytes now (VmRSS) or at most so far (VmHWM)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {key}")

    def cpu_seconds(self):
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        """What the open descriptors of the process refer to; empty when it has ended."""
        found = []
        folder = Path(f"/proc/{self.process.pid}/fd")
        for number in os.listdir(folder) if self.process.poll() is None else []:
            try:
                found.append(os.readlink(folder / number))
            except OSError:
                continue  # closed meanwhile
        return found


def listening_sockets():
    """(port, inode) of every TCP socket that listens, of whatever process."""
    for table in filter(os.path.exists, ("/proc/net/tcp", "/proc/net/tcp6")):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A":
                yield int(words[1].rpartition(":")[2], 16), words[9]


def address_of(text):
    if text.startswith("unix:"):
        return text[len("unix:") :]
    host, _, port = text.rpartition(":")
    return (host, int(port))
