# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema that `weir schema` prints, against the reader behind `weir check`.

The schema may accept what the reader refuses (references between sections, contradictions), but whatever the reader
accepts, the schema must accept too: an editor must not underline a good file.
"""

import json
import os
import pathlib
import re
import subprocess

import pytest

jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("WEIR_BINARY")

pytestmark = pytest.mark.skipif(not BINARY, reason="WEIR_BINARY is not set")


class CoreLoader(yaml.SafeLoader):
    """The scalars of YAML 1.2: `off` is a word, `010` a number, dates are texts."""


CoreLoader.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("bool", r"^(true|false)$", "tf"),
    ("null", r"^(~|null|)$", ["~", "n", ""]),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?[0-9]+\.[0-9]*$", "-+0123456789"),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
CoreLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))


@pytest.fixture(scope="module")
def validator():
    printed = subprocess.run([BINARY, "schema"], capture_output=True, text=True, check=True).stdout
    schema = json.loads(printed)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def is_accepted(path):
    env = {**os.environ, "WEIR_TEST_PORT": "8080", "WEIR_TEST_WORKERS": "2"}
    result = subprocess.run([BINARY, "check", str(path)], capture_output=True, text=True, env=env)
    assert result.returncode in (0, 78), result.stderr
    return result.returncode == 0


def faults(validator, text):
    return [f"{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(yaml.load(text, CoreLoader))]


SMALLEST = """\
listeners: [{address: 127.0.0.1:8080}]
upstreams: {u: {url: "http://a:1"}}
services: {S: {upstream: u}}
"""

GOOD = {
    "smallest": SMALLEST,
    "everything": """\
listeners: [{address: "0.0.0.0:0"}, {address: "[::1]:8081"}, {address: unix:run/weir.sock}]
admin: {address: unix:run/admin.sock}
trusted_proxies: [10.0.0.0/8, "2001:db8::1"]
ipv6_prefix: 56
upstreams:
  one: {url: "http://[::1]:81/", preserve_host: false, timeouts: {connect: 250ms, response: 2min, idle: 1h}}
  many: {urls: ["http://10.0.0.1:3000", unix:/run/app.sock]}
services:
  A: {upstream: many, hosts: [Open.Example.com., "[::1]"], paths: [/products/, /a%2Fb], max_body: 64KiB}
  B: {upstream: one, max_body: unlimited}
  7: {upstream: one, hosts: [seven.example], max_body: 0}
callers:
  - api_key: {header: X-Api-Key}
  - header: {name: X-User-Id, attribute: user}
  - header: {name: X-Tenant, attribute: tenant, from: anyone}
keys:
  - {key: demo-acme, partner: acme, plan: free}
  - {key: 12345, partner: 42, plan: 1.5}
  - {key_sha256: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae, partner: true}
identify: required
bypass:
  - {header: {X-User-Role: ADMIN}}
  - {header: {X-Debug: 1}, from: anyone}
  - {address: [192.0.2.0/24, "::1"]}
limits:
  - name: all
    per: [user, endpoint, "header:X-Tenant", "query:tenant", "cookie:session"]
    match: [POST /a%2Fb/products, "* /products/{id}/*"]
    services: [B, A]
    rate: 100/5s
    burst: 300
    algorithm: token_bucket
    cost: {header: X-Cost, default: 0, max: 100}
    by: {plan: {free: 100/min, "1.5": {rate: 1000/min, burst: 500}}, user: {1: 100/week}, method: {GET: unlimited}}
    only_if: {missing: [partner, plan]}
    mode: shadow
    on_store_failure: local
    missing: share
    advertise: false
  - {name: 1, per: [address], rate: unlimited, by: {plan: {free: 3/250ms}}}
  - {name: fixed, per: [address], rate: 5/s, algorithm: fixed_window, jitter: true}
  - {name: sliding, per: [address], rate: 5/1day, algorithm: sliding_window, jitter: false, count: {status: [401, 5xx]}}
  - {name: log, per: [address], rate: 5/min, algorithm: sliding_log, refund: {status: [304]}}
  - {name: meter, per: [address], rate: 5/s, algorithm: leaky_bucket, burst: 9}
  - {name: line, per: [address], rate: 5/s, algorithm: leaky_bucket, queue: 100, undelayed: 20}
  - {name: running, per: [user], algorithm: concurrency, max: 50, lease: 1min, cost: {header: X-Cost, max: 5},
     by: {plan: {free: 5, "1.5": unlimited}}}
  - {name: month, per: [user], rate: 1000/month, algorithm: calendar, by: {plan: {free: 5/week, "1.5": 9/year}},
     calendar: {zone: Asia/Seoul, anchor_day: 15, week_starts: sunday}, cost: {response_header: X_Cost, reserve: 0, max: 9}}
