# SPDX-License-Identifier: Apache-2.0
"""`weir policies`: what operators keep in a database, by the shell, with SQLite and with MariaDB."""

import concurrent.futures
import hashlib
import json
import sqlite3
import subprocess

import pytest

from harness.certificates import Certificates
from harness.mariadb import MariaDbServer

CONFIG = """\
listeners: [{address: "127.0.0.1:0"}]
upstreams: {u: {url: "http://127.0.0.1:9"}}
services: {SAUCE: {upstream: u, paths: [/sauce]}, OTHER: {upstream: u, paths: [/other]}}
callers: [{api_key: {header: X-Api-Key}}]
limits:
  - {name: partner-service, per: [partner, service], rate: RATE, cost: 2}
  - {name: create, per: [partner], rate: RATE, match: ["POST /sauce/new"]}
policies:
  sql: {url: "URL"}
"""


class Weir:
    def __init__(self, binary, folder, url, statements):
        self.binary = binary
        self.folder = folder
        self.execute = statements
        self.config = folder / "weir.yaml"
        # Rows are for limits that say `rate: policies`, once configurations can say so.
        for rate in ("policies", "20/s"):
            self.config.write_text(CONFIG.replace("URL", url).replace("RATE", rate))
            if subprocess.run([binary, "check", self.config], capture_output=True, check=False).returncode == 0:
                break

    def __call__(self, *words, stdin=None):
        """weir policies WORDS: the configuration goes after the first one or two of them, where FILE is expected."""
        at = 2 if words[0] in ("plans", "partners", "keys", "limits") else 1
        command = ["policies", *words[:at], str(self.config), *words[at:]]
        return subprocess.run([self.binary, *command], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              input=stdin or "", check=False)

    def good(self, *words, **more):
        done = self(*words, **more)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def json(self, *words):
        return json.loads(self.good(*words, "--json"))

    def fill(self):
        self.good("plans", "put", "gold", "--note", "the best")
        self.good("partners", "put", "acme", "--plan", "gold")
        self.good("limits", "put", "--partner", "acme", "--limit", "partner-service", "--service", "SAUCE", "--rate",
                  "50/s", "--burst", "100", "--note", "signed")
        self.good("limits", "put", "--plan", "gold", "--limit", "partner-service", "--service", "SAUCE", "--rate",
                  "30/s")


@pytest.fixture(params=["sqlite", "mariadb"])
def weir(request, binary, tmp_path):
    if request.param == "sqlite":
        def execute(statement):
            with sqlite3.connect(tmp_path / "policies.db") as connection:
                return connection.execute(statement).fetchall()
        one = Weir(binary, tmp_path, "sqlite:policies.db", execute)
    else:
        server = request.getfixturevalue("mariadb")
        server.clear()
        one = Weir(binary, tmp_path, server.url, server.execute)
    one.kind = request.param
    one.good("migrate")
    return one


def test_rows_are_put_shown_listed_and_deleted(weir):
    weir.fill()
    acme = weir.json("partners", "get", "acme")
    assert acme["plan"] == "gold" and acme["enabled"] is True and acme["revision"] == 2
    assert "@" in acme["changed_by"]
    limits = weir.json("limits", "list", "--partner", "acme")
    assert [(row["rate"], row["burst"], row["note"]) for row in limits] == [("50/s", 100, "signed")]
    assert 'plan="gold"' in weir.good("partners", "list")
    assert weir.json("partners", "list", "--prefix", "b") == []
    assert "deleted partner acme" in weir.good("partners", "delete", "acme")
    assert weir("partners", "get", "acme").returncode == 1
    assert weir.json("limits", "list", "--partner", "acme") == []


