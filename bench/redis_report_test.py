#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what is made of the runs."""

import contextlib
import io
import unittest

import redis_report as report


def run(contender, us, depth=64):
    return {"contender": contender, "depth": depth, "us": us, "per_second": 1e6 / us}


class RedisReportTest(unittest.TestCase):
    def test_ratios_pair_the_runs_of_one_round(self):
        lines = [run(report.EMPTY, 1), run(report.STORES_CLOCK, 3), run(report.EMPTY, 10), run(report.STORES_CLOCK, 20),
                 run(report.EMPTY, 1), run(report.STORES_CLOCK, 2.5)]
        row = {row["contender"]: row for row in report.costs(lines)}[report.STORES_CLOCK]
        self.assertAlmostEqual(row["times_empty"], 2.5)
        self.assertIsNone(row["times_two_hashes"])
        self.assertEqual((row["us"], row["us_least"], row["us_most"]), (3, 2.5, 20))

    def test_depths_are_compared_with_themselves(self):
        lines = [run(report.TWO_HASHES, 20, 1), run(report.TWO_HASHES, 10, 64),
                 run(report.GATEWAYS_CLOCK, 15, 1), run(report.GATEWAYS_CLOCK, 4, 64)]
        found = {line["what"]: line["found"] for line in report.targets(lines)}
        self.assertEqual(found[f"{report.GATEWAYS_CLOCK} / {report.TWO_HASHES}"], {1: 0.75, 64: 0.4})

    def test_what_was_not_measured_is_left_empty(self):
        lines = [run(report.EMPTY, 2), {"contender": report.STORES_CLOCK, "bytes_per_account": 182}]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            report.print_memory(report.memory(lines))
            report.print_targets(report.targets(lines), [64])
        self.assertIn(f"| {report.STORES_CLOCK} | 182 |  |", printed.getvalue())
        self.assertIn(f"| {report.STORES_CLOCK} / {report.EMPTY} | 2.7 |  |", printed.getvalue())
        self.assertIn("| bytes per account | 200 | 182 |", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
