# SPDX-License-Identifier: Apache-2.0
"""The admin API, asked by an HTTP client: rows, keys, accounts, who is refused, who has changed what."""

import json
import re
import signal
import sqlite3
import subprocess
import time

import pytest

from harness import RawClient, RedisServer, eventually
from harness.api import Api, jsonschema, quoted
from harness.policies import CALLERS, ROWS, as_partner

FIXED = {"name": "fixed", "per": ["partner"], "rate": "5/h"}
IN_FORCE = 2.0


def settings(url, **changes):
    policies = {"sql": {"url": url, "timeout": "2s"}, "cache": {"snapshot": "off"}, "budget": "500ms"}
    return {"callers": CALLERS, "limits": [ROWS], "policies": policies, **changes}


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:{tmp_path}/policies.db"


@pytest.fixture
def start(launch, origin, binary):
    """start(url, **top-level keys): a gateway with a database, and its API."""

    def with_database(url, **changes):
        gateway = launch(origin, **settings(url, **changes))
        if url.startswith("mysql"):
            migrate(binary, gateway)
        return gateway, Api(gateway.admin_address)

    return with_database


def migrate(binary, gateway):
    subprocess.run([binary, "policies", "migrate", str(gateway.file)], check=True, capture_output=True, timeout=60)


def put(api, target, body=None, **fields):
    answer = api("PUT", target, body or {}, **fields)
    assert answer.status in (200, 201), answer
    return answer


# The description


def test_the_description_is_sound(start, sqlite_url):
    """What a linter of OpenAPI documents looks at."""
    _, api = start(sqlite_url)
    document = api.described()
    assert document["openapi"].startswith("3.1.")
    tags = {tag["name"] for tag in document["tags"]}
    components = {f"#/components/{kind}/{name}" for kind in ("schemas", "parameters", "responses")
                  for name in document["components"][kind]}
    text = json.dumps(document)
    assert set(re.findall(r'"\$ref": "([^"]+)"', text)) == components, "all are there, and none is left over"
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    names = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            names.append(operation["operationId"])
            assert operation["summary"].endswith((".", ":")) and set(operation["tags"]) <= tags, (path, method)
            parameters = [api.resolve(parameter) for parameter in operation.get("parameters", [])]
            keys = [(parameter["in"], parameter["name"]) for parameter in parameters]
            assert len(keys) == len(set(keys)), (path, method)
            assert {name for where, name in keys if where == "path"} == set(re.findall(r"\{(\w+)\}", path))
            assert all(parameter["required"] for parameter in parameters if parameter["in"] == "path")
            for parameter in parameters:
                jsonschema.Draft202012Validator.check_schema(parameter["schema"])
            assert ("requestBody" in operation) == (method in ("put", "post", "patch")), (path, method)
            assert "200" in operation["responses"] and "401" in operation["responses"], (path, method)
            assert all(api.resolve(response)["description"] for response in operation["responses"].values())
    assert len(names) == len(set(names))


def test_exactly_what_is_described_is_served(start, sqlite_url):
    _, api = start(sqlite_url)
    for pattern, operations in api.described()["paths"].items():
        target = re.sub(r"\{\w+\}", "x", pattern)
        served = {method for method in ("GET", "PUT", "POST", "PATCH", "DELETE")
                  if api(method, target, checked=False).status != 405}
        assert served == {method.upper() for method in operations}, pattern
        refused = api("PROPFIND", target, checked=False)
        assert refused.status == 405 and refused.json["code"] == "method-not-allowed"
        assert set(refused.fields["Allow"].split(", ")) - {"HEAD"} == served


def test_the_parameters_that_are_described_are_known_and_no_others(start, sqlite_url):
    _, api = start(sqlite_url)
    for pattern, operations in api.described()["paths"].items():
        for method, operation in operations.items():
            known = [p["name"] for p in map(api.resolve, operation.get("parameters", [])) if p["in"] == "query"]
            target = re.sub(r"\{\w+\}", "x", pattern)
            for name in known:
                answer = api(method.upper(), f"{target}?{name}=", checked=False)
                assert (answer.json or {}).get("code") != "unknown-parameter", (method, target, name)
            answer = api(method.upper(), f"{target}?nonsense=1", checked=False)
            assert answer.status == 400 and answer.json["code"] == "unknown-parameter", (method, target, answer)


# Rows


def test_rows_are_created_read_changed_and_deleted(start, url):
    _, api = start(url)
    made = put(api, "/v1/plans/gold", {"note": "up to 50/s"})
    assert made.status == 201 and made.json["changes"][0]["action"] == "created"
    assert put(api, "/v1/partners/acme", {"plan": "gold"}).status == 201
    row = "/v1/limits/rows?plan=gold&service=MAIN"
    assert put(api, row, {"rate": "50/s", "burst": 100}).status == 201
    read = api("GET", row)
    assert read.status == 200 and read.json["rate"] == "50/s" and read.json["plan"] == "gold"
    changed = api("PATCH", row, {"rate": "60/s", "burst": None})
    assert changed.status == 200 and "burst" not in changed.json["changes"][0]["after"]
    assert api("GET", row).json["rate"] == "60/s"
    assert put(api, row, {"rate": "60/s"}).json["unchanged"] == 1
    assert api("DELETE", row).json["changes"][0]["action"] == "deleted"
    assert api("GET", row).status == 404
    assert api("DELETE", row).status == 404
    assert api("PATCH", row, {"rate": "1/s"}).status == 404
    assert api("DELETE", "/v1/plans/gold").status == 409, "a partner has it"
    assert len(api("DELETE", "/v1/partners/acme").json["changes"]) == 1
    assert api("DELETE", "/v1/plans/gold").status == 200


