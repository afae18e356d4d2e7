# SPDX-License-Identifier: Apache-2.0
"""How requests are counted: every algorithm through the gateway, what it tells clients, and what an answer changes."""

import datetime
import os
import re
import signal
import threading
import time

import pytest

from harness import Hold, RawClient, eventually, replay, reply, request_bytes

ANYONE = [{"header": {"name": f"X-{name}", "attribute": name.lower(), "from": "anyone"}} for name in ("User", "Plan")]
ME, YOU = {"X-User": "me"}, {"X-User": "you"}
SHARED = os.environ.get("WEIR_STORE") == "redis"
of_one_gateway = pytest.mark.skipif(SHARED, reason="a line that gateways share does not move up")


def limit(name="user", **keys):
    return {"name": name, "per": ["user"], **keys}


def start(launch, origin, *limits, **changes):
    return launch(origin, **{"callers": ANYONE, "limits": list(limits), **changes})


def asked(gateway, count, fields=ME, method="GET", target="/"):
    with RawClient(gateway.address) as client:
        return [client.ask(method, target, fields) for _ in range(count)]


def statuses(gateway, count, fields=ME, **more):
    return [response.status for response in asked(gateway, count, fields, **more)]


def limits_of(response, field="RateLimit"):
    """{name: {parameter: text}}"""
    items = {}
    for item in response.fields.get(field, "").split(", "):
        name, *parameters = item.split(";")
        items[name.strip('"')] = dict(one.split("=", 1) for one in parameters)
    return items


def until_next(seconds, margin=1.0):
    """Waits, if need be, until a window of so many seconds will last for another `margin`. Time itself is under test."""
    left = seconds - time.time() % seconds
    if left < margin:
        time.sleep(left + 0.01)


@pytest.mark.parametrize("algorithm", ["fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket"])
def test_a_count_is_admitted_and_then_refused(launch, origin, algorithm):
    gateway = start(launch, origin, limit(rate="3/h", algorithm=algorithm))
    until_next(3600)
    answers = asked(gateway, 5)
    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
    assert [limits_of(answer)["user"]["r"] for answer in answers] == ["2", "1", "0", "0", "0"]
    assert limits_of(answers[0], "RateLimit-Policy")["user"] == {"q": "3", "w": "3600"}
    assert 0 < int(answers[4].fields.get("Retry-After")) <= 7200
    assert statuses(gateway, 1, YOU) == [200]


def test_fixed_windows_begin_with_the_clock(launch, origin):
    gateway = start(launch, origin, limit(rate="1/h", algorithm="fixed_window"))
    until_next(3600, margin=5)
    refused = asked(gateway, 2)[1]
    left = 3600 - time.time() % 3600
    assert refused.status == 429 and left - 2 < int(refused.fields.get("Retry-After")) <= left + 2
    assert int(refused.fields.get("X-RateLimit-Reset")) % 3600 == 0


def test_a_window_that_ends_lets_everybody_in_again(launch, origin):
    gateway = start(launch, origin, limit(rate="2/s", algorithm="fixed_window"))
    until_next(1, margin=0.5)
    assert statuses(gateway, 3) == [200, 200, 429]
    time.sleep(1.01 - time.time() % 1)
    assert statuses(gateway, 1) == [200]


def test_jitter_spreads_the_ends_of_windows(launch, origin):
    gateway = start(launch, origin, limit(rate="1/h", algorithm="fixed_window", jitter=True))
    until_next(3600, margin=5)
    resets = set()
    for number in range(20):
        answer = asked(gateway, 1, {"X-User": f"tenant-{number}"})[0]
        reset = int(answer.fields.get("X-RateLimit-Reset"))
        resets.add(reset % 3600)
        # The subject's own begin: FNV-1a of its key in ticks of the store, modulo the window.
        second = 10**6 if SHARED else 10**9
        phase = fnv1a(f"tenant-{number}".encode()) % (3600 * second)
        assert abs(reset % 3600 - phase / second) <= 1.01
    assert len(resets) > 10


