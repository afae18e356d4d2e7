# SPDX-License-Identifier: Apache-2.0
"""What clients are told: the 429 and the rate-limit fields (standards 1-3)."""

import json
import re
import time

import pytest

from harness import reply, request_bytes

SERVICE_LIMIT = {"name": "partner-service", "per": ["service"], "rate": "3/h"}
POST_LIMIT = {"name": "create-product", "per": ["service"], "match": ["POST /products"], "rate": "1/h"}
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"
POLICY = '"partner-service";q=3;w=3600'


def use_up(gateway, count=3, **request):
    for _ in range(count):
        assert gateway.ask(**request).status == 200


def parameters(item):
    """('name', {'r': 0, ...}) of one member of a RateLimit or RateLimit-Policy list."""
    name, *rest = item.split(";")
    return json.loads(name), {key: int(value) for key, _, value in (part.partition("=") for part in rest)}


def members(text):
    return [parameters(item) for item in text.split(", ")]


def test_an_admitted_request_is_told_what_is_left(launch, origin):
    response = launch(origin, limits=[SERVICE_LIMIT]).ask()
    now = time.time()
    assert response.status == 200
    assert response.fields.get("X-RateLimit-Limit") == "3"
    assert response.fields.get("X-RateLimit-Remaining") == "2"
    assert int(response.fields.get("X-RateLimit-Reset")) == pytest.approx(now + 1200, abs=3)
    assert response.fields.get("RateLimit-Policy") == POLICY
    assert response.fields.get("RateLimit") == '"partner-service";r=2;t=1200'
    assert "Retry-After" not in response.fields


def test_a_refusal_has_every_field_and_a_problem_body(launch, origin):
    gateway = launch(origin, limits=[SERVICE_LIMIT])
    use_up(gateway)
    before = time.time()
    response = gateway.ask(fields={"X-Request-Id": "abc"})
    assert (response.status, response.reason) == (429, "Too Many Requests")
    fields = response.fields
    assert fields.get("Content-Type") == "application/problem+json"
    assert fields.get("Cache-Control") == "no-store"
    assert fields.get("Retry-After") == "1200"
    assert fields.get("RateLimit") == '"partner-service";r=0;t=1200'
    assert fields.get("RateLimit-Policy") == POLICY
    assert fields.get("X-RateLimit-Limit") == "3" and fields.get("X-RateLimit-Remaining") == "0"
    assert before + 3590 < int(fields.get("X-RateLimit-Reset")) <= before + 3602
    assert fields.get("Date") and fields.get("Server") == "weir" and fields.get("X-Request-Id") == "abc"
    assert int(fields.get("Content-Length")) == len(response.body)
    problem = json.loads(response.body)
    assert problem["type"] == QUOTA_EXCEEDED and problem["title"] == "Quota Exceeded" and problem["status"] == 429
    assert problem["violated-policies"] == ["partner-service"]
    assert problem["detail"] == "Too many requests. Try again in 1200 s."
    assert 1_190_000 < problem["retry_after_ms"] <= 1_200_000
    assert problem["request_id"] == "abc"
    assert len(origin.requests) == 3


def test_a_refused_head_has_the_fields_of_a_refused_get(launch, origin):
    gateway = launch(origin, limits=[SERVICE_LIMIT])
    use_up(gateway)
    request_id = {"X-Request-Id": "abc"}
    with gateway.connect() as client:
        get, head = client.ask("GET", "/", request_id), client.ask("HEAD", "/", request_id)
        assert head.status == 429
        changing = ("Date", "Content-Length")
        assert [pair for pair in head.fields if pair[0] not in changing] == [
            pair for pair in get.fields if pair[0] not in changing
        ]
        assert abs(int(head.fields.get("Content-Length")) - len(get.body)) <= 1
        assert client.is_quiet(0.05)


