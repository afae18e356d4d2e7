# SPDX-License-Identifier: Apache-2.0
"""Policies from a database through the running gateway: what partners may do, changed while they do it.

The look-up table (cached, absent, expired; Redis down, SQL down, both; starts with nothing to ask), changes that reach
three gateways, keys that replace keys, and rows that make no sense."""

import contextlib
import json
import sqlite3
import subprocess
import time

import pytest

from harness import RedisServer, eventually, free_port, request_bytes
from harness.policies import CALLERS, ROWS, CREATE, as_partner, figure, launch_with_policies, limit_of

# A change is in force everywhere within this time.
IN_FORCE = 2.0


@pytest.fixture
def launch_with(launch, origin, binary, tmp_path):
    """launch_with(url, count=1, **top-level keys): gateways with a database, and how to change it."""
    return lambda url, count=1, **changes: launch_with_policies(launch, origin, binary, tmp_path, url, count, **changes)


def test_a_limit_acts_only_on_partners_with_a_row(launch_with, url):
    policies, gateway = launch_with(url)
    policies("partners", "put", "acme")
    policies("partners", "put", "other")
    policies.limit("acme", "2/day")
    assert limit_of(as_partner(gateway)) == "2"
    assert as_partner(gateway).status == 200
    refused = as_partner(gateway)
    assert refused.status == 429 and json.loads(refused.body)["violated-policies"] == ["rows"]
    assert refused.fields.get("RateLimit-Policy") == '"rows";q=2;w=86400'
    for partner in ("other", "stranger"):
        for _ in range(4):
            response = as_partner(gateway, partner)
            assert response.status == 200 and limit_of(response) is None
    assert gateway.ask().status == 200


def test_rows_of_endpoints_modes_algorithms_and_plans(launch_with, url):
    policies, gateway = launch_with(url)
    policies("plans", "put", "gold")
    policies("partners", "put", "acme", "--plan", "gold")
    policies("limits", "put", "--plan", "gold", "--limit", "rows", "--service", "MAIN", "--rate", "5/day")
    policies.limit("acme", "1/day", "create", "--endpoint", "POST /products")
    assert as_partner(gateway, method="POST", target="/products").status == 200
    assert as_partner(gateway, method="POST", target="/products").status == 429
    assert limit_of(as_partner(gateway)) == "5", "its plan's"
    policies("partners", "put", "shadowed")
    policies.limit("shadowed", "1/day", "rows", "--mode", "shadow")
    for _ in range(3):
        response = as_partner(gateway, "shadowed")
        assert response.status == 200 and limit_of(response) is None
    assert figure(gateway, "weir_decisions_total", limit="rows", result="shadow_refused") == 2
    policies("partners", "put", "windowed")
    policies.limit("windowed", "3/h", "rows", "--algorithm", "fixed_window")
    assert as_partner(gateway, "windowed").fields.get("RateLimit-Policy") == '"rows";q=3;w=3600'


def test_an_unlimited_row_lifts_a_plans_limit(launch_with, tmp_path):
    policies, gateway = launch_with(f"sqlite:{tmp_path}/policies.db")
    policies("plans", "put", "gold")
    policies("partners", "put", "acme", "--plan", "gold")
    policies("limits", "put", "--plan", "gold", "--limit", "rows", "--service", "MAIN", "--rate", "1/day")
    policies.limit("acme", "unlimited")
    for _ in range(3):
        assert as_partner(gateway).status == 200


def test_keys_of_the_database_identify_and_replace_each_other(launch_with, url):
    policies, gateway = launch_with(url, identify="required")
    policies("plans", "put", "gold")
    policies("partners", "put", "acme", "--plan", "gold")
    policies.limit("acme", "1000000/day")
    old = policies.key("acme", "--id", "old")
    ask = lambda key: gateway.ask(fields={"X-Api-Key": key})  # noqa: E731
    assert limit_of(ask(old)) == "1000000"
    wrong = ask("weir_wrong")
    assert wrong.status == 401 and wrong.fields.get("WWW-Authenticate") and b"weir_wrong" not in wrong.body
    rotated = json.loads(policies("keys", "rotate", "old", "--id", "new", "--grace", "1h", "--json"))
    assert ask(rotated["key"]).status == 200, "the new one is good at once"
    assert ask(old).status == 200, "and so is the old one"
    policies("keys", "put", "old", "--expires", "2020-01-01T00:00:00Z")
    eventually(lambda: ask(old).status == 401, IN_FORCE, what="the end of the old key")
    assert ask(rotated["key"]).status == 200
    policies("keys", "put", "new", "--enabled", "false")
    eventually(lambda: ask(rotated["key"]).status == 401, IN_FORCE, what="the end of the new key")