def fnv1a(key):
    value = 0xCBF29CE484222325
    for byte in key:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_a_quota_is_counted_by_civil_periods(launch, origin):
    gateway = start(
        launch,
        origin,
        limit("month", rate="2/month", algorithm="calendar", calendar={"zone": "Asia/Seoul"}),
        limit("day", rate="9/day", algorithm="calendar"),
    )
    zone = datetime.timezone(datetime.timedelta(hours=9))
    now = datetime.datetime.now(zone)
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = (first + datetime.timedelta(days=32)).replace(day=1)
    answers = asked(gateway, 3)
    assert [answer.status for answer in answers] == [200, 200, 429]
    policy = limits_of(answers[0], "RateLimit-Policy")
    assert policy["month"] == {"q": "2", "w": str(int((following - first).total_seconds()))}
    assert policy["day"] == {"q": "9", "w": "86400"}
    left = (following - datetime.datetime.now(zone)).total_seconds()
    assert abs(int(answers[2].fields.get("Retry-After")) - left) < 3
    assert int(answers[2].fields.get("X-RateLimit-Reset")) == following.timestamp()


def test_limits_that_count_differently_are_charged_together_or_not_at_all(launch, origin):
    gateway = start(
        launch,
        origin,
        limit("bucket", rate="9/h"),
        limit("window", rate="9/h", algorithm="fixed_window"),
        limit("sliding", rate="9/h", algorithm="sliding_window"),
        limit("log", rate="9/h", algorithm="sliding_log"),
        limit("quota", rate="9/day", algorithm="calendar"),
        limit("running", max=9, algorithm="concurrency"),
        limit("posts", rate="2/h", match=["POST /"]),
    )
    until_next(3600, margin=5)
    assert statuses(gateway, 5, method="POST") == [200, 200, 429, 429, 429]
    left = limits_of(asked(gateway, 1)[0])
    assert {name: one["r"] for name, one in left.items()} == {
        **dict.fromkeys(("bucket", "window", "sliding", "log", "quota"), "6"),
        "running": "8",
    }


# Requests at the same time


def test_concurrency_counts_until_the_answer_is_done(launch, origin):
    hold = Hold()
    origin.answer = hold
    gateway = start(launch, origin, limit(max=2, algorithm="concurrency"))
    running = [gateway.connect() for _ in range(2)]
    for client in running:
        client.send(request_bytes("GET", "/", ME))
    origin.wait_for(2)
    refused = gateway.ask("GET", "/", ME)
    assert refused.status == 429 and refused.fields.get("Retry-After") == "1"
    assert limits_of(refused, "RateLimit-Policy")["user"] == {"q": "2", "qu": '"concurrent-requests"'}
    assert limits_of(refused)["user"] == {"r": "0"}, "when a place becomes free is not known"
    hold.go.set()
    assert [client.response().status for client in running] == [200, 200]
    assert statuses(gateway, 5) == [200] * 5


def test_a_client_that_leaves_frees_its_place(launch, origin):
    origin.answer = Hold()
    gateway = start(launch, origin, limit(max=1, algorithm="concurrency"))
    client = gateway.connect()
    client.send(request_bytes("GET", "/", ME))
    origin.wait_for(1)
    assert statuses(gateway, 1) == [429]
    client.reset()
    origin.answer = reply()
    eventually(lambda: statuses(gateway, 1) == [200], what="the place is free")


def test_a_failed_request_frees_its_place(launch, origin):
    gateway = start(launch, origin, limit(max=1, algorithm="concurrency"))
    origin.stop_listening()
    origin.end_all()
    assert statuses(gateway, 3) == [502] * 3


def test_a_request_that_outlives_its_lease_keeps_its_place(launch, origin):
    hold = Hold()
    origin.answer = hold
    gateway = start(launch, origin, limit(max=1, algorithm="concurrency", lease="1s"))
    client = gateway.connect()
    client.send(request_bytes("GET", "/", ME))
    origin.wait_for(1)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:  # time itself is under test
        assert statuses(gateway, 1) == [429]
        time.sleep(0.1)
    hold.go.set()
    assert client.response().status == 200


