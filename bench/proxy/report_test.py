#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what is made of the samples."""

import unittest

import measure
import report


def sample(cpu_us, load_bound=False):
    return {column: 0.0 for column in report.COLUMNS} | {"cpu_us": cpu_us, "load_bound": load_bound}


class ReportTest(unittest.TestCase):
    def test_ratios_pair_the_runs_of_one_round(self):
        samples = {("proxied", 64): {"weir": [sample(7), sample(14), sample(8)],
                                     "nginx": [sample(10), sample(20), sample(10)]}}
        (ratio,) = report.ratios(samples)
        self.assertAlmostEqual(ratio["ratio"], 0.7)
        self.assertAlmostEqual(ratio["most"], 0.8)

    def test_an_invalid_run_leaves_its_round_out_and_no_other(self):
        samples = {("proxied", 64): {"weir": [sample(7), None, sample(9)],
                                     "nginx": [None, sample(1), sample(10)]}}
        (ratio,) = report.ratios(samples)
        self.assertAlmostEqual(ratio["ratio"], 0.9)
        self.assertEqual([row["runs"] for row in report.summarise(samples)], [2, 2])

    def test_medians_and_extremes_are_those_of_the_runs(self):
        samples = {("refused", 64): {"nginx": [sample(5, True), sample(3, True), sample(4)]}}
        (row,) = report.summarise(samples)
        self.assertEqual((row["cpu_us"], row["cpu_us_least"], row["cpu_us_most"]), (4, 3, 5))
        self.assertTrue(row["load_bound"])

    def test_a_target_is_passed_missed_or_not_measured(self):
        found = [{"scenario": "proxied", "connections": 64, "peer": "nginx", "ratio": 0.70},
                 {"scenario": "proxied", "connections": 64, "peer": "haproxy", "ratio": 0.63}]
        idle = {"bytes_per_connection": 5000}
        passed = {line["what"]: line["passed"] for line in report.targets(found, {("proxied", "weir"): 4.1}, idle)}
        self.assertEqual(list(passed.values()), [None, True, False, None, None, None, True, False])

    def test_the_load_core_is_the_limit_only_while_the_proxy_has_time_left(self):
        def bound(generator, origin, proxy):
            return measure.sample({
                "seconds": 1, "answers": 10, "latency_us": {"p50": 1, "p99": 1},
                "cpu": {"proxy": {"running_ns": proxy * 1e9, "waiting_ns": 0}},
                "busy_ns": {"load": generator * 1e9, "origin": origin * 1e9}})["load_bound"]

        self.assertTrue(bound(0.50, 0.48, 0.80))
        self.assertFalse(bound(0.50, 0.48, 0.95))
        self.assertFalse(bound(0.40, 0.40, 0.80))

    def test_system_calls_are_read_from_either_counter(self):
        perf = "# started on Mon\n\n88300,,raw_syscalls:sys_enter,247858058,100.00,,\n"
        strace = ("% time     seconds  usecs/call     calls    errors syscall\n"
                  " 60.00    0.300000           3    100000           recvfrom\n"
                  "------ ----------- ----------- --------- --------- ----------------\n"
                  "100.00    0.500000           2    200000        12 total\n")
        self.assertEqual(measure.counted(perf), 88300)
        self.assertEqual(measure.counted(strace), 200000)


if __name__ == "__main__":
    unittest.main()