def test_names_may_have_any_characters(start, sqlite_url):
    _, api = start(sqlite_url)
    for name in ("a/b", "ä ö", "50%", "a,b{c}", "..", "x?y#z"):
        target = f"/v1/partners/{quoted(name)}"
        assert put(api, target).status == 201
        assert api("GET", target).json["name"] == name
    for wrong in ("%zz", "%2", "a%00"):
        assert api("GET", f"/v1/partners/{wrong}").json["code"] == "bad-path"
    assert len(api("GET", "/v1/partners?prefix=a%2Cb%7B").json["items"]) == 1
    assert len(api("GET", "/v1/partners?prefix=%C3%A4+").json["items"]) == 1, "as forms write a space"


def test_nobody_overwrites_what_somebody_else_has_changed(start, url):
    _, api = start(url)
    first = put(api, "/v1/partners/acme", {"note": "one"}, if_none_match="*")
    assert api("PUT", "/v1/partners/acme", {"note": "two"}, if_none_match="*").status == 412
    put(api, "/v1/partners/acme", {"note": "three"}, if_match=first.tag)
    for method, body in (("PUT", {"note": "x"}), ("PATCH", {"note": "x"}), ("DELETE", None)):
        stale = api(method, "/v1/partners/acme", body, if_match=first.tag)
        assert stale.status == 412 and stale.json["code"] == "changed-meanwhile"
    now = api("GET", "/v1/partners/acme")
    assert now.json["note"] == "three"
    assert api("DELETE", "/v1/partners/acme", if_match=now.tag).status == 200
    assert api("DELETE", "/v1/partners/acme", if_match="3").status == 400
    assert api("PUT", "/v1/partners/acme", {}, if_none_match='"3"').status == 400


def test_a_condition_that_would_be_ignored_is_refused(start, sqlite_url):
    _, api = start(sqlite_url)
    put(api, "/v1/partners/acme")
    for method, target, body in (("POST", "/v1/keys", {"partner": "acme"}), ("POST", "/v1/import", {}),
                                 ("DELETE", "/v1/accounts/acme", None)):
        refused = api(method, target, body, if_match='"99"')
        assert refused.status == 400 and refused.json["code"] == "bad-condition", target
    assert api("PUT", "/v1/partners/acme", {}, if_match='"1"', if_none_match="*").status == 400
    assert api("GET", "/v1/partners/acme", if_none_match='"1"').status == 200
    assert api("GET", "/v1/keys").json["items"] == []


def test_the_tag_is_that_of_the_row_as_it_is(start, sqlite_url):
    _, api = start(sqlite_url)
    first = put(api, "/v1/plans/gold", {"note": "a"})
    tried = api("PUT", "/v1/plans/gold?dry_run=true", {"note": "b"})
    assert tried.json["changes"] and tried.tag is None, "there is no such revision yet"
    same = put(api, "/v1/plans/gold", {"note": "a"})
    assert same.json["unchanged"] == 1 and same.tag == first.tag == api("GET", "/v1/plans/gold").tag


def test_rows_that_were_written_by_hand_can_be_changed(start, sqlite_url, tmp_path):
    _, api = start(sqlite_url)
    put(api, "/v1/plans/gold")
    with sqlite3.connect(tmp_path / "policies.db") as database:
        database.execute("INSERT INTO plans (name) VALUES ('hand')")
    assert api("GET", "/v1/plans/hand").tag is None
    changed = api("PATCH", "/v1/plans/hand", {"note": "z"})
    assert changed.status == 200 and changed.tag == api("GET", "/v1/plans/hand").tag


def test_a_dry_run_checks_all_and_changes_nothing(start, url):
    _, api = start(url)
    tried = api("PUT", "/v1/partners/acme?dry_run=true", {"note": "n"})
    assert tried.status == 200 and tried.json["dry_run"] and tried.json["changes"][0]["action"] == "created"
    assert api("GET", "/v1/partners/acme").status == 404
    put(api, "/v1/partners/acme")
    assert api("DELETE", "/v1/partners/acme?dry_run=true").json["changes"][0]["action"] == "deleted"
    assert api("PATCH", "/v1/partners/acme?dry_run=true", {"enabled": False}).json["dry_run"]
    assert api("GET", "/v1/partners/acme").json["enabled"] is True
    assert api("PUT", "/v1/limits/rows?partner=acme&dry_run=true", {"rate": "0/s"}).status == 422
    made = api("POST", "/v1/keys?dry_run=true", {"partner": "acme"})
    assert made.status == 200 and "key" not in made.json
    assert api("GET", "/v1/keys").json["items"] == []
    assert api("GET", "/v1/changes").json["items"][0]["kind"] == "partner"


