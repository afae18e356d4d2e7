# SPDX-License-Identifier: Apache-2.0
"""The alerts in deploy/prometheus: what they say when, and that they are about metrics that exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import RedisServer

yaml = pytest.importorskip("yaml")
RULES = Path(__file__).resolve().parents[2] / "deploy/prometheus/weir-alerts.yaml"
TESTS = RULES.with_name("weir-alerts_test.yaml")
SELECTOR = re.compile(r"\b(weir_[a-z_]+)(?:\{([^}]*)\})?")


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def promtool(*arguments):
    program = shutil.which("promtool")
    if not program:
        pytest.skip("promtool is not installed")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_rules():
    promtool("check", "rules", RULES)


def test_the_alerts_fire_when_they_should_and_only_then():
    promtool("test", "rules", TESTS)


def test_every_alert_is_tested_and_says_what_to_do():
    tests = TESTS.read_text()
    for rule in rules():
        assert rule["alert"] in tests
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert {"summary", "description"} <= set(rule["annotations"])


def test_every_metric_of_the_alerts_is_one_that_a_gateway_has(launch, origin):
    limits = [{"name": "all", "per": ["service"], "rate": "1/h"}]
    with RedisServer() as redis:
        gateway = launch(origin, limits=limits, store={"redis": {"urls": [redis.url], "budget": "1s"}})
        gateway.ask()
        metrics = gateway.metrics()
    used = set()
    for rule in rules():
        for name, labels in SELECTOR.findall(rule["expr"]):
            wanted = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            assert metrics.matching(name, **wanted), f"{rule['alert']}: there is no {name}{wanted}"
            used.add(name)
        for name, _ in SELECTOR.findall(rule["annotations"]["description"]):
            assert name in metrics.types, f"{rule['alert']} speaks of {name}"
    assert {"weir_decisions_reached_total", "weir_store_up"} <= used
