#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the gateway delivers when it counts in Redis, beside the same gateway that counts in memory.

One JSON object a line for redis_report.py, the variants of a scenario directly after one another in every round. Started
by scripts/bench redis.
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from redis_gateway_report import BUSY, FLOOD, FLOODS, LEASES, MANY, MEMORY, REDIS

sys.path.append(str(Path(__file__).parent / "proxy"))

import measure  # noqa: E402
import peers  # noqa: E402
from programs import Failed, Programs, free_port, tail  # noqa: E402

CONNECTIONS = 64
WARMUP = 1.0  # seconds: every one of many accounts is there before anything is measured
# That nobody waits for it in vain: on a busy machine a decision by nobody would look like a cheap one.
BUDGET = "1s"

# What is asked, how many API keys take turns, and where it is counted, in this order.
SCENARIOS = (
    (peers.Scenario(MANY, accounts=10_000), (MEMORY, REDIS)),
    (peers.Scenario(BUSY), (MEMORY, REDIS, LEASES)),
    (peers.Scenario(FLOOD, refused=True), (MEMORY, REDIS)),
    (peers.Scenario(FLOODS, refused=True, accounts=1000), (REDIS,)),
)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--rounds", metavar="N", type=int, default=5)
    add("--seconds", metavar="N", type=float, default=2.0, help="of one run; default: 2")
    add("--unix", action="store_true", help="the gateway asks Redis over a Unix socket; default: TCP on 127.0.0.1")
    add("--build-dir", metavar="DIR", type=Path, required=True, help="of a release that has bench_load")
    return parser.parse_args()


@dataclass(frozen=True)
class Redis:
    """A server that runs."""

    pid: int
    url: str
    socket: Path

    def calls(self):
        """Of scripts, so far."""
        stats = subprocess.run(["redis-cli", "-s", self.socket, "info", "commandstats"], capture_output=True, text=True,
                               check=True).stdout
        found = re.search(r"^cmdstat_evalsha:calls=(\d+)", stats, re.MULTILINE)
        return int(found[1]) if found else 0


@contextmanager
def redis_server(bench, cpu, unix):
    """An empty one, without persistence, that answers."""
    socket, port, log = bench.folder / "redis.sock", 0 if unix else free_port(), bench.folder / "redis.log"
    program = bench.programs.start(["redis-server", "--bind", "127.0.0.1", "--port", port, "--unixsocket", socket,
                                    "--save", "", "--appendonly", "no", "--dir", bench.folder], cpu, log=log)
    try:
        end = time.monotonic() + 10
        while subprocess.run(["redis-cli", "-s", socket, "ping"], capture_output=True, check=False).returncode != 0:
            if program.poll() is not None or time.monotonic() > end:
                raise Failed(f"redis-server does not answer\n{tail(log)}")
            time.sleep(0.01)
        yield Redis(program.pid, f"unix:{socket}" if unix else f"redis://127.0.0.1:{port}", socket)
    finally:
        bench.programs.stop(program)


def store(redis, variant):
    """The section `store.redis`."""
    lease = ", lease: {max: 1000}" if variant == LEASES else ""
    return f'{{urls: ["{redis.url}"], budget: {BUDGET}{lease}}}'


def exhaust(port, scenario):
    """A request of each key whose limit admits no further one; that of the first try has been made already."""
    if not scenario.refused or scenario.accounts == 1:
        return
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    for key in scenario.keys:
        connection.request("GET", peers.PATH, headers=peers.FIELDS | {"X-Api-Key": key})
        connection.getresponse().read()
    connection.close()


def undecided(admin_port):
    """Decisions that nobody made, because Redis did not answer in time."""
    with urllib.request.urlopen(f"http://127.0.0.1:{admin_port}/metrics", timeout=5) as answer:
        metrics = answer.read().decode()
    return sum(float(count) for count in
               re.findall(r'^weir_decisions_reached_total\{how="(?:open|closed|local)"\} (\S+)', metrics, re.MULTILINE))


def figures(report, calls):
    """The generator's report; `calls` are those of the whole load, so of the warm-up, too."""
    found = measure.sample(report)
    redis = report["cpu"].get("redis")
    if redis:
        found |= {
            "redis_us": redis["running_ns"] / report["answers"] / 1e3,
            "redis_share": redis["running_ns"] / report["seconds"] / 1e9,
            "redis_waiting_share": redis["waiting_ns"] / report["seconds"] / 1e9,
            "calls_per_request": calls / (report["answers"] + report["warmup_answers"]),
        }
    return found


def run(bench, weir, scenario, redis=None):
    with bench.ready("weir", weir, scenario, CONNECTIONS, "--seconds", bench.seconds, "--warmup", WARMUP, "--yield") as (
            proxy, load):
        exhaust(proxy.port, scenario)
        before = redis.calls() if redis else 0
        # While it answers as it is told to: afterwards its upstream has gone.
        report = bench.run_load(load, proxy.pids, **({"redis": [redis.pid]} if redis else {}))
        calls = redis.calls() - before if redis else 0
        if missed := undecided(proxy.admin_port):
            raise Failed(f"invalid run, {missed:.0f} decisions without Redis")
        return figures(report, calls)


def one_run(bench, weir, scenario, variant, redis_cpu, unix):
    if variant == MEMORY:
        return run(bench, weir, scenario)
    with redis_server(bench, redis_cpu, unix) as redis:
        return run(bench, weir, replace(scenario, redis=store(redis, variant)), redis)


def measure_all(bench, weir, redis_cpu, options):
    invalid = 0
    for number in range(1, options.rounds + 1):
        print(f"gateway, round {number} of {options.rounds}", file=sys.stderr, flush=True)
        for scenario, variants in SCENARIOS:
            for variant in variants:
                line = {"scenario": scenario.name, "store": variant, "round": number}
                try:
                    line |= one_run(bench, weir, scenario, variant, redis_cpu, options.unix)
                except Failed as failure:
                    invalid += 1
                    print(f"{scenario.name}, {variant}: {failure}", file=sys.stderr)
                    continue
                print(json.dumps(line), flush=True)
    return invalid


def main():
    options = arguments()
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        sys.exit("two CPUs are needed: one for the gateway, one for the load, the upstream and Redis")
    gateway_cpu, load_cpu, redis_cpu = (*cpus, cpus[1])[:3]
    os.sched_setaffinity(0, {load_cpu})
    try:
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder, Programs() as programs:
            bench = measure.Bench(programs, Path(folder), options.build_dir.resolve() / "bench/bench_load", gateway_cpu,
                                  load_cpu, options.seconds)
            return 1 if measure_all(bench, str(options.build_dir.resolve() / "weir"), redis_cpu, options) else 0
    except Failed as failure:
        sys.exit(f"scripts/bench redis: {failure}")


if __name__ == "__main__":
    sys.exit(main())