def test_put_keeps_what_is_not_written(weir):
    weir.fill()
    weir.good("partners", "put", "acme", "--enabled", "false", "--by", "ann")
    acme = weir.json("partners", "get", "acme")
    assert acme["plan"] == "gold" and acme["enabled"] is False and acme["changed_by"] == "ann"
    weir.good("partners", "put", "acme", "--plan", "")
    assert "plan" not in weir.json("partners", "get", "acme")
    assert "nothing is different" in weir.good("partners", "put", "acme", "--enabled", "false")
    same = ("limits", "put", "--partner", "acme", "--limit", "partner-service", "--service", "SAUCE")
    weir.good(*same, "--burst", "0", "--mode", "shadow")
    (row,) = weir.json("limits", "list", "--partner", "acme")
    assert "burst" not in row and row["mode"] == "shadow" and row["rate"] == "50/s"


def test_a_dry_run_tells_everything_and_writes_nothing(weir):
    weir.fill()
    told = weir.json("partners", "delete", "acme", "--dry-run")
    assert told["dry_run"] and [change["action"] for change in told["changes"]] == ["deleted", "deleted"]
    assert weir.json("partners", "get", "acme")["name"] == "acme"
    wrong = weir("limits", "put", "--partner", "acme", "--limit", "partner-service", "--service", "SAUCE", "--rate",
                 "1/s", "--burst", "1", "--dry-run")
    assert wrong.returncode == 1 and "below the cost 2" in wrong.stderr