@pytest.mark.parametrize(
    "rate, seconds",
    [("1/10ms", None), ("1/s", 1), ("1/1500ms", 2), ("1/2s", 2), ("1/min", 60), ("7/h", 515), ("1/day", 86400)],
)
def test_waits_are_whole_seconds_rounded_up(launch, origin, rate, seconds):
    gateway = launch(origin, limits=[{"name": "one", "per": ["service"], "rate": rate, "burst": 1}])
    with gateway.connect() as client:
        client.send(request_bytes() * 8)
        responses = [client.response() for _ in range(8)]
    refused = [response for response in responses if response.status == 429]
    assert refused or seconds is None
    for response in refused:
        milliseconds = json.loads(response.body)["retry_after_ms"]
        assert int(response.fields.get("Retry-After")) == max(1, -(-milliseconds // 1000))
        assert members(response.fields.get("RateLimit"))[0][1]["t"] <= int(response.fields.get("Retry-After"))
    if seconds:
        assert refused[0].fields.get("Retry-After") == str(seconds)


def test_a_client_that_waits_as_long_as_it_was_told_succeeds(launch, origin):
    gateway = launch(origin, limits=[{"name": "one", "per": ["service"], "rate": "10/s", "burst": 1}])
    with gateway.connect() as client:
        assert client.ask().status == 200
        for _ in range(5):
            refused = client.ask()
            assert refused.status == 429
            assert client.is_quiet(json.loads(refused.body)["retry_after_ms"] / 1000)
            assert client.ask().status == 200


def test_the_binding_limit_comes_first_and_all_that_applied_are_listed(launch, origin):
    gateway = launch(origin, limits=[SERVICE_LIMIT, POST_LIMIT])
    response = gateway.ask("POST", "/products", body=b"x")
    assert [name for name, _ in members(response.fields.get("RateLimit"))] == ["create-product", "partner-service"]
    policies = response.fields.get("RateLimit-Policy")
    assert sorted(policies.split(", ")) == ['"create-product";q=1;w=3600', POLICY]
    assert response.fields.get("X-RateLimit-Limit") == "1" and response.fields.get("X-RateLimit-Remaining") == "0"
    refused = gateway.ask("POST", "/products", body=b"x")
    assert refused.status == 429
    assert refused.fields.get("RateLimit-Policy") == policies, "the policies of a route are always the same"
    listed = members(refused.fields.get("RateLimit"))
    assert [(name, values["r"]) for name, values in listed] == [("create-product", 0), ("partner-service", 2)]
    assert json.loads(refused.body)["violated-policies"] == ["create-product"]
    assert refused.fields.get("Retry-After") == "3600"


def test_all_refusing_limits_are_named_and_the_longest_wait_counts(launch, origin):
    gateway = launch(origin, limits=[{**SERVICE_LIMIT, "rate": "1/h"}, {**POST_LIMIT, "rate": "1/day"}])
    assert gateway.ask("POST", "/products", body=b"x").status == 200
    refused = gateway.ask("POST", "/products", body=b"x")
    assert sorted(json.loads(refused.body)["violated-policies"]) == ["create-product", "partner-service"]
    assert json.loads(refused.body)["violated-policies"][0] == "create-product"
    assert refused.fields.get("Retry-After") == "86400"


def test_a_burst_that_differs_from_the_rate_is_told(launch, origin):
    gateway = launch(origin, limits=[{"name": "b", "per": ["service"], "rate": "10/100ms", "burst": 5}])
    response = gateway.ask()
    assert members(response.fields.get("RateLimit-Policy")) == [("b", {"q": 100, "w": 1, "weir-burst": 5})]
    assert response.fields.get("X-RateLimit-Limit") == "5"


def test_names_of_limits_are_escaped(launch, origin):
    response = launch(origin, limits=[{"name": 'say "hi" \\ now', "per": ["service"], "rate": "5/h"}]).ask()
    assert response.fields.get("RateLimit").startswith('"say \\"hi\\" \\\\ now";r=4')


def test_the_older_three_fields_replace_the_structured_ones(launch, origin):
    gateway = launch(origin, limits=[SERVICE_LIMIT, POST_LIMIT], responses={"ratelimit": "legacy"})
    response = gateway.ask()
    assert response.fields.get("RateLimit-Limit") == "3" and response.fields.get("RateLimit-Remaining") == "2"
    assert 0 < int(response.fields.get("RateLimit-Reset")) <= 3600
    assert response.fields.get("RateLimit-Policy") == "3;w=3600"
    assert "RateLimit" not in response.fields
    response = gateway.ask("POST", "/products", body=b"x")
    assert response.fields.get("RateLimit-Limit") == "1" and response.fields.get("RateLimit-Remaining") == "0"
    assert sorted(response.fields.get("RateLimit-Policy").split(", ")) == ["1;w=3600", "3;w=3600"]


def test_families_can_be_switched_off(launch, origin):
    gateway = launch(origin, limits=[SERVICE_LIMIT], responses={"ratelimit": "off", "x_ratelimit": False})
    use_up(gateway)
    refused = gateway.ask()
    assert not [name for name in refused.fields.names() if "ratelimit" in name.lower()]
    assert refused.fields.get("Retry-After") == "1200"


def test_one_family_can_be_switched_off_alone(launch, origin):
    fields = launch(origin, limits=[SERVICE_LIMIT], responses={"ratelimit": "off"}).ask().fields
    assert "X-RateLimit-Limit" in fields and "RateLimit" not in fields and "RateLimit-Policy" not in fields
    fields = launch(origin, limits=[SERVICE_LIMIT], responses={"x_ratelimit": False}).ask().fields
    assert "X-RateLimit-Limit" not in fields and "RateLimit" in fields


def test_the_reset_can_be_told_in_seconds(launch, origin):
    gateway = launch(origin, limits=[SERVICE_LIMIT], responses={"reset": "delta"})
    use_up(gateway)
    assert int(gateway.ask().fields.get("X-RateLimit-Reset")) == pytest.approx(3600, abs=3)


def test_the_detail_of_a_refusal_can_be_worded(launch, origin):
    gateway = launch(
        origin, limits=[SERVICE_LIMIT], responses={"refusal": {"detail": 'Slow "down": {retry_after} seconds.'}}
    )
    use_up(gateway)
    refused = gateway.ask()
    assert json.loads(refused.body)["detail"] == 'Slow "down": 1200 seconds.'
    assert int(refused.fields.get("Content-Length")) == len(refused.body)


def test_a_cost_that_can_never_pass_has_no_retry_after(launch, origin):
    limit = {
        "name": "costly",
        "per": ["service"],
        "rate": "3/h",
        "cost": {"header": "X-Cost", "default": 1, "max": 100},
    }
    gateway = launch(origin, limits=[limit])
    refused = gateway.ask(fields={"X-Cost": "4"})
    assert refused.status == 429 and "Retry-After" not in refused.fields
    assert "retry_after_ms" not in json.loads(refused.body)
    assert members(refused.fields.get("RateLimit"))[0][1]["r"] == 3
    assert gateway.ask(fields={"X-Cost": "3"}).fields.get("X-RateLimit-Remaining") == "0"


def test_a_refusal_for_its_cost_shows_what_is_left_for_smaller_ones(launch, origin):
    limit = {
        "name": "costly",
        "per": ["service"],
        "rate": "3/h",
        "cost": {"header": "X-Cost", "default": 1, "max": 100},
    }
    gateway = launch(origin, limits=[limit])
    assert gateway.ask().status == 200
    refused = gateway.ask(fields={"X-Cost": "3"})
    assert refused.status == 429 and refused.fields.get("Retry-After") == "1200"
    name, values = members(refused.fields.get("RateLimit"))[0]
    assert name == "costly" and values["r"] == 2
    assert refused.fields.get("X-RateLimit-Remaining") == "2"


def test_a_blocked_caller_is_refused_without_a_time(launch, origin):
    gateway = launch(
        origin,
        callers=[{"api_key": {"header": "X-Api-Key"}}],
        keys=[{"key": "k", "partner": "p", "plan": "blocked"}],
        limits=[{"name": "one", "per": ["partner"], "rate": "5/h", "by": {"plan": {"blocked": "0/h"}}}],
    )
    refused = gateway.ask(fields={"X-Api-Key": "k"})
    assert refused.status in (403, 429) and "Retry-After" not in refused.fields
    assert not origin.begun


def test_a_redirect_that_uses_the_last_unit_is_not_told_to_wait(launch, origin):
    """Clients might wait before they follow Location (standards 2)."""
    origin.answer = reply(302, {"Location": "/else"})
    fields = launch(origin, limits=[{**SERVICE_LIMIT, "rate": "1/h"}]).ask().fields
    assert "RateLimit" not in fields and "X-RateLimit-Remaining" not in fields


def test_requests_without_a_limit_get_no_fields(launch, origin):
    names = launch(origin, limits=[POST_LIMIT]).ask(target="/other").fields.names()
    assert not [name for name in names if "ratelimit" in name.lower()]


def test_at_most_eight_limits_are_listed(launch, origin):
    limits = [{"name": f"limit-{index}", "per": ["service"], "rate": f"{100 + index}/h"} for index in range(12)]
    fields = launch(origin, limits=limits).ask().fields
    assert [name for name, _ in members(fields.get("RateLimit"))] == [f"limit-{index}" for index in range(8)]


def test_a_refusal_says_nothing_about_keys_and_addresses(launch, origin):
    gateway = launch(
        origin,
        callers=[{"api_key": {"header": "X-Api-Key"}}],
        keys=[{"key": "secret-key-1", "partner": "acme"}],
        limits=[{"name": "one", "per": ["partner", "address"], "rate": "1/h"}],
    )
    fields = {"X-Api-Key": "secret-key-1"}
    refused = [gateway.ask(fields=fields) for _ in range(2)][1]
    assert refused.status == 429
    assert not re.search(rb"secret-key-1|127\.0\.0\.1|acme", refused.head + refused.body)


MALFORMED = {
    400: b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    414: b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    417: b"GET / HTTP/1.1\r\nHost: localhost\r\nExpect: a-miracle\r\n\r\n",
    431: b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 70000 + b"\r\n\r\n",
    501: b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    505: b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n",
    408: b"GET / HTTP/1.1\r\nHost: loc",
}


@pytest.mark.parametrize("status", MALFORMED)
def test_a_request_that_cannot_be_read_is_told_nothing_of_the_last_one(launch, origin, status):
    """Neither of one that was admitted nor of one that was refused."""
    gateway = launch(origin, limits=[SERVICE_LIMIT], workers=1, http={"head": "500ms"})
    for _ in range(5):
        gateway.ask()
        with gateway.connect() as client:
            client.send(MALFORMED[status])
            response = client.response()
        assert response.status == status
        told = [name for name, _ in response.fields if "ratelimit" in name.lower() or name.lower() == "retry-after"]
        assert told == []