def test_concurrency_by_plan(launch, origin):
    hold = Hold()
    origin.answer = hold
    gateway = start(launch, origin, limit(max=1, algorithm="concurrency", by={"plan": {"gold": 3, "staff": "unlimited"}}))

    def admitted(user, plan, count):
        clients = [gateway.connect() for _ in range(count)]
        before = len(origin.requests)
        for client in clients:
            client.send(request_bytes("GET", "/", {"X-User": user, "X-Plan": plan}))
        refused = sum(not client.is_quiet(during=0.2) for client in clients)
        assert len(origin.requests) - before == count - refused
        return count - refused

    assert admitted("a", "none", 3) == 1
    assert admitted("b", "gold", 5) == 3
    assert admitted("c", "staff", 5) == 5
    hold.go.set()


# A line to wait in


def test_a_line_lets_requests_through_at_its_rate(launch, origin):
    gateway = start(launch, origin, limit(rate="10/s", algorithm="leaky_bucket", queue=4))
    began = time.monotonic()
    clients = [gateway.connect() for _ in range(8)]
    for client in clients:
        client.send(request_bytes("GET", "/", ME))
    answers = [client.response() for client in clients]
    assert sorted(answer.status for answer in answers) == [200] * 5 + [429] * 3
    assert time.monotonic() - began >= 0.4
    times = [request.at for request in origin.requests]
    assert all(later - earlier >= 0.09 for earlier, later in zip(times, times[1:])), times
    refused = next(answer for answer in answers if answer.status == 429)
    assert refused.fields.get("Retry-After") == "1"
    assert limits_of(refused, "RateLimit-Policy")["user"] == {"q": "10", "w": "1", "weir-burst": "5"}


def test_the_first_of_a_line_need_not_wait(launch, origin):
    gateway = start(launch, origin, limit(rate="2/s", algorithm="leaky_bucket", queue=4, undelayed=3))
    began = time.monotonic()
    assert statuses(gateway, 4) == [200] * 4
    assert time.monotonic() - began < 0.4
    assert statuses(gateway, 1) == [200]
    assert time.monotonic() - began >= 0.4


def test_a_line_keeps_its_order(launch, origin):
    gateway = start(launch, origin, limit(rate="20/s", algorithm="leaky_bucket", queue=10))
    clients = [gateway.connect() for _ in range(8)]
    for number, client in enumerate(clients):
        client.send(request_bytes("GET", f"/{number}", ME))
        eventually(lambda: len(origin.requests) + waiting(gateway) >= number + 1)
    for client in clients:
        assert client.response().status == 200
    assert [request.target for request in origin.requests] == [f"/{number}" for number in range(8)]


def waiting(gateway):
    return gateway.metrics().value("weir_waiting_requests")


@of_one_gateway
@pytest.mark.parametrize("way", ["reset", "close"])
def test_who_leaves_the_line_lets_those_behind_move_up(launch, origin, way):
    gateway = start(launch, origin, limit(rate="1/s", algorithm="leaky_bucket", queue=10))
    assert statuses(gateway, 1) == [200]
    began = time.monotonic()
    leaving = [gateway.connect() for _ in range(4)]
    for number, client in enumerate(leaving):
        client.send(request_bytes("GET", f"/gone{number}", ME))
        eventually(lambda: waiting(gateway) == number + 1)
    last = gateway.connect()
    last.send(request_bytes("GET", "/last", ME))  # would start after five seconds
    eventually(lambda: waiting(gateway) == 5)
    for client in leaving:
        getattr(client, way)()
    assert last.response().status == 200
    assert 0.8 <= time.monotonic() - began < 3
    assert [request.target for request in origin.requests] == ["/", "/last"]
    assert waiting(gateway) == 0
    gone = [entry for entry in gateway.access_log(6) if entry["path"].startswith("/gone")]
    assert [(entry["status"], entry["bytes_out"]) for entry in gone] == [(499, 0)] * 4


def test_a_line_goes_on_after_a_reload(launch, origin):
    line = limit(rate="2/s", algorithm="leaky_bucket", queue=10)
    gateway = start(launch, origin, line)
    assert statuses(gateway, 1) == [200]
    client = gateway.connect()
    client.send(request_bytes("GET", "/", ME))
    eventually(lambda: waiting(gateway) == 1)
    gateway.reload(limits=[line, limit("other", rate="100/s")])
    assert client.response().status == 200
    assert statuses(gateway, 1) == [200]


