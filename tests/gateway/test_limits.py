# SPDX-License-Identifier: Apache-2.0
"""Which limits apply to whom, and that they are charged together or not at all (config; design: account, charge)."""

import threading

import pytest

from harness import RawClient, request_bytes

CALLERS = [{"api_key": {"header": "X-Api-Key"}}]
KEYS = [
    {"key": "key-acme", "partner": "acme", "plan": "free"},
    {"key": "key-bolt", "partner": "bolt", "plan": "premium"},
    {"key_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "partner": "hashed"},
]
ACME, BOLT, HASHED = ({"X-Api-Key": key} for key in ("key-acme", "key-bolt", "test"))
GLOBAL = {"name": "partner-service", "per": ["partner", "service"], "rate": "20/h"}
ENDPOINT = {"name": "create-product", "per": ["partner", "service"], "match": ["POST /products"], "rate": "2/h"}


def limited(launch, origin, *limits, **changes):
    return launch(origin, **{"callers": CALLERS, "keys": KEYS, "limits": list(limits), **changes})


def statuses(gateway, count, *arguments, **request):
    with RawClient(gateway.address, source=request.pop("source", None)) as client:
        return [client.ask(*arguments, **request).status for _ in range(count)]


def remaining(response, name):
    for item in response.fields.get("RateLimit").split(", "):
        if item.startswith(f'"{name}";'):
            return int(item.split(";r=")[1].split(";")[0])
    raise AssertionError(f"{name} is not in {response}")


def test_a_refused_endpoint_takes_nothing_from_the_global_limit(launch, origin):
    gateway = limited(launch, origin, GLOBAL, ENDPOINT)
    assert statuses(gateway, 10, "POST", "/products", ACME, b"x") == [200, 200] + [429] * 8
    response = gateway.ask("GET", "/products", ACME)
    assert response.status == 200 and remaining(response, "partner-service") == 17


def test_other_endpoints_go_on_while_one_is_refused(launch, origin):
    gateway = limited(launch, origin, GLOBAL, ENDPOINT)
    statuses(gateway, 3, "POST", "/products", ACME, b"x")
    for method, target in (("GET", "/products"), ("POST", "/orders"), ("PUT", "/products"), ("POST", "/products/1")):
        assert gateway.ask(method, target, ACME).status == 200


def test_a_used_up_global_limit_takes_nothing_from_the_endpoint(launch, origin):
    gateway = limited(launch, origin, {**GLOBAL, "rate": "3/h"}, ENDPOINT)
    assert statuses(gateway, 4, "GET", "/", ACME) == [200] * 3 + [429]
    refused = gateway.ask("POST", "/products", ACME, b"x")
    assert refused.status == 429 and remaining(refused, "create-product") == 2


def test_partners_do_not_share_a_limit(launch, origin):
    gateway = limited(launch, origin, {**GLOBAL, "rate": "1/h"})
    for fields in (ACME, BOLT, HASHED):
        assert statuses(gateway, 2, fields=fields) == [200, 429]


def test_services_do_not_share_a_limit_that_is_per_service(launch, origin):
    services = {name: {"upstream": "main", "paths": [f"/{name}"]} for name in ("a", "b")}
    gateway = limited(launch, origin, {**GLOBAL, "rate": "1/h"}, services=services)
    assert statuses(gateway, 2, "GET", "/a", ACME) == [200, 429]
    assert statuses(gateway, 2, "GET", "/b", ACME) == [200, 429]


def test_services_share_a_limit_that_is_per_partner_only(launch, origin):
    services = {name: {"upstream": "main", "paths": [f"/{name}"]} for name in ("a", "b")}
    gateway = limited(launch, origin, {"name": "p", "per": ["partner"], "rate": "1/h"}, services=services)
    assert statuses(gateway, 1, "GET", "/a", ACME) + statuses(gateway, 1, "GET", "/b", ACME) == [200, 429]


def test_a_limit_can_name_its_services(launch, origin):
    services = {name: {"upstream": "main", "paths": [f"/{name}"]} for name in ("a", "b")}
    gateway = limited(launch, origin, {**GLOBAL, "rate": "1/h", "services": ["a"]}, services=services)
    assert statuses(gateway, 2, "GET", "/a", ACME) == [200, 429]
    assert statuses(gateway, 2, "GET", "/b", ACME) == [200, 200]


@pytest.mark.parametrize(
    "target",
    ["//products", "/./products", "/b/../products", "/%70roducts", "/products/", "/products?x=1", "/products?"],
)
def test_spellings_of_one_path_share_a_counter(launch, origin, target):
    gateway = limited(launch, origin, {**ENDPOINT, "rate": "1/h"})
    assert statuses(gateway, 1, "POST", "/products", ACME, b"x") == [200]
    assert statuses(gateway, 1, "POST", target, ACME, b"x") == [429]


@pytest.mark.parametrize(
    "pattern, hit, miss",
    [
        ("GET /reports/*", ["/reports/1", "/reports/1/2"], ["/report/1", "/x/reports/1"]),
        (
            "GET /items/{id}/reviews",
            ["/items/1/reviews", "/items/a%20b/reviews"],
            ["/items/1", "/items/1/2/reviews", "/items/reviews"],
        ),
        ("GET /a", ["/a", "/a/"], ["/A", "/ab", "/a/b"]),
    ],
)
def test_patterns_match_by_whole_segments(launch, origin, pattern, hit, miss):
    gateway = limited(launch, origin, {"name": "m", "per": ["service"], "match": [pattern], "rate": "50/h"})
    for target in hit:
        assert "RateLimit" in gateway.ask("GET", target).fields, target
    for target in miss:
        assert "RateLimit" not in gateway.ask("GET", target).fields, target


def test_a_path_that_may_belong_to_two_policies_is_refused(launch, origin):
    """http I4: with %2F as a separator this is another path, to which the limit would not apply."""
    limit = {"name": "m", "per": ["service"], "match": ["GET /items/{id}/reviews"], "rate": "50/h"}
    gateway = limited(launch, origin, limit)
    assert gateway.ask(target="/items/a%2Fb/reviews").status == 400
    assert gateway.ask(target="/other/a%2Fb").status == 200
    assert len(origin.begun) == 1


def test_head_is_counted_as_get(launch, origin):
    gateway = limited(launch, origin, {"name": "m", "per": ["service"], "match": ["GET /a"], "rate": "1/h"})
    assert statuses(gateway, 1, "HEAD", "/a") + statuses(gateway, 1, "GET", "/a") == [200, 429]


def test_a_method_override_changes_nothing(launch, origin):
    gateway = limited(launch, origin, {**ENDPOINT, "rate": "1/h"})
    fields = {**ACME, "X-HTTP-Method-Override": "GET", "X-Method-Override": "GET", "X-HTTP-Method": "GET"}
    assert statuses(gateway, 2, "POST", "/products", fields, b"x") == [200, 429]


def test_a_plan_can_have_its_own_rate(launch, origin):
    gateway = limited(
        launch,
        origin,
        {"name": "p", "per": ["partner"], "rate": "3/h", "by": {"plan": {"free": "1/h", "premium": "2/h"}}},
    )
    assert statuses(gateway, 3, fields=ACME) == [200, 429, 429]
    assert statuses(gateway, 3, fields=BOLT) == [200, 200, 429]
    assert statuses(gateway, 4, fields=HASHED) == [200, 200, 200, 429]


def test_an_unlimited_plan_is_never_refused(launch, origin):
    gateway = limited(
        launch, origin, {"name": "p", "per": ["partner"], "rate": "1/h", "by": {"plan": {"premium": "unlimited"}}}
    )
    assert statuses(gateway, 50, fields=BOLT) == [200] * 50
    assert "RateLimit" not in gateway.ask(fields=BOLT).fields
    assert statuses(gateway, 2, fields=ACME) == [200, 429]


def test_a_fixed_cost_is_taken_for_each_request(launch, origin):
    gateway = limited(
        launch,
        origin,
        {"name": "report", "per": ["partner"], "match": ["GET /reports/*"], "rate": "100/h", "cost": 20},
    )
    assert statuses(gateway, 6, "GET", "/reports/1", ACME) == [200] * 5 + [429]


def test_a_request_without_the_attribute_is_skipped_by_default(launch, origin):
    gateway = limited(launch, origin, {**GLOBAL, "rate": "1/h"})
    assert statuses(gateway, 5) == [200] * 5
    assert "RateLimit" not in gateway.ask().fields


def test_a_request_without_the_attribute_can_be_refused(launch, origin):
    gateway = limited(launch, origin, {**GLOBAL, "missing": "refuse"})
    assert gateway.ask().status in (401, 403, 429)
    assert not origin.begun
    assert gateway.ask(fields=ACME).status == 200


def test_requests_without_the_attribute_can_share_an_account(launch, origin):
    gateway = limited(launch, origin, {**GLOBAL, "rate": "1/h", "missing": "share"})
    assert statuses(gateway, 1, source="127.0.0.5") + statuses(gateway, 1, source="127.0.0.6") == [200, 429]
    assert gateway.ask(fields=ACME).status == 200


def test_a_limit_can_hold_only_for_the_anonymous(launch, origin):
    gateway = limited(
        launch,
        origin,
        {"name": "anonymous", "per": ["address"], "rate": "1/h", "only_if": {"missing": ["partner", "user"]}},
    )
    assert statuses(gateway, 2) == [200, 429]
    assert statuses(gateway, 3, fields=ACME) == [200] * 3


def test_a_shadow_limit_counts_and_never_refuses(launch, origin):
    gateway = limited(launch, origin, {"name": "dark", "per": ["partner"], "rate": "1/h", "mode": "shadow"}, GLOBAL)
    responses = [gateway.ask(fields=ACME) for _ in range(3)]
    assert [response.status for response in responses] == [200] * 3
    assert all(
        "dark" not in response.fields.joined("RateLimit") + response.fields.joined("RateLimit-Policy")
        for response in responses
    )
    assert gateway.metrics().value("weir_decisions_total", limit="dark", result="shadow_refused") == 2


def test_a_shadow_limit_alone_shows_no_fields(launch, origin):
    gateway = limited(launch, origin, {"name": "dark", "per": ["partner"], "rate": "1/h", "mode": "shadow"})
    assert not [name for name in gateway.ask(fields=ACME).fields.names() if "ratelimit" in name.lower()]


def test_limits_of_different_subjects_are_given_back_when_one_refuses(launch, origin):
    gateway = limited(
        launch,
        origin,
        {"name": "by-address", "per": ["address"], "rate": "10/h"},
        {"name": "by-partner", "per": ["partner"], "rate": "2/h"},
    )
    assert statuses(gateway, 6, fields=ACME) == [200, 200, 429, 429, 429, 429]
    assert remaining(gateway.ask(fields=BOLT), "by-address") == 7


def test_many_clients_at_once_get_exactly_what_is_there(launch, origin):
    gateway = limited(launch, origin, {**GLOBAL, "rate": "100/h"}, workers=4)
    seen, lock = [], threading.Lock()

    def client():
        with RawClient(gateway.address, timeout=20) as one:
            one.send(request_bytes(fields=ACME) * 40)
            got = [one.response().status for _ in range(40)]
        with lock:
            seen.extend(got)

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (seen.count(200), seen.count(429)) == (100, 220)
    assert len(origin.requests) == 100


def test_limits_come_back_at_their_rate(launch, origin):
    gateway = limited(launch, origin, {"name": "p", "per": ["partner"], "rate": "20/s", "burst": 1})
    with gateway.connect() as client:
        admitted = [client.ask(fields=ACME).status for _ in range(2)]
        assert admitted == [200, 429]
        assert client.is_quiet(0.06)
        assert client.ask(fields=ACME).status == 200


def test_a_trusted_header_bypasses_all_limits_and_a_forged_one_does_not(launch, origin):
    gateway = limited(
        launch,
        origin,
        {"name": "a", "per": ["service"], "rate": "1/h"},
        trusted_proxies=["127.0.0.9/32"],
        bypass=[{"header": {"X-User-Role": "ADMIN"}, "from": "trusted_proxies"}],
    )
    admin = {"X-User-Role": "ADMIN"}
    assert statuses(gateway, 5, fields=admin, source="127.0.0.9") == [200] * 5
    assert statuses(gateway, 2, fields=admin) == [200, 429]
    assert statuses(gateway, 1, fields={"X-User-Role": "admin"}, source="127.0.0.9") == [429]
    assert "RateLimit" not in gateway.ask(fields=admin, source="127.0.0.9").fields


def test_an_address_can_bypass_all_limits(launch, origin):
    gateway = limited(
        launch, origin, {"name": "a", "per": ["service"], "rate": "1/h"}, bypass=[{"address": ["127.0.1.0/24"]}]
    )
    assert statuses(gateway, 5, source="127.0.1.7") == [200] * 5
    assert statuses(gateway, 2, source="127.0.2.7") == [200, 429]