@pytest.mark.parametrize("row, field", [
    ({"rate": "0/s"}, "rate"),
    ({"rate": "nonsense"}, "rate"),
    ({"rate": "5/s", "burst": 0}, "burst"),
    ({"rate": "5/s", "mode": "enforced"}, "mode"),
    ({"rate": "5/s", "algorithm": "bucket"}, "algorithm"),
    ({"rate": "5/s", "nots": "x"}, "nots"),
    ({"rate": 5}, "rate"),
    ({}, "rate"),
])
def test_a_wrong_row_is_refused_by_field(start, sqlite_url, row, field):
    _, api = start(sqlite_url)
    put(api, "/v1/partners/acme")
    answer = api("PUT", "/v1/limits/rows?partner=acme&service=MAIN", row)
    assert answer.status == 422 and answer.json["code"] == "wrong-rows"
    assert field in [fault["field"] for fault in answer.json["faults"]], answer
    assert api("GET", "/v1/limits").json["items"] == []


def test_rows_have_to_fit_the_configuration_in_force(start, sqlite_url):
    gateway, api = start(sqlite_url)
    put(api, "/v1/partners/acme")
    unknown = api("PUT", "/v1/limits/rows?partner=acme&service=NONE", {"rate": "5/s"})
    assert unknown.status == 422 and "NONE" in unknown.json["detail"]
    assert api("PUT", "/v1/limits/other?partner=acme", {"rate": "5/s"}).status == 422
    gateway.reload(limits=[ROWS, {**ROWS, "name": "other"}])
    put(api, "/v1/limits/other?partner=acme", {"rate": "5/s"})
    assert api("PUT", "/v1/limits/rows?partner=nobody", {"rate": "5/s"}).status == 422
    assert api("PUT", "/v1/limits/rows", {"rate": "5/s"}).status == 422, "no owner"
    both = api("GET", "/v1/limits/rows?partner=acme&plan=gold")
    assert both.status == 422 and both.json["detail"]
    renamed = api("PUT", "/v1/partners/acme", {"name": "other"})
    assert renamed.status == 422 and "renamed" in renamed.json["detail"]


def test_lists_come_in_pages_that_can_be_followed(start, url):
    _, api = start(url)
    put(api, "/v1/plans/gold")
    rows = {"partners": [{"name": f"p{i:03}", **({"plan": "gold"} if i % 2 else {})} for i in range(250)],
            "limits": [{"limit": "rows", "partner": f"p{i:03}", "service": service, "rate": "5/s"}
                       for i in range(100) for service in ("", "MAIN") if not (service == "" and i % 3)]}
    assert api("POST", "/v1/import", rows).status == 200
    for first, wanted in (("/v1/partners?most=60", 250), ("/v1/partners?plan=gold", 125),
                          ("/v1/partners?prefix=p00&most=3", 10), ("/v1/limits?most=7", len(rows["limits"])),
                          ("/v1/limits?partner=p000", 2), ("/v1/keys", 0)):
        found, target = [], first
        while target:
            page = api("GET", target)
            assert page.status == 200
            found += page.json["items"]
            target = page.json["next"]
        assert len(found) == wanted == len({json.dumps(row, sort_keys=True) for row in found}), first
    for wrong in ("most=0", "most=1001", "most=x", "after=nonsense", "prefix=a&prefix=b"):
        assert api("GET", f"/v1/limits?{wrong}").status == 400


def test_rows_that_were_spoiled_by_hand_are_told_and_left_out(start, sqlite_url, tmp_path):
    _, api = start(sqlite_url)
    put(api, "/v1/partners/acme")
    put(api, "/v1/limits/rows?partner=acme&service=MAIN", {"rate": "5/s"})
    put(api, "/v1/limits/rows?partner=acme", {"rate": "6/s"})
    with sqlite3.connect(tmp_path / "policies.db") as database:
        database.execute("UPDATE limits SET rate = '0/s' WHERE service = 'MAIN'")
    page = api("GET", "/v1/limits").json
    assert [row["rate"] for row in page["items"]] == ["6/s"] and "rate" in page["faults"][0]["field"]
    assert "rate" in [fault["field"] for fault in api("GET", "/v1/check").json["faults"]]
    assert api("GET", "/v1/limits/rows?partner=acme&service=MAIN").status == 422
    refused = api("GET", "/v1/export")
    assert refused.status == 422 and "rate" in refused.json["faults"][0]["field"]
    assert "6/s" in api("GET", "/v1/export?incomplete=true").text
    put(api, "/v1/limits/rows?partner=acme&service=MAIN", {"rate": "7/s"})
    assert api("GET", "/v1/check").json["faults"] == [] and api("GET", "/v1/export").status == 200


