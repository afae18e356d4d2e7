#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench_redis, its peers and redis_gateway.py have measured: a table for each depth, one of memory, one of the
gateway, and the targets; JSON with --json.

usage: redis_report.py [--json] RUNS_JSONL

Every line is one run of one contender: {"contender", "depth", "us", "per_second"}, or {"contender",
"bytes_per_account"}. The n-th run of a contender at a depth belongs to the n-th round. Those with a "scenario" are the
gateway's (redis_gateway_report.py).
"""

import json
import sys
from statistics import median

import redis_gateway_report as gateway

EMPTY = "an empty script"
TWO_HASHES = "two hashes (HMGET, HSET, PEXPIRE)"
STORES_CLOCK = "weir, the store's clock"
GATEWAYS_CLOCK = "weir, the gateway's clock"
COLLAPSED = "weir, 64 equal charges at once"

RATIO_TARGETS = ((STORES_CLOCK, TWO_HASHES, 0.50), (GATEWAYS_CLOCK, TWO_HASHES, 0.42), (STORES_CLOCK, EMPTY, 2.7))
COLLAPSED_TARGET = 0.5  # µs
BYTES_TARGET = 200


def rounds_of(lines):
    """{depth: {contender: [run of each round]}}"""
    found = {}
    for line in lines:
        if "depth" in line:
            found.setdefault(line["depth"], {}).setdefault(line["contender"], []).append(line)
    return found


def ratio(runs, contender, other):
    """The median over the rounds, each with its own two runs; absent where one was not measured."""
    pairs = list(zip(runs.get(contender, []), runs.get(other, [])))
    return median(ours["us"] / theirs["us"] for ours, theirs in pairs) if pairs else None


def costs(lines):
    return [
        {
            "depth": depth,
            "contender": contender,
            "us": median(run["us"] for run in each),
            "us_least": min(run["us"] for run in each),
            "us_most": max(run["us"] for run in each),
            "per_second": median(run["per_second"] for run in each),
            "times_empty": ratio(runs, contender, EMPTY),
            "times_two_hashes": ratio(runs, contender, TWO_HASHES),
        }
        for depth, runs in rounds_of(lines).items()
        for contender, each in runs.items()
    ]


def memory(lines):
    return {line["contender"]: line["bytes_per_account"] for line in lines if "bytes_per_account" in line}


def targets(lines):
    """What was promised beside what was found, by depth; memory has none."""
    by_depth = rounds_of(lines)
    found = [
        {
            "what": f"{contender} / {other}",
            "at_most": most,
            "found": {depth: ratio(runs, contender, other) for depth, runs in by_depth.items()},
        }
        for contender, other, most in RATIO_TARGETS
    ]
    collapsed = {row["depth"]: row["us"] for row in costs(lines) if row["contender"] == COLLAPSED}
    found.append({"what": f"{COLLAPSED}: µs per decision", "at_most": COLLAPSED_TARGET, "found": collapsed})
    size = memory(lines).get(STORES_CLOCK)
    found.append({"what": "bytes per account", "at_most": BYTES_TARGET, "found": {} if size is None else {None: size}})
    return found


def _number(value, places=2):
    return "" if value is None else f"{value:,.{places}f}"


def print_costs(rows):
    for depth in dict.fromkeys(row["depth"] for row in rows):
        print(f"\nDepth {depth}:\n")
        print("| contender | server µs per decision | (least-most) | decisions/s | / empty script | / two hashes |")
        print("|---|--:|--:|--:|--:|--:|")
        for row in rows:
            if row["depth"] == depth:
                print(f'| {row["contender"]} | {row["us"]:.2f} | {row["us_least"]:.2f}-{row["us_most"]:.2f} '
                      f'| {row["per_second"]:,.0f} | {_number(row["times_empty"])} | {_number(row["times_two_hashes"])} |')


def print_memory(sizes):
    print("\n| contender | bytes per account | / two hashes |")
    print("|---|--:|--:|")
    for contender, size in sizes.items():
        other = sizes.get(TWO_HASHES)
        print(f'| {contender} | {size:,} | {_number(size / other if other else None)} |')


def print_targets(found, depths):
    print(f'\n| target | at most | {" | ".join(f"depth {depth}" for depth in depths)} |')
    print("|---|--:|" + "--:|" * len(depths))
    for line in found:
        by_depth = line["found"]
        if None in by_depth:  # whatever the depth
            cells = [_number(by_depth[None], 0)] * len(depths)
        else:
            cells = [_number(by_depth.get(depth)) for depth in depths]
        print(f'| {line["what"]} | {line["at_most"]:g} | {" | ".join(cells)} |')


def main(arguments):
    (path,) = (argument for argument in arguments if argument != "--json")
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    rows, sizes, found = costs(lines), memory(lines), targets(lines)
    of_gateway = gateway.rows(lines)
    if "--json" in arguments:
        print(json.dumps({"costs": rows, "bytes_per_account": sizes, "targets": found, "gateway": of_gateway,
                          "gateway_targets": gateway.targets(of_gateway)}, indent=1, ensure_ascii=False))
        return
    if rows:
        print_costs(rows)
        print_memory(sizes)
        print_targets(found, list(rounds_of(lines)))
    if of_gateway:
        gateway.print_rows(of_gateway)
        gateway.print_targets(gateway.targets(of_gateway))


if __name__ == "__main__":
    main(sys.argv[1:])
