# SPDX-License-Identifier: Apache-2.0
"""The commands, their output and their exit codes (config: exit codes; http S2, S9; standards 11)."""

import json
import re
import subprocess

import pytest

from harness import RawClient, free_port
from harness.poll import eventually

GOOD = """\
listeners:
  - address: 127.0.0.1:{port}
upstreams:
  main: {{url: "http://127.0.0.1:9"}}
services:
  MAIN: {{upstream: main}}
callers:
  - api_key: {{header: X-Api-Key}}
keys:
  - {{key: demo, partner: acme}}
limits:
  - name: partner-service
    per: [partner, service]
    rate: 20/s
"""
LISTEN = "listeners: [{address: 127.0.0.1:1}]\n"
BROKEN = [  # (configuration, line of the error, a word of the message)
    (LISTEN + "servises: {}\n", 2, "services"),
    (LISTEN + "upstreams:\n  main: {url: http://a, timeout: 1s}\n", 3, "timeouts"),
    ("listeners:\n  - address: 127.0.0.1:99999\n", 2, "address"),
    ("listeners:\n  - adress: 127.0.0.1:1\n", 2, "address"),
    (LISTEN + 'upstreams: {a: {url: "http://a"}}\nservices:\n  MAIN:\n    upstream: nowhere\n', 5, "nowhere"),
    (LISTEN + "limits:\n  - name: a\n    per: [service]\n    rate: 20/fortnight\n", 5, "rate"),
    (LISTEN + "limits:\n  - name: a\n    per: [servise]\n    rate: 20/s\n", 4, "service"),
    (
        LISTEN + "limits:\n  - {name: a, per: [service], rate: 1/s}\n  - {name: a, per: [service], rate: 1/s}\n",
        4,
        "a",
    ),
    (LISTEN + "limits:\n  - per: [service]\n    rate: 1/s\n", 3, "name"),
    (LISTEN + "limits:\n  - {name: a, per: [service], rate: 1000000/month}\n", 3, "calendar"),
    (LISTEN + "limits:\n  - {name: a, per: [service], rate: 1/s, algorithm: token_buckets}\n", 3, "token_bucket"),
    (LISTEN + "responses: {ratelimit: structred}\n", 2, "structured"),
    (LISTEN + "log: {level: [info]}\n", 2, "level"),
    (LISTEN + "callers:\n  - header: {name: X-User, attribute: user}\n", 3, "from"),
    (LISTEN + "trusted_proxies: [10.0.0.0/33]\n", 2, "10.0.0.0/33"),
    (LISTEN + "identify: maybe\n", 2, "optional"),
    (LISTEN + "http: {head: soon}\n", 2, "head"),
    ("listeners: [{address: 127.0.0.1:1}\nworkers: 2\n", None, ""),
    ("admin: {address: 0.0.0.0:9090}\nlisteners: [{address: 127.0.0.1:1}]\n", 1, "token"),
    ("upstreams: {}\n", None, "listeners"),
]


@pytest.fixture
def weir(binary, tmp_path):
    def run(*arguments, config=None):
        if config is not None:
            (tmp_path / "weir.yaml").write_text(config)
        return subprocess.run(
            [binary, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


def test_version_prints_a_version(weir):
    done = weir("version")
    assert done.returncode == 0 and re.search(r"\d+\.\d+\.\d+", done.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["runn"],
        ["run"],
        ["check"],
        ["run", "a", "b"],
        ["--nonsense"],
        ["check", "a", "--xml"],
        ["echo", "--address", "nonsense"],
    ],
)
def test_wrong_usage_exits_with_2(weir, arguments):
    done = weir(*arguments)
    assert done.returncode == 2, done
    assert done.stderr or done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["check", "--help"]])
def test_help_is_no_error(weir, arguments):
    done = weir(*arguments)
    assert done.returncode == 0 and "sage" in done.stdout


def test_help_lists_the_commands(weir):
    done = weir("help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in ("run", "check", "inspect", "explain", "reset", "schema", "echo", "version")), done.stdout


def test_an_unknown_way_to_move_bytes_is_told_the_ways_there_are(weir):
    done = weir("run", "--io", "magic", "weir.yaml")
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("magic", "auto", "epoll", "io_uring")), done.stderr


