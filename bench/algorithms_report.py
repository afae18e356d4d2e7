#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two tables of what bench_algorithms has measured, or JSON with --json: what a decision costs by algorithm, and what an
account takes while so many requests count.

usage: algorithms_report.py [--json] ALGORITHMS_JSON [SORTED_SET_JSONL]

SORTED_SET_JSONL has the bytes of sorted sets in Redis: {"entries": 10, "bytes": 1000} in each line. A file that does not
exist is left out.
"""

import json
import os
import statistics
import sys

BASE = "token_bucket"
LOG = "full log"
ORDER = (
    BASE,
    "token_bucket, two words",
    "leaky_bucket",
    "fixed_window",
    "sliding_window",
    "calendar",
    "three token buckets",
    "bucket, fixed and sliding window",
    "sliding_log",
    "concurrency",
    LOG,
)


def cases(document):
    """{(case, argument): {"ns", "bytes"}}: medians over the repetitions."""
    runs = {}
    for run in document["benchmarks"]:
        if run["run_type"] == "iteration":
            runs.setdefault(run["run_name"], []).append(run)
    found = {}
    for name, repeated in runs.items():
        case, argument = name.split("/")[:2]
        found[case, int(argument)] = {
            "ns": round(statistics.median(run["cpu_time"] for run in repeated), 1),
            "bytes": round(repeated[0]["bytes/account"]),
        }
    return dict(sorted(found.items(), key=lambda item: (ORDER.index(item[0][0]), item[0][1])))


def sorted_sets(paths):
    lines = [line for path in paths if os.path.exists(path) for line in open(path, encoding="utf-8")]
    return {row["entries"]: row["bytes"] for row in map(json.loads, lines)}


def print_costs(found):
    print("\n| limits of an account | accounts | CPU ns per decision | times the token bucket | bytes per account |")
    print("|---|--:|--:|--:|--:|")
    for (case, accounts), row in found.items():
        if case == LOG:
            continue
        base = found.get((BASE, accounts))
        times = f'{row["ns"] / base["ns"]:.2f}' if base else ""
        size = f'{row["bytes"]:,}' if accounts > 1 else ""  # a single account pays for the empty table
        print(f'| {case} | {accounts:,} | {row["ns"]:,.1f} | {times} | {size} |')


def print_memory(found, sets):
    """What grows with the number of requests, beside what does not."""
    fixed = [(case, found[case, 10_000]["bytes"]) for case in (BASE, "fixed_window", "sliding_window")]
    heads = [f"bytes of a {case}" for case, _ in fixed]
    print(f'\n| requests that count | {" | ".join(heads)} | of a full sliding_log | of a sorted set in Redis | ns, full log |')
    print("|--:" * (len(fixed) + 4) + "|")
    for (case, entries), row in found.items():
        if case != LOG:
            continue
        same = " | ".join(f"{size:,}" for _, size in fixed)
        log = f'{row["bytes"]:,} ({row["bytes"] / entries:.0f} each)'
        other = f"{sets[entries]:,} ({sets[entries] / entries:.0f} each)" if entries in sets else ""
        print(f'| {entries:,} | {same} | {log} | {other} | {row["ns"]:,.1f} |')


def main(arguments):
    paths = [argument for argument in arguments if argument != "--json"]
    with open(paths[0], encoding="utf-8") as file:
        found = cases(json.load(file))
    sets = sorted_sets(paths[1:])
    if "--json" in arguments:
        rows = [{"limits": case, "argument": argument, **row} for (case, argument), row in found.items()]
        print(json.dumps({"algorithms": rows, "sorted_sets": sets}, indent=1))
        return
    print_costs(found)
    print_memory(found, sets)


if __name__ == "__main__":
    main(sys.argv[1:])
