#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what is made of the runs."""

import contextlib
import io
import unittest

import redis_gateway_report as gateway
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


def gateway_run(scenario, store, number, per_second, **more):
    return {"scenario": scenario, "store": store, "round": number, "requests_per_second": per_second, "cpu_us": 1e6 / per_second,
            "p50_us": 1.0, "p99_us": 2.0, "proxy_share": 1.0, "waiting_share": 0.0, "load_bound": False, **more}


class GatewayReportTest(unittest.TestCase):
    def test_a_store_is_compared_with_memory_in_the_same_round(self):
        lines = [gateway_run(gateway.BUSY, gateway.MEMORY, 1, 100.0), gateway_run(gateway.BUSY, gateway.REDIS, 1, 50.0),
                 gateway_run(gateway.BUSY, gateway.MEMORY, 2, 10.0),  # that of Redis was invalid
                 gateway_run(gateway.BUSY, gateway.MEMORY, 3, 40.0), gateway_run(gateway.BUSY, gateway.REDIS, 3, 32.0)]
        memory, redis = gateway.rows(lines)
        self.assertAlmostEqual(redis["throughput_times_memory"], 0.65)
        self.assertAlmostEqual(memory["throughput_times_memory"], 1.0)
        self.assertEqual((memory["runs"], memory["requests_per_second_least"], memory["requests_per_second"]), (3, 10, 40))

    def test_targets_are_those_of_their_scenario(self):
        lines = [gateway_run(gateway.MANY, gateway.MEMORY, 1, 100.0), gateway_run(gateway.MANY, gateway.REDIS, 1, 62.0),
                 gateway_run(gateway.FLOOD, gateway.REDIS, 1, 100.0, calls_per_request=0.00002, redis_us=0.01),
                 gateway_run(gateway.FLOODS, gateway.REDIS, 1, 100.0, calls_per_request=0.02, redis_us=0.01)]
        rows = gateway.rows(lines)
        found = [line["found"] for line in gateway.targets(rows)]
        self.assertEqual(found, [0.62, None, None, 0.00002])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            gateway.print_rows(rows)
            gateway.print_targets(gateway.targets(rows))
        self.assertIn(f"| {gateway.FLOOD}: calls of Redis per refusal | ≤ 0.01 | 0.00002 |", printed.getvalue())
        self.assertIn(f"| {gateway.BUSY}: requests/s, {gateway.LEASES} / {gateway.MEMORY} | ≥ 0.9 |  |", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