def test_a_body_waits_with_its_request(launch, origin):
    gateway = start(launch, origin, limit(rate="5/s", algorithm="leaky_bucket", queue=10))
    with RawClient(gateway.address) as client:
        for number in range(3):
            assert client.ask("POST", f"/{number}", ME, b"x" * 100_000).status == 200
    assert [len(request.body) for request in origin.requests] == [100_000] * 3


def test_a_wait_is_logged_and_counted(launch, origin):
    gateway = start(launch, origin, limit(rate="10/s", algorithm="leaky_bucket", queue=4))
    clients = [gateway.connect() for _ in range(2)]
    for client in clients:
        client.send(request_bytes("GET", "/", ME))
    for client in clients:
        assert client.response().status == 200
    delays = [entry["delay_ms"] for entry in gateway.access_log(2) if "delay_ms" in entry]
    assert len(delays) == 1 and 50 < delays[0] <= 100
    assert gateway.metrics().value("weir_delayed_requests_total", limit="user") == 1


# What the answer changes


def test_only_certain_answers_count(launch, origin):
    origin.answer = lambda exchange: reply(int(exchange.request.target[1:]))(exchange)
    gateway = start(launch, origin, limit(rate="2/h", count={"status": [401, 403]}))
    assert statuses(gateway, 5, target="/200") == [200] * 5
    first, second, third = (asked(gateway, 1, target=f"/{code}")[0] for code in (401, 500, 403))
    assert [limits_of(one)["user"]["r"] for one in (first, second, third)] == ["1", "1", "0"]
    assert statuses(gateway, 1, target="/200") == [429]


def test_certain_answers_are_given_back(launch, origin):
    origin.answer = lambda exchange: reply(int(exchange.request.target[1:]))(exchange)
    gateway = start(launch, origin, limit(rate="2/h", refund={"status": ["5xx", 404]}))
    assert statuses(gateway, 4, target="/503") == [503] * 4
    assert statuses(gateway, 4, target="/404") == [404] * 4
    assert statuses(gateway, 3, target="/200") == [200, 200, 429]


def test_answers_of_the_gateway_itself_are_given_back_too(launch, origin):
    gateway = start(launch, origin, limit(rate="2/h", refund={"status": ["5xx"]}))
    origin.stop_listening()
    origin.end_all()
    assert statuses(gateway, 4) == [502] * 4


def test_the_answer_says_what_it_cost(launch, origin):
    origin.answer = lambda exchange: reply(200, [("X-Cost", exchange.request.target[1:])])(exchange)
    gateway = start(launch, origin, limit(rate="100/h", cost={"response_header": "X-Cost", "reserve": 10}))
    left = lambda target: int(limits_of(asked(gateway, 1, target=target)[0])["user"]["r"])
    assert left("/3") == 97
    assert left("/50") == 47
    assert left("/0") == 47
    assert left("/nonsense") == 37, "the reserve stays"
    answers = asked(gateway, 3, target="/90")
    assert [answer.status for answer in answers] == [200, 429, 429]
    assert limits_of(answers[0])["user"]["r"] == "0"
    # 53 below empty and 10 to reserve, at 100 an hour; the cost is no more than the limit holds at once.
    assert abs(int(answers[1].fields.get("Retry-After")) - 36 * 63) <= 2
    assert answers[0].fields.get("X-Cost") == "90"


def test_an_answer_without_its_cost_costs_the_reserve(launch, origin):
    gateway = start(launch, origin, limit(rate="100/h", cost={"response_header": "X-Cost", "reserve": 10}))
    assert limits_of(asked(gateway, 1)[0])["user"]["r"] == "90"


# Several accounts, shadows


def test_what_other_accounts_took_is_given_back(launch, origin):
    gateway = start(
        launch,
        origin,
        limit("user", rate="9/h", algorithm="sliding_log"),
        {"name": "all", "per": ["service"], "rate": "3/h", "algorithm": "fixed_window"},
        {"name": "running", "per": ["service"], "max": 5, "algorithm": "concurrency"},
    )
    until_next(3600, margin=5)
    assert statuses(gateway, 9) == [200] * 3 + [429] * 6
    gateway.reload(limits=[limit("user", rate="9/h", algorithm="sliding_log")])
    assert limits_of(asked(gateway, 1)[0])["user"]["r"] == "5", "only what was admitted counts"