@pytest.mark.parametrize(
    "words, says",
    [
        (["plans", "put", ""], "name: is missing"),
        (["partners", "put", "new", "--plan", "silver"], "there is no plan 'silver'"),
        (["keys", "put", "none"], "keys create"),
        (["keys", "create", "--partner", "nobody"], "there is no partner 'nobody'"),
        (["plans", "delete", "gold"], "is the plan of 1 partner"),
        (["plans", "delete", "silver"], "there is no plan 'silver'"),
        (["limits", "put", "--partner", "acme", "--limit", "partner-servic", "--rate", "1/s"], "partner-service"),
        (["limits", "put", "--partner", "acme", "--limit", "partner-service", "--service", "SAUCY", "--rate", "5/s"],
         "did you mean 'SAUCE'?"),
        (["limits", "put", "--partner", "acme", "--limit", "create", "--endpoint", "GET /", "--rate", "5/s"],
         "not one of the limit's patterns"),
        (["limits", "put", "--partner", "acme", "--limit", "create", "--rate", "5/month"], "algorithm calendar"),
        (["limits", "put", "--partner", "acme", "--limit", "create", "--rate", "5/m"], "did you mean '5/min'?"),
        (["limits", "put", "--partner", "acme", "--limit", "create"], "rate: is missing"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_reason(weir, words, says):
    weir.fill()
    done = weir(*words)
    assert done.returncode == 1 and says in done.stderr, done
    assert len(weir.json("changes")) == 4


@pytest.mark.parametrize(
    "words",
    [["plans"], ["plans", "put"], ["limits", "put", "--limit", "create", "--rate", "1/s"],
     ["limits", "get", "--limit", "create", "--partner", "a", "--plan", "b"], ["nonsense"],
     ["keys", "create", "--partner", "a", "--sha256", "12"], ["keys", "rotate", "k", "--grace", "soon"],
     ["changes", "--kind", "nonsense"]],
)
def test_wrong_usage_exits_with_2(weir, words):
    assert weir(*words).returncode == 2


def test_a_configuration_without_policies_or_with_faults(binary, tmp_path):
    (tmp_path / "a.yaml").write_text(CONFIG.replace("RATE", "1/s").replace("cost: 2", "cost: 1").split("policies:")[0])
    (tmp_path / "b.yaml").write_text("nonsense: 1\n")
    for file, code in (("a.yaml", 2), ("b.yaml", 78), ("c.yaml", 78)):
        done = subprocess.run([binary, "policies", "export", file], cwd=tmp_path, capture_output=True, text=True,
                              check=False)
        assert done.returncode == code, done


def test_keys_are_made_once_and_kept_as_digests(weir):
    weir.fill()
    made = weir.json("keys", "create", "--partner", "acme", "--id", "first", "--expires", "2030-01-01")
    assert made["key"].startswith("weir_") and len(made["key"]) == 48
    row = weir.json("keys", "get", "first")
    assert row["key_sha256"] == hashlib.sha256(made["key"].encode()).hexdigest()
    assert row["expires"] == "2030-01-01T00:00:00Z"
    assert made["key"] not in weir.good("export") + weir.good("changes")
    digest = hashlib.sha256(b"own").hexdigest()
    assert "key" not in weir.json("keys", "create", "--partner", "acme", "--id", "own", "--sha256", digest.upper())
    assert weir.json("keys", "get", "own")["key_sha256"] == digest
    weir.good("keys", "create", "--partner", "acme", "--id", "piped", "--key-file", "-", stdin="piped-key\n")
    assert weir.json("keys", "get", "piped")["key_sha256"] == hashlib.sha256(b"piped-key").hexdigest()
    again = weir("keys", "create", "--partner", "acme", "--key-file", "-", stdin="own")
    assert again.returncode == 1 and "the same key is there as key 'own'" in again.stderr


def test_keys_are_rotated(weir):
    weir.fill()
    weir.good("keys", "create", "--partner", "acme", "--id", "old")
    made = weir.json("keys", "rotate", "old", "--id", "new", "--expires", "2030-01-01T00:00:00Z")
    assert made["id"] == "new" and made["key"].startswith("weir_")
    assert weir.json("keys", "get", "old")["expires"] == "2030-01-01T00:00:00Z"
    assert "expires" not in weir.json("keys", "get", "new")
    assert weir.json("keys", "rotate", "new", "--dry-run").get("key") is None
    assert weir("keys", "rotate", "none").returncode == 1


def test_export_and_import_give_the_same_rows(weir, tmp_path):
    weir.fill()
    weir.good("keys", "create", "--partner", "acme", "--note", "it's: \"quoted\" # ${HOME}")
    exported = weir.good("export")
    (tmp_path / "rows.yaml").write_text(exported)
    assert weir("diff", "rows.yaml").returncode == 0
    assert "0 created, 0 changed, 0 deleted, 5 unchanged" in weir.good("import", "rows.yaml")
    weir.good("partners", "delete", "acme")
    assert weir("diff", "rows.yaml").returncode == 1
    assert "3 created, 0 changed, 0 deleted, 2 unchanged" in weir.good("import", "rows.yaml")
    assert weir.good("export") == exported


def test_an_import_with_prune_deletes_the_rest(weir, tmp_path):
    weir.fill()
    (tmp_path / "rows.yaml").write_text("limits: []\npartners:\n  - {name: other, plan: new}\nplans: [{name: new}]\n")
    told = weir.json("import", "rows.yaml", "--prune", "--dry-run")
    assert [c["action"] for c in told["changes"]].count("deleted") == 4
    assert weir.json("partners", "get", "acme")
    weir.good("import", "rows.yaml", "--prune")
    assert [row["name"] for row in weir.json("partners", "list")] == ["other"]
    assert weir.json("limits", "list") == []


def test_an_import_with_faults_tells_all_of_them_with_their_lines_and_writes_nothing(weir, tmp_path):
    (tmp_path / "rows.yaml").write_text(
        "plans:\n  - {name: gold}\npartners:\n  - name: acme\n    plan: none\n"
        "limits:\n  - limit: partner-service\n    partner: nobody\n    service: SAUCY\n    rate: 50/s\n"
    )
    done = weir("import", "rows.yaml")
    assert done.returncode == 1
    for says in ("rows.yaml:5:", "there is no plan 'none'", "rows.yaml:8:", "there is no partner 'nobody'",
                 "rows.yaml:9:", "did you mean 'SAUCE'?"):
        assert says in done.stderr, done.stderr
    assert weir.json("plans", "list") == []
    (tmp_path / "rows.yaml").write_text("plans:\n  - {nam: gold}\n  - {name: gold, note: [1]}\n")
    done = weir("import", "rows.yaml")
    assert "rows.yaml:2:" in done.stderr and "did you mean 'name'?" in done.stderr and "rows.yaml:3:" in done.stderr
    assert weir("diff", "rows.yaml").returncode == 2
    assert weir("import", "nowhere.yaml").returncode == 1


def test_changes_tell_who_did_what(weir):
    weir.fill()
    weir.good("partners", "put", "acme", "--enabled", "false", "--by", "ann@there")
    newest = weir.json("changes")[0]
    assert (newest["revision"], newest["changed_by"], newest["action"]) == (5, "ann@there", "changed")
    assert newest["before"]["enabled"] is True and newest["after"]["enabled"] is False
    assert [c["revision"] for c in weir.json("changes", "--after", "3")] == [4, 5]
    assert len(weir.json("changes", "--partner", "acme")) == 3
    assert len(weir.json("changes", "--kind", "plan")) == 1
    assert len(weir.json("changes", "--by", "ann@there")) == 1
    assert len(weir.json("changes", "--most", "2")) == 2


def test_check_names_every_row_that_was_spoiled_by_hand(weir):
    weir.fill()
    assert weir("check").returncode == 0
    weir.execute("UPDATE limits SET rate = 'a lot' WHERE partner = 'acme'")
    weir.execute("INSERT INTO limits (partner, `limit`, rate) VALUES ('ghost', 'create', '5/s')")
    done = weir("check")
    assert done.returncode == 1
    assert "limit 'partner-service' of partner 'acme' for service 'SAUCE': rate: 'a lot'" in done.stderr
    assert "there is no partner 'ghost'" in done.stderr
    assert len(json.loads(weir("check", "--json").stdout)) == 2


def test_many_writers_at_once_lose_nothing(weir):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert all(done.returncode == 0 for done in pool.map(lambda i: weir("plans", "put", f"p{i}"), range(12)))
    assert sorted(change["revision"] for change in weir.json("changes")) == list(range(1, 13))


def test_migrating_twice_and_at_once_is_harmless(weir):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all("already" in done.stdout for done in pool.map(lambda _: weir("migrate"), range(4)))


def test_another_schema_is_told_with_what_to_do(weir):
    weir.execute("UPDATE schema_version SET version = 99")
    for words in (["plans", "list"], ["plans", "put", "x"], ["migrate"]):
        done = weir(*words)
        assert done.returncode == 1 and "schema 99" in done.stderr, done
    weir.execute("UPDATE schema_version SET version = 1")
    if weir.kind == "mariadb":
        done = weir("plans", "list")
        assert done.returncode == 1 and "weir policies migrate" in done.stderr
    assert "from 1" in weir.good("migrate")
    assert weir.json("plans", "list") == []


def test_a_database_that_is_away_is_told_without_its_password(binary, tmp_path):
    (tmp_path / "weir.yaml").write_text(
        CONFIG.replace("URL", "mysql://weir:hunter2@127.0.0.1:1/weir").replace("RATE", "20/s"))
    done = subprocess.run([binary, "policies", "plans", "list", "weir.yaml"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 1 and "mysql://127.0.0.1:1/weir" in done.stderr and "hunter2" not in done.stderr


def test_a_file_of_sqlite_is_made_at_first_use_for_its_owner_only(binary, tmp_path):
    one = Weir(binary, tmp_path, "sqlite:policies.db", None)
    one.good("plans", "put", "gold")
    assert (tmp_path / "policies.db").stat().st_mode & 0o777 == 0o600


def test_a_server_is_believed_by_its_certificate(binary, tmp_path):
    ours, others = Certificates(tmp_path / "ours"), Certificates(tmp_path / "others")
    with MariaDbServer(ours) as server:
        one = Weir(binary, tmp_path, server.url, server.execute)
        url = f'url: "{server.url}"'
        for keys, code in (("ca: ours/authority.crt", 0), ("ca: others/authority.crt", 1)):
            one.config.write_text(one.config.read_text().split("policies:")[0] + f"policies: {{sql: {{{url}, {keys}}}}}\n")
            assert one("migrate").returncode == code, keys
        assert server.execute("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'weir'") != "0\n"
    assert others
