#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench_policies_hits and bench_policies_misses have measured, as tables: the median of the rounds, and the least
and the greatest of them.

usage: policies_report.py < LINES"""

import json
import sys
from statistics import median

TIMES = {
    "read": "a read of memory that depends on the one before",
    "find": "a look-up (Directory::find)",
    "digest": "SHA-256 of an API key",
    "request": "all that a request with an API key asks: key, partner, plan",
}


def rounds_of(lines):
    """{what is the same in all rounds: [what was measured in each]}, in the order of the first round."""
    found = {}
    for line in lines:
        measured = {name: value for name, value in line.items() if isinstance(value, float)}
        same = tuple((name, value) for name, value in line.items() if name not in measured)
        found.setdefault(same, []).append(measured)
    return [(dict(same), rounds) for same, rounds in found.items()]


def figure(rounds, name, digits=0, with_range=True):
    values = [one[name] for one in rounds]
    text = f"{median(values):,.{digits}f}"
    return f"{text} ({min(values):,.{digits}f}-{max(values):,.{digits}f})" if with_range and len(values) > 1 else text


def tables_of(found):
    def of(what):
        return [(same, rounds) for same, rounds in found if same["what"] == what]

    yield ["known", "partners", "CPU ns"], [
        [words, f"{same['partners']:,}", figure(rounds, "ns", 1)]
        for what, words in TIMES.items() for same, rounds in of(what)]
    yield ["record", "bytes"], [
        [same["record"], figure(rounds, "bytes", with_range=False)] for same, rounds in of("memory")]
    yield ["looked up alone", "partners", "p50 µs", "p99 µs"], [
        [same["database"], f"{same['partners']:,}", figure(rounds, "p50"), figure(rounds, "p99")]
        for same, rounds in of("alone")]
    yield ["1,000 wait", "partners", "records/s", "queries/s", "CPU µs per record", "of them the gateway's"], [
        [same["database"], f"{same['partners']:,}", figure(rounds, "records"), figure(rounds, "queries"),
         figure(rounds, "cpu_us", 1), figure(rounds, "gateway_cpu_us", 1)]
        for same, rounds in of("together")]


def main():
    for head, rows in tables_of(rounds_of(json.loads(line) for line in sys.stdin)):
        if not rows:
            continue
        print("| " + " | ".join(head) + " |")
        print("|---|" + "--:|" * (len(head) - 1))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        print()


if __name__ == "__main__":
    main()
