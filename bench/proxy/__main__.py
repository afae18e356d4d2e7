# SPDX-License-Identifier: Apache-2.0
"""weir, nginx and HAProxy side by side: CPU per request. See docs/benchmarks.md; run as scripts/bench proxy."""

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
import peers
import report
from programs import Failed, Programs

ROOT = Path(__file__).resolve().parents[2]
PROXIES = ("weir", "weir-epoll", "nginx", "haproxy")
CALLS_AT = 64  # connections of the runs that count system calls, refuse, and log
IDLE = 10_000


def arguments():
    def names(text):
        chosen = text.split(",")
        if not set(chosen) <= set(PROXIES):
            raise argparse.ArgumentTypeError(f"choose from {','.join(PROXIES)}")
        return chosen

    def numbers(text):
        found = [int(part) for part in text.split(",")]
        if min(found) < 1:
            raise argparse.ArgumentTypeError("positive numbers, separated by commas")
        return found

    parser = argparse.ArgumentParser(prog="scripts/bench proxy", description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print JSON instead of tables")
    add("--connections", metavar="N,N", type=numbers, default=[8, 64, 256], help="default: 8,64,256")
    add("--seconds", metavar="N", type=float, default=3.0, help="of one timed run; default: 3")
    add("--rounds", metavar="N", type=int, default=5, help="runs of each proxy, in turn; default: 5")
    add("--only", metavar="NAME,NAME", type=names, default=list(PROXIES), help="default: all: " + ",".join(PROXIES))
    add("--no-logs-round", action="store_true", help="leave out the runs with access logs")
    add("--idle", metavar="N", type=int, default=IDLE, help=f"idle connections, 0: none; default: {IDLE}")
    add("--weir", metavar="PATH", help="weir's binary; default: built from this tree")
    add("--build-dir", metavar="DIR", type=Path, default=ROOT / "build/release", help="default: build/release")
    return parser.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def build(folder, with_weir):
    """With the flags of the release that is shipped."""
    wanted = ["bench_load", *(["weir"] if with_weir else [])]
    for command in (["cmake", "--preset", "release", "-B", folder, "-DWEIR_BENCH=ON"],
                    ["cmake", "--build", folder, "--target", *wanted]):
        run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             check=False)
        if run.returncode != 0:
            raise Failed(f"the build failed:\n{run.stdout[-4000:]}")


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Failed("two CPUs are needed: one for the proxy, one for the load and the upstream")
    return cpus[0], cpus[1]


def raise_descriptor_limit():
    """Of this process and all that it starts, beyond the hard limit where that is allowed. Returns the limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in (max(most, 65536), most):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            return limit
        except (ValueError, OSError):
            continue
    return most


def machine(binaries):
    model = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    found = {"cpu": f"{model[0] if model else platform.machine()}, {os.cpu_count()} CPUs",
             "kernel": platform.release(), "load average": " ".join(f"{x:.1f}" for x in os.getloadavg()),
             "system calls counted with": "perf" if measure.can_perf() else "strace"}
    return found | {name: peers.version(name, binary) for name, binary in binaries.items()}


def cells(options):
    """(scenario, connections) of all timed runs."""
    found = [(peers.PROXIED, connections) for connections in options.connections]
    found.append((peers.REFUSED, CALLS_AT))
    if not options.no_logs_round:
        found.append((peers.LOGGED, CALLS_AT))
    return found


def measure_all(bench, binaries, options):
    samples = {(s.name, n): {name: [] for name in ["direct", *binaries]} for s, n in cells(options)}
    invalid = []

    def attempt(what, action):
        try:
            return action()
        except Failed as failure:
            invalid.append(f"{what}: {failure}")
            say(invalid[-1])
            return None

    calls = []
    for number in range(1, options.rounds + 1):
        start = time.monotonic()
        for scenario, connections in cells(options):
            cell = samples[scenario.name, connections]
            if number == 1 and scenario is peers.PROXIED:
                cell["direct"].append(attempt("direct", lambda: measure.direct(bench, connections)))
            for name, binary in binaries.items():
                cell[name].append(attempt(f"{name}, {scenario.name}, {connections} connections",
                                          lambda: measure.timed(bench, name, binary, scenario, connections)))
        say(f"round {number} of {options.rounds}: {time.monotonic() - start:.0f} s")
    for scenario in (peers.PROXIED, peers.REFUSED):
        for name, binary in binaries.items():
            per_request = attempt(f"{name}, {scenario.name}, system calls",
                                  lambda: measure.system_calls(bench, name, binary, scenario, CALLS_AT))
            if per_request is not None:
                calls.append({"scenario": scenario.name, "proxy": name, "per_request": per_request})
    idle = None
    if options.idle and "weir" in binaries:
        idle = attempt("idle connections", lambda: measure.idle_memory(bench, binaries["weir"], options.idle))
    return samples, calls, idle, invalid


def run(options, folder, programs):
    binaries_dir = options.build_dir.resolve()
    say("building")
    with_weir = any(name.startswith("weir") for name in options.only)
    build(binaries_dir, with_weir and not options.weir)
    weir = options.weir or binaries_dir / "weir"
    binaries = {name: peers.find(name, weir) for name in PROXIES if name in options.only}
    proxy_cpu, load_cpu = two_cpus()
    os.sched_setaffinity(0, {load_cpu})
    # A gateway may hold back a descriptor for an upstream connection of each client.
    options.idle = min(options.idle, raise_descriptor_limit() // 2 - 1000)
    bench = measure.Bench(programs, folder, binaries_dir / "bench/bench_load", proxy_cpu, load_cpu,
                          options.seconds)
    described = machine(binaries)
    samples, calls, idle, invalid = measure_all(bench, binaries, options)
    found = report.ratios(samples)
    by_proxy = {(c["scenario"], c["proxy"]): c["per_request"] for c in calls}
    return {"machine": described, "seconds": options.seconds, "rounds": options.rounds,
            "rows": report.summarise(samples), "ratios": found, "system_calls": calls, "calls_at": CALLS_AT,
            "idle": idle, "targets": report.targets(found, by_proxy, idle), "invalid": invalid}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = arguments()
    try:
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder, Programs() as programs:
            result = run(options, Path(folder), programs)
    except Failed as failure:
        say(f"scripts/bench proxy: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    print(json.dumps(result, indent=2) if options.json else report.text(result))
    return 1 if result["invalid"] else 0


if __name__ == "__main__":
    sys.exit(main())