def test_a_shadow_limit_of_any_kind_changes_nothing_that_clients_see(launch, origin):
    enforced = [limit("user", rate="5/h", algorithm="sliding_log"), limit("running", max=3, algorithm="concurrency")]
    shadows = [
        limit("s-bucket", rate="1/h", mode="shadow"),
        limit("s-window", rate="1/h", algorithm="fixed_window", mode="shadow", jitter=True),
        limit("s-line", rate="1/h", algorithm="leaky_bucket", queue=3, mode="shadow"),
        limit("s-running", max=0, algorithm="concurrency", mode="shadow"),
        limit("s-quota", rate="1/month", algorithm="calendar", mode="shadow"),
        limit("s-count", rate="1/h", count={"status": [200]}, mode="shadow"),
    ]

    def seen(limits):
        gateway = start(launch, origin, *limits)
        began = time.monotonic()
        answers = asked(gateway, 8)
        assert time.monotonic() - began < 5
        hidden = re.compile(r"date|x-request-id|x-ratelimit-reset|retry-after|content-length", re.I)
        return gateway, [
            (a.status, [(n, re.sub(r";t=\d+", "", v)) for n, v in a.fields if not hidden.match(n)]) for a in answers
        ]

    alone = seen(enforced)[1]
    gateway, watched = seen(enforced + shadows)
    assert watched == alone
    metrics = gateway.metrics()
    for shadow in shadows:
        refused = metrics.value("weir_decisions_total", limit=shadow["name"], result="shadow_refused")
        assert refused == {"s-line": 1, "s-running": 5}.get(shadow["name"], 4), shadow["name"]