def test_keys_are_nowhere_in_clear(launch_with, tmp_path):
    policies, gateway = launch_with(f"sqlite:{tmp_path}/policies.db")
    policies("partners", "put", "acme")
    key = policies.key("acme")
    assert gateway.ask(fields={"X-Api-Key": key}).status == 200
    gateway.stop()
    gateway.clients.clear()
    for file in [*tmp_path.glob("policies*"), *gateway.folder.iterdir()]:
        assert key.encode() not in file.read_bytes(), file


def test_a_partner_that_is_switched_off_gets_403(launch_with, url):
    policies, gateway = launch_with(url)
    policies("partners", "put", "acme")
    assert as_partner(gateway).status == 200
    policies("partners", "put", "acme", "--enabled", "false")
    refused = eventually(lambda: next((r for r in [as_partner(gateway)] if r.status == 403), None), IN_FORCE)
    assert json.loads(refused.body)["code"] == "partner-disabled" or refused.status == 403
    with gateway.connect() as client:  # one worker
        assert client.ask(fields={"X-Partner": "acme"}).status == 403
        assert client.ask().status == 200, "nobody inherits what the request before was told"
    policies("partners", "put", "acme", "--enabled", "true")
    eventually(lambda: as_partner(gateway).status == 200, IN_FORCE)


@pytest.mark.parametrize("with_redis", [False, True])
def test_a_change_is_in_force_on_three_gateways_within_two_seconds_and_counters_stay(launch_with, url, with_redis):
    more = {}
    if with_redis:
        redis = RedisServer()
        more["store"] = {"redis": {"urls": [redis.url], "budget": "1s"}}
    try:
        policies, *gateways = launch_with(url, count=3, policies={"poll": "1s"}, **more)
        policies("partners", "put", "acme")
        policies.limit("acme", "5/day")
        for gateway in gateways:
            eventually(lambda gateway=gateway: limit_of(as_partner(gateway)) == "5", IN_FORCE)
        remaining = [int(as_partner(gateway).fields.get("X-RateLimit-Remaining")) for gateway in gateways]
        policies.limit("acme", "1000/day")
        begun = time.monotonic()
        for gateway, left in zip(gateways, remaining):
            response = eventually(lambda gateway=gateway: next(
                (r for r in [as_partner(gateway)] if limit_of(r) == "1000"), None), IN_FORCE, what="the new limit")
            used = 1000 - int(response.fields.get("X-RateLimit-Remaining"))
            assert used >= 5 - left + 1, "what was counted before counts still"
        assert time.monotonic() - begun < IN_FORCE
    finally:
        if with_redis:
            redis.close()


def test_a_refusal_is_forgotten_when_the_limit_changes(launch_with, tmp_path):
    with RedisServer() as redis:
        policies, gateway = launch_with(f"sqlite:{tmp_path}/policies.db",
                                        store={"redis": {"urls": [redis.url], "budget": "1s"}})
        policies("partners", "put", "acme")
        policies.limit("acme", "1/day")
        eventually(lambda: as_partner(gateway).status == 429)
        policies.limit("acme", "10/day")
        eventually(lambda: as_partner(gateway).status == 200, IN_FORCE, what="the new limit")
        policies("limits", "delete", "--partner", "acme", "--limit", "rows", "--service", "MAIN")
        eventually(lambda: limit_of(as_partner(gateway)) is None, IN_FORCE, what="the end of the limit")


def test_what_is_known_is_not_asked_for_again(launch_with, url):
    policies, gateway = launch_with(url)
    policies("partners", "put", "acme")
    policies.limit("acme", "100000/day")
    for _ in range(2):
        as_partner(gateway)
        as_partner(gateway, "stranger")
    before = figure(gateway, "weir_policies_reads_total", **{"from": "sql"})
    for _ in range(50):
        assert as_partner(gateway).status == 200
        assert as_partner(gateway, "stranger").status == 200
    assert figure(gateway, "weir_policies_reads_total", **{"from": "sql"}) == before
    assert figure(gateway, "weir_policies_lookups_total", result="known") >= 100


