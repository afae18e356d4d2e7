# SPDX-License-Identifier: Apache-2.0
"""The proxies side by side: how each is configured for a scenario, started, and asked for its version."""

import http.client
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from programs import Failed, family, free_port, tail

TEMPLATES = Path(__file__).parent
KEY = "bench-5f1c9a7e"
PATH = "/items/42"
FIELDS = {  # with Host, the six fields of every request
    "User-Agent": "bench/1",
    "Accept": "application/json",
    "Accept-Language": "en",
    "X-Api-Key": KEY,
    "X-Request-Id": "7d0c8a52e1f94b36",
}


@dataclass(frozen=True)
class Scenario:
    """refused: a limit that one request exhausts; else limits that are evaluated and never reached.

    Only weir knows of `accounts` (so many API keys take turns) and of `redis` (what the section `store.redis` says; none:
    it counts in memory)."""

    name: str
    refused: bool = False
    logs: bool = False
    accounts: int = 1
    redis: str = ""

    @property
    def status(self):
        return 429 if self.refused else 200

    @property
    def keys(self):
        """That take turns, in their order."""
        digits = len(str(self.accounts - 1))
        return [KEY] if self.accounts == 1 else [f"{KEY}-{n:0{digits}}" for n in range(self.accounts)]

    @property
    def load_options(self):
        """What the generator sends: the {n} of a field is the number of the request."""
        fields = FIELDS if self.accounts == 1 else FIELDS | {"X-Api-Key": KEY + "-{n}"}
        return ["--vary", self.accounts, *(part for field in fields.items() for part in ("--header", ":".join(field)))]


PROXIED = Scenario("proxied")
REFUSED = Scenario("refused", refused=True)
LOGGED = Scenario("proxied, access log", logs=True)


@dataclass
class Running:
    """A proxy that answers; pids are those whose CPU time is the proxy's."""

    program: object
    port: int
    pids: list
    admin_port: int | None = None


def _weir(binary, scenario, values, folder):
    log = folder / "weir-access.log" if scenario.logs else "off"
    keys = dict.fromkeys([KEY, *scenario.keys])
    values |= {"RATE": "1/day" if scenario.refused else "500000/s", "ACCESS_LOG": log, "ADMIN_PORT": free_port(),
               "KEYS": "\n".join(f"  - {{key: {key}, partner: {key.replace(KEY, 'bench')}}}" for key in keys),
               "REDIS": f"  redis: {scenario.redis}" if scenario.redis else ""}
    return [binary, "run", _write("weir.yaml", values, folder)]


def _weir_epoll(binary, scenario, values, folder):
    """As it runs where io_uring is forbidden."""
    return [*_weir(binary, scenario, values, folder), "--io", "epoll"]


def _nginx(binary, scenario, values, folder):
    values |= {
        "RATE": "1r/m" if scenario.refused else "1000000r/s",
        "BURST": "" if scenario.refused else "burst=1000000 nodelay",
        "ACCESS_LOG": folder / "nginx-access.log" if scenario.logs else "off",
        "USER": "user root;" if os.geteuid() == 0 else "",
    }
    return [binary, "-p", folder, "-e", folder / "nginx-error.log", "-c", _write("nginx.conf", values, folder)]


def _haproxy(binary, scenario, values, folder):
    values |= {
        "COUNT": 1 if scenario.refused else 1000000000,
        "PERIOD": "1d" if scenario.refused else "10s",
        "GLOBAL_LOG": "log stdout format raw local0" if scenario.logs else "",
        "ACCESS_LOG": "log global\n  option httplog" if scenario.logs else "",
    }
    return [binary, "-db", "-f", _write("haproxy.cfg", values, folder)]


COMMANDS = {"weir": _weir, "weir-epoll": _weir_epoll, "nginx": _nginx, "haproxy": _haproxy}
VERSION_OPTIONS = {"weir": "version", "weir-epoll": "version", "nginx": "-v", "haproxy": "-v"}


def _write(template, values, folder):
    text = (TEMPLATES / template).read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    path = folder / template
    path.write_text(text)
    return path


def find(name, weir):
    """The proxy's program, as an absolute path."""
    found = weir if name in ("weir", "weir-epoll") else shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not found or not os.access(found, os.X_OK):
        raise Failed(f"{name}: no program {found or ''}; --only chooses the proxies, --weir names weir's binary")
    return str(Path(found).resolve())


def version(name, binary):
    run = subprocess.run([binary, VERSION_OPTIONS[name]], capture_output=True, text=True, check=False)
    lines = (run.stdout + run.stderr).strip().splitlines()
    return lines[0] if lines else "unknown"


def start(bench, name, binary, scenario, port, origin_port):
    """A fresh instance that has answered one request; a limit that is to refuse is exhausted by it."""
    values = {"PORT": port, "ORIGIN_PORT": origin_port, "FOLDER": bench.folder}
    log = bench.folder / f"{name}.log"
    program = bench.programs.start(COMMANDS[name](binary, scenario, values, bench.folder), bench.proxy_cpu, log=log)
    status = wait_for_answer(program, port, name, log)
    if status != 200:
        raise Failed(f"{name} answered the first request with {status}\n{tail(log)}")
    return Running(program, port, family(program.pid), values.get("ADMIN_PORT"))


def wait_for_answer(program, port, name, log):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if program.poll() is not None:
            raise Failed(f"{name} ended with code {program.returncode}\n{tail(log)}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", PATH, headers=FIELDS)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except OSError:
            time.sleep(0.01)
        finally:
            connection.close()
    raise Failed(f"{name} does not answer on port {port}\n{tail(log)}")
