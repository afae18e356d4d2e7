# SPDX-License-Identifier: Apache-2.0
"""weir explain: what it says of a request is what a running gateway then does with it."""

import json
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from harness import RedisServer, eventually, free_port
from harness.gateway import configuration

DONE, WRONG_USAGE, UNUSABLE = 0, 2, 78
HIDDEN = "(not shown)"
SECRET = "sup3r-secret-key-of-acme"
CALLERS = [
    {"api_key": {"header": "X-Api-Key"}},
    {"header": {"name": "X-Partner", "attribute": "partner", "from": "anyone"}},
    {"header": {"name": "X-User", "attribute": "user"}},
]
PROXIES = ["10.0.0.0/8"]
KEYS = [{"key": SECRET, "partner": "acme", "plan": "gold"}, {"key": "key-of-other", "partner": "other"}]


@pytest.fixture(scope="module")
def redis():
    with RedisServer() as server:
        yield server


@pytest.fixture
def run(binary, tmp_path):
    """run(gateway or configuration, request, fields, *words): what the command did."""

    def start(config, request, fields=None, *words):
        file = getattr(config, "file", tmp_path / "explain.yaml")
        if isinstance(config, dict):
            whole = configuration("http://127.0.0.1:9", listeners=[{"address": "127.0.0.1:1"}], **config)
            file.write_text(json.dumps(whole))
        headers = [word for name, value in (fields or {}).items() for word in ("-H", f"{name}: {value}")]
        return subprocess.run([binary, "explain", str(file), request, *headers, *words], capture_output=True, text=True,
                              timeout=30, check=False, stdin=subprocess.DEVNULL)

    return start


@pytest.fixture
def explain(run):
    """The object that it prints."""

    def ask(config, request, fields=None, *words):
        done = run(config, request, fields, *words, "--json")
        assert done.returncode == DONE, done
        assert SECRET not in done.stdout + done.stderr
        return json.loads(done.stdout)

    return ask


def limits_of(seen):
    return {one["limit"]: one for one in seen["limits"]}


def attributes_of(seen):
    return {one["name"]: one for one in seen["attributes"]}


def fields_of(seen):
    return {one["name"]: one["value"] for one in seen["answer"]["fields"]}


def memory(*limits, **more):
    return {"callers": CALLERS, "keys": KEYS, "limits": list(limits), "admin": "off", "trusted_proxies": PROXIES, **more}


def per_partner(name="all", **more):
    return {"name": name, "per": ["partner", "service"], "rate": "5/h", **more}


LIMITS = [
    per_partner(by={"plan": {"gold": "7/h"}}),
    per_partner("create", match=["POST /products"], rate="3/h"),
    per_partner("costly", rate="100/h", cost={"header": "X-Cost", "default": 2, "max": 50}),
    per_partner("watched", rate="2/h", mode="shadow"),
    {"name": "window", "per": ["user"], "algorithm": "fixed_window", "rate": "4/h"},
    {"name": "sliding", "per": ["partner"], "algorithm": "sliding_window", "rate": "40/h"},
    {"name": "log", "per": ["partner"], "algorithm": "sliding_log", "rate": "60/h"},
    {"name": "anonymous", "per": ["address"], "rate": "4/h", "only_if": {"missing": ["partner"]}},
    {"name": "required", "per": ["query:tenant"], "match": ["GET /tenants"], "rate": "9/h", "missing": "refuse"},
    {"name": "spread", "per": ["partner", "endpoint", "method"], "match": ["GET /a", "* /b"], "rate": "8/h"},
]
KEY = {"X-Api-Key": SECRET}
# Request, fields: each is explained and then asked, one after the other.
TABLE = [
    ("GET /", KEY), ("GET /", KEY), ("POST /products", KEY), ("POST /products", KEY),
    ("GET /", {"X-Api-Key": "key-of-other", "X-Cost": "20"}), ("GET /", {"X-Api-Key": "key-of-other", "X-Cost": "99"}),
    ("GET /", {"X-Api-Key": "key-of-other", "X-Cost": "60"}), ("GET /", {}), ("GET /", {}),
    ("GET /a", {"X-Partner": "p"}), ("PUT /b", {"X-Partner": "p"}), ("PUT /b?x=1", {"X-Partner": "p"}),
    ("GET /tenants", {"X-Partner": "p"}), ("GET /tenants?tenant=t", {"X-Partner": "p"}),
    ("POST /products", KEY), ("POST /products", KEY), ("GET /", KEY), ("GET /", KEY), ("GET /", KEY),
    ("GET /", {"X-Api-Key": "nobody's"}), ("GET /", {"X-Api-Key": "x" * 300}), ("TRACE /", {}), ("GET /a%2f..%2fb", {}),
    ("GET /%00", {}), ("GET /", {"X-Internal": "yes", **KEY}), ("GET /", {}), ("GET /", {}), ("GET /", {}),
    ("GET /elsewhere", {"Host": "other.example", **KEY}), ("GET /", {"Via": ", ".join(["1.1 weir"] * 30)}),
]