def test_a_good_file_passes_the_check(weir):
    done = weir("check", "weir.yaml", config=GOOD.format(port=8080))
    assert done.returncode == 0 and not done.stderr, done
    done = weir("check", "weir.yaml", "--json")
    assert done.returncode == 0
    json.loads(done.stdout)


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_a_bad_file_is_explained_and_exits_with_78(weir, command, number):
    config, line, word = BROKEN[number]
    done = weir(command, "weir.yaml", config=config)
    assert done.returncode == 78, done
    text = done.stdout + done.stderr
    assert re.search(rf"weir\.yaml:{line or '[0-9]+'}:[0-9]+: error: ", text), text
    assert word in text


def test_all_errors_are_reported_at_once_with_line_and_caret(weir):
    config = (
        "listeners:\n  - adress: 127.0.0.1:1\nlimits:\n"
        "  - name: a\n    per: [service]\n    rate: fast\nworkers: many\n"
    )
    text = (lambda done: done.stdout + done.stderr)(weir("check", "weir.yaml", config=config))
    assert {match for match in re.findall(r"weir\.yaml:(\d+):\d+: error:", text)} >= {"2", "6", "7"}, text
    assert "  - adress: 127.0.0.1:1" in text and re.search(r"^[ |0-9]*\^", text, re.M), text


def test_a_suggestion_is_made_for_a_near_word(weir):
    done = weir("check", "weir.yaml", config=LISTEN + "limits:\n  - {name: a, per: [service], rat: 1/s}\n")
    assert re.search(r"\brate\b", done.stdout + done.stderr)


def locations(value):
    """Every object with line, column and message in a JSON document."""
    if isinstance(value, dict):
        if {"line", "column", "message"} <= set(value):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from locations(inner)


def test_the_check_can_speak_json(weir):
    done = weir("check", "weir.yaml", "--json", config=BROKEN[0][0])
    assert done.returncode == 78
    found = list(locations(json.loads(done.stdout)))
    assert [(one["line"], one["column"]) for one in found if "servises" in one["message"]] == [(2, 1)]


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_file_that_cannot_be_read_exits_with_78(weir, command, tmp_path):
    assert weir(command, "nowhere.yaml").returncode == 78
    assert weir(command, str(tmp_path)).returncode == 78


def test_a_bad_file_opens_no_port(weir, binary, tmp_path):
    port = free_port()
    done = weir("run", "weir.yaml", config=GOOD.format(port=port) + "servises: {}\n")
    assert done.returncode == 78
    with pytest.raises(ConnectionRefusedError):
        RawClient(("127.0.0.1", port))


def test_environment_variables_are_filled_in(binary, tmp_path, monkeypatch, weir):
    monkeypatch.setenv("WEIR_TEST_RATE", "20/s")
    config = GOOD.format(port=8080).replace("20/s", "${WEIR_TEST_RATE}")
    assert weir("check", "weir.yaml", config=config).returncode == 0
    monkeypatch.setenv("WEIR_TEST_RATE", "nonsense")
    assert weir("check", "weir.yaml", config=config).returncode == 78
    monkeypatch.delenv("WEIR_TEST_RATE")
    assert weir("check", "weir.yaml", config=config).returncode == 78


def test_the_schema_is_json_and_knows_every_top_level_key(weir):
    done = weir("schema")
    assert done.returncode == 0
    schema = json.loads(done.stdout)
    text = json.dumps(schema)
    for key in (
        "listeners",
        "admin",
        "trusted_proxies",
        "ipv6_prefix",
        "upstreams",
        "services",
        "callers",
        "keys",
        "identify",
        "bypass",
        "limits",
        "store",
        "responses",
        "log",
        "workers",
        "http",
        "shutdown",
    ):
        assert f'"{key}"' in text, key


def test_echo_answers_every_request(binary, tmp_path):
    port = free_port()
    with subprocess.Popen(
        [binary, "echo", "--address", f"127.0.0.1:{port}"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as echo:
        try:
            client = eventually(lambda: connected(port), what="the echo server")
            with client:
                assert client.ask("GET", "/p?q", {"X-A": "b"}).status == 200
                assert client.ask("POST", "/", body=b"hello").status == 200
                assert client.ask("HEAD", "/").status == 200
        finally:
            echo.terminate()
    assert echo.returncode in (0, -15)


def connected(port):
    try:
        return RawClient(("127.0.0.1", port))
    except ConnectionRefusedError:
        return None