# All rows at once


def test_what_is_exported_can_be_imported_and_nothing_is_different(start, url):
    _, api = start(url)
    put(api, "/v1/plans/gold")
    put(api, "/v1/partners/acme", {"plan": "gold", "note": "ä: #1"})
    put(api, "/v1/limits/rows?plan=gold", {"rate": "1000/month", "algorithm": "calendar"})
    api("POST", "/v1/keys", {"partner": "acme"})
    exported = api("GET", "/v1/export")
    again = api("POST", "/v1/import?prune=true", exported.text, Content_Type="application/yaml")
    assert again.status == 200 and again.json["changes"] == [] and again.json["unchanged"] == 4


def test_an_import_is_done_as_a_whole_or_not_at_all(start, url):
    _, api = start(url)
    put(api, "/v1/partners/old")
    wrong = api("POST", "/v1/import", {"partners": [{"name": "acme"}, {"name": "beta", "plan": "none"}]})
    assert wrong.status == 422 and "beta" in wrong.json["faults"][0]["row"]
    assert api("POST", "/v1/import", "partners: [", Content_Type="application/yaml").status == 422
    assert [row["name"] for row in api("GET", "/v1/partners").json["items"]] == ["old"]
    tried = api("POST", "/v1/import?prune=true&dry_run=true", {"partners": [{"name": "acme"}]})
    assert {change["action"] for change in tried.json["changes"]} == {"created", "deleted"}
    done = api("POST", "/v1/import?prune=true", {"partners": [{"name": "acme"}]})
    assert done.status == 200 and [row["name"] for row in api("GET", "/v1/partners").json["items"]] == ["acme"]


def test_a_document_reads_nothing_of_the_gateways_environment(start, sqlite_url):
    _, api = start(sqlite_url)
    answer = api("POST", "/v1/import", 'partners: [{name: "${HOME}"}]', Content_Type="application/yaml")
    assert answer.status == 422
    assert api("GET", "/v1/partners").json["items"] == []


# Keys


def test_a_new_key_is_told_once_and_lets_its_partner_in(start, url):
    gateway, api = start(url, identify="required")
    put(api, "/v1/partners/acme")
    made = api("POST", "/v1/keys", {"partner": "acme", "note": "first"})
    assert made.status == 201
    key, name = made.json["key"], made.json["id"]
    eventually(lambda: gateway.ask("GET", "/", {"X-Api-Key": key}).status == 200, within=IN_FORCE)
    assert key not in api("GET", f"/v1/keys/{name}").text and key not in api("GET", "/v1/changes").text
    api("PATCH", f"/v1/keys/{name}", {"enabled": False})
    eventually(lambda: gateway.ask("GET", "/", {"X-Api-Key": key}).status == 401, within=IN_FORCE)


def test_while_a_key_is_replaced_both_are_good(start, url):
    gateway, api = start(url)
    put(api, "/v1/partners/acme")
    old = api("POST", "/v1/keys", {"partner": "acme", "id": "one", "key": "a-key-from-elsewhere-0123456789"})
    assert old.status == 201 and "key" not in old.json, "the client has it already"
    turned = api("POST", "/v1/keys/one/rotate", {"grace": "1h", "new_id": "two"})
    assert turned.status == 201
    for key in ("a-key-from-elsewhere-0123456789", turned.json["key"]):
        eventually(lambda: gateway.ask("GET", "/", {"X-Api-Key": key}).status == 200, within=IN_FORCE)
    assert "expires" in api("GET", "/v1/keys/one").json and "expires" not in api("GET", "/v1/keys/two").json
    assert api("POST", "/v1/keys/none/rotate", {}).status == 404
    assert api("POST", "/v1/keys/one/rotate", {"grace": "soon"}).status == 422
    assert api("POST", "/v1/keys/one/rotate", {"grace": "1h", "expires": "2027-01-31"}).status == 422
    assert api("POST", "/v1/keys", {"partner": "acme", "id": "one"}).status == 409
    assert api("POST", "/v1/keys", {"partner": "nobody"}).status == 422
    assert api("POST", "/v1/keys", {"partner": "acme", "key": "x", "key_sha256": "0" * 64}).status == 422
    assert api("POST", "/v1/keys", {"partner": "acme", "key_sha256": "0" * 63}).status == 422
    assert api("POST", "/v1/keys", {}).status == 422


# What gateways do


def test_a_change_is_in_force_within_two_seconds_and_what_was_counted_stays(start, url):
    gateway, api = start(url)
    put(api, "/v1/partners/acme")
    assert as_partner(gateway).status == 200
    began = time.monotonic()
    put(api, "/v1/limits/rows?partner=acme&service=MAIN", {"rate": "3/day"})
    eventually(lambda: as_partner(gateway).fields.get("X-RateLimit-Limit") == "3", within=IN_FORCE)
    assert time.monotonic() - began < IN_FORCE
    eventually(lambda: as_partner(gateway).status == 429)
    api("PATCH", "/v1/limits/rows?partner=acme&service=MAIN", {"rate": "5/day"})
    eventually(lambda: as_partner(gateway).status == 200, within=IN_FORCE)
    eventually(lambda: as_partner(gateway).status == 429)
    api("PATCH", "/v1/partners/acme", {"enabled": False})
    eventually(lambda: as_partner(gateway).status == 403, within=IN_FORCE)


