# SPDX-License-Identifier: Apache-2.0
"""Accounts in Redis seen from outside: weir inspect and weir reset."""

import json
import subprocess

import pytest

from harness import RedisCluster, RedisServer, eventually, free_port
from harness.gateway import configuration

CALLERS = [{"header": {"name": "X-Partner", "attribute": "partner", "from": "anyone"}}]
DONE, FAILED, WRONG_USAGE, UNUSABLE = 0, 1, 2, 78


def limit(name="all", **more):
    return {"name": name, "per": ["partner", "service"], "rate": "5/h", **more}


def settings(redis, *limits, **more):
    urls = redis.urls if hasattr(redis, "urls") else [redis.url]
    store = {"redis": {"urls": urls, "budget": "500ms", **more.pop("store", {})}}
    return {"callers": CALLERS, "limits": list(limits), "store": store, **more}


@pytest.fixture
def redis():
    with RedisServer() as server:
        yield server


@pytest.fixture
def tool(binary, tmp_path):
    """tool(command, gateway or configuration, *words): what the command did."""

    def run(command, config, *words):
        file = getattr(config, "file", tmp_path / "tool.yaml")
        if isinstance(config, dict):
            whole = configuration("http://127.0.0.1:9", listeners=[{"address": "127.0.0.1:1"}], **config)
            file.write_text(json.dumps(whole))
        return subprocess.run([binary, command, str(file), *words], capture_output=True, text=True, timeout=20,
                              check=False, stdin=subprocess.DEVNULL)

    return run


@pytest.fixture
def look(tool):
    """The object that inspect prints."""

    def run(config, account):
        done = tool("inspect", config, account, "--json")
        assert done.returncode == DONE, done
        return json.loads(done.stdout)

    return run


def limits_of(seen):
    return {one["limit"]: one for group in seen["groups"] for one in group["limits"]}


def ask(gateway, partner="acme", method="GET", target="/x"):
    return gateway.ask(method, target, {"X-Partner": partner})


ALGORITHMS = [
    limit("bucket", burst=9),
    limit("quick", rate="8000/s"),
    limit("fixed", algorithm="fixed_window"),
    limit("jittered", algorithm="fixed_window", jitter=True),
    limit("sliding", algorithm="sliding_window"),
    limit("log", algorithm="sliding_log"),
    limit("leaky", algorithm="leaky_bucket", rate="5000/s", queue=20),
    limit("month", algorithm="calendar", rate="100/month"),
    {"name": "places", "per": ["partner", "service"], "algorithm": "concurrency", "max": 3},
]


def test_what_a_gateway_took_is_shown_for_every_algorithm(redis, launch, origin, look):
    gateway = launch(origin, **settings(redis, *ALGORITHMS))
    for _ in range(2):
        assert ask(gateway).status == 200
    eventually(lambda: limits_of(look(gateway, "acme,MAIN"))["places"]["used"] == 0, what="the end of the requests")
    seen = look(gateway, "acme,MAIN")
    assert seen["account"] == "weir:{acme,MAIN}" and seen["exists"] and seen["expires_after_ms"] > 0
    assert [group["per"] for group in seen["groups"]] == [["partner", "service"]] and seen["others"] == []
    counted = limits_of(seen)
    used = {name: (one["used"], one["remaining"]) for name, one in counted.items()}
    hourly = {name: (2, 3) for name in ("fixed", "jittered", "sliding", "log")}
    assert used == {**hourly, "bucket": (2, 7), "quick": (0, 8000), "leaky": (0, 21), "month": (2, 98), "places": (0, 3)}
    assert not any(one["other_numbers"] or one["never_used"] or one["shadow"] for one in counted.values())
    assert 0 < counted["bucket"]["full_after_ms"] <= 2 * 720_000
    assert counted["bucket"]["numbers"] == "5/h, burst 9" and counted["bucket"]["algorithm"] == "token_bucket"
    assert counted["month"]["numbers"] == "100/month in UTC"
    assert counted["places"]["numbers"] == "max 3, lease 30s"
    assert counted["leaky"]["algorithm"] == "leaky_bucket"


