# SPDX-License-Identifier: Apache-2.0
"""What gateways that share limits tell each other: a refusal is remembered, and forgotten when it ends early."""

import subprocess
import threading
import time

import pytest

from harness import RedisCluster, RedisServer, documented_permissions, eventually, reply

from test_redis import limit, shared
from test_redis_failures import reached, total

# A refusal outlives this only where others are heard.
UNHEARD = 1.0


@pytest.fixture
def redis():
    with RedisServer() as server:
        yield server


def hears(gateway, workers=1):
    return total(gateway, "weir_redis_subscriptions", state="live") == workers


def launch_two(launch, origin, urls, limits):
    gateways = [launch(origin, workers=1, limits=limits, store=shared(urls)) for _ in range(2)]
    eventually(lambda: all(hears(gateway) for gateway in gateways), what="the subscriptions")
    return gateways


def is_remembered(gateway):
    """Whether it refuses without asking."""
    before = reached(gateway)
    assert gateway.ask("GET", "/x").status == 429
    after = reached(gateway)
    return after["remembered"] == before["remembered"] + 1 and after["evaluated"] == before["evaluated"]


def refused_for_long(gateway):
    assert gateway.ask("GET", "/x").status == 429
    time.sleep(UNHEARD + 0.2)
    assert is_remembered(gateway)


def test_what_an_answer_gives_back_at_one_gateway_is_free_at_the_other(redis, launch, origin):
    go = threading.Event()

    def answer(exchange):
        exchange.read_body()
        if exchange.request.target == "/held":
            go.wait(20)
        reply(fields={"X-Cost": "0"})(exchange)

    origin.answer = answer
    cost = {"response_header": "X-Cost", "reserve": 5}
    one, other = launch_two(launch, origin, redis.url, [limit(rate="5/day", cost=cost)])
    holder = threading.Thread(target=lambda: other.ask("GET", "/held"), daemon=True)
    holder.start()
    origin.wait_for(1)
    refused_for_long(one)
    go.set()
    holder.join(10)
    eventually(lambda: one.ask("GET", "/x").status == 200, 2, what="the news")
    assert total(one, "weir_redis_messages_total") >= 1


def test_a_reset_is_heard_by_all_gateways(redis, launch, origin, binary):
    gateways = launch_two(launch, origin, redis.url, [limit(rate="1/day")])
    assert gateways[0].ask("GET", "/x").status == 200
    for gateway in gateways:
        refused_for_long(gateway)
    done = subprocess.run([binary, "reset", str(gateways[0].file), "MAIN"], capture_output=True, text=True, timeout=20,
                          check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    for gateway in gateways:
        eventually(lambda gateway=gateway: total(gateway, "weir_redis_messages_total") == 1, 2, what="the news")
    assert sorted(gateway.ask("GET", "/x").status for gateway in gateways) == [200, 429]


def test_a_gateway_that_hears_nothing_asks_again_after_a_second(redis, launch, origin):
    one, _ = launch_two(launch, origin, redis.url, [limit(rate="1/day")])
    redis.command("ACL", "SETUSER", "default", "resetchannels")
    eventually(lambda: not hears(one), what="the end of the subscription")
    assert total(one, "weir_redis_subscriptions", state="lost") == 1
    assert one.ask("GET", "/x").status == 200
    assert one.ask("GET", "/x").status == 429
    assert is_remembered(one)
    redis.command("FLUSHALL")
    eventually(lambda: one.ask("GET", "/x").status == 200, 2 * UNHEARD, what="the next question")
    redis.command("ACL", "SETUSER", "default", "allchannels")
    eventually(lambda: hears(one), what="the subscription")


def test_the_permissions_that_are_documented_are_enough(launch, origin):
    with RedisServer(user=("weir", "secret"), rules=documented_permissions()) as server:
        kinds = [limit(algorithm, algorithm=algorithm) for algorithm in
                 ("token_bucket", "fixed_window", "sliding_window", "sliding_log")]
        kinds[0]["rate"] = "7/day"
        kinds[0]["refund"] = {"status": ["5xx"]}
        places = {"name": "places", "per": ["service"], "algorithm": "concurrency", "max": 3}
        one, other = launch_two(launch, origin, server.url, [*kinds, places])
        origin.answer = reply(503)
        assert other.ask("GET", "/x").status == 503
        origin.answer = reply()
        assert [other.ask("GET", "/x").status for _ in range(5)] == [200] * 4 + [429]
        refused_for_long(one)
        for gateway in (one, other):
            assert total(gateway, "weir_redis_failures_total", kind="error") == 0
            assert total(gateway, "weir_lost_amendments_total") == 0
        assert server.command("ACL", "LOG") == []


def test_a_cluster_tells_all_gateways_at_whatever_node(launch, origin, binary):
    with RedisCluster(masters=3) as cluster:
        limits = [limit(per=["header:X-Key"], rate="1/day")]
        gateways = launch_two(launch, origin, cluster.urls[:1], limits)
        for key in ("a", "b", "c", "d", "e", "f"):
            assert gateways[0].ask("GET", "/x", {"X-Key": key}).status == 200
            assert [gateway.ask("GET", "/x", {"X-Key": key}).status for gateway in gateways] == [429, 429]
            done = subprocess.run([binary, "reset", str(gateways[0].file), key], capture_output=True, text=True,
                                  timeout=20, check=False, stdin=subprocess.DEVNULL)
            assert done.returncode == 0, done
            eventually(lambda key=key: gateways[1].ask("GET", "/x", {"X-Key": key}).status == 200, 2, what="the news")