def test_other_gateways_are_told_of_a_change_and_need_not_find_it(launch, origin, binary, mariadb):
    mariadb.clear()
    with RedisServer() as redis:
        store = {"store": {"redis": {"urls": [redis.url], "budget": "1s"}}}
        changes = settings(mariadb.url, **store)
        changes["policies"]["poll"] = "60s"
        one, other = (launch(origin, **changes) for _ in range(2))
        migrate(binary, one)
        api = Api(one.admin_address)
        put(api, "/v1/partners/acme")
        put(api, "/v1/limits/rows?partner=acme", {"rate": "3/day"})
        for rate, limit in (("3/day", "3"), ("4/day", "4"), ("5/day", "5")):
            put(api, "/v1/limits/rows?partner=acme", {"rate": rate})
            for gateway in (one, other):
                eventually(lambda gateway=gateway: as_partner(gateway).fields.get("X-RateLimit-Limit") == limit,
                           within=IN_FORCE, what=f"the limit of {rate}")


def test_every_change_is_audited(start, url):
    _, api = start(url)
    put(api, "/v1/partners/acme", X_Changed_By="ann@example.net")
    put(api, "/v1/partners/acme", {"note": "n"}, X_Changed_By="bob")
    put(api, "/v1/partners/beta")
    api("DELETE", "/v1/partners/acme", X_Changed_By="bob")
    changes = api("GET", "/v1/changes").json["items"]
    assert [(one["action"], one["name"]) for one in changes] == [
        ("deleted", "acme"), ("created", "beta"), ("changed", "acme"), ("created", "acme")]
    assert [one["changed_by"] for one in changes] == ["bob", "admin API from 127.0.0.1", "bob", "ann@example.net"]
    assert changes[2]["before"].get("note") is None and changes[2]["after"]["note"] == "n"
    assert len(api("GET", "/v1/changes?by=bob").json["items"]) == 2
    assert len(api("GET", "/v1/changes?partner=beta").json["items"]) == 1
    assert len(api("GET", "/v1/changes?kind=key").json["items"]) == 0
    after = api("GET", f"/v1/changes?after={changes[-1]['revision']}&most=1").json["items"]
    assert [one["action"] for one in after] == ["changed"]
    for wrong in ("after=-1", "after=x", "most=0", "kind=thing"):
        assert api("GET", f"/v1/changes?{wrong}").status == 400
    assert api("PUT", "/v1/partners/x", {}, X_Changed_By="x" * 300).status == 400


def test_a_database_that_is_away_is_said_and_the_rest_answers(start, mariadb):
    mariadb.clear()
    gateway, api = start(mariadb.url)
    put(api, "/v1/partners/acme")
    mariadb.kill()
    try:
        gone = api("GET", "/v1/partners")
        assert gone.status == 503 and gone.json["code"] == "database-away" and gone.fields["Retry-After"] == "1"
        assert api("PUT", "/v1/partners/beta", {}).status == 503
        assert gateway.admin("/readyz").status == 200
        assert api("GET", "/v1/accounts/acme").status == 200
    finally:
        mariadb.start()
    assert [row["name"] for row in api("GET", "/v1/partners").json["items"]] == ["acme"]


# Accounts


@pytest.fixture(params=["memory", "redis"])
def store(request):
    if request.param == "memory":
        yield {}
        return
    with RedisServer() as server:
        yield {"store": {"redis": {"urls": [server.url], "prefix": "api", "budget": "1s"}}}


def counter(api, account, limit, cost=None):
    report = api("GET", f"/v1/accounts/{quoted(account)}" + (f"?cost={cost}" if cost else ""))
    assert report.status == 200, report
    (found,) = [one for group in report.json["groups"] for one in group["limits"]
                if one["limit"] == limit and not one["shadow"]]
    return found


def test_an_account_is_read_as_it_is_now(start, sqlite_url, store):
    gateway, api = start(sqlite_url, limits=[ROWS, FIXED], **store)
    assert counter(api, "acme", "fixed")["never_used"]
    assert [as_partner(gateway).status for _ in range(6)] == [200] * 5 + [429]
    used = counter(api, "acme", "fixed", cost=1)
    assert (used["used"], used["remaining"], used["never_used"]) == (5, 0, False)
    assert used["numbers"] == "5/h" or used["numbers"].startswith("5/h")
    assert used["asked"]["admitted"] is False and 0 < used["asked"]["retry_after_ms"] <= 720_000
    put(api, "/v1/partners/beta")
    put(api, "/v1/limits/rows?partner=beta", {"rate": "7/day"})
    eventually(lambda: as_partner(gateway, "beta").fields.get("X-RateLimit-Limit"), within=IN_FORCE)
    by_row = counter(api, "beta,MAIN", "rows")
    assert by_row["remaining"] == 7 - by_row["used"] and by_row["used"] > 0 and by_row["numbers"].startswith("7/d")
    assert api("GET", "/v1/accounts/a%7Bb").status == 422
    assert api("GET", "/v1/accounts/acme?cost=0").status == 400


