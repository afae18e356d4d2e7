# SPDX-License-Identifier: Apache-2.0
"""A shared store that breaks in every way: nobody waits longer than the budget, and everything comes back by itself."""

import shutil
import signal
import subprocess
import threading
import time
from datetime import datetime
from urllib.parse import quote

import pytest

from harness import (
    FaultProxy,
    Hold,
    RawClient,
    RedisServer,
    Traffic,
    eventually,
    free_port,
    longest,
    percentile,
)
from harness.certificates import Certificates

BUDGET = 20
# What a busy machine adds to any answer, in milliseconds, and to a recovery, in seconds.
SLACK = 150
RECOVERY = 1.0 + 1.5
AMPLE = "1000000/s"


def store(url, budget=f"{BUDGET}ms", gateways=1, **more):
    return {"redis": {"urls": [url], "budget": budget, **more}, "gateways": gateways}


def limit(name="all", **more):
    return {"name": name, "per": ["service"], "rate": AMPLE, **more}


COUNTED = {"match": ["GET /one"]}  # and not what Traffic asks to compare with


def reached(gateway):
    metrics = gateway.metrics()
    return {how: metrics.total("weir_decisions_reached_total", how=how)
            for how in metrics.label_values("weir_decisions_reached_total", "how")}


def total(gateway, name, **labels):
    return gateway.metrics().total(name, **labels)


def wait_until_grown(gateway, how, by, within=10.0):
    """Returns how many seconds it took."""
    begin, before = time.monotonic(), reached(gateway)[how]
    eventually(lambda: reached(gateway)[how] >= before + by, within, what=f"{by} decisions that are {how}")
    return time.monotonic() - begin


def wait_until_counted(gateway, target="/", within=5.0):
    """Asks until the store has decided: at the start the first decisions may be quicker than the connection."""
    def counted():
        before = reached(gateway)["evaluated"]
        gateway.ask("GET", target)
        return reached(gateway)["evaluated"] > before

    eventually(counted, within, what="a decision of the store")