@pytest.mark.parametrize("most", [1, 300])
def test_whoever_is_looked_up_is_known_however_little_room_there_is(launch_with, tmp_path, most):
    """More names and keys than the cache holds, many at once: the database answers each, for none it seems away."""
    policies, gateway = launch_with(f"sqlite:{tmp_path / 'p.db'}", limits=[{**ROWS, "on_store_failure": "closed"}],
                                    guessing="off", workers=1, policies={"cache": {"max": most}, "budget": "5s"})
    policies("partners", "put", "acme")
    policies.limit("acme", "1000000/day")
    key = policies.key("acme")
    callers = [({"X-Api-Key": "weir_{}"}, 401), ({"X-Partner": "stranger-{}"}, 200), ({"X-Api-Key": key}, 200)]
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(gateway.connect()) for _ in range(30)]
        for turn in range(60):
            for place, client in enumerate(clients):
                [(name, value)] = callers[place % 3][0].items()
                client.send(request_bytes(fields={name: value.format(turn * 30 + place)}))
            for place, client in enumerate(clients):
                response = client.response()
                assert response.status == callers[place % 3][1], (turn, place, response)
                assert (limit_of(response) is not None) == (place % 3 == 2)
    assert figure(gateway, "weir_policies_lookups_total", result="away") == 0


def test_what_was_changed_by_hand_is_found_when_it_expires(launch_with, tmp_path):
    path = tmp_path / "policies.db"
    policies, gateway = launch_with(f"sqlite:{path}", policies={"cache": {"ttl": "1s", "absent_ttl": "500ms"}})
    policies("partners", "put", "acme")
    policies.limit("acme", "5/day")
    assert limit_of(as_partner(gateway)) == "5"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE limits SET rate = '7/day'")
        connection.execute("INSERT INTO partners (name) VALUES ('late')")
    connection.close()
    eventually(lambda: limit_of(as_partner(gateway)) == "7", 3, what="the end of the entry's life")


def test_when_the_database_fails_what_was_known_last_holds(launch_with, mariadb):
    mariadb.clear()
    policies, gateway = launch_with(mariadb.url, policies={"cache": {"ttl": "300ms", "absent_ttl": "300ms"},
                                                           "budget": "300ms"})
    policies("partners", "put", "acme")
    policies.limit("acme", "100000/day")
    key = policies.key("acme")
    assert limit_of(gateway.ask(fields={"X-Api-Key": key})) == "100000"
    mariadb.kill()
    try:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            response = gateway.ask(fields={"X-Api-Key": key})
            assert response.status == 200 and limit_of(response) == "100000"
        assert figure(gateway, "weir_policies_up") == 0
        assert figure(gateway, "weir_policies_lookups_total", result="expired") > 0
        stranger = gateway.ask(fields={"X-Api-Key": "weir_stranger"})
        assert stranger.status == 200, "nobody can say whose key this is, and nobody has to be known"
        response = as_partner(gateway, "never-heard-of")
        assert response.status == 200 and limit_of(response) is None
    finally:
        mariadb.start()
    eventually(lambda: figure(gateway, "weir_policies_up") == 1, 10, what="the database")
    eventually(lambda: gateway.ask(fields={"X-Api-Key": "weir_stranger"}).status == 401, 5)


def test_a_database_that_hangs_holds_nobody_up_longer_than_the_budget(launch_with, mariadb):
    mariadb.clear()
    policies, gateway = launch_with(mariadb.url, policies={"budget": "50ms"}, identify="required",
                                    limits=[{**ROWS, "on_store_failure": "closed"}])
    policies("partners", "put", "acme")
    policies.limit("acme", "1000/day")
    eventually(lambda: limit_of(as_partner(gateway)) == "1000")
    mariadb.process.stop()
    try:
        waits = []
        for number in range(10):
            begun = time.monotonic()
            assert as_partner(gateway).status == 200, "who is known is served"
            closed = as_partner(gateway, f"new{number}")
            assert closed.status == 503 and closed.fields.get("Retry-After")
            unknown = gateway.ask(fields={"X-Api-Key": f"weir_{number}"})
            assert unknown.status == 503
            waits.append(time.monotonic() - begun)
        assert max(waits) < 1.0, waits
    finally:
        mariadb.process.cont()
    eventually(lambda: as_partner(gateway, "late").status == 200, 10)


def test_redis_answers_for_the_database_and_the_database_for_redis(launch_with, mariadb):
    mariadb.clear()
    with RedisServer() as redis:
        store = {"redis": {"urls": [redis.url], "budget": "200ms"}}
        policies, one, other = launch_with(mariadb.url, count=2, store=store)
        policies("partners", "put", "acme")
        policies.limit("acme", "100000/day")
        assert limit_of(as_partner(one)) == "100000"
        before = figure(other, "weir_policies_reads_total", **{"from": "redis"})
        eventually(lambda: limit_of(as_partner(other)) == "100000")
        assert figure(other, "weir_policies_reads_total", **{"from": "redis"}) > before
        redis.process.kill()
        policies("partners", "put", "late")
        policies.limit("late", "7/day")
        for gateway in (one, other):
            assert as_partner(gateway, "late").status == 200
        assert figure(one, "weir_policies_lookups_total", result="away") == 0
        mariadb.kill()
        try:
            for gateway in (one, other):
                assert as_partner(gateway).status == 200, "both are down: what is known holds"
                assert as_partner(gateway, "nobody").status == 200
        finally:
            mariadb.start()


