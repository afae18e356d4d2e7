# SPDX-License-Identifier: Apache-2.0
"""Who is asking: API keys and trusted headers (config: callers, keys, identify; http B7, N7)."""

import json

import pytest

from harness import request_bytes

CALLERS = [{"api_key": {"header": "X-Api-Key"}}]
KEYS = [{"key": "key-acme", "partner": "acme", "plan": "free"}]
PER_USER = {"name": "user", "per": ["user"], "rate": "1/h"}


def from_(whom):
    return [{"header": {"name": "X-User-Id", "attribute": "user", "from": whom}}]


def test_a_service_that_wants_to_know_its_callers_answers_401_to_strangers(launch, origin):
    gateway = launch(origin, callers=CALLERS, keys=KEYS, identify="required")
    response = gateway.ask()
    assert response.status == 401 and response.fields.get("WWW-Authenticate")
    assert json.loads(response.body)["status"] == 401
    assert response.fields.get("Content-Type") == "application/problem+json"
    assert response.fields.get("Cache-Control") == "no-store"
    assert not origin.begun
    assert gateway.ask(fields={"X-Api-Key": "key-acme"}).status == 200


@pytest.mark.parametrize("identify", ["required", "optional"])
@pytest.mark.parametrize("key", ["wrong", "key-acm", "key-acmee", "KEY-ACME", ""])
def test_an_unknown_key_gets_401(launch, origin, identify, key):
    gateway = launch(origin, callers=CALLERS, keys=KEYS, identify=identify)
    response = gateway.ask(fields={"X-Api-Key": key})
    if key == "" and identify == "optional":
        assert response.status in (200, 401)
        return
    assert response.status == 401 and response.fields.get("WWW-Authenticate")
    assert not origin.begun
    assert key == "" or key.encode() not in response.body


def test_strangers_are_served_where_nobody_must_be_known(launch, origin):
    assert launch(origin, callers=CALLERS, keys=KEYS).ask().status == 200


@pytest.mark.parametrize("length, statuses", [(256, (401,)), (257, (400,))])
def test_a_key_longer_than_256_bytes_is_not_even_looked_up(launch, origin, length, statuses):
    assert launch(origin, callers=CALLERS, keys=KEYS).ask(fields={"X-Api-Key": "k" * length}).status in statuses


def test_no_method_path_or_field_gets_around_the_key(launch, origin):
    gateway = launch(origin, callers=CALLERS, keys=KEYS, identify="required")
    for method in ("GET", "HEAD", "OPTIONS", "POST", "PROPFIND", "get"):
        for target in ("/", "/healthz", "//x", "/livez", "/metrics", "/x?X-Api-Key=key-acme"):
            for fields in ({}, {"X-Original-URL": "/"}, {"X-HTTP-Method-Override": "OPTIONS"}, {"Upgrade": "h2c"}):
                assert gateway.ask(method, target, fields).status == 401, (method, target, fields)
    assert not origin.begun


def test_a_header_is_believed_only_from_trusted_peers(launch, origin):
    gateway = launch(origin, callers=from_("trusted_proxies"), limits=[PER_USER], trusted_proxies=["127.0.0.9/32"])
    user = {"X-User-Id": "u1"}
    assert [gateway.ask(fields=user).status for _ in range(3)] == [200] * 3
    assert [gateway.ask(fields=user, source="127.0.0.9").status for _ in range(2)] == [200, 429]
    assert gateway.ask(fields={"X-User-Id": "u2"}, source="127.0.0.9").status == 200


def test_a_header_can_be_believed_from_anyone_when_that_is_said(launch, origin):
    gateway = launch(origin, callers=from_("anyone"), limits=[PER_USER])
    assert [gateway.ask(fields={"X-User-Id": "u1"}).status for _ in range(2)] == [200, 429]


def test_a_trusted_user_is_enough_where_somebody_must_be_known(launch, origin):
    gateway = launch(origin, callers=from_("trusted_proxies"), trusted_proxies=["127.0.0.9/32"], identify="required")
    assert gateway.ask(fields={"X-User-Id": "u1"}).status == 401
    assert gateway.ask(fields={"X-User-Id": "u1"}, source="127.0.0.9").status == 200


def test_all_callers_are_tried_and_each_yields_attributes(launch, origin):
    gateway = launch(
        origin,
        callers=CALLERS + from_("anyone"),
        keys=KEYS,
        limits=[{"name": "both", "per": ["partner", "user"], "rate": "1/h"}],
    )
    fields = {"X-Api-Key": "key-acme", "X-User-Id": "u1"}
    assert [gateway.ask(fields=fields).status for _ in range(2)] == [200, 429]
    assert gateway.ask(fields={**fields, "X-User-Id": "u2"}).status == 200
    assert gateway.ask(fields={"X-Api-Key": "key-acme"}).status == 200


def test_no_value_can_choose_the_account_of_another(launch, origin):
    callers = [{"header": {"name": f"X-{name}", "attribute": name, "from": "anyone"}} for name in ("tenant", "user")]
    gateway = launch(origin, callers=callers, limits=[{"name": "both", "per": ["tenant", "user"], "rate": "1/h"}])
    pairs = [
        ("a", "b:c"),
        ("a:b", "c"),
        ("a,b", "c"),
        ("a", "b,c"),
        ("a_b", "c"),
        ("a", "b_c"),
        ("a\\", "c"),
        ("a}", "{c"),
        ("a", "}c"),
        ("a%3Ab", "c"),
        ("a b", "c"),
    ]
    assert [gateway.ask(fields={"X-tenant": tenant, "X-user": user}).status for tenant, user in pairs] == [200] * len(
        pairs
    )


def test_values_are_compared_without_the_space_around_them(launch, origin):
    gateway = launch(origin, callers=from_("anyone"), limits=[PER_USER])
    with gateway.connect() as client:
        client.send(request_bytes(fields={"X-User-Id": " \t u1 \t"}) + request_bytes(fields={"X-User-Id": "u1"}))
        assert [client.response().status for _ in range(2)] == [200, 429]