def at_once(gateways, count, fields=(), clients=12):
    """So many requests from several clients at the same time; their statuses."""
    statuses, start = [], threading.Barrier(clients)

    def run(number):
        with RawClient(gateways[number % len(gateways)].address, timeout=10) as client:
            start.wait(10)
            for _ in range(count // clients):
                statuses.append(client.ask("GET", "/", fields).status)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(statuses) == count // clients * clients
    return statuses


@pytest.fixture
def redis():
    with RedisServer() as server:
        yield server


@pytest.fixture
def link(redis):
    with FaultProxy(store=redis) as proxy:
        yield proxy


def url_of(link):
    return f"redis://127.0.0.1:{link.ports['store']}"


# How it breaks, and how it is mended.
SERVER_FAULTS = {
    "killed": (lambda server: server.kill(), lambda server: server.restart()),
    "stopped": (lambda server: server.stop(), lambda server: server.cont()),
}
LINK_FAULTS = ["reset", "refuse", "blackhole", "mute", f"delay {3 * BUDGET}", f"delay {10 * BUDGET}"]


def survive(gateway, break_it, mend_it, name, outage=1.0):
    """Traffic from before a failure until after it, with everything that holds of every failure."""
    with Traffic(gateway, control=True) as traffic:
        wait_until_grown(gateway, "evaluated", 200)
        connects = total(gateway, "weir_redis_connects_total")
        begin = time.monotonic()
        break_it()
        wait_until_grown(gateway, "open", 50)
        # The outage has a length: what is counted below grows with it.
        eventually(lambda: time.monotonic() - begin > outage, outage + 1)
        wait_until_grown(gateway, "open", 20)
        assert total(gateway, "weir_store_up", store="redis") == 0
        connects = total(gateway, "weir_redis_connects_total") - connects
        length = time.monotonic() - begin
        mend_it()
        mended = time.monotonic()
        recovery = wait_until_grown(gateway, "evaluated", 10)
        eventually(lambda: total(gateway, "weir_store_up", store="redis") == 1, RECOVERY, what="all workers' recovery")
        recovered = time.monotonic()
        traffic.go_on(200)
    before, during = traffic.between(0, begin), traffic.between(begin, mended)
    after = traffic.between(recovered)
    failed = sum(answer.status >= 500 for answer in traffic.answers)
    noise = traffic.noise(begin, mended)
    print(f"\n{name}: {len(traffic.answers)} answers, {failed} of them 5xx; p99 before/during/after "
          f"{percentile(before):.1f}/{percentile(during):.1f}/{percentile(after):.1f} ms; longest "
          f"{longest(before):.1f}/{longest(during):.1f}/{longest(after):.1f} ms, of which noise may be {noise:.1f} ms; "
          f"{connects:.0f} connects in {length:.1f} s; "
          f"counted again after {recovery * 1000:.0f} ms, by all workers after {1000 * (recovered - mended):.0f} ms")
    assert {answer.status for answer in traffic.answers} == {200}
    assert longest(during) < BUDGET + SLACK + noise
    assert recovery < RECOVERY
    # Two workers; the first back-offs are short, later ones at least 250 ms, those of a subscription a second.
    assert connects <= 2 * (6 + 4 * length) + 2 * (6 + length)


@pytest.mark.parametrize("fault", SERVER_FAULTS)
def test_a_server_that_fails_costs_nobody_an_answer(redis, launch, origin, fault):
    gateway = launch(origin, limits=[limit(**COUNTED)], store=store(redis.url))
    break_it, mend_it = SERVER_FAULTS[fault]
    survive(gateway, lambda: break_it(redis), lambda: mend_it(redis), fault)


@pytest.mark.parametrize("fault", LINK_FAULTS)
def test_a_network_that_fails_costs_nobody_an_answer(link, launch, origin, fault):
    gateway = launch(origin, limits=[limit(**COUNTED)], store=store(url_of(link)))
    survive(gateway, lambda: link.ctl(f"store {fault}"), lambda: link.ctl("store pass"), fault)


def test_connections_that_are_cut_again_and_again(link, launch, origin):
    gateway = launch(origin, limits=[limit()], store=store(url_of(link)))
    with Traffic(gateway) as traffic:
        wait_until_grown(gateway, "evaluated", 100)
        for command in ["kill", "close"] * 5:
            link.ctl(f"store {command}")
            wait_until_grown(gateway, "evaluated", 20)
    assert {answer.status for answer in traffic.answers} == {200}
    assert reached(gateway)["evaluated"] > reached(gateway)["open"]


@pytest.mark.parametrize("cluster", ["auto", "off"])
def test_a_slow_store_is_left_alone_with_few_requests_too(link, launch, origin, cluster):
    """One client that asks one by one: the breaker may not depend on how busy the gateway is."""
    gateway = launch(origin, workers=1, limits=[limit()], store=store(url_of(link), cluster=cluster))
    wait_until_counted(gateway)
    link.ctl(f"store delay {3 * BUDGET}")
    with Traffic(gateway, clients=1, pause=0.03) as traffic:
        eventually(lambda: total(gateway, "weir_redis_breaker_opened_total") > 0, 3, what="the breaker")
        traffic.go_on(10)
    assert {answer.status for answer in traffic.answers} == {200}


def test_a_decision_about_several_accounts_waits_once(redis, launch, origin):
    """The budget is that of a decision, however many accounts it asks about."""
    budget = 400
    limits = [limit("service"), *({**limit(f"by-{name}"), "per": [f"header:{name}"]} for name in ("X-A", "X-B", "X-C"))]
    gateway = launch(origin, workers=1, limits=limits, store=store(redis.url, f"{budget}ms"))
    fields = {"X-A": "a", "X-B": "b", "X-C": "c"}
    with gateway.connect() as client:
        eventually(lambda: client.ask("GET", "/", fields).status == 200 and reached(gateway)["evaluated"] > 0)
        redis.stop()
        begin = time.monotonic()
        assert client.ask("GET", "/", fields).status == 200
        seconds = time.monotonic() - begin
        redis.cont()
    print(f"\na decision about 4 accounts: {1000 * seconds:.0f} ms at a budget of {budget} ms")
    assert seconds * 1000 < budget + SLACK


def test_a_restarted_server_begins_empty(redis, launch, origin):
    gateway = launch(origin, workers=1, limits=[limit(rate="5/h")], store=store(redis.url))
    wait_until_counted(gateway)
    assert gateway.ask().fields.get("X-RateLimit-Remaining") == "3"
    redis.restart()
    wait_until_counted(gateway)
    assert gateway.ask().fields.get("X-RateLimit-Remaining") == "3"


# What the limits say about a store that does not answer


def modes(url, **more):
    limits = [limit(mode, rate="6/h", match=[f"GET /{mode}"], on_store_failure=mode)
              for mode in ("open", "closed", "local")]
    return {"limits": limits, "workers": 1, "store": store(url, **more)}


def test_each_limit_decides_what_holds(link, launch, origin):
    config = modes(url_of(link), gateways=2)
    config["limits"].append(limit("other", match=["GET /other"]))
    gateway = launch(origin, **config)
    wait_until_counted(gateway, "/other")
    for path in ("/open", "/closed", "/local"):
        assert gateway.ask("GET", path).fields.get("X-RateLimit-Remaining") == "5"
    link.ctl("store refuse")
    eventually(lambda: gateway.ask("GET", "/other") and total(gateway, "weir_redis_breakers", state="open") == 1,
               what="the breaker")
    before, seen = reached(gateway), len(origin.requests)

    free = [gateway.ask("GET", "/open") for _ in range(10)]
    assert {answer.status for answer in free} == {200}
    assert not any(name.lower().startswith(("x-ratelimit", "ratelimit")) for answer in free
                   for name, _ in answer.fields.pairs)

    shut = gateway.ask("GET", "/closed")
    assert shut.status == 503 and shut.fields.get("Retry-After") == "1"
    assert shut.fields.get("Content-Type") == "application/problem+json"
    assert b"limits-unavailable" in shut.body
    assert len(origin.requests) == seen + 10

    own = [gateway.ask("GET", "/local") for _ in range(10)]
    assert [answer.status for answer in own] == [200] * 3 + [429] * 7
    after = reached(gateway)
    assert {how: after[how] - before[how] for how in ("open", "closed", "local", "evaluated", "remembered")} == {
        "open": 10, "closed": 1, "local": 10, "evaluated": 0, "remembered": 0}
    entries = {(entry["path"], entry.get("reached")) for entry in gateway.access_log(len(origin.requests) + 8)}
    assert {("/open", "open"), ("/closed", "closed"), ("/local", "local"), ("/open", None)} <= entries

    # What was let through meanwhile was not counted there, and is not counted afterwards.
    link.ctl("store pass")
    wait_until_counted(gateway, "/other")
    for path in ("/open", "/closed", "/local"):
        assert gateway.ask("GET", path).fields.get("X-RateLimit-Remaining") == "4", path


@pytest.mark.parametrize("fault", SERVER_FAULTS)
@pytest.mark.parametrize("gateways", [1, 4, 100])
def test_a_local_share_is_never_exceeded(redis, launch, origin, fault, gateways):
    burst = 40
    one = limit(rate="40/day", on_store_failure="local")
    gateway = launch(origin, limits=[one], store=store(redis.url, gateways=gateways))
    wait_until_counted(gateway)
    SERVER_FAULTS[fault][0](redis)
    # Meanwhile some are decided by the store: they are in the answers, too.
    before = reached(gateway)
    statuses = at_once([gateway], 120)
    evaluated = reached(gateway)["evaluated"] - before["evaluated"]
    share = max(1, burst // gateways)
    print(f"\n{fault}: {statuses.count(200)} admitted, the share is {share}")
    assert statuses.count(200) - evaluated <= share
    assert statuses.count(200) >= share and set(statuses) <= {200, 429}
    SERVER_FAULTS[fault][1](redis)
    eventually(lambda: total(gateway, "weir_store_up", store="redis") == 1, RECOVERY, what="the recovery")


def test_a_local_share_of_places(redis, launch, origin):
    one = {"name": "places", "per": ["service"], "algorithm": "concurrency", "max": 9, "on_store_failure": "local"}
    gateway = launch(origin, limits=[one], store=store(redis.url, gateways=3))
    wait_until_counted(gateway)
    redis.kill()
    eventually(lambda: gateway.ask() and reached(gateway)["local"] > 0, what="the share")
    origin.answer = hold = Hold()
    origin.forget()
    clients = [gateway.connect() for _ in range(8)]
    for client in clients:
        client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    origin.wait_for(3, whole=False)
    eventually(lambda: gateway.metrics().total("weir_decisions_reached_total", how="local") >= 9, what="all decisions")
    hold.go.set()
    assert sorted(client.response().status for client in clients) == [200] * 3 + [429] * 5


def test_without_a_server_at_the_start(launch, origin):
    port = free_port()
    gateway = launch(origin, limits=[limit()], store=store(f"redis://127.0.0.1:{port}"))
    with Traffic(gateway) as traffic:
        wait_until_grown(gateway, "open", 100)
        begin, before = time.monotonic(), total(gateway, "weir_redis_connects_total")
        wait_until_grown(gateway, "open", 200)
        assert total(gateway, "weir_store_up", store="redis") == 0
        connects, seconds = total(gateway, "weir_redis_connects_total") - before, time.monotonic() - begin
        with RedisServer(port=port):
            up = time.monotonic()
            wait_until_grown(gateway, "evaluated", 10)
            eventually(lambda: total(gateway, "weir_store_up", store="redis") == 1, RECOVERY, what="all workers")
            print(f"\nlate server: counted after {1000 * (time.monotonic() - up):.0f} ms")
            assert time.monotonic() - up < RECOVERY
    assert {answer.status for answer in traffic.answers} == {200}
    assert connects <= 2 * (6 + 4 * seconds)
    print(f"longest answer {longest(traffic.answers):.1f} ms")


# Errors instead of answers


def test_forgotten_scripts_are_loaded_again_and_nothing_is_counted_twice(redis, launch, origin):
    gateway = launch(origin, limits=[limit(rate="300/100day", burst=300)], store=store(redis.url, "1s"))
    with Traffic(gateway, clients=6, pause=0.001) as traffic:
        for _ in range(8):
            traffic.go_on(40)
            redis.command("SCRIPT", "FLUSH")
        traffic.go_on(80)
    statuses = [answer.status for answer in traffic.answers]
    counts = reached(gateway)
    loads = total(gateway, "weir_redis_script_loads_total")
    print(f"\nscripts forgotten 8 times: {loads:.0f} loads, longest {longest(traffic.answers):.1f} ms")
    assert loads >= 1
    assert counts["open"] == 0
    assert statuses.count(200) == 300 and set(statuses) == {200, 429}


def test_a_full_server(redis, launch, origin):
    gateway = launch(origin, limits=[limit()], store=store(redis.url))
    with Traffic(gateway) as traffic:
        wait_until_grown(gateway, "evaluated", 100)
        connects = total(gateway, "weir_redis_connects_total")
        redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        redis.command("CONFIG", "SET", "maxmemory", "1")
        wait_until_grown(gateway, "open", 200)
        assert total(gateway, "weir_redis_failures_total", kind="error") > 0
        assert total(gateway, "weir_redis_connects_total") == connects
        redis.command("CONFIG", "SET", "maxmemory", "0")
        recovery = wait_until_grown(gateway, "evaluated", 10)
    print(f"\nfull: counted again after {1000 * recovery:.0f} ms; longest {longest(traffic.answers):.1f} ms")
    assert recovery < RECOVERY
    assert {answer.status for answer in traffic.answers} == {200}


def test_a_full_server_and_a_closed_limit(redis, launch, origin):
    gateway = launch(origin, limits=[limit(on_store_failure="closed")], store=store(redis.url))
    wait_until_counted(gateway)
    redis.command("CONFIG", "SET", "maxmemory", "1")
    assert gateway.ask().status == 503
    redis.command("CONFIG", "SET", "maxmemory", "0")
    assert gateway.ask().status == 200


def connects_while(gateway, how, count):
    """The connects while so many decisions were reached, and the seconds that took."""
    begin, before = time.monotonic(), total(gateway, "weir_redis_connects_total")
    wait_until_grown(gateway, how, count)
    return total(gateway, "weir_redis_connects_total") - before, time.monotonic() - begin


def test_a_master_that_becomes_a_replica(redis, launch, origin):
    gateway = launch(origin, limits=[limit()], store=store(redis.url))
    with RedisServer() as other, Traffic(gateway) as traffic:
        wait_until_grown(gateway, "evaluated", 100)
        redis.command("REPLICAOF", "127.0.0.1", other.port)
        wait_until_grown(gateway, "open", 20)
        connects, seconds = connects_while(gateway, "open", 400)
        redis.command("REPLICAOF", "NO", "ONE")
        recovery = wait_until_grown(gateway, "evaluated", 10)
        eventually(lambda: total(gateway, "weir_store_up", store="redis") == 1, RECOVERY, what="all workers")
    print(f"\nreplica: {connects:.0f} connects in {seconds:.1f} s; counted again after {1000 * recovery:.0f} ms; "
          f"longest {longest(traffic.answers):.1f} ms")
    assert {answer.status for answer in traffic.answers} == {200}
    assert recovery < RECOVERY
    assert connects <= 2 * (6 + 4 * seconds)


# Who may, and how it is reached


def stays_away_until(gateway, mend_it, name):
    """The store refuses this gateway: everything goes on without it, quietly, until that has an end."""
    with Traffic(gateway) as traffic:
        wait_until_grown(gateway, "open", 100)
        connects, seconds = connects_while(gateway, "open", 200)
        assert reached(gateway)["evaluated"] == 0
        mend_it()
        recovery = wait_until_grown(gateway, "evaluated", 10)
    print(f"\n{name}: {connects:.0f} connects in {seconds:.1f} s; counted after {1000 * recovery:.0f} ms; "
          f"longest {longest(traffic.answers):.1f} ms")
    assert {answer.status for answer in traffic.answers} == {200}
    assert connects <= 2 * (6 + 4 * seconds)
    assert recovery < RECOVERY


def test_a_wrong_password(launch, origin):
    with RedisServer(user=("weir", "right")) as redis:
        url = redis.url.replace("right", "wrong")
        gateway = launch(origin, limits=[limit()], store=store(url))
        stays_away_until(gateway, lambda: redis.command("ACL", "SETUSER", "weir", ">wrong"), "wrong password")
        assert "wrong" not in gateway.errors().replace("WRONGPASS", "")


def test_no_password_where_one_is_asked_for(launch, origin):
    with RedisServer(password="word") as redis:
        gateway = launch(origin, limits=[limit()], store=store(f"redis://127.0.0.1:{redis.port}"))
        mend_it = lambda: redis.command("ACL", "SETUSER", "default", "on", "nopass")  # noqa: E731
        stays_away_until(gateway, mend_it, "no password")


@pytest.mark.parametrize("rules", ["~* +@all -evalsha -eval", "~other:* +@all", "~* +@all -script -eval -set"])
def test_without_permission(launch, origin, rules):
    with RedisServer(user=("weir", "secret"), rules=rules) as redis:
        gateway = launch(origin, limits=[limit()], store=store(redis.url))
        stays_away_until(gateway, lambda: redis.command("ACL", "SETUSER", "weir", "~*", "+@all"), rules)


def counts(gateway):
    """It is the store that decides, and the account there goes down by one with each request."""
    wait_until_counted(gateway)
    first = int(gateway.ask().fields.get("X-RateLimit-Remaining"))
    assert [int(gateway.ask().fields.get("X-RateLimit-Remaining")) for _ in range(2)] == [first - 1, first - 2]


SLOW_RATE = {"rate": "1000/100day", "algorithm": "fixed_window"}


def test_only_needed_permissions(launch, origin):
    with RedisServer(user=("weir", "secret"), rules="~mine* +@all -@dangerous -@admin") as redis:
        gateway = launch(origin, limits=[limit(**SLOW_RATE)], store=store(redis.url, prefix="mine"))
        counts(gateway)
        assert all(key.startswith("mine") for key in redis.command("KEYS", "*"))


@pytest.mark.parametrize("options", [
    {"password": "p@ss/word"}, {"user": ("we:ir", "s%cret")}, {"tls": "server"},
    {"tls": "server", "user": ("weir", "secret")}, {"tcp": False}, {"tcp": False, "user": ("weir", "secret")}, {},
], ids=["password", "user", "tls", "tls-user", "unix", "unix-user", "name"])
def test_ways_to_reach_it(launch, origin, options):
    with RedisServer(**options) as redis:
        login = ""
        if user := options.get("user") or ("", options["password"]) if options.keys() & {"user", "password"} else None:
            login = ":".join(quote(word, safe="") for word in user) + "@"
        scheme = "rediss" if redis.tls else "redis"
        url = f"{scheme}://{login}{'127.0.0.1' if options else 'localhost'}:{redis.port}"
        if not redis.tcp:
            url = f"unix://{login}{redis.unix_path}" if login else f"unix:{redis.unix_path}"
        more = {"tls": {"ca": redis.certificates.file("authority.crt")}} if redis.tls else {}
        gateway = launch(origin, limits=[limit(**SLOW_RATE)], store=store(url, "1s", **more))
        counts(gateway)
        redis.restart()
        counts(gateway)


def test_a_certificate_of_another_authority(launch, origin, tmp_path):
    stranger = Certificates(tmp_path / "stranger")
    with RedisServer(tls="server") as redis:
        tls = {"ca": stranger.file("authority.crt")}
        gateway = launch(origin, limits=[limit()], store=store(redis.url, tls=tls))
        with Traffic(gateway) as traffic:
            wait_until_grown(gateway, "open", 100)
            connects, seconds = connects_while(gateway, "open", 200)
        assert {answer.status for answer in traffic.answers} == {200}
        assert reached(gateway)["evaluated"] == 0
        assert connects <= 2 * (6 + 4 * seconds)
        assert "certificate" in gateway.errors()


def test_any_certificate_when_told_so(launch, origin):
    with RedisServer(tls="server") as redis:
        gateway = launch(origin, limits=[limit(**SLOW_RATE)], store=store(redis.url, "1s", tls={"verify": False}))
        counts(gateway)


def test_tls_to_a_server_in_clear_and_the_other_way_round(redis, launch, origin):
    with RedisServer(tls="server") as secret:
        for url in (redis.url.replace("redis:", "rediss:"), secret.url.replace("rediss:", "redis:")):
            tls = {"tls": {"verify": False}} if url.startswith("rediss:") else {}
            gateway = launch(origin, limits=[limit()], store=store(url, **tls))
            with Traffic(gateway) as traffic:
                wait_until_grown(gateway, "open", 50)
                connects, seconds = connects_while(gateway, "open", 200)
            assert {answer.status for answer in traffic.answers} == {200}
            assert connects <= 2 * (6 + 4 * seconds)


# Several gateways


@pytest.mark.parametrize("counted", [
    {"algorithm": "fixed_window", "rate": "70/300day"},
    {"algorithm": "sliding_log", "rate": "70/300day"},
    {"rate": "70/300day"},
    {"rate": "1/day", "burst": 70},
], ids=["window", "log", "bucket", "slow-bucket"])
def test_many_at_once_are_admitted_exactly(redis, launch, origin, counted):
    gateways = [launch(origin, limits=[limit(**counted)], store=store(redis.url, "2s")) for _ in range(3)]
    statuses = at_once(gateways, 180)
    assert statuses.count(200) == 70 and statuses.count(429) == 110
    assert sum(reached(gateway)["open"] for gateway in gateways) == 0


def test_places_are_shared_exactly(redis, launch, origin):
    one = {"name": "places", "per": ["service"], "algorithm": "concurrency", "max": 7}
    gateways = [launch(origin, limits=[one], store=store(redis.url, "2s")) for _ in range(3)]
    for _ in range(2):
        origin.forget()
        origin.answer = hold = Hold()
        clients = [gateways[i % 3].connect() for i in range(24)]
        decided = sum(reached(gateway)["evaluated"] for gateway in gateways)
        for client in clients:
            client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        eventually(lambda: sum(reached(gateway)["evaluated"] for gateway in gateways) == decided + 24, 10,  # noqa: B023
                   what="all decisions")
        hold.go.set()
        assert sorted(client.response().status for client in clients) == [200] * 7 + [429] * 17
        # The places come back a moment after the answers.
        eventually(lambda: not redis.command("KEYS", "*") or places_taken(redis) == 0, what="the places")


def places_taken(redis):
    return sum(redis.command("ZCARD", key) for key in redis.command("KEYS", "*") if redis.command("TYPE", key) == "zset")


def test_one_gateway_that_loses_the_store_does_not_change_what_others_count(redis, link, launch, origin):
    lost = launch(origin, limits=[limit(rate="50/300day")], store=store(url_of(link)))
    other = launch(origin, limits=[limit(rate="50/300day")], store=store(redis.url, "2s"))
    wait_until_counted(lost)
    link.ctl("store refuse")
    with Traffic(lost, clients=2):
        wait_until_grown(lost, "open", 20)
        statuses = at_once([other], 72)
    used = int(reached(lost)["evaluated"])
    assert statuses.count(200) == 50 - used


# The end, and time


@pytest.mark.parametrize("fault", SERVER_FAULTS)
def test_the_end_comes_without_the_store(redis, launch, origin, fault):
    places = {"name": "places", "per": ["service"], "algorithm": "concurrency", "max": 100}
    gateway = launch(origin, limits=[limit(), places], store=store(redis.url, "500ms"))
    wait_until_counted(gateway)
    origin.answer = hold = Hold()
    origin.forget()
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held, waiting = gateway.connect(), gateway.connect()
    held.send(request)
    origin.wait_for(1)
    SERVER_FAULTS[fault][0](redis)
    commands = total(gateway, "weir_redis_commands_total")
    waiting.send(request)
    eventually(lambda: len(origin.begun) == 2 or total(gateway, "weir_redis_commands_total") > commands,
               what="the request")
    hold.go.set()
    gateway.signal(signal.SIGTERM)
    assert (held.response().status, waiting.response().status) == (200, 200)
    assert gateway.exit_code() == 0


CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) at->tv_sec += 3 * 86400;
  return result;
}
"""


@pytest.fixture
def clock_ahead(tmp_path, monkeypatch):
    """Gateways that are started from now on are three days ahead."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    library = tmp_path / "clock.so"
    source = tmp_path / "clock.c"
    source.write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
    return lambda: monkeypatch.setenv("LD_PRELOAD", str(library))


@pytest.mark.parametrize("algorithm", ["fixed_window", "token_bucket"])
@pytest.mark.parametrize("clock", ["store", "gateway"])
def test_a_clock_that_is_far_off_gives_nothing(redis, launch, origin, clock_ahead, algorithm, clock):
    config = {"limits": [limit(rate="6/day", algorithm=algorithm)], "store": store(redis.url, "2s", clock=clock)}
    right = launch(origin, **config)
    assert [right.ask().status for _ in range(6)] == [200] * 6
    clock_ahead()
    ahead = launch(origin, **config)
    date = datetime.strptime(ahead.ask("GET", "/").fields.get("Date"), "%a, %d %b %Y %H:%M:%S GMT")
    if abs(date - datetime.utcnow()).days < 2:
        pytest.skip("the program's clock cannot be changed from outside")
    assert [ahead.ask().status for _ in range(4)] == [429] * 4
    assert reached(ahead)["open"] == 0