def test_looking_changes_nothing(redis, launch, origin, look):
    gateway = launch(origin, **settings(redis, *ALGORITHMS))
    assert ask(gateway).status == 200
    key = "weir:{acme,MAIN}"
    eventually(lambda: limits_of(look(gateway, "acme,MAIN"))["places"]["used"] == 0, what="the end of the request")
    with redis.client() as client:
        before = [client.command("GET", key), sorted(client.command("KEYS", "*"))]
        look(gateway, "acme,MAIN")
        look(gateway, "nobody,MAIN")
        assert [client.command("GET", key), sorted(client.command("KEYS", "*"))] == before


def test_what_is_shown_is_what_the_next_request_is_told(redis, launch, origin, look):
    gateway = launch(origin, **settings(redis, limit(rate="50/h")))
    for _ in range(3):
        remaining = int(ask(gateway).fields.get("X-RateLimit-Remaining"))
        assert limits_of(look(gateway, "acme,MAIN"))["all"]["remaining"] == remaining


def test_a_reset_account_is_admitted_again(redis, launch, origin, tool, look):
    gateway = launch(origin, **settings(redis, limit(), limit("log", algorithm="sliding_log")))
    assert [ask(gateway).status for _ in range(6)] == [200] * 5 + [429]
    assert ask(gateway, "other").status == 200
    done = tool("reset", gateway, "acme,MAIN")
    assert done.returncode == DONE and done.stdout == "weir:{acme,MAIN}: deleted, with 1 list\n", done
    assert redis.command("KEYS", "*acme*") == []
    assert look(gateway, "other,MAIN")["exists"]
    eventually(lambda: ask(gateway).status == 200, 2, what="the news")
    assert limits_of(look(gateway, "acme,MAIN"))["log"]["used"] == 1


def test_an_account_that_was_never_used(redis, tool, look):
    places = {"name": "places", "per": ["partner", "service"], "algorithm": "concurrency", "max": 3}
    config = settings(redis, limit(burst=7), places)
    seen = look(config, "nobody,MAIN")
    assert not seen["exists"] and seen["expires_after_ms"] is None
    counted = limits_of(seen)
    assert all(one["never_used"] and one["used"] == 0 for one in counted.values())
    assert counted["all"]["remaining"] == 7 and counted["places"]["remaining"] == 3
    done = tool("reset", config, "nobody,MAIN")
    assert done.returncode == DONE and done.stdout == "weir:{nobody,MAIN}: was not there\n", done


def test_the_text_has_a_line_for_each_limit(redis, launch, origin, tool):
    gateway = launch(origin, **settings(redis, limit(burst=9), limit("seen", mode="shadow")))
    assert ask(gateway).status == 200
    done = tool("inspect", gateway, "acme,MAIN")
    assert done.returncode == DONE and not done.stderr, done
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["account", "weir:{acme,MAIN}"] and lines[1][:2] == ["expires", "in"]
    assert ["per", "partner,", "service"] in lines
    assert ["LIMIT", "ALGORITHM", "NUMBERS", "USED", "REMAINING", "FULL", "IN"] in lines
    rows = {line[0]: line for line in lines if line}
    assert rows["all"][1:7] == ["token_bucket", "5/h,", "burst", "9", "1", "8"]
    assert rows["seen"][-1] == "shadow"


def test_kinds_with_as_many_values_are_shown_by_what_they_count(redis, launch, origin, look):
    config = settings(redis, limit("partners", per=["partner"]), limit("services", per=["service"]),
                      limit("pairs"), limit("header", per=["header:X-Partner"]))
    gateway = launch(origin, **config)
    assert ask(gateway, "MAIN").status == 200
    seen = look(gateway, "MAIN")
    assert [group["per"] for group in seen["groups"]] == [["partner"], ["service"], ["header:X-Partner"]]
    assert {name: one["used"] for name, one in limits_of(seen).items()} == {"partners": 1, "services": 1, "header": 1}