def test_reading_changes_nothing(start, sqlite_url, store):
    gateway, api = start(sqlite_url, limits=[FIXED], **store)
    as_partner(gateway)
    for _ in range(20):
        assert counter(api, "acme", "fixed", cost=5)["remaining"] == 4


def test_what_is_given_back_can_be_used_again(start, sqlite_url, store):
    gateway, api = start(sqlite_url, limits=[FIXED], **store)
    for _ in range(6):
        as_partner(gateway)
    given = api("POST", "/v1/accounts/acme/give-back", {"limit": "fixed", "amount": 2}, X_Changed_By="ann")
    assert given.status == 200 and given.json["remaining"] == 2, given
    assert [as_partner(gateway).status for _ in range(3)] == [200, 200, 429]
    assert 'account "acme" given back 2 by limit "fixed" by "ann"' in gateway.errors()
    much = api("POST", "/v1/accounts/acme/give-back", {"limit": "fixed", "amount": 1000})
    assert much.json["remaining"] == 5, "never more than there can be"
    for wrong in ({"limit": "none", "amount": 1}, {"limit": "fixed"}, {"limit": "fixed", "amount": 0},
                  {"limit": "fixed", "amount": "1"}, {"amount": 1}, {"limit": "fixed", "amount": 1, "extra": 1}):
        assert api("POST", "/v1/accounts/acme/give-back", wrong).status == 422
    assert api("POST", "/v1/accounts/nobody/give-back", {"limit": "fixed", "amount": 1}).status == 422


def test_what_a_row_counts_is_given_back_as_well(start, sqlite_url, store):
    gateway, api = start(sqlite_url, **store)
    put(api, "/v1/partners/acme")
    put(api, "/v1/limits/rows?partner=acme", {"rate": "2/day", "algorithm": "fixed_window"})
    eventually(lambda: as_partner(gateway).status == 429)
    given = api("POST", "/v1/accounts/acme,MAIN/give-back", {"limit": "rows", "amount": 1})
    assert given.status == 200 and given.json["remaining"] == 1, given
    assert [as_partner(gateway).status for _ in range(2)] == [200, 429]


def test_calendars_of_rows_are_given_back_too(start, sqlite_url, store):
    gateway, api = start(sqlite_url, **store)
    put(api, "/v1/partners/acme")
    put(api, "/v1/limits/rows?partner=acme", {"rate": "3/month", "algorithm": "calendar"})
    eventually(lambda: as_partner(gateway).status == 429)
    seen = counter(api, "acme,MAIN", "rows", cost=1)
    assert seen["algorithm"] == "calendar" and seen["numbers"].startswith("3/month") and seen["used"] == 3
    assert seen["asked"]["admitted"] is False
    given = api("POST", "/v1/accounts/acme,MAIN/give-back", {"limit": "rows", "amount": 2})
    assert given.status == 200 and given.json["remaining"] == 2, given
    assert [as_partner(gateway).status for _ in range(3)] == [200, 200, 429]


def test_a_shadow_and_what_was_enforced_are_told_apart(start, sqlite_url, store):
    gateway, api = start(sqlite_url, **store)
    put(api, "/v1/partners/acme")
    row = "/v1/limits/rows?partner=acme"
    put(api, row, {"rate": "5/day"})
    eventually(lambda: as_partner(gateway).fields.get("X-RateLimit-Limit") == "5", within=IN_FORCE)
    put(api, row, {"rate": "5/day", "mode": "shadow"})
    eventually(lambda: as_partner(gateway).fields.get("X-RateLimit-Limit") is None, within=IN_FORCE)
    both = api("POST", "/v1/accounts/acme,MAIN/give-back", {"limit": "rows", "amount": 1})
    assert both.status == 422 and "(shadow)" in both.json["detail"]
    for shadow in (True, False):
        one = api("POST", "/v1/accounts/acme,MAIN/give-back", {"limit": "rows", "amount": 1, "shadow": shadow})
        assert one.status == 200 and one.json["shadow"] is shadow


def test_a_log_is_foreseen_in_memory_as_in_redis(start, sqlite_url, store):
    limits = [{"name": "log", "per": ["partner"], "rate": "3/h", "algorithm": "sliding_log"}]
    gateway, api = start(sqlite_url, limits=limits, **store)
    as_partner(gateway)
    some = counter(api, "acme", "log", cost=2)["asked"]
    assert some["admitted"] and some["remaining"] == 0
    more = counter(api, "acme", "log", cost=3)["asked"]
    assert not more["admitted"] and 3_500_000 < more["retry_after_ms"] <= 3_600_000
    never = counter(api, "acme", "log", cost=4)["asked"]
    assert not never["admitted"] and never["retry_after_ms"] is None


