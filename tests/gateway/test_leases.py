# SPDX-License-Identifier: Apache-2.0
"""Tokens that gateways take from Redis in advance: never more than the limit, whatever becomes of messages and
gateways, and no more idle than what gateways may hold."""

from collections import Counter
from contextlib import ExitStack

import pytest

from harness import MessageFaults, RedisServer, Traffic, documented_permissions, eventually

GATEWAYS = 3
LEASE = 60
CLOSED = {"on_store_failure": "closed"}  # what is not counted is not admitted


def window(total):
    return {"name": "all", "per": ["service"], "algorithm": "fixed_window", "rate": f"{total}/day", **CLOSED}


def store(url, budget="1s"):
    return {"redis": {"urls": [url], "budget": budget, "lease": {"max": LEASE}}, "gateways": GATEWAYS}


@pytest.fixture
def redis():
    with RedisServer() as server:
        yield server


@pytest.fixture
def gateways(redis, launch, origin):
    """gateways(limit): three of them, on one server."""
    return lambda limit: [launch(origin, limits=[limit], store=store(redis.url)) for _ in range(GATEWAYS)]


@pytest.fixture
def faulty(redis, launch, origin):
    """faulty(limit): three gateways, each with a way of its own on which messages get lost; and what got lost so far."""
    with ExitStack() as stack:
        ways = [stack.enter_context(MessageFaults(redis, seed)) for seed in range(GATEWAYS)]

        def start(limit):
            gateways = [launch(origin, limits=[limit], store=store(way.url, "100ms")) for way in ways]
            return gateways, lambda: sum((way.counts for way in ways), start=Counter())

        yield start


def ahead(gateway):
    metrics = gateway.metrics()
    return {what: int(metrics.value("weir_requests_ahead_total", what=what))
            for what in ("taken", "spent", "returned", "lost")}


def held(gateway):
    counts = ahead(gateway)
    return counts["taken"] - counts["spent"] - counts["returned"] - counts["lost"]


def admitted(traffic):
    return sum(answer.status == 200 for answer in traffic.answers)


def refused(answers):
    return bool(answers) and all(answer.status == 429 for answer in answers)


def until_all_refuse(traffic):
    eventually(lambda: len(traffic.answers) > 200 and refused(traffic.answers[-200:]), 60, what="only refusals")


def test_repeated_late_and_lost_messages_never_admit_more_than_the_limit(faulty):
    total = 3000
    gateways, counts = faulty(window(total))
    with Traffic(gateways, clients=4 * GATEWAYS) as traffic:
        until_all_refuse(traffic)
    spent = sum(ahead(gateway)["spent"] for gateway in gateways)
    print(f"{len(traffic.answers)} requests, {admitted(traffic)} of {total} admitted, {spent} of them in advance; "
          f"{dict(counts())}")
    assert admitted(traffic) <= total
    assert all(counts()[what] > 0 for what in ("repeated", "late", "lost"))
    assert spent > 0


def test_a_bucket_never_gives_more_than_its_burst_and_its_rate(faulty):
    rate, burst = 800, 600
    gateways, _ = faulty({"name": "all", "per": ["service"], "rate": f"{rate}/s", "burst": burst, **CLOSED})
    with Traffic(gateways, clients=4 * GATEWAYS) as traffic:
        traffic.go_on(8000, within=60)
    passed = [answer for answer in traffic.answers if answer.status == 200]
    spent = sum(ahead(gateway)["spent"] for gateway in gateways)
    worst = -burst
    for begin in sorted(answer.at for answer in passed)[::25]:
        inside = sorted(answer.at + answer.seconds for answer in passed if answer.at >= begin)
        for count, end in enumerate(inside, start=1):
            worst = max(worst, count - burst - rate * (end - begin))
    print(f"{len(passed)} of {len(traffic.answers)} admitted, {spent} of them in advance; {-worst:.0f} below the bound")
    assert worst <= 0
    assert spent > 0


def test_nothing_is_lost_when_gateways_end_in_order(gateways):
    total = 2000
    three = gateways(window(total))
    with Traffic(three[1:], clients=4) as traffic:
        with Traffic(three[0], clients=4) as first:
            first.go_on(300, within=30)
        three[0].stop()
        until_all_refuse(traffic)
    assert admitted(traffic) + admitted(first) == total


def test_with_a_gateway_that_dies_goes_no_more_than_it_held(gateways):
    total = 2000
    three = gateways(window(total))
    with Traffic(three[1:], clients=4) as traffic:
        with Traffic(three[0], clients=4) as first:
            first.go_on(300, within=30)
        assert held(three[0]) <= LEASE
        three[0].kill()
        until_all_refuse(traffic)
    stranded = total - admitted(traffic) - admitted(first)
    print(f"{stranded} of {total} stranded, at most {LEASE}")
    assert 0 <= stranded <= LEASE


def test_a_busy_account_costs_few_round_trips(gateways):
    three = gateways({"name": "all", "per": ["service"], "rate": "100000/s", "burst": 1000, **CLOSED})
    with Traffic(three, clients=12, pause=0.001) as traffic:
        traffic.go_on(3000, within=30)
        before = [(gateway.metrics().value("weir_redis_commands_total"), ahead(gateway)["spent"]) for gateway in three]
        begin = len(traffic.answers)
        traffic.go_on(3000, within=30)
        asked = len(traffic.answers) - begin
        commands = sum(gateway.metrics().value("weir_redis_commands_total") for gateway in three) - sum(
            commands for commands, _ in before)
    print(f"{commands:.0f} commands for {asked} requests")
    assert commands < asked / 5


def test_reloading_gives_back_what_is_held(redis, launch, origin):
    total = 100_000
    gateway = launch(origin, limits=[window(total)], store=store(redis.url))
    with Traffic(gateway, clients=4) as traffic:
        traffic.go_on(300, within=30)
        gateway.reload(limits=[window(2 * total)])
        traffic.go_on(100)
    eventually(lambda: held(gateway) == 0)
    counts = ahead(gateway)
    assert counts["returned"] > 0 and counts["lost"] == 0
    left = int(gateway.ask("GET", "/x").fields.get("X-RateLimit-Remaining"))
    assert left == 2 * total - admitted(traffic) - 1


def test_the_permissions_that_are_documented_are_enough(launch, origin):
    with RedisServer(user=("weir", "secret"), rules=documented_permissions()) as server:
        gateway = launch(origin, limits=[window(100_000)], store=store(server.url))
        with Traffic(gateway, clients=4) as traffic:
            traffic.go_on(300, within=30)
        eventually(lambda: held(gateway) == 0)
        counts = ahead(gateway)
        assert counts["spent"] > 0 and counts["returned"] > 0 and counts["lost"] == 0
        assert server.command("ACL", "LOG") == []
