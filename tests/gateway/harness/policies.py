# SPDX-License-Identifier: Apache-2.0
"""Gateways with policies in a database, and that database as operators change it."""

import json
import subprocess

CALLERS = [{"api_key": {"header": "X-Api-Key"}},
           {"header": {"name": "X-Partner", "attribute": "partner", "from": "anyone"}}]
ROWS = {"name": "rows", "per": ["partner", "service"], "rate": "policies"}
CREATE = {"name": "create", "per": ["partner", "service"], "rate": "policies", "match": ["POST /products"]}


class Policies:
    """The database of gateways, as operators change it."""

    def __init__(self, binary, url, folder):
        self.binary = binary
        self.url = url
        self.folder = folder
        self.file = None

    def section(self, **changes):
        sql = {"url": self.url, "timeout": "1s"}
        return {"sql": sql, "cache": {"ttl": "60s", "absent_ttl": "10s", "snapshot": "policies.snapshot"},
                "budget": "500ms", **changes}

    def __call__(self, *words):
        at = 2 if words[0] in ("plans", "partners", "keys", "limits") else 1
        done = subprocess.run([self.binary, "policies", *words[:at], str(self.file), *words[at:]], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def limit(self, partner, rate, limit="rows", *more):
        self("limits", "put", "--partner", partner, "--limit", limit, "--service", "MAIN", "--rate", rate, *more)

    def key(self, partner, *more):
        return json.loads(self("keys", "create", "--partner", partner, "--json", *more))["key"]


def launch_with_policies(launch, origin, binary, folder, url, count=1, policies=None, **changes):
    """The database, with its tables, and so many gateways."""
    database = Policies(binary, url, folder)
    settings = {"callers": CALLERS, "limits": [ROWS, CREATE], "workers": 2,
                "policies": database.section(**(policies or {}))}
    settings.update(changes)
    database.file = folder / "migrate.yaml"
    database.file.write_text(json.dumps({"listeners": [{"address": "127.0.0.1:0"}], "admin": "off",
                                         "upstreams": {"main": {"url": origin.url}},
                                         "services": {"MAIN": {"upstream": "main"}}, **settings}))
    database("migrate")
    return database, *[launch(origin, **settings) for _ in range(count)]


def figure(gateway, name, **labels):
    return gateway.metrics().total(name, **labels)


def limit_of(response):
    return response.fields.get("X-RateLimit-Limit")


def as_partner(gateway, partner="acme", method="GET", target="/"):
    return gateway.ask(method, target, {"X-Partner": partner})