@pytest.mark.parametrize("identify, status", [("optional", 200), ("required", 503)])
def test_a_start_with_everything_down_knows_what_the_process_before_knew(launch_with, mariadb, identify, status):
    mariadb.clear()
    with RedisServer() as redis:
        policies, gateway = launch_with(mariadb.url, identify=identify,
                                        store={"redis": {"urls": [redis.url], "budget": "100ms"}})
        policies("partners", "put", "acme")
        policies.limit("acme", "9/day")
        key = policies.key("acme")
        assert limit_of(gateway.ask(fields={"X-Api-Key": key})) == "9"
        gateway.stop()
    mariadb.kill()
    try:
        gateway.start()
        assert gateway.ask(fields={"X-Api-Key": key}).status == 200
        stranger = gateway.ask(fields={"X-Api-Key": "weir_stranger"})
        assert stranger.status == status
        assert "9/day" not in gateway.errors()
    finally:
        mariadb.start()
    eventually(lambda: gateway.ask(fields={"X-Api-Key": "weir_stranger"}).status == 401, 10)
    eventually(lambda: figure(gateway, "weir_policies_up") == 1, 10)


def test_rows_that_make_no_sense_are_named_and_touch_no_others(launch_with, tmp_path):
    path = tmp_path / "policies.db"
    policies, gateway = launch_with(f"sqlite:{path}")
    policies("partners", "put", "acme")
    policies.limit("acme", "5/day")
    with sqlite3.connect(path) as connection:
        put = "INSERT INTO limits (partner, `limit`, service, rate, algorithm, burst) VALUES ('acme', ?, ?, ?, ?, ?)"
        connection.execute(put, ("rows", "", "0/s", None, None))
        connection.execute(put, ("rows", "NO_SUCH_SERVICE", "5/s", None, None))
        connection.execute(put, ("create", "MAIN", "garbage", None, None))
        connection.execute(put, ("create", "", "5/s", "no_such_algorithm", None))
        connection.execute(put, ("no-such-limit", "MAIN", "5/s", None, None))
    connection.close()
    response = as_partner(gateway)
    assert response.status == 200 and limit_of(response) == "5"
    errors = eventually(lambda: gateway.errors() if "no-such-limit" in gateway.errors() else None)
    for name in ("NO_SUCH_SERVICE", "garbage", "no_such_algorithm", "no-such-limit", "left out"):
        assert name in errors, name


def test_a_database_that_lacks_the_tables_is_told_and_traffic_goes_on(launch, origin, mariadb):
    mariadb.clear()
    gateway = launch(origin, callers=CALLERS, limits=[ROWS],
                     policies={"sql": {"url": mariadb.url}, "budget": "300ms"})
    assert as_partner(gateway).status == 200
    eventually(lambda: "policies migrate" in gateway.errors(), what="a hint")


def test_a_reload_keeps_policies_and_counters(launch_with, tmp_path):
    policies, gateway = launch_with(f"sqlite:{tmp_path}/policies.db")
    policies("partners", "put", "acme")
    policies.limit("acme", "5/day")
    for _ in range(3):
        assert as_partner(gateway).status == 200
    gateway.config["limits"] = [{"name": "first", "per": ["address"], "rate": "1000/s"}, CREATE, ROWS]
    gateway.reload()
    assert as_partner(gateway).status == 200
    assert as_partner(gateway).status == 200
    assert as_partner(gateway).status == 429


def test_rates_from_policies_need_a_database_and_a_partner(binary, tmp_path):
    file = tmp_path / "weir.yaml"
    config = {"listeners": [{"address": f"127.0.0.1:{free_port()}"}], "upstreams": {"u": {"url": "http://127.0.0.1:9"}},
              "services": {"MAIN": {"upstream": "u"}}, "callers": CALLERS,
              "limits": [{"name": "a", "per": ["address"], "rate": "policies", "burst": 5}]}
    file.write_text(json.dumps(config))
    done = subprocess.run([binary, "check", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 78
    for words in ("needs a database", "`per` must name 'partner'", "'burst' has no meaning"):
        assert words in done.stderr, done.stderr