def test_many_clients_at_once_get_exactly_the_limit(launch, origin):
    for algorithm in ("sliding_window", "sliding_log", "fixed_window"):
        gateway = start(launch, origin, limit(rate="50/h", algorithm=algorithm))
        until_next(3600, margin=10)
        admitted = []
        threads = [
            threading.Thread(target=lambda: admitted.extend(one for one in statuses(gateway, 20) if one == 200))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(admitted) == 50


# What a reload may do to those who wait or run


@of_one_gateway
def test_a_faster_rate_lets_the_line_start_earlier_in_its_order(launch, origin):
    line = limit(rate="1/s", algorithm="leaky_bucket", queue=20)
    gateway = start(launch, origin, line)
    assert statuses(gateway, 1) == [200]
    clients = [gateway.connect() for _ in range(6)]
    for number, client in enumerate(clients[:4]):
        client.send(request_bytes("GET", f"/{number}", ME))
        eventually(lambda: waiting(gateway) == number + 1)
    began = time.monotonic()
    gateway.reload(limits=[{**line, "rate": "10/s"}])
    for number, client in enumerate(clients[4:], start=4):
        client.send(request_bytes("GET", f"/{number}", ME))
        eventually(lambda: waiting(gateway) + len(origin.requests) >= number + 2)
    assert [client.response().status for client in clients] == [200] * 6
    assert time.monotonic() - began < 1.5
    assert [request.target for request in origin.requests[1:]] == [f"/{number}" for number in range(6)]


def test_a_shorter_lease_takes_nobodys_place(launch, origin):
    hold = Hold()
    origin.answer = hold
    running = limit(max=1, algorithm="concurrency", lease="3s")
    gateway = start(launch, origin, running)
    client = gateway.connect()
    client.send(request_bytes("GET", "/", ME))
    origin.wait_for(1)
    gateway.reload(limits=[{**running, "lease": "1s"}])
    end = time.monotonic() + 4
    while time.monotonic() < end:  # time itself is under test
        assert statuses(gateway, 1) == [429]
        time.sleep(0.1)
    hold.go.set()
    assert client.response().status == 200
    assert gateway.metrics().value("weir_lost_leases_total") == 0


def test_who_waited_in_line_has_time_to_send_its_body(launch, origin):
    gateway = start(launch, origin, limit(rate="12/min", algorithm="leaky_bucket", queue=5), http={"body_min_rate": 512})
    assert statuses(gateway, 2, YOU)[0] == 200  # a connection to the upstream is idle by then
    assert statuses(gateway, 1) == [200]
    waits = gateway.connect()
    waits.send(request_bytes("POST", "/", [*ME.items(), ("Content-Length", "3")]))
    eventually(lambda: waiting(gateway) == 1)  # the two come on different connections
    last = gateway.connect()
    last.send(request_bytes("POST", "/last", [*ME.items(), ("Content-Length", "3"), ("Expect", "100-continue")]))
    eventually(lambda: waiting(gateway) == 2, within=8)
    waits.send(b"abc")
    assert waits.response(timeout=8).status == 200
    last.wait_for(b"100 Continue", within=8)  # after ten seconds in line
    time.sleep(0.3)
    last.send(b"abc")
    assert last.response(timeout=3).status == 200


def test_a_process_that_ends_does_not_keep_those_who_cannot_start_any_more(launch, origin):
    gateway = start(launch, origin, limit(rate="1/h", algorithm="leaky_bucket", queue=5), shutdown={"timeout": "3s"})
    assert statuses(gateway, 1) == [200]
    client = gateway.connect()
    client.send(request_bytes("GET", "/", ME))
    eventually(lambda: waiting(gateway) == 1)
    began = time.monotonic()
    gateway.signal(signal.SIGTERM)
    answer = client.response()
    assert (answer.status, answer.says_close()) == (503, True)
    assert time.monotonic() - began < 2


def test_many_who_leave_at_once_hold_up_nobody(launch, origin):
    gateway = start(
        launch, origin, limit(rate="1/h", algorithm="leaky_bucket", queue=2000), open_files=8000, shutdown={"timeout": "1s"}
    )
    clients = [gateway.connect() for _ in range(1500)]
    for client in clients:
        client.send(request_bytes("GET", "/", ME))
    eventually(lambda: waiting(gateway) == 1499, within=10)
    for client in clients:
        client.reset()
    began = time.monotonic()
    assert statuses(gateway, 1, YOU) == [200]
    assert time.monotonic() - began < 1
    eventually(lambda: waiting(gateway) == 0, within=5)


def test_the_end_of_a_window_is_the_same_however_long_the_answer_takes(launch, origin):
    def answer(exchange):
        time.sleep(float(exchange.request.target[1:]))  # time itself is under test
        reply()(exchange)

    origin.answer = answer
    gateway = start(launch, origin, limit(rate="9/h", algorithm="fixed_window"))
    until_next(3600, margin=10)
    end = 3600 - time.time() % 3600 + time.time()
    for seconds in ("0", "1.5"):
        answered = asked(gateway, 1, target=f"/{seconds}")[0]
        assert int(answered.fields.get("X-RateLimit-Reset")) == round(end)
        assert abs(int(limits_of(answered)["user"]["t"]) - (end - time.time())) <= 1.1


def test_answers_of_the_gateway_itself_tell_what_they_cost(launch, origin):
    gateway = start(launch, origin, limit(rate="9/h"))
    origin.stop_listening()
    origin.end_all()
    answer = asked(gateway, 1)[0]
    assert answer.status == 502 and limits_of(answer)["user"]["r"] == "8"


def test_a_broken_answer_is_settled_as_what_the_client_gets(launch, origin):
    broken = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n"
    origin.answer = replay(broken)
    gateway = start(launch, origin, limit(rate="2/h", refund={"status": ["5xx"]}))
    assert statuses(gateway, 4, method="POST") == [502] * 4


def test_a_plan_that_was_raised_waits_as_it_is_told(launch, origin):
    gateway = start(launch, origin, limit(rate="5/h", burst=5, by={"plan": {"pro": "5/s"}}))
    assert statuses(gateway, 6) == [200] * 5 + [429]
    pro = {**ME, "X-Plan": "pro"}
    assert statuses(gateway, 1, pro) == [429]
    time.sleep(0.3)  # time itself is under test
    assert statuses(gateway, 1, pro) == [200]