def test_endpoints_and_methods_are_told_apart(redis, launch, origin, look):
    config = settings(redis, limit("spread", per=["partner", "endpoint", "method"], match=["* /a", "GET /b/{id}"]))
    gateway = launch(origin, **config)
    for method, target in (("GET", "/a"), ("POST", "/a"), ("POST", "/a"), ("GET", "/b/1")):
        assert ask(gateway, method=method, target=target).status == 200
    (group,) = look(gateway, "acme")["groups"]
    counted = {(one["endpoint"], one["method"]): one["used"] for one in group["limits"]}
    assert counted == {("* /a", "GET"): 1, ("* /a", "POST"): 2, ("GET /b/{id}", "GET"): 1}
    (group,) = look(gateway, "nobody")["groups"]
    assert [(one["limit"], one["never_used"]) for one in group["limits"]] == [("spread", True)]


def test_other_numbers_and_slots_of_no_limit_are_said(redis, launch, origin, look):
    gateway = launch(origin, **settings(redis, limit("changed"), limit("gone", burst=8),
                                        limit("old", algorithm="sliding_log")))
    assert ask(gateway).status == 200
    seen = look(settings(redis, limit("changed", rate="10/h")), "acme,MAIN")
    changed = limits_of(seen)["changed"]
    assert changed["other_numbers"] and (changed["used"], changed["remaining"]) == (1, 9)
    bucket, log = sorted(seen["others"], key=lambda one: one["algorithm"], reverse=True)
    assert bucket["algorithm"] == "token_bucket" and bucket["numbers"] == "1/12min, burst 8"
    assert (bucket["used"], bucket["remaining"]) == (1, 7)
    assert log["algorithm"] == "sliding_log" and "used" not in log
    assert len(log["slot"]) == 8


def test_the_variant_that_wrote_is_shown(redis, launch, origin, look):
    by = {"partner": {"acme": "30/h"}}
    gateway = launch(origin, **settings(redis, limit(by=by)))
    assert ask(gateway).status == 200
    counted = limits_of(look(gateway, "acme,MAIN"))["all"]
    assert counted["numbers"] == "30/h, burst 30" and counted["remaining"] == 29 and not counted["other_numbers"]


@pytest.mark.parametrize("partner, account", [
    ("a,b", "a\\,b,MAIN"), ("a{b}c", "a\\(b\\)c,MAIN"), ("a\\b", "a\\\\b,MAIN"), ("x\\", "x\\\\,MAIN"),
])
def test_values_are_escaped_and_the_whole_key_will_do(redis, launch, origin, tool, look, partner, account):
    gateway = launch(origin, **settings(redis, limit("jittered", algorithm="fixed_window", jitter=True)))
    assert ask(gateway, partner).status == 200
    (key,) = redis.command("KEYS", "*")
    assert key == f"weir:{{{account}}}"
    for name in (account, key):
        seen = look(gateway, name)
        counted = limits_of(seen)["jittered"]
        assert seen["account"] == key and counted["used"] == 1 and not counted["other_numbers"]
    assert tool("reset", gateway, key).stdout == f"{key}: deleted\n"


def test_a_value_that_is_missing(redis, launch, origin, look):
    gateway = launch(origin, **settings(redis, limit(missing="share")))
    assert gateway.ask("GET", "/x").status == 200
    assert limits_of(look(gateway, "\\-,MAIN"))["all"]["used"] == 1


def test_limits_of_everybody_are_the_account_without_values(redis, launch, origin, look):
    gateway = launch(origin, **settings(redis, limit(per=["endpoint"], match=["GET /x"])))
    assert ask(gateway).status == 200
    assert limits_of(look(gateway, ""))["all"]["used"] == 1


def test_a_prefix_and_a_database_are_heeded(redis, launch, origin, tool, look):
    config = settings(redis, limit(), store={"urls": [redis.url + "/3"], "prefix": "shop"})
    gateway = launch(origin, **config)
    assert ask(gateway).status == 200
    assert look(gateway, "acme,MAIN")["account"] == "shop:{acme,MAIN}"
    assert limits_of(look(gateway, "shop:{acme,MAIN}"))["all"]["used"] == 1