def number(field, parameter):
    return int(field.split(parameter + "=")[1].split(";")[0].split(",")[0]) if parameter + "=" in field else None


def compare(seen, told, request):
    """The answer that was explained and the one that was given, but for the second that passed between them."""
    answer, fields = seen["answer"], fields_of(seen)
    assert answer["status"] in (told.status, None), (request, answer, told)
    assert (answer["action"] == "forward") == (told.status == 200), (request, answer)
    assert answer["certain"], (request, seen["counters"])
    for name in ("RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "WWW-Authenticate", "Allow"):
        assert fields.get(name) == told.fields.get(name), (request, name, answer)
    for name in ("Retry-After", "X-RateLimit-Reset"):
        assert (name in fields) == (told.fields.get(name) is not None), (request, name, answer)
        if name in fields:
            assert abs(int(fields[name]) - int(told.fields.get(name))) <= 2, (request, name, answer)
    if "RateLimit" in fields:
        mine, theirs = fields["RateLimit"], told.fields.get("RateLimit")
        assert [one.split(";t=")[0] for one in mine.split(", ")] == [one.split(";t=")[0] for one in theirs.split(", ")]
        if number(theirs, "t") is not None:
            assert abs(number(mine, "t") - number(theirs, "t")) <= 2, (request, mine, theirs)
    if told.status != 200:
        body = json.loads(told.body)
        assert answer["code"] == body["code"], (request, answer)
        assert answer["body"] is None or answer["body"].get("violated-policies") == body.get("violated-policies")


def ask(gateway, request, fields):
    method, _, target = request.partition(" ")
    return gateway.ask(method, target, fields)


@pytest.mark.parametrize("store", ["redis", "memory"])
def test_what_is_explained_is_what_then_happens(redis, launch, origin, explain, store):
    shared = {"redis": {"urls": [redis.url], "prefix": "table", "budget": "1s"}}
    gateway = launch(origin, callers=CALLERS, keys=KEYS, limits=LIMITS, trusted_proxies=PROXIES,
                     bypass=[{"header": {"X-Internal": "yes"}, "from": "anyone"}],
                     services={"MAIN": {"upstream": "main", "paths": ["/"]}},
                     store=shared if store == "redis" else {"memory": {"max_accounts": 1000}})
    statuses = set()
    for request, fields in TABLE:
        seen = explain(gateway, request, fields)
        told = ask(gateway, request, fields)
        statuses.add(told.status)
        compare(seen, told, request)
        binding = seen["answer"]["binding"]
        if told.status == 429:
            assert json.loads(told.body)["violated-policies"][0] == binding
        assert [one["limit"] for one in seen["limits"]] == [one["name"] for one in LIMITS]
    assert statuses == {200, 400, 401, 403, 405, 429, 508}


def test_explaining_takes_nothing(redis, launch, origin, explain):
    gateway = launch(origin, callers=CALLERS, keys=KEYS, limits=LIMITS, trusted_proxies=PROXIES,
                     store={"redis": {"urls": [redis.url], "prefix": "nothing", "budget": "1s"}})
    assert ask(gateway, "POST /products", KEY).status == 200
    before = {key: redis.command("DUMP", key) for key in redis.command("KEYS", "nothing*")}
    for _ in range(3):
        assert explain(gateway, "POST /products", KEY)["answer"]["action"] == "forward"
    assert {key: redis.command("DUMP", key) for key in redis.command("KEYS", "nothing*")} == before


def test_accounts_are_named_as_inspect_takes_them(redis, launch, origin, explain, binary):
    gateway = launch(origin, callers=CALLERS, keys=KEYS, limits=LIMITS, trusted_proxies=PROXIES,
                     store={"redis": {"urls": [redis.url], "prefix": "named", "budget": "1s"}})
    fields = {"X-Partner": "a,b{c}"}
    assert ask(gateway, "GET /", fields).status == 200
    one = limits_of(explain(gateway, "GET /", fields))["all"]
    assert one["account"] == "a\\,b\\(c\\),MAIN" and one["key"] == "named:{a\\,b\\(c\\),MAIN}"
    for account in (one["account"], one["key"]):
        done = subprocess.run([binary, "inspect", str(gateway.file), account, "--json"], capture_output=True, text=True,
                              timeout=20, check=True)
        seen = limits_of(json.loads(done.stdout)["groups"][0])["all"]
        assert (seen["used"], seen["remaining"]) == (one["state"]["used"], one["state"]["remaining"]) == (1, 4)


def test_every_limit_says_why_it_applies_or_not(explain):
    config = memory(*LIMITS, {"name": "elsewhere", "per": ["partner"], "services": ["OTHER"], "rate": "1/s"},
                    {"name": "lifted", "per": ["partner"], "rate": "1/s", "by": {"plan": {"gold": "unlimited"}}},
                    services={"MAIN": {"upstream": "main"}, "OTHER": {"upstream": "main", "paths": ["/other"]}})
    seen = limits_of(explain(config, "GET /", KEY))
    reasons = {name: one["reason"] for name, one in seen.items()}
    assert reasons == {"all": "charged", "create": "other_endpoint", "costly": "charged", "watched": "charged",
                       "window": "attribute_missing", "sliding": "charged", "log": "charged",
                       "anonymous": "attribute_there", "required": "other_endpoint", "spread": "other_endpoint",
                       "elsewhere": "other_service", "lifted": "unlimited"}
    assert seen["all"]["numbers"] == "7/h, burst 7" and seen["all"]["numbers_from"] == "`by` plan: gold"
    assert seen["costly"]["cost"] == 2 and seen["costly"]["cost_from"] == "header X-Cost"
    assert seen["watched"]["shadow"] and not seen["watched"]["binds"]
    assert "user" in seen["window"]["text"] and "POST /products" in seen["create"]["text"]
    assert "partner" in seen["anonymous"]["text"] and "OTHER" in seen["elsewhere"]["text"]
    refused = explain(config, "GET /tenants", KEY)
    assert limits_of(refused)["required"]["reason"] == "attribute_missing_refused"
    assert refused["answer"]["code"] == "attribute-missing" and refused["answer"]["status"] == 403


def test_where_attributes_came_from(explain):
    config = memory(per_partner(), {"name": "u", "per": ["user"], "rate": "1/s"},
                    {"name": "h", "per": ["header:X-Tenant", "query:q", "cookie:c"], "rate": "1/s"},
                    trusted_proxies=["127.0.0.1", "10.0.0.0/8"])
    fields = {"X-Api-Key": SECRET, "X-User": "u1", "X-Partner": "ignored", "X-Tenant": "t", "Cookie": "c=3",
              "X-Forwarded-For": "192.0.2.9"}
    seen = explain(config, "GET /?q=2", fields)
    found = {name: (one["value"], one["source"]) for name, one in attributes_of(seen).items() if name != "key"}
    assert found == {"partner": ("acme", "key"), "plan": ("gold", "key"), "user": ("u1", "header"),
                     "address": ("192.0.2.9", "proxy"), "header:X-Tenant": ("t", "header"), 
                     "query:q": (HIDDEN, "query"), "cookie:c": (HIDDEN, "cookie")}
    assert any("X-Partner" in note for note in seen["notes"])
    stranger = explain(config, "GET /", fields, "--from", "198.51.100.7")
    known = attributes_of(stranger)
    assert known["address"]["value"] == "198.51.100.7" and known["address"]["source"] == "connection"
    assert known["user"]["value"] is None and "trusted prox" in known["user"]["text"]
    assert any("X-User" in note for note in stranger["notes"]) and any("X-Forwarded-For" in n for n in stranger["notes"])
    assert attributes_of(explain(config, "GET /", {}, "--from", "unix"))["address"]["value"] == "unix"


def test_bypass_says_which_entry(explain):
    config = memory(per_partner(), bypass=[{"header": {"X-Internal": "s3same"}, "from": "anyone"},
                                           {"address": ["192.0.2.0/24"]}])
    seen = explain(config, "GET /", {"X-Internal": "s3same", **KEY})
    assert "X-Internal" in seen["bypass"] and "s3same" not in json.dumps(seen)
    assert limits_of(seen)["all"]["reason"] == "bypassed" and seen["answer"]["action"] == "forward"
    assert "entry 2" in explain(config, "GET /", {}, "--from", "192.0.2.77")["bypass"]


@pytest.mark.parametrize("request_, fields, words, status, code", [
    ("GET /", {"X-Api-Key": "wrong"}, (), 401, "unknown-key"),
    ("GET /nowhere", {"Host": "nobody.example"}, (), 404, "no-route"),
    ("POST /a%2fb", {}, (), 400, "ambiguous-path"),
    ("GET /..%00", {}, (), 400, "bad-path"),
    ("TRACE /", {}, (), 405, "method-not-allowed"),
    ("POST /", {}, ("--body-size", "2000"), 413, "body-too-large"),
    ("GET /", {"Host": "a b"}, (), 400, "bad-host"),
    ("GET /", {"X-Partner": "a", "x-partner": "b"}, (), 400, "identity-twice"),
])
def test_answers_of_the_gateway_itself(explain, request_, fields, words, status, code):
    services = {"MAIN": {"upstream": "main", "hosts": ["shop.example"], "max_body": "1KiB"}}
    config = memory(per_partner("create", match=["POST /a/b"]), per_partner(), services=services)
    seen = explain(config, request_, fields, *words)
    assert (seen["answer"]["status"], seen["answer"]["code"]) == (status, code)
    assert all(one["reason"] == "not_reached" for one in seen["limits"])
    assert seen["request"]["host"] in ("shop.example", fields.get("Host"), "")
    assert SECRET not in json.dumps(seen)


def test_without_a_gateway_accounts_are_taken_to_be_full(explain, run):
    nobody = {**memory(per_partner()), "admin": {"address": f"127.0.0.1:{free_port()}"}}
    for config in (memory(per_partner()), nobody):
        seen = explain(config, "GET /", KEY)
        assert seen["counters"]["source"] == "none" and not seen["answer"]["certain"]
        state = limits_of(seen)["all"]["state"]
        assert not state["known"] and (state["used"], state["remaining"], state["admits"]) == (0, 5, True)
        assert fields_of(seen)["X-RateLimit-Remaining"] == "4"
    assert "no gateway answers" in run(nobody, "GET /", KEY).stdout


def away(failure, **more):
    store = {"redis": {"urls": [f"redis://127.0.0.1:{free_port()}"]}}
    cost = {"header": "X-Cost", "default": 1, "max": 50}
    limits = [per_partner(rate="4/h", cost=cost, on_store_failure=failure), per_partner("watched", mode="shadow")]
    return {**memory(*limits, **more), "store": {**store, "gateways": 4}}


@pytest.mark.parametrize("failure, cost, action, code", [
    ("open", 1, "forward", None), ("open", 9, "forward", None), ("closed", 1, "problem", "limits-unavailable"),
    ("local", 2, "refuse", "quota-exceeded"), ("local", 9, "refuse", "quota-exceeded"), ("local", 1, "forward", None)])
def test_while_redis_is_away_what_the_gateway_would_do_is_told(launch, origin, explain, run, failure, cost, action, code):
    gateway = launch(origin, **{key: value for key, value in away(failure).items() if key != "admin"})
    fields = {**KEY, "X-Cost": str(cost)}
    seen, text = explain(gateway, "GET /", fields), run(gateway, "GET /", fields).stdout
    assert (seen["answer"]["action"], seen["answer"]["code"]) == (action, code)
    assert seen["counters"]["source"] == "none" and "127.0.0.1" in seen["counters"]["text"]
    assert not seen["answer"]["certain"]
    compare({**seen, "answer": {**seen["answer"], "certain": True}}, ask(gateway, "GET /", fields), failure)
    limit, watched = limits_of(seen)["all"], limits_of(seen)["watched"]
    assert limit["on_store_failure"] == failure and watched["on_store_failure"] == "nothing"
    assert limit["counts"] == (failure == "local" and action == "forward") and not watched["counts"]
    if failure == "local":
        state = {"known": False, "used": 0, "remaining": 1, "full_after_ms": 0, "admits": cost == 1,
                 "retry_after_ms": 0 if cost == 1 else None}
        assert limit["state"] == state and "the gateway's own share, never used, has 1 remaining" in text
        assert (seen["answer"]["binding"], limit["binds"]) == ("all", True)
        assert fields_of(seen)["X-RateLimit-Remaining"] == ("0" if cost == 1 else "1")
    else:
        assert limit["state"] is None and f"(on_store_failure: {failure})" in limit["text"]


def test_a_limit_that_another_one_keeps_from_counting_says_so(explain, run):
    wide, narrow = per_partner("wide"), {"name": "narrow", "per": ["partner", "service", "user"], "rate": "0/s"}
    shadow = per_partner("watched", mode="shadow")
    config = memory(wide, narrow, shadow, trusted_proxies=["127.0.0.1"])
    seen = limits_of(explain(config, "GET /", {**KEY, "X-User": "u"}))
    why = "limit narrow refuses the request"
    assert seen["narrow"]["text"] == "it refuses the request" and seen["narrow"]["binds"]
    assert seen["wide"]["text"] == f"it applies, but counts nothing: {why}" and seen["wide"]["state"]["admits"]
    assert seen["watched"]["text"] == f"it only watches (shadow), and is not asked: {why}"
    assert not any(one["counts"] for one in seen.values())
    assert all(one["counts"] for one in limits_of(explain(config, "GET /", KEY)).values() if one["applies"])
    missing = {"name": "required", "per": ["query:t"], "rate": "1/s", "missing": "refuse"}
    seen = limits_of(explain(memory(wide, missing), "GET /", KEY))
    assert seen["wide"]["text"].endswith("the request is answered with 403 attribute-missing")
    assert "it counts the request" not in run(memory(wide, missing), "GET /", KEY).stdout


@pytest.mark.parametrize("store", ["redis", "memory"])
def test_no_credential_is_printed_anywhere(explain, run, store):
    shared = {"redis": {"urls": [f"redis://127.0.0.1:{free_port()}"]}} if store == "redis" else {"memory": {}}
    names = ["header:Authorization", "header:Proxy-Authorization", "header:Cookie", "cookie:session", "query:key",
             "header:X-Api-Key", "header:X-Role"]
    limits = [{"name": f"l{i}", "per": ["partner", name], "rate": "1/s"} for i, name in enumerate(names)]
    config = {**memory(*limits, {"name": "copy", "per": ["user"], "rate": "1/s"}, trusted_proxies=["127.0.0.1"],
                       bypass=[{"header": {"X-Role": "n0body"}, "from": "anyone"}]), "store": shared}
    fields = {"X-Api-Key": SECRET, "Authorization": "Basic c3cr3t-basic", "Proxy-Authorization": "c3cr3t-proxy",
              "Cookie": "session=c3cr3t-cookie", "X-Role": "c3cr3t-role", "X-User": SECRET}
    for request in ("GET /?key=c3cr3t-query", "GET http://c3cr3t-user:c3cr3t-word@localhost/?c3cr3t",
                    "GET /?key=c3cr3t-query two"):
        for words in ((), ("--json",)):
            done = run(config, request, fields, *words)
            assert done.returncode in (DONE, WRONG_USAGE) and done.stdout + done.stderr
            assert "c3cr3t" not in done.stdout + done.stderr and SECRET not in done.stdout + done.stderr
    seen = explain(config, "GET /?key=c3cr3t-query", fields)
    assert seen["request"]["target"] == f"/?{HIDDEN}"
    for i, name in enumerate(names):
        one = limits_of(seen)[f"l{i}"]
        assert one["account"] == f"acme,{HIDDEN}" and attributes_of(seen)[name]["value"] == HIDDEN
        assert one["key"] == (f"weir:{{acme,{HIDDEN}}}" if store == "redis" else None)
    assert limits_of(seen)["copy"]["account"] == HIDDEN


def test_what_strangers_write_does_not_command_a_terminal(binary, run, tmp_path):
    config = memory(per_partner())
    run(config, "GET /")
    file = str(tmp_path / "explain.yaml")
    for value in (b"\xff\xc3", b"\xc2\x9b31m", b"\xe2\x80\xae", b"a\tb"):
        for words in ([], ["--json"]):
            done = subprocess.run([binary, "explain", file, b"GET /", "-H", b"X-Partner: " + value, *words], timeout=30,
                                  capture_output=True, check=False, stdin=subprocess.DEVNULL)
            assert done.returncode == DONE and not done.stderr, done
            assert all(byte == 0x0a or 0x20 <= byte < 0x7f for byte in done.stdout), done.stdout
    done = subprocess.run([binary, "explain", file, "GET /", "--from", b"\x1b[2J\xff"], timeout=30, capture_output=True,
                          check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == WRONG_USAGE and b"\\x1b[2J\\xff" in done.stderr and b"\x1b" not in done.stderr


@pytest.mark.parametrize("body", [
    "", "[]", "{", "{}", '{"groups": [1]}', '{"groups": [{"per": ["partner", "service"], "limits": 1}]}',
    *('{"groups": [{"per": ["partner", "service"], "limits": [' + counter + "]}]}" for counter in (
        '{"limit": "all", "used": 1, "remaining": 4, "full_after_ms": 9223372036854775807}',
        '{"limit": "all", "used": 9223372036854775807, "remaining": 9223372036854775807, "full_after_ms": 1}',
        '{"limit": "all", "used": -9223372036854775808, "remaining": -1, "full_after_ms": 1}', "null"))])
def test_a_gateway_that_makes_no_sense_is_not_believed(explain, body):
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            client, _ = server.accept()
            with client:
                client.recv(65536)
                client.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

        thread = threading.Thread(target=serve)
        thread.start()
        admin = {"address": f"127.0.0.1:{server.getsockname()[1]}"}
        seen = explain({**memory(per_partner()), "admin": admin}, "GET /", KEY)
        thread.join()
    assert "counters cannot be read" in seen["counters"]["text"] and not seen["answer"]["certain"]
    assert not limits_of(seen)["all"]["state"]["known"]


@pytest.mark.parametrize("request_, fields", [
    ("OPTIONS *", {}), ("GET *", {}), ("TRACE /", {}), ("GET /", {"Host": "a b"}), ("GET /", {"Content-Length": "x"}),
    ("G@T /", {}), ("GET x", {}), ("GET /", {"X": "\x01"}), ("HEAD /%00", {}), ("GET /", {"Expect": "no"})])
def test_answers_without_a_service_are_those_of_the_gateway(launch, origin, explain, request_, fields):
    gateway = launch(origin, callers=CALLERS, keys=KEYS, limits=[per_partner()], trusted_proxies=PROXIES)
    seen = explain(gateway, request_, fields)["answer"]
    told = ask(gateway, request_, {"Host": "localhost", **fields})
    assert seen["status"] == (None if told.status == 200 else told.status)
    if told.status == 200:
        return
    kept = {one["name"]: one["value"] for one in seen["fields"]}
    assert kept.get("Allow") == told.fields.get("Allow")
    body = json.loads(told.body) if told.body else None
    if body is not None:
        body.pop("request_id", None)
    assert seen["body"] == body


def test_the_route_is_what_routing_has_read(explain, run):
    services = {"ALL": {"upstream": "main"}, "SHOP": {"upstream": "main", "hosts": ["shop.example", "other.example"],
                                                       "paths": ["/v1", "/v1/orders", "/a~b"]}}
    config = memory(per_partner(), services=services)
    for target, host, wanted in (("/v1//orders/%37", "SHOP.example.:8080", ("shop.example", "/v1/orders", "/v1/orders/7")),
                                 ("/x/../v1/ordersx", "other.example:80", ("other.example", "/v1", "/v1/ordersx")),
                                 ("/a%7eb/", "shop.example.", ("shop.example", "/a~b", "/a~b")),
                                 ("/v2/./%61", "shop.example", (None, "/", "/v2/a"))):
        route = explain(config, f"GET {target}", {"Host": host, **KEY})["route"]
        assert (route["host"], route["path"], route["read_as"]) == wanted, target
    assert "  read as    /v1/orders/7\n" in run(config, "GET /v1//orders/%37", {"Host": "shop.example"}).stdout
    assert "read as" not in run(config, "GET /v1/orders/7", {"Host": "shop.example"}).stdout


def test_a_database_that_never_answers_is_not_waited_for(explain):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"mysql://weir:word@127.0.0.1:{server.getsockname()[1]}/weir"
        policies = {"sql": {"url": url, "timeout": "3s"}, "budget": "1ms", "cache": {"snapshot": "off"}}
        limits = [{"name": "rows", "per": ["partner"], "rate": "policies"}]
        began = time.monotonic()
        seen = explain({**memory(*limits), "policies": policies}, "GET /", KEY)
        assert time.monotonic() - began < 15
    assert seen["policies"]["source"] == "away" and "has not answered within 1." in seen["policies"]["text"]
    assert limits_of(seen)["rows"]["reason"] == "rows_unknown"


class Database:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.section = {"sql": {"url": f"sqlite:{folder}/policies.db", "timeout": "1s"}, "budget": "500ms",
                        "cache": {"snapshot": f"{folder}/policies.snapshot"}}
        self.file = folder / "policies.yaml"

    def __call__(self, *words):
        at = 2 if words[0] in ("plans", "partners", "keys", "limits") else 1
        done = subprocess.run([self.binary, "policies", *words[:at], str(self.file), *words[at:]], timeout=60,
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done
        return done.stdout


ROWS = [{"name": "rows", "per": ["partner", "service"], "rate": "policies"},
        {"name": "create", "per": ["partner"], "rate": "policies", "match": ["POST /products"]}]


@pytest.fixture
def database(binary, tmp_path):
    one = Database(binary, tmp_path)
    one.file.write_text(json.dumps(configuration("http://127.0.0.1:9", listeners=[{"address": "127.0.0.1:1"}],
                                                 callers=CALLERS, trusted_proxies=PROXIES, limits=ROWS,
                                                 policies=one.section)))
    one("migrate")
    one("plans", "put", "gold")
    one("partners", "put", "acme", "--plan", "gold")
    one("partners", "put", "off", "--enabled", "false")
    one("partners", "put", "none")
    one("limits", "put", "--plan", "gold", "--limit", "rows", "--service", "MAIN", "--rate", "3/h")
    one("limits", "put", "--partner", "acme", "--limit", "create", "--endpoint", "POST /products", "--rate", "1/h",
        "--mode", "shadow")
    return one


@pytest.mark.parametrize("store", ["redis", "memory"])
def test_rows_and_keys_of_the_policies(redis, launch, origin, explain, database, store):
    key = json.loads(database("keys", "create", "--partner", "acme", "--id", "k1", "--json"))["key"]
    shared = {"redis": {"urls": [redis.url], "prefix": "rows", "budget": "1s"}}
    gateway = launch(origin, callers=CALLERS, trusted_proxies=PROXIES, limits=ROWS, policies=database.section,
                     store=shared if store == "redis" else {"memory": {"max_accounts": 1000}})
    for request in ("GET /", "POST /products", "POST /products", "GET /", "GET /"):
        seen = explain(gateway, request, {"X-Api-Key": key})
        assert key not in json.dumps(seen)
        compare(seen, ask(gateway, request, {"X-Api-Key": key}), request)
    found = attributes_of(seen)
    assert (found["partner"]["value"], found["partner"]["text"]) == ("acme", "the key in X-Api-Key (policies)")
    assert (found["plan"]["value"], found["plan"]["source"]) == ("gold", "policies")
    assert found["key"]["value"] == "k1" and seen["policies"]["source"] == "database"
    rows = limits_of(seen)["rows"]
    assert rows["numbers_from"] == "the row of plan gold for MAIN" and rows["numbers"] == "3/h, burst 3"
    created = limits_of(explain(gateway, "POST /products", {"X-Api-Key": key}))["create"]
    assert created["shadow"] and created["numbers_from"] == "the row of partner acme for POST /products"
    assert limits_of(explain(gateway, "GET /", {"X-Partner": "none"}))["rows"]["reason"] == "no_row"
    assert limits_of(explain(gateway, "GET /"))["rows"]["reason"] == "no_partner"
    assert explain(gateway, "GET /", {"X-Partner": "off"})["answer"]["code"] == "partner-disabled"
    database("keys", "put", "k1", "--expires", "2020-01-01T00:00:00Z")
    refused = explain(gateway, "GET /", {"X-Api-Key": key})["answer"]
    assert refused["code"] == "unknown-key" and "k1 of acme, which has expired" in refused["text"]


def test_why_an_attribute_is_absent_with_policies(explain, database, tmp_path):
    key = json.loads(database("keys", "create", "--partner", "none", "--id", "k1", "--json"))["key"]
    callers = [{"api_key": {"header": "X-First"}}, {"api_key": {"header": "X-Api-Key"}},
               {"header": {"name": "X-User", "attribute": "user", "from": "anyone"}}]
    section = {**database.section, "cache": {"snapshot": "off"}}
    config = {"callers": callers, "limits": [*ROWS, {"name": "u", "per": ["user", "plan"], "rate": "1/s"}],
              "policies": section, "admin": "off"}

    def texts(fields):
        seen = explain(config, "GET /", fields)
        return seen["answer"]["code"], {name: one["text"] for name, one in attributes_of(seen).items()}

    code, found = texts({"X-First": "nobody's", "X-Api-Key": key, "X-User": "u"})
    assert code == "unknown-key" and found["user"] == "the request is refused before X-User is looked at"
    assert found["partner"] == ("what is in X-First is not taken (unknown-key); the request is refused before X-Api-Key "
                                "is looked at")
    code, found = texts({"X-First": key, "X-Api-Key": key})
    assert code == "identity-twice" and found["partner"] == "the key in X-First (policies)"
    code, found = texts({"X-Api-Key": key})
    assert code is None and found["plan"] == ("the request has no X-First; the key in X-Api-Key has none; "
                                              "partner none has none in the policies")
    (tmp_path / "policies.db").rename(tmp_path / "elsewhere.db")
    code, found = texts({"X-Api-Key": key})
    assert code is None and found["partner"] == ("the request has no X-First; whose key is in X-Api-Key cannot be found "
                                                 "out: the database does not answer")


def test_without_the_database_the_snapshot_holds_and_stays_as_it_is(launch, origin, explain, database, tmp_path):
    settings = {"callers": CALLERS, "trusted_proxies": PROXIES, "limits": ROWS, "policies": database.section}
    gateway = launch(origin, **settings)
    assert ask(gateway, "GET /", {"X-Partner": "acme"}).status == 200
    gateway.stop()
    snapshot = tmp_path / "policies.snapshot"
    kept = snapshot.read_bytes()
    explain({**settings, "admin": "off"}, "GET /", {"X-Partner": "none"})
    assert snapshot.read_bytes() == kept
    (tmp_path / "policies.db").rename(tmp_path / "elsewhere.db")
    seen = explain({**settings, "admin": "off"}, "GET /", {"X-Partner": "acme"})
    assert seen["policies"]["source"] == "snapshot" and limits_of(seen)["rows"]["numbers"] == "3/h, burst 3"
    stranger = explain({**settings, "admin": "off"}, "GET /", {"X-Partner": "stranger"})
    assert stranger["policies"]["source"] == "away" and limits_of(stranger)["rows"]["reason"] == "rows_unknown"
    assert snapshot.read_bytes() == kept


def files_in(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_database_is_read_and_left_as_it_is(explain, database, tmp_path):
    settings = {"callers": CALLERS, "trusted_proxies": PROXIES, "limits": ROWS, "policies": database.section,
                "admin": "off"}
    explain(settings, "GET /", {"X-Partner": "acme"})  # writes its configuration
    before = files_in(tmp_path)
    seen = explain(settings, "GET /", {"X-Partner": "acme"})
    assert seen["policies"]["source"] == "database" and limits_of(seen)["rows"]["numbers"] == "3/h, burst 3"
    assert files_in(tmp_path) == before and not list(tmp_path.glob("policies.db-*"))
    writer = sqlite3.connect(tmp_path / "policies.db")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE limits SET rate = '4/h' WHERE rate = '3/h'")
    writer.commit()
    before = files_in(tmp_path)
    assert {"policies.db-wal", "policies.db-shm"} <= before.keys()
    seen = explain(settings, "GET /", {"X-Partner": "acme"})
    assert seen["policies"]["source"] == "database" and limits_of(seen)["rows"]["numbers"].startswith("4/h")
    assert files_in(tmp_path) == before
    writer.execute("BEGIN IMMEDIATE")  # somebody is writing
    assert explain(settings, "GET /", {"X-Partner": "acme"})["policies"]["source"] == "database"
    writer.rollback()
    writer.close()
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"policies.db{suffix}").unlink(missing_ok=True)
    (tmp_path / "policies.db").touch()
    before = files_in(tmp_path)
    assert explain(settings, "GET /", {"X-Partner": "acme"})["policies"]["source"] == "away"
    assert files_in(tmp_path) == before


def test_tokens_with_keys_from_a_file(explain, run, tmp_path):
    pytest.importorskip("jwt")
    pytest.importorskip("cryptography")
    from harness.issuer import AUDIENCE, ISSUER, Key, key_set

    key = Key("one", "P-256")
    file = tmp_path / "keys.json"
    file.write_text(key_set(key))
    jwt = {"issuer": ISSUER, "audience": AUDIENCE, "keys": str(file), "attributes": {"partner": "partner_id"}}
    config = {"admin": "off", "callers": [{"jwt": jwt}],
              "limits": [per_partner(), {"name": "org", "per": ["claim:org"], "rate": "1/s"}]}
    token = key.token(partner_id="acme", org="o1")
    seen = explain(config, "GET /", {"Authorization": f"Bearer {token}"})
    found = attributes_of(seen)
    assert found["partner"]["value"] == "acme" and found["partner"]["source"] == "token"
    assert "claim partner_id" in found["partner"]["text"] and found["claim:org"]["value"] == "o1"
    assert token not in json.dumps(seen)
    listed = key.token(partner_id="acme", org=["o1", "\x1b[2J"])
    text = attributes_of(explain(config, "GET /", {"Authorization": f"Bearer {listed}"}))["claim:org"]["text"]
    assert text == "the token in Authorization has no claim org that is a text, a whole number, true or false"
    basic = attributes_of(explain(config, "GET /", {"Authorization": "Basic dTpw"}))
    assert basic["partner"]["text"] == "Authorization has no Bearer token"
    escape = run(config, "GET /", {"Authorization": f"Bearer {key.token(partner_id='acme', org=chr(27) + '[2J')}"})
    assert "\x1b" not in escape.stdout and "\\x1b[2J" in escape.stdout
    wrong = explain(config, "GET /", {"Authorization": f"Bearer {token[:-8]}AAAAAAAA"})
    assert wrong["answer"]["code"] == "token-signature" and "token in Authorization" in wrong["answer"]["text"]


def test_the_text_has_all_of_it(run):
    done = run(memory(*[one for one in LIMITS if one["name"] != "log"]), "POST /products?x=1", KEY)
    assert done.returncode == DONE and not done.stderr, done
    lines = done.stdout.splitlines()
    assert lines[0] == "POST /products?(not shown)"
    for part in ("route", "caller", "limits", "answer"):
        assert part in lines
    assert "  forwarded to upstream main" in lines
    assert any("+ create: it counts the request" in line for line in lines)
    assert any("- anonymous: it acts only on requests without partner" in line for line in lines)
    assert SECRET not in done.stdout


def test_a_header_without_its_option_is_not_repeated(binary, tmp_path):
    done = subprocess.run([binary, "explain", "weir.yaml", "GET /", "X-Api-Key: SECRET"], capture_output=True, text=True,
                          cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 2
    assert "SECRET" not in done.stdout + done.stderr and "-H" in done.stderr


@pytest.mark.parametrize("algorithm", ["token_bucket", "fixed_window", "sliding_window", "sliding_log", "leaky_bucket"])
def test_what_was_counted_for_another_plan_is_no_certain_answer(launch, origin, explain, algorithm):
    """What was counted for the same plan is, and then it is what happens."""
    limit = {"name": "l", "per": ["partner"], "algorithm": algorithm, "rate": "10/h", "by": {"plan": {"free": "4/min"}}}
    plan = {"header": {"name": "X-Plan", "attribute": "plan", "from": "anyone"}}
    gateway = launch(origin, callers=[CALLERS[1], plan], limits=[limit])
    last = None
    for plan in ("none", "none", "free", "free", "none", "free", "free", "free", "free"):
        fields = {"X-Partner": "acme", "X-Plan": plan}
        seen = explain(gateway, "GET /", fields)
        assert seen["answer"]["certain"] == (last in (None, plan)), (last, plan, seen["counters"])
        told = gateway.ask(fields=fields)
        assert (seen["answer"]["action"] == "forward") == (told.status == 200)
        if seen["answer"]["certain"]:
            assert fields_of(seen)["X-RateLimit-Remaining"] == told.fields.get("X-RateLimit-Remaining")
            if told.status == 429:
                assert abs(int(fields_of(seen)["Retry-After"]) - int(told.fields.get("Retry-After"))) <= 1
        last = plan if told.status == 200 else last


def test_wrong_use(run, tmp_path):
    config = memory(per_partner())
    assert run(config, "GET /a b").returncode == WRONG_USAGE
    assert run(config, "GET /", None, "--from", "nobody").returncode == WRONG_USAGE
    assert run(config, "GET /", None, "-H", "no colon").returncode == WRONG_USAGE
    assert run(config, "GET /", None, "-H", "X: a\r\nY: b").returncode == WRONG_USAGE
    for size in ("-1", "1e3", "0x10", "", "99999999999999999999", "+1", "1 "):
        done = run(config, "POST /", None, f"--body-size={size}")
        assert done.returncode == WRONG_USAGE and "--body-size" in done.stderr, done
    assert run(config, "POST /", None, "--body-size", "0").returncode == DONE
    assert run(config, "GET /", None, "--what").returncode == WRONG_USAGE
    assert run({**config, "limits": [{"name": "x"}]}, "GET /").returncode == UNUSABLE