def test_nobody_forges_lines_of_the_log(start, sqlite_url):
    gateway, api = start(sqlite_url, limits=[FIXED], log={"level": "error", "access": "stdout"})
    api("DELETE", "/v1/accounts/z%0A2026-01-01T00:00:00.000%2B00:00%20info%20forged%1B[31m", X_Changed_By="ann")
    (line,) = [line for line in gateway.errors().splitlines() if "forged" in line]
    assert "reset" in line and "ann" in line and "\x1b" not in line, "whatever the level of the log"


def test_endpoints_that_are_counted_apart_are_named(start, sqlite_url, store):
    limits = [{"name": "apart", "per": ["partner", "endpoint"], "rate": "1/h", "match": ["GET /a", "GET /b"]}]
    gateway, api = start(sqlite_url, limits=limits, **store)
    for target in ("/a", "/b"):
        assert gateway.ask("GET", target, {"X-Partner": "acme"}).status == 200
        assert gateway.ask("GET", target, {"X-Partner": "acme"}).status == 429
    vague = api("POST", "/v1/accounts/acme/give-back", {"limit": "apart", "amount": 1})
    assert vague.status == 422 and "GET /a" in vague.json["detail"] and "GET /b" in vague.json["detail"]
    exact = api("POST", "/v1/accounts/acme/give-back", {"limit": "apart", "amount": 1, "endpoint": "GET /a"})
    assert exact.status == 200 and exact.json["endpoint"] == "GET /a"
    assert gateway.ask("GET", "/b", {"X-Partner": "acme"}).status == 429
    assert gateway.ask("GET", "/a", {"X-Partner": "acme"}).status == 200


def test_limits_that_hold_single_requests_give_nothing_back(start, sqlite_url, store):
    limits = [{"name": "log", "per": ["partner"], "rate": "2/h", "algorithm": "sliding_log"}]
    gateway, api = start(sqlite_url, limits=limits, **store)
    as_partner(gateway)
    answer = api("POST", "/v1/accounts/acme/give-back", {"limit": "log", "amount": 1})
    assert answer.status == 422 and "by itself" in answer.json["detail"]


def test_an_account_can_be_forgotten(start, sqlite_url, store):
    gateway, api = start(sqlite_url, limits=[FIXED, {"name": "log", "per": ["partner"], "rate": "5/h",
                                                      "algorithm": "sliding_log"}], **store)
    for _ in range(6):
        as_partner(gateway)
    gone = api("DELETE", "/v1/accounts/acme", X_Changed_By="ann")
    assert gone.status == 200 and gone.json["existed"]
    assert 'account "acme" reset by "ann"' in gateway.errors()
    assert [as_partner(gateway).status for _ in range(6)] == [200] * 5 + [429]
    assert api("DELETE", "/v1/accounts/nobody").json["existed"] is False


def test_a_reload_does_not_confuse_the_accounts(start, sqlite_url):
    gateway, api = start(sqlite_url, limits=[FIXED])
    as_partner(gateway)
    gateway.reload(limits=[{"name": "first", "per": ["partner"], "rate": "9/h"}, FIXED])
    assert counter(api, "acme", "fixed")["used"] == 1 and counter(api, "acme", "first")["used"] == 0


# Who is refused


def test_who_is_refused_is_told_and_by_what(start, sqlite_url, store):
    dark = {"name": "dark", "per": ["address"], "rate": "2/h", "mode": "shadow"}
    gateway, api = start(sqlite_url, limits=[FIXED, dark], **store)
    assert api("GET", "/v1/limited").json["items"] == []
    for _ in range(8):
        as_partner(gateway)
    as_partner(gateway, "a,b")
    items = eventually(lambda: api("GET", "/v1/limited").json["items"])
    found = {(one["limit"], one["account"]): one for one in items}
    acme = found["fixed", "acme"]
    assert acme["refused"] == 3 and not acme["shadow"] and acme["first"] <= acme["last"] < acme["until"]
    assert found["dark", "127.0.0.1"]["shadow"]
    assert [one["limit"] for one in api("GET", "/v1/limited?shadow=true").json["items"]] == ["dark"]
    assert [one["limit"] for one in api("GET", "/v1/limited?limit=fixed").json["items"]] == ["fixed"]
    assert api("GET", "/v1/limited?within=0s").json["items"] == []
    assert api("GET", "/v1/limited?within=x").status == 400
    (one,) = [one for one in items if one["limit"] == "fixed"]
    assert counter(api, one["account"], "fixed")["remaining"] == 0, "the account is named as it is asked for"


# Who may ask


@pytest.fixture
def guarded(launch, origin, sqlite_url, tmp_path):
    """A gateway whose API wants a token, and what it is."""
    (tmp_path / "token").write_text("s3cret-token-0123456789\n")
    gateway = launch(origin, **settings(sqlite_url))
    gateway.config["admin"] = {"address": gateway.config["admin"]["address"], "token_file": str(tmp_path / "token")}
    gateway.stop()
    gateway.write(gateway.config)
    gateway.spawn()
    assert gateway.became_ready()
    return gateway, "s3cret-token-0123456789"