store: {memory: {max_accounts: 1000}, gateways: 3}
responses: {x_ratelimit: false, ratelimit: off, reset: delta, merge: off, refusal: {detail: "Wait {retry_after} s."}}
log: {level: debug, access: off}
http: {max_target: 4096, max_head: 32KiB, max_fields: 50, max_requests: 10, max_connections: 20, underscores: drop,
  authority: replace, head: 1s, idle: 2s, body: 3s, body_min_rate: 512, write: 4s}
shutdown: {delay: 0s, timeout: 1min}
workers: 4
""",
    "redis": SMALLEST + """\
store:
  redis: {urls: [rediss://me:a%40b@a, "rediss://[::1]:7000/"], cluster: on, prefix: "a:b", budget: 1ms, clock: gateway,
    lease: {max: 100}, tls: {ca: weir.yaml, verify: false}}
  gateways: 3
""",
    "redis by sockets": SMALLEST + "store: {redis: {urls: [unix:/run/a, unix://me:b@/run/b, unix:///c], prefix: 7}}\n",
    "redis with a database": SMALLEST + "store: {redis: {urls: [redis://:b@a:1/15], cluster: off}}\n",
    "no admin": SMALLEST + "admin: off\nworkers: auto\n",
    "environment": """\
listeners: [{address: "127.0.0.1:${WEIR_TEST_PORT}"}]
upstreams: {u: {url: "http://a:${WEIR_TEST_PORT}"}}
services: {S: {upstream: u}}
workers: ${WEIR_TEST_WORKERS}
limits: [{name: a, per: [service], rate: "${WEIR_TEST_WORKERS}/s", cost: "${WEIR_TEST_WORKERS}"}]
""",
}

# Refused by the schema, so by the reader too.
BAD = {
    "empty": "{}\n",
    "no listeners": "upstreams: {u: {url: 'http://a:1'}}\nservices: {S: {upstream: u}}\n",
    "unknown key": SMALLEST + "limit: []\n",
    "unknown key deep": SMALLEST + "responses: {refusal: {text: x}}\n",
    "key of a later version": SMALLEST + "service: {}\n",
    "algorithm": SMALLEST + "limits: [{name: a, per: [service], rate: 1/s, algorithm: gcra}]\n",
    "neither rate nor max": SMALLEST + "limits: [{name: a, per: [service]}]\n",
    "rate and max": SMALLEST + "limits: [{name: a, per: [service], rate: 1/s, max: 5, algorithm: concurrency}]\n",
    "too many at once": SMALLEST + "limits: [{name: a, per: [service], max: 1000001, algorithm: concurrency}]\n",
    "long queue": SMALLEST
    + "limits: [{name: a, per: [service], rate: 1/s, algorithm: leaky_bucket, queue: 1000001}]\n",
    "zone as a path": SMALLEST
    + "limits: [{name: a, per: [service], rate: 1/day, algorithm: calendar, calendar: {zone: /etc/localtime}}]\n",
    "anchor day": SMALLEST
    + "limits: [{name: a, per: [service], rate: 1/month, algorithm: calendar, calendar: {anchor_day: 32}}]\n",
    "status": SMALLEST + "limits: [{name: a, per: [service], rate: 1/s, count: {status: [600]}}]\n",
    "class of statuses": SMALLEST + "limits: [{name: a, per: [service], rate: 1/s, refund: {status: [6xx]}}]\n",
    "no status": SMALLEST + "limits: [{name: a, per: [service], rate: 1/s, refund: {status: []}}]\n",
    "cost of both": SMALLEST
    + "limits: [{name: a, per: [service], rate: 1/s, cost: {header: X, response_header: X}}]\n",
    "redis without urls": SMALLEST + "store: {redis: {prefix: a}}\n",
    "redis with no url": SMALLEST + "store: {redis: {urls: []}}\n",
    "redis by http": SMALLEST + "store: {redis: {urls: ['http://a:6379']}}\n",
    "redis without a scheme": SMALLEST + "store: {redis: {urls: ['a:6379']}}\n",
    "database that is no number": SMALLEST + "store: {redis: {urls: ['redis://a/x']}}\n",
    "prefix with braces": SMALLEST + "store: {redis: {urls: ['redis://a'], prefix: '{a}'}}\n",
    "large lease": SMALLEST + "store: {redis: {urls: ['redis://a'], lease: {max: 1000001}}}\n",
    "nothing": SMALLEST + "limits:\n",
    "number in quotes": SMALLEST + "workers: '4'\n",
    "number out of range": SMALLEST + "ipv6_prefix: 200\n",
    "negative number": SMALLEST + "http: {max_fields: -1}\n",
    "truth value as a word": SMALLEST + "responses: {x_ratelimit: yes}\n",
    "word": SMALLEST + "responses: {merge: tight}\n",
    "duration without unit": SMALLEST + "shutdown: {timeout: 5}\n",
    "size": SMALLEST + "http: {max_head: 64KB}\n",
    "rate": SMALLEST + "limits: [{name: a, per: [service], rate: 5/fortnight}]\n",
    "no name": SMALLEST + "limits: [{per: [service], rate: 5/s}]\n",
    "long name": SMALLEST + "limits: [{name: " + 129 * "a" + ", per: [service], rate: 5/s}]\n",
    "url and urls": SMALLEST.replace("url:", "urls: ['http://b:1'], url:"),
    "https": SMALLEST.replace("http:", "https:"),
    "url with path": SMALLEST.replace("a:1", "a:1/base"),
    "listener by name": SMALLEST.replace("127.0.0.1", "localhost"),
    "empty list": SMALLEST.replace("[{address: 127.0.0.1:8080}]", "[]"),
    "two callers in one": SMALLEST + "callers: [{api_key: {header: A}, header: {name: B, attribute: b, from: anyone}}]\n",
    "key twice": SMALLEST + "callers: [{api_key: {header: A}}]\nkeys: [{key: a, key_sha256: b, partner: c}]\n",
    "pattern": SMALLEST + "limits: [{name: a, per: [service], rate: 5/s, match: [/products]}]\n",
    "empty match": SMALLEST + "limits: [{name: a, per: [service], rate: 5/s, match: []}]\n",
    "cost of nothing": SMALLEST + "limits: [{name: a, per: [service], rate: 5/s, cost: 0}]\n",
}


@pytest.mark.parametrize("name", GOOD)
def test_both_accept_good_files(validator, tmp_path, name):
    path = tmp_path / "weir.yaml"
    path.write_text(GOOD[name])
    assert is_accepted(path)
    assert faults(validator, GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_both_refuse_bad_files(validator, tmp_path, name):
    path = tmp_path / "weir.yaml"
    path.write_text(BAD[name])
    assert faults(validator, BAD[name]) != []
    assert not is_accepted(path)


def example_files():
    found = sorted((ROOT / "examples").glob("**/*.y*ml"))
    return [path for path in found if re.search(r"^listeners:", path.read_text(), re.MULTILINE)]


@pytest.mark.parametrize("path", example_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_schema_accepts_every_example(validator, path):
    assert faults(validator, path.read_text()) == []


def mutations():
    """Every scalar of the largest good file, replaced by values of other kinds."""
    lines = GOOD["everything"]
    values = ["1", "-1", "word", "'1'", "true", "5s", "[a]", "{a: b}", "/a", "1/s", "64KiB", "''"]
    for number, match in enumerate(re.finditer(r"(?<=: )[^\s{}\[\],\"]+(?=[,}\n])", lines)):
        yield lines[: match.start()] + values[number % len(values)] + lines[match.end() :]
        yield lines[: match.start()] + values[(number + 5) % len(values)] + lines[match.end() :]


def test_what_the_reader_accepts_the_schema_accepts(validator, tmp_path):
    accepted = 0
    for index, text in enumerate(mutations()):
        path = tmp_path / f"{index}.yaml"
        path.write_text(text)
        if is_accepted(path):
            accepted += 1
            assert faults(validator, text) == [], text
    assert accepted > 0