def test_no_limit_counts_by_so_many_values(redis, tool):
    done = tool("inspect", settings(redis, limit()), "a,b,c")
    assert done.returncode == DONE and "no limit of this configuration counts by so many values" in done.stdout, done


def test_a_cluster_is_followed_to_whoever_has_the_account(launch, origin, tool, look):
    with RedisCluster() as cluster:
        gateway = launch(origin, **settings(cluster, limit(), limit("log", algorithm="sliding_log")))
        names = [f"partner{number}" for number in range(6)]
        for name in names:
            eventually(lambda name=name: ask(gateway, name).status == 200, what="an answer")
        one_seed = settings(cluster.nodes[0], limit(), limit("log", algorithm="sliding_log"))
        assert len({cluster.node_of(f"weir:{{{name},MAIN}}").port for name in names}) > 1
        for name in names:
            assert limits_of(look(one_seed, f"{name},MAIN"))["log"]["used"] == 1
            assert "deleted, with 1 list" in tool("reset", one_seed, f"{name},MAIN").stdout
            assert not look(one_seed, f"{name},MAIN")["exists"]


def test_tls_and_credentials_are_those_of_the_gateway(launch, origin, look, tool):
    with RedisServer(tls="server", user=("weir", "secret")) as server:
        tls = {"tls": {"ca": str(server.certificates.file("authority.crt"))}}
        gateway = launch(origin, **settings(server, limit(), store=tls))
        eventually(lambda: ask(gateway).fields.get("X-RateLimit-Remaining") is not None, what="a limited answer")
        assert limits_of(look(gateway, "acme,MAIN"))["all"]["used"] >= 1
        wrong = settings(server, limit(), store={"urls": [server.url.replace("secret", "guessed")], **tls})
        done = tool("inspect", wrong, "acme,MAIN")
        assert done.returncode == FAILED and "WRONGPASS" in done.stderr and "guessed" not in done.stderr, done


@pytest.mark.parametrize("command", ["inspect", "reset"])
def test_a_store_that_is_away_is_named(tool, command):
    port = free_port()
    config = settings(type("Away", (), {"url": f"redis://:secret@127.0.0.1:{port}"}), limit())
    done = tool(command, config, "acme,MAIN")
    assert done.returncode == FAILED and not done.stdout, done
    assert "Connection refused" in done.stderr
    assert f"the store at redis://127.0.0.1:{port}: it cannot be reached" in done.stderr and "secret" not in done.stderr, done


@pytest.mark.parametrize("command", ["inspect", "reset"])
def test_a_store_that_is_silent_is_not_waited_for_long(redis, tool, command):
    redis.stop()
    try:
        done = tool(command, settings(redis, limit()), "acme,MAIN")
    finally:
        redis.cont()
    assert done.returncode == FAILED and "no usable answer within 3000 ms" in done.stderr, done


@pytest.mark.parametrize("command", ["inspect", "reset"])
def test_a_key_of_somebody_else_is_no_account(redis, tool, command):
    redis.command("RPUSH", "weir:{acme,MAIN}", "x")
    done = tool(command, settings(redis, limit()), "acme,MAIN")
    assert done.returncode == FAILED and "WRONGTYPE" in done.stderr, done


@pytest.mark.parametrize("command", ["inspect", "reset"])
def test_wrong_usage(redis, tool, command, tmp_path):
    (tmp_path / "tool.yaml").write_text("servises: {}\n")
    assert tool(command, None).returncode == WRONG_USAGE
    assert tool(command, None, "acme", "more").returncode == WRONG_USAGE
    assert tool(command, None, "acme,MAIN").returncode == UNUSABLE
    memory = settings(redis, limit())
    del memory["store"]
    done = tool(command, memory, "acme,MAIN")
    assert done.returncode == WRONG_USAGE and "store.redis" in done.stderr, done
    for name in ("a{b", "a\\x", "a\\", "other:{acme}"):
        done = tool(command, settings(redis, limit()), name)
        assert done.returncode == WRONG_USAGE and "not an account" in done.stderr, done
