# SPDX-License-Identifier: Apache-2.0
"""One set of rate-limit fields out of the upstream's and ours, never looser (http G6; standards 2.4)."""

import json
import time

import pytest

from harness import reply

LIMIT = {"name": "ours", "per": ["service"], "rate": "10/h"}
OURS = '"ours";r=9;t=360'
FAR = int(time.time()) + 10**6


def merged(launch, origin, fields, merge=None, status=200, limit=LIMIT, **responses):
    """What the client sees of an upstream answer with these fields."""
    origin.answer = reply(status, fields)
    settings = {**responses, **({"merge": merge} if merge else {})}
    return launch(origin, limits=[limit], responses=settings).ask().fields


def test_items_of_the_upstream_follow_ours_in_one_line(launch, origin):
    fields = merged(launch, origin, {"RateLimit": '"up";r=50;t=7', "RateLimit-Policy": '"up";q=100;w=60'})
    assert fields.get("RateLimit") == OURS + ', "up";r=50;t=7'
    assert fields.get("RateLimit-Policy") == '"ours";q=10;w=3600, "up";q=100;w=60'


def test_several_lines_of_the_upstream_become_one(launch, origin):
    fields = merged(launch, origin, [("RateLimit", '"a";r=1'), ("ratelimit", '"b";r=2;t=3')])
    assert fields.get("RateLimit") == OURS + ', "a";r=1, "b";r=2;t=3'


@pytest.mark.parametrize(
    "bad",
    [
        '"up";r=50,',
        ',"up";r=1',
        '"up" ;r=1',
        '"up";R=1',
        '"up";r= 1',
        "'up';r=1",
        '"up;r=1',
        '"é";r=1',
        '"up";r=1234567890123456',
        '"up";pk=:$:',
        "limit=100, remaining=50, reset=5",
        "up;r=1",
        '"up";r',
        '"up"',
        '"up";t=5',
        '"up";r=-1',
        '"up";r="1"',
    ],
)
def test_a_malformed_value_of_the_upstream_is_dropped_whole(launch, origin, bad):
    assert merged(launch, origin, {"RateLimit": bad}).get("RateLimit") == OURS


def test_a_name_of_the_upstream_stays_and_ours_gets_a_prefix(launch, origin):
    fields = merged(launch, origin, {"RateLimit": '"ours";r=3;t=9', "RateLimit-Policy": '"ours";q=5;w=60'})
    assert fields.get("RateLimit") == '"gw-ours";r=9;t=360, "ours";r=3;t=9'
    assert fields.get("RateLimit-Policy") == '"gw-ours";q=10;w=3600, "ours";q=5;w=60'


def triple(fields, prefix="X-RateLimit-"):
    return tuple(fields.get(prefix + name) for name in ("Limit", "Remaining", "Reset"))


