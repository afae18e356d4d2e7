# SPDX-License-Identifier: Apache-2.0
"""One measurement: load on one proxy, and the counts that belong to exactly that load."""

import json
import re
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import peers
from programs import Failed, anonymous_kib, free_port, tail

WARMUP = 0.4  # seconds
BODY = 210  # bytes of the origin's answer


@dataclass
class Bench:
    """What every run shares."""

    programs: object
    folder: Path
    load: Path
    proxy_cpu: int
    load_cpu: int
    seconds: float

    def start_load(self, port, scenario, connections, *more):
        """The generator for 127.0.0.1:port. With --serve among `more` it waits to be told the proxy's pids."""
        body = [] if scenario.refused else ["--expect-body", BODY]
        command = [self.load, "--target", f"http://127.0.0.1:{port}{peers.PATH}", "--connections", connections,
                   "--expect-status", scenario.status, *scenario.load_options, *body, *more]
        return self.programs.start(command, self.load_cpu, log=self.folder / "load.log", stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)

    @contextmanager
    def ready(self, name, binary, scenario, connections, *more):
        """A fresh proxy, and a fresh generator that is its upstream already, so that no run inherits anything."""
        port, origin_port = free_port(), free_port()
        load = self.start_load(port, scenario, connections, "--serve", origin_port, *more)
        try:
            peers.wait_for_answer(load, origin_port, "bench_load", self.folder / "load.log")
            proxy = peers.start(self, name, binary, scenario, port, origin_port)
            yield proxy, load
            self.programs.stop(proxy.program)
        finally:
            self.programs.stop(load)

    def run_load(self, load, pids=(), **others):
        """The generator's report. Raises Failed when a single answer was not the expected one."""
        try:
            output, _ = load.communicate(watched(pids, **others), timeout=120)
            code = load.returncode
        except subprocess.TimeoutExpired:
            output, code = "", "none"
        if code != 0:
            raise Failed(f"invalid run, generator's exit code {code}: {output.strip()} "
                         f"{tail(self.folder / 'load.log')}")
        return json.loads(output)


def watched(pids, **others):
    """The line with which the generator begins; `others` are further processes by the name they are reported under."""
    by_name = {"proxy": pids, **others}
    return " ".join(f"{name}={pid}" for name, each in by_name.items() for pid in each) + "\n"


def sample(report):
    """The generator's report as the figures that are compared."""
    nanoseconds = report["seconds"] * 1e9
    proxy = report["cpu"]["proxy"]
    proxy_share = proxy["running_ns"] / nanoseconds
    load_share = report["busy_ns"]["load"] / nanoseconds
    load_core = load_share + report["busy_ns"]["origin"] / nanoseconds
    return {
        "cpu_us": proxy["running_ns"] / report["answers"] / 1e3,
        "requests_per_second": report["answers"] / report["seconds"],
        "p50_us": report["latency_us"]["p50"],
        "p99_us": report["latency_us"]["p99"],
        "proxy_share": proxy_share,
        "generator_share": load_share,
        "load_core_share": load_core,
        "load_bound": load_core > 0.95 and proxy_share < 0.90,
        "waiting_share": proxy["waiting_ns"] / nanoseconds,
    }


def timed(bench, name, binary, scenario, connections):
    with bench.ready(name, binary, scenario, connections, "--seconds", bench.seconds, "--warmup", WARMUP) as (
            proxy, load):
        return sample(bench.run_load(load, proxy.pids))


def direct(bench, connections):
    """Without a proxy: what the load's core can do at most. Its own CPU time stands where a proxy's would."""
    port = free_port()
    load = bench.start_load(port, peers.PROXIED, connections, "--serve", port, "--seconds", bench.seconds,
                            "--warmup", WARMUP)
    try:
        return sample(bench.run_load(load, [load.pid])) | {"load_bound": True, "waiting_share": 0.0}
    finally:
        bench.programs.stop(load)


def can_perf():
    if not shutil.which("perf"):
        return False
    run = subprocess.run(["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "true"],
                         capture_output=True, text=True, check=False)
    return run.returncode == 0 and re.match(r"\d+,", run.stderr.strip()) is not None


def _counter_command(pids, output):
    """Counts system calls of the processes from now until SIGINT; perf hardly disturbs them, strace slows them."""
    if can_perf():
        return ["perf", "stat", "-x,", "-o", output, "-e", "raw_syscalls:sys_enter", "-p", ",".join(map(str, pids))]
    if shutil.which("strace"):
        return ["strace", "-c", "-f", "-o", output, *(f"--attach={pid}" for pid in pids)]
    raise Failed("neither perf nor strace can count system calls here")


def counted(text):
    for line in text.splitlines():
        if "raw_syscalls" in line:
            return int(line.split(",")[0])
        if line.split()[-1:] == ["total"]:
            return int(re.findall(r"\d+(?:\.\d+)?", line)[3])
    raise Failed(f"no count of system calls in: {text}")


def system_calls(bench, name, binary, scenario, connections):
    """Per request, in a run apart: all calls of the proxy divided by all answers, connections' setup included."""
    output = bench.folder / "calls.txt"
    output.unlink(missing_ok=True)
    with bench.ready(name, binary, scenario, connections, "--seconds", 1.5, "--warmup", 0, "--patience", 30) as (
            proxy, load):
        # On the proxy's CPU, since the load spins on the other: strace and what it traces take turns anyway.
        counter = bench.programs.start(_counter_command(proxy.pids, output), bench.proxy_cpu,
                                       log=bench.folder / "calls.log")
        time.sleep(0.4)  # until it is attached; an idle proxy calls nothing
        report = bench.run_load(load, proxy.pids)
        bench.programs.stop(counter, signal.SIGINT)
        return counted(output.read_text()) / report["answers"]


def idle_memory(bench, binary, connections):
    """User memory of weir in bytes for each of N idle keep-alive connections that have made a request."""
    with bench.ready("weir", binary, peers.PROXIED, 500, "--hold", "--patience", 5) as (proxy, first):
        hold(bench, first, watched(proxy.pids))  # what is allocated once is there now; this one stays the upstream
        before = sum(map(anonymous_kib, proxy.pids))
        second = bench.start_load(proxy.port, peers.PROXIED, connections, "--hold", "--patience", 5)
        hold(bench, second)
        after = sum(map(anonymous_kib, proxy.pids))
        bench.programs.stop(second)
        return {"connections": connections, "bytes_per_connection": (after - before) * 1024 / connections}


def hold(bench, load, begin=""):
    """Waits until all of the generator's connections are idle."""
    load.stdin.write(begin)
    load.stdin.flush()
    report = json.loads(load.stdout.readline() or "{}")
    if sum(report.get("errors", {"none": 1}).values()) > 0:
        raise Failed(f"idle connections: {report} {tail(bench.folder / 'load.log')}")
