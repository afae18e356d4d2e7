#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins what bench_decide and its peers have measured: a table, or JSON with --json.

usage: report.py [--json] RESULTS...

A file of results is Google Benchmark's JSON (of bench_decide), or one JSON object per line (of a peer).
"""

import json
import statistics
import sys

# How bench_decide's cases are named in the table.
CASES = {
    "two_limits_of_a_known_subject": "weir",
    "two_limits_announced": "weir, prefetched",
    "two_limits_with_the_fingerprint": "weir, with the fingerprint",
    "the_whole_way": "weir, charge to decision",
    "a_refusal": "weir, refused by the second",
    "a_sweep": "weir, one account swept",
}
PER_ACCOUNT = {"a_sweep"}  # one run of these visits every account


def of_benchmark(document):
    """Medians over the repetitions of every case that has a counterpart."""
    runs = {}
    for run in document["benchmarks"]:
        if run["run_type"] == "iteration":
            runs.setdefault(run["run_name"], []).append(run)
    for name, repeated in runs.items():
        case, *arguments = name.split("/")
        if case not in CASES:
            continue
        accounts = int(arguments[0])
        size = repeated[0].get("bytes/account")
        yield {
            "limiter": CASES[case],
            "accounts": accounts,
            "threads": repeated[0]["threads"],
            # Processor time of all threads over all their decisions: a busy machine matters less.
            "ns": round(
                statistics.median(run["cpu_time"] for run in repeated) / (accounts if case in PER_ACCOUNT else 1), 1
            ),
            "bytes_per_account": None if size is None else round(size),
        }


def results_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        document = None
    if isinstance(document, dict) and "benchmarks" in document:
        return list(of_benchmark(document))
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def print_table(results):
    ours = {(r["accounts"], r["threads"]): r for r in results if r["limiter"] == "weir"}
    print("| limiter | accounts | threads | CPU ns per decision | times weir | bytes per account | times weir |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for r in sorted(results, key=lambda r: (r["accounts"], r["threads"])):
        base = ours.get((r["accounts"], r["threads"]))
        slower = f'{r["ns"] / base["ns"]:.1f}' if base else ""
        # A single account pays for the empty table, which says nothing.
        size, larger = "", ""
        if r["accounts"] > 1 and r["bytes_per_account"] is not None:
            size = f'{r["bytes_per_account"]:,}'
            larger = f'{r["bytes_per_account"] / base["bytes_per_account"]:.1f}' if base else ""
        print(f'| {r["limiter"]} | {r["accounts"]:,} | {r["threads"]} | {r["ns"]:,.1f} | {slower} | {size} | {larger} |')


def main(arguments):
    as_json = "--json" in arguments
    results = [r for path in arguments if path != "--json" for r in results_of(path)]
    if as_json:
        print(json.dumps(results, indent=1))
    else:
        print_table(results)


if __name__ == "__main__":
    main(sys.argv[1:])