def test_the_triple_with_less_left_survives_as_a_whole(launch, origin):
    lower = {"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "2", "X-RateLimit-Reset": "77"}
    assert triple(merged(launch, origin, lower)) == ("5", "2", "77")
    higher = {"X-RateLimit-Limit": "500", "X-RateLimit-Remaining": "200", "X-RateLimit-Reset": "77"}
    assert triple(merged(launch, origin, higher))[:2] == ("10", "9")


def test_with_equal_rests_the_later_reset_survives(launch, origin):
    later = {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "9", "X-RateLimit-Reset": str(FAR)}
    assert triple(merged(launch, origin, later)) == ("50", "9", str(FAR))
    earlier = {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "1"}
    assert triple(merged(launch, origin, earlier))[:2] == ("10", "9")


@pytest.mark.parametrize("value", ["", "-1", "1.5", "x", "1, 2", "0x1", "99999999999999999999999"])
def test_a_rest_that_is_not_an_integer_loses_to_ours(launch, origin, value):
    odd = {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": value, "X-RateLimit-Reset": "1"}
    assert triple(merged(launch, origin, odd))[:2] == ("10", "9")


def test_fields_of_the_upstream_never_come_twice(launch, origin):
    fields = merged(
        launch, origin, [("X-RateLimit-Remaining", "5"), ("x-ratelimit-remaining", "4"), ("X-RateLimit-Limit", "8")]
    )
    assert all(len(fields.all("X-RateLimit-" + name)) <= 1 for name in ("Limit", "Remaining", "Reset"))


def test_the_older_triple_is_merged_like_the_other_one(launch, origin):
    lower = {"RateLimit-Limit": "5", "RateLimit-Remaining": "2", "RateLimit-Reset": "77"}
    fields = merged(launch, origin, lower, ratelimit="legacy")
    assert triple(fields, "RateLimit-") == ("5", "2", "77")


@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_that_only_the_upstream_asks_for_is_kept(launch, origin, status):
    for value in ("17", "Sun, 06 Nov 2094 08:49:37 GMT"):
        origin.answer = reply(status, {"Retry-After": value, "Content-Type": "text/plain"}, b"upstream says no")
        response = launch(origin, limits=[LIMIT]).ask()
        assert response.status == status and response.fields.get("Retry-After") == value
        assert response.body == b"upstream says no"


def test_an_upstream_wait_on_an_answer_that_was_admitted_is_not_shortened(launch, origin):
    fields = merged(launch, origin, {"Retry-After": "9999"}, status=429, limit={**LIMIT, "rate": "1/h"})
    assert fields.get("Retry-After") == "9999"


THEIRS = {
    "RateLimit": '"up";r=50;t=7',
    "RateLimit-Policy": '"up";q=100;w=60',
    "X-RateLimit-Limit": "5",
    "X-RateLimit-Remaining": "2",
    "X-RateLimit-Reset": "77",
}


def test_replace_drops_the_fields_of_the_upstream(launch, origin):
    fields = merged(launch, origin, THEIRS, "replace")
    assert fields.get("RateLimit") == OURS and fields.get("RateLimit-Policy") == '"ours";q=10;w=3600'
    assert triple(fields)[:2] == ("10", "9")


def test_keep_adds_ours_only_where_the_upstream_sent_none(launch, origin):
    fields = merged(launch, origin, THEIRS, "keep")
    assert {name: fields.get(name) for name in THEIRS} == THEIRS
    fields = merged(
        launch, origin, {"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "200", "X-RateLimit-Reset": "77"}, "keep"
    )
    assert triple(fields) == ("5", "200", "77") and fields.get("RateLimit") == OURS


def test_off_passes_the_fields_of_the_upstream_and_adds_none(launch, origin):
    fields = merged(launch, origin, {"RateLimit": "anything; goes", "X-RateLimit-Limit": "x"}, "off")
    assert fields.get("RateLimit") == "anything; goes" and fields.get("X-RateLimit-Limit") == "x"
    assert "RateLimit-Policy" not in fields and "X-RateLimit-Remaining" not in fields


@pytest.mark.parametrize("merge", [None, "replace", "keep", "off"])
def test_fields_of_the_upstream_pass_where_no_limit_applies(launch, origin, merge):
    limit = {**LIMIT, "match": ["POST /never"]}
    fields = merged(launch, origin, THEIRS, merge, limit=limit)
    if merge != "replace":
        assert {name: fields.get(name) for name in THEIRS} == THEIRS


@pytest.mark.parametrize("merge", [None, "replace", "keep"])
def test_a_refusal_shows_ours_alone(launch, origin, merge):
    origin.answer = reply(200, THEIRS)
    settings = {"merge": merge} if merge else {}
    gateway = launch(origin, limits=[{**LIMIT, "rate": "1/h"}], responses=settings)
    refused = [gateway.ask() for _ in range(2)][1]
    assert refused.status == 429 and refused.fields.get("RateLimit") == '"ours";r=0;t=3600'
    assert json.loads(refused.body)["violated-policies"] == ["ours"]