def test_without_the_token_there_is_only_health(guarded):
    gateway, token = guarded
    for wrong in (None, "x", token + "x", token[:-1]):
        api = Api(gateway.admin_address, wrong)
        for target in ("/v1/partners", "/v1/openapi.json", "/v1/nothing", "/v1/limited"):
            refused = api("GET", target, checked=False)
            assert refused.status == 401 and refused.json["code"] == "no-token"
            assert refused.fields["WWW-Authenticate"].startswith("Bearer")
        assert api("DELETE", "/v1/accounts/acme", checked=False).status == 401
    assert Api(gateway.admin_address, token)("GET", "/v1/partners").status == 200
    lower = Api(gateway.admin_address)("GET", "/v1/partners", checked=False, Authorization=f"bearer {token}")
    assert lower.status == 200
    assert gateway.admin("/livez").status == 200


def test_a_body_is_not_taken_from_whoever_may_not_ask(guarded):
    gateway, _ = guarded
    with RawClient(gateway.admin_address) as client:
        client.send(b"POST /v1/import HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    b"Content-Length: 8000000\r\nExpect: 100-continue\r\n\r\n")
        answer = client.everything()
    assert answer.startswith(b"HTTP/1.1 401 ") and b"Connection: close" in answer


def test_another_token_holds_after_a_reload(guarded, tmp_path):
    gateway, token = guarded
    (tmp_path / "token").write_text("another-token-9876543210\n")
    gateway.signal(signal.SIGHUP)
    new = Api(gateway.admin_address, "another-token-9876543210")
    eventually(lambda: new("GET", "/v1/limited", checked=False).status == 200, what="the new token")
    assert Api(gateway.admin_address, token)("GET", "/v1/limited", checked=False).status == 401


def test_a_page_in_a_browser_cannot_use_the_api(start, sqlite_url):
    """Without a token: neither by sending forms, nor through a name of its own that means this machine."""
    gateway, api = start(sqlite_url)
    form = api("POST", "/v1/keys", '{"partner": "acme"}', Content_Type="text/plain")
    assert form.status == 415
    assert api("POST", "/v1/import", "partners: []", Content_Type="application/x-www-form-urlencoded").status == 415
    for host in ("evil.example", "evil.example:9090", "localhost.evil.example"):
        refused = api("GET", "/v1/partners", checked=False, Host=host)
        assert refused.status == 403 and refused.json["code"] == "wrong-host", host
    for host in ("localhost", "LOCALHOST", f"localhost:{gateway.admin_address[1]}", "127.0.0.1", "[::1]:80"):
        assert api("GET", "/v1/partners", checked=False, Host=host).status == 200, host


def test_bad_requests_are_answered_and_nothing_is_lost(start, sqlite_url):
    _, api = start(sqlite_url)
    for body in ("", "{", "[]", '"x"', "null", '{"name": "acme"} x', "\x00"):
        answer = api("PUT", "/v1/partners/acme", body, Content_Type="application/json")
        assert answer.status == 400 and answer.json["code"] == "bad-json", body
    assert api("PUT", "/v1/partners/acme", {}, Content_Type="application/json; charset=utf-8").status == 201
    assert api("GET", "/v1/partners/acme", '{"a": 1}', Content_Type="application/json").status == 400
    assert api("PUT", "/v1/partners/acme?dry_run=maybe", {}).status == 400
    assert api("GET", "/v1/partners?prefix=%zz").status == 400
    assert api("GET", "/v1/", checked=False).status == 404
    assert api("GET", "/v1/partners/", checked=False).status == 404
    for depth in (9, 1000, 8000):
        deep = '{"note": ' + "[" * depth + "]" * depth + "}"
        for method in ("PUT", "PATCH"):
            assert api(method, "/v1/partners/acme", deep, Content_Type="application/json").status == 400
    large = json.dumps({f"k{i}": 1 for i in range(10_000)})
    assert api("PUT", "/v1/partners/acme", large, Content_Type="application/json").status == 413
    many = json.dumps({f"k{i}": 1 for i in range(1200)})
    assert api("PUT", "/v1/partners/acme", many, Content_Type="application/json").status == 422
    assert api("PUT", "/v1/partners/acme", {"note": "[[[[[[[[[[ \\\" {{{{{{{{{{"}).status == 200
    assert api("PUT", "/v1/partners/acme", {}, Content_Type="Application/JSON\t;charset=utf-8").status == 200
    long = api("POST", "/v1/import", "#" * (9 << 20), checked=False, Content_Type="application/yaml")
    assert long.status == 413


def test_without_policies_there_are_accounts_and_no_rows(launch, origin):
    gateway = launch(origin, callers=CALLERS, limits=[FIXED])
    api = Api(gateway.admin_address)
    as_partner(gateway)
    assert counter(api, "acme", "fixed")["used"] == 1
    absent = api("GET", "/v1/partners", checked=False)
    assert absent.status == 404 and "policies" in absent.json["detail"]
