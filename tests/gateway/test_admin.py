# SPDX-License-Identifier: Apache-2.0
"""Health and metrics on the admin listener (http T1, T2, T4, T6; standards 11)."""

import shutil
import subprocess

import pytest

from harness import RawClient, reply, request_bytes
from harness.poll import eventually

CALLERS = [{"api_key": {"header": "X-Api-Key"}}]
KEYS = [{"key": "key-acme", "partner": "acme"}]
LIMITS = [
    {"name": "partner", "per": ["partner"], "rate": "2/h"},
    {"name": "dark", "per": ["service"], "rate": "1/h", "mode": "shadow"},
]
ACME = {"X-Api-Key": "key-acme"}
FAMILIES = {
    "weir_requests_total": "counter",
    "weir_request_duration_seconds": "histogram",
    "weir_decisions_total": "counter",
    "weir_decision_duration_seconds": "histogram",
    "weir_keys": "gauge",
    "weir_evictions_total": "counter",
    "weir_config_reloads_total": "counter",
    "weir_config_last_success_timestamp_seconds": "gauge",
    "weir_build_info": "gauge",
}


@pytest.fixture
def busy(launch, origin):
    """A gateway after 4 requests of acme (2 refused), 1 of nobody, 1 unroutable and 1 malformed."""
    gateway = launch(
        origin,
        callers=CALLERS,
        keys=KEYS,
        limits=LIMITS,
        services={"SAUCE": {"upstream": "main", "paths": ["/sauce"]}},
    )
    assert [gateway.ask("GET", "/sauce/secret-path", ACME).status for _ in range(4)] == [200, 200, 429, 429]
    assert gateway.ask("GET", "/sauce").status == 200
    assert gateway.ask("GET", "/none").status == 404
    with RawClient(gateway.address) as client:
        client.send(b"BAD\r\n\r\n")
        assert client.response().status == 400
    return gateway


def test_health_answers_on_the_admin_listener_only(launch, origin):
    gateway = launch(origin, services={"ONE": {"upstream": "main", "paths": ["/api"]}})
    for target in ("/livez", "/readyz"):
        assert gateway.admin(target).status == 200
        assert gateway.admin(target + "?verbose").status == 200
        assert gateway.ask(target=target).status == 404
    assert gateway.ask(target="/metrics").status == 404
    assert gateway.admin("/nothing").status == 404
    assert not origin.begun


def test_health_is_never_limited_and_never_counted_as_traffic(launch, origin):
    gateway = launch(origin, limits=[{"name": "a", "per": ["address"], "rate": "1/h"}])
    with RawClient(gateway.admin_address) as client:
        assert [client.ask(target="/livez").status for _ in range(20)] == [200] * 20
    assert gateway.metrics().total("weir_requests_total") == 0
    assert gateway.ask().status == 200


def test_the_admin_listener_is_as_strict_as_any_other(launch, origin):
    gateway = launch(origin)
    for data in (
        b"GET /livez HTTP/1.1\r\n\r\n",
        b"GET  /livez HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x00" * 64,
        b"GET /livez HTTP/1.1\nHost: a\n\n",
    ):
        with RawClient(gateway.admin_address) as client:
            client.send(data)
            assert client.everything().startswith(b"HTTP/1.1 400 ")
    assert gateway.health("/livez") == 200


def test_metrics_are_in_the_text_format_with_the_agreed_names(busy):
    response = busy.admin("/metrics")
    assert response.status == 200
    assert response.fields.get("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    metrics = busy.metrics()
    assert {name: metrics.types.get(name) for name in FAMILIES} == FAMILIES
    assert all(metrics.helps.get(name) for name in FAMILIES)
    own = [name for name in metrics.types if not name.startswith(("weir_", "process_"))]
    assert not own, own
    counters = [name for name, kind in metrics.types.items() if kind == "counter" and name.startswith("weir_")]
    assert all(name.endswith("_total") for name in counters), counters


def test_requests_and_decisions_are_counted(busy):
    metrics = busy.metrics()
    assert metrics.total("weir_requests_total", code="200") == 3
    assert metrics.total("weir_requests_total", code="429") == 2
    assert metrics.total("weir_requests_total", code="404") == 1
    assert metrics.value("weir_decisions_total", limit="partner", result="admitted") == 2
    assert metrics.value("weir_decisions_total", limit="partner", result="refused") == 2
    assert metrics.value("weir_decisions_total", limit="partner", result="skipped") == 1
    assert metrics.value("weir_decisions_total", limit="dark", result="admitted") == 1
    assert metrics.value("weir_decisions_total", limit="dark", result="shadow_refused") == 2
    assert metrics.total("weir_request_duration_seconds_count") >= 5
    assert metrics.total("weir_keys") >= 2


def test_histograms_are_cumulative_and_end_with_everything(busy):
    metrics = busy.metrics()
    for name, kind in metrics.types.items():
        if kind != "histogram":
            continue
        groups = {}
        for _, labels, value in metrics.matching(name + "_bucket"):
            key = tuple(sorted(pair for pair in labels.items() if pair[0] != "le"))
            groups.setdefault(key, []).append((float(labels["le"].replace("+Inf", "inf")), value))
        assert groups, name
        for key, buckets in groups.items():
            buckets.sort()
            assert [value for _, value in buckets] == sorted(value for _, value in buckets), (name, key)
            assert buckets[-1] == (float("inf"), metrics.value(name + "_count", **dict(key)))


def test_labels_are_bounded_and_hold_no_path_partner_or_key(busy):
    text = busy.admin("/metrics").body.decode()
    for secret in ("secret-path", "acme", "key-acme", "127.0.0.1"):
        assert secret not in text, secret


def test_broken_requests_show_in_a_metric(busy):
    """A refused message has no route; it shows by its reason (http, the words at the top)."""
    assert [sample for sample in busy.metrics().samples if "reason" in sample[1] and sample[2] == 1]


def test_promtool_has_nothing_to_say(busy):
    promtool = shutil.which("promtool")
    if not promtool:
        pytest.skip("promtool is not installed")
    done = subprocess.run(
        [promtool, "check", "metrics"],
        input=busy.admin("/metrics").body,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_counters_do_not_go_back_and_survive_a_reload(busy):
    before = busy.metrics()
    busy.reload()
    after = busy.metrics()
    for name, labels, value in before.samples:
        if before.types.get(name) == "counter":
            assert after.value(name, **labels) >= value, (name, labels)


def test_admin_answers_while_every_connection_is_busy(launch, origin):
    origin.answer = lambda exchange: exchange.gateway_left(within=10) or reply()(exchange)
    gateway = launch(origin, log={"access": "off"})
    clients = [gateway.connect() for _ in range(50)]
    for client in clients:
        client.send(request_bytes() * 100)
    eventually(lambda: len(origin.begun) >= 50, what="50 requests upstream")
    assert gateway.health("/livez") == gateway.health("/readyz") == 200
