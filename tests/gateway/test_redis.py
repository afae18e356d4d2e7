# SPDX-License-Identifier: Apache-2.0
"""Limits that several gateways share: in Redis and in Redis Cluster."""

import pytest

from harness import RedisServer, eventually


def shared(urls, **more):
    return {"redis": {"urls": urls if isinstance(urls, list) else [urls], "budget": "200ms", **more}}


def limit(name="all", **more):
    return {"name": name, "per": ["service"], "rate": "5/h", **more}


@pytest.fixture
def redis():
    with RedisServer() as server:
        yield server


def test_one_limit_holds_for_all_gateways(redis, launch, origin):
    gateways = [launch(origin, limits=[limit()], store=shared(redis.url)) for _ in range(3)]
    answers = [gateways[i % 3].ask("GET", "/x") for i in range(9)]
    assert [answer.status for answer in answers] == [200] * 5 + [429] * 4
    remaining = [answer.fields.get("X-RateLimit-Remaining") for answer in answers]
    assert remaining == ["4", "3", "2", "1", "0", "0", "0", "0", "0"]
    assert all(0 < int(answer.fields.get("Retry-After")) <= 720 for answer in answers[5:])


def test_a_shadow_limit_of_the_same_subject_refuses_nobody(redis, launch, origin):
    shadow = limit("shadow", rate="1/h", mode="shadow")
    gateway = launch(origin, limits=[limit(), shadow], store=shared(redis.url))
    assert [gateway.ask("GET", "/x").status for _ in range(7)] == [200] * 5 + [429] * 2


def test_subjects_of_other_kinds_with_the_same_value_are_counted_apart(redis, launch, origin):
    callers = [{"header": {"name": f"X-{name}", "attribute": name.lower(), "from": "anyone"}}
               for name in ("User", "Partner")]
    limits = [limit("user", per=["user"], rate="1/h"), limit("partner", per=["partner"], rate="3/h")]
    gateway = launch(origin, callers=callers, limits=limits, store=shared(redis.url))
    assert [gateway.ask("GET", "/x", {"X-User": "42"}).status for _ in range(2)] == [200, 429]
    assert [gateway.ask("GET", "/x", {"X-Partner": "42"}).status for _ in range(4)] == [200] * 3 + [429]


def test_an_unanswered_request_leaves_no_lease_behind(redis, launch, origin):
    limits = [limit("running", rate=None, algorithm="concurrency", max=1, lease="60s")]
    limits[0].pop("rate")
    gateway = launch(origin, limits=limits, store=shared(redis.url, budget="50ms"))
    assert gateway.ask("GET", "/x").status == 200
    redis.stop()
    assert gateway.ask("GET", "/x").status == 200, "nobody counts meanwhile"
    redis.cont()
    eventually(lambda: gateway.ask("GET", "/x").fields.get("X-RateLimit-Remaining") == "0")
    assert gateway.ask("GET", "/x").status == 200


def test_shadow_limits_are_asked_together(redis, launch, origin):
    shadows = [limit(f"shadow{i}", rate="1/h", mode="shadow") for i in range(3)]
    gateway = launch(origin, limits=[limit(), *shadows], store=shared(redis.url))

    def sent():
        metrics = gateway.metrics()
        return metrics.value("weir_redis_commands_total"), metrics.value("weir_redis_writes_total")

    assert gateway.ask("GET", "/x").status == 200  # connections are there, scripts are loaded
    commands, writes = sent()
    assert gateway.ask("GET", "/x").status == 200
    assert sent() == (commands + 4, writes + 2)
