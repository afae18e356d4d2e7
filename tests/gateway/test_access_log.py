# SPDX-License-Identifier: Apache-2.0
"""The access log: one JSON object a line, without secrets (http T5; config: log)."""

import json
import os
import shutil
import signal

import pytest

from harness import RawClient, reply, request_bytes
from harness.poll import eventually

CALLERS = [{"api_key": {"header": "X-Api-Key"}}]
KEYS = [{"key": "very-secret-key", "partner": "acme", "plan": "free"}]
LIMITS = [{"name": "partner-service", "per": ["partner", "service"], "match": ["GET /p", "POST /p"], "rate": "1/h"}]
ACME = {"X-Api-Key": "very-secret-key"}
SERVICES = {"SAUCE_SERVICE": {"upstream": "main"}}


def limited(launch, origin, **changes):
    return launch(origin, **{"callers": CALLERS, "keys": KEYS, "limits": LIMITS, "services": SERVICES, **changes})


def flat(entry):
    """Names and values of an entry, nested ones with dots."""
    found = {}
    for key, value in entry.items():
        if isinstance(value, dict):
            found.update({f"{key}.{inner}": deep for inner, deep in flat(value).items()})
        else:
            found[key] = value
    return found


def test_every_request_is_one_json_object_with_its_decision(launch, origin):
    origin.answer = reply(body=b"x" * 321)
    gateway = limited(launch, origin)
    gateway.ask("POST", "/p", {**ACME, "X-Request-Id": "first"}, b"y" * 123)
    gateway.ask("GET", "/p", {**ACME, "X-Request-Id": "second"})
    entries = {entry["request_id"]: flat(entry) for entry in gateway.access_log(2)}
    admitted, refused = entries["first"], entries["second"]
    for entry, status in ((admitted, 200), (refused, 429)):
        assert entry["status"] == status
        assert entry["partner"] == "acme"
        assert entry["service"] == "SAUCE_SERVICE"
        assert entry["limit"] == "partner-service"
        assert entry["remaining"] == 0
        assert any("time" in key for key in entry) and any("duration" in key for key in entry)
    assert "admit" in str(admitted["decision"]) and "refus" in str(refused["decision"])
    assert admitted["bytes_in"] >= 123 and admitted["bytes_out"] >= 321
    assert admitted["endpoint"] == "POST /p" and refused["endpoint"] == "GET /p"


def test_requests_that_nobody_limits_are_logged_too(launch, origin):
    gateway = launch(origin)
    gateway.ask()
    entry = flat(gateway.access_log(1)[0])
    assert entry["status"] == 200 and entry["service"] == "MAIN"


@pytest.mark.parametrize(
    "fields",
    [
        {"X-Api-Key": "very-secret-key"},
        {"Authorization": "Bearer very-secret-key"},
        {"Cookie": "session=very-secret-key"},
        {"X-Api-Key": "very-secret-key-that-is-unknown"},
    ],
)
def test_secrets_are_not_in_the_log(launch, origin, fields):
    gateway = limited(launch, origin, log={"level": "debug", "access": "stdout"})
    gateway.ask(fields=fields)
    gateway.access_log(1)
    assert "very-secret-key" not in gateway.output() + gateway.errors()


@pytest.mark.parametrize(
    "data",
    [
        request_bytes(target="/\"a|b'c"),
        request_bytes(fields={"User-Agent": '\xff\xfe"\\\x80', "X-Request-Id": 'a"b'}),
        request_bytes(target="/" + "p" * 8000, fields={"User-Agent": "u" * 8000, "Referer": "r" * 20000}),
        request_bytes(host="\x7f"),
        b"GET /\x00 HTTP/1.1\r\n\r\n",
    ],
)
def test_every_line_is_whole_json_and_at_most_8_kib(launch, origin, data):
    gateway = launch(origin)
    with RawClient(gateway.address) as client:
        client.send(data)
        client.response()
    gateway.ask(target="/marker")
    eventually(lambda: "/marker" in gateway.output(), what="the second line")
    for line in gateway.stdout.read_bytes().splitlines():
        assert len(line) <= 8192
        json.loads(line.decode("utf-8"))
        assert all(byte >= 0x20 for byte in line)


def test_the_log_can_be_a_file_and_is_opened_anew_on_usr1(launch, origin, tmp_path):
    file = tmp_path / "access.log"
    gateway = launch(origin, log={"access": str(file)})
    gateway.ask(fields={"X-Request-Id": "one"})
    assert gateway.access_log(1, file)[0]["request_id"] == "one"
    os.rename(file, tmp_path / "access.log.1")
    gateway.signal(signal.SIGUSR1)
    eventually(file.exists, what="the new log file")
    gateway.ask(fields={"X-Request-Id": "two"})
    assert [entry["request_id"] for entry in gateway.access_log(1, file)] == ["two"]
    assert [entry["request_id"] for entry in gateway.access_log(1, tmp_path / "access.log.1")] == ["one"]


def test_the_log_can_be_switched_off(launch, origin):
    gateway = launch(origin, log={"access": "off"})
    assert gateway.ask(target="/unlogged").status == 200
    gateway.stop()
    assert "/unlogged" not in gateway.output() + gateway.errors()


def test_a_log_nobody_reads_never_stalls_a_request(binary, launch, origin, tmp_path):
    """The log is a pipe that is full: lines are dropped, requests go on."""
    fifo = tmp_path / "access.fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    gateway = launch(origin, log={"access": str(fifo)})
    with gateway.connect() as client:
        for _ in range(20):
            client.send(request_bytes(target="/" + "p" * 200) * 50)
            assert [client.response().status for _ in range(50)] == [200] * 50
    os.close(reader)
    assert gateway.ask().status == 200


def test_the_log_is_complete_when_the_process_ends(launch, origin):
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(request_bytes() * 200)
        assert [client.response().status for _ in range(200)] == [200] * 200
    gateway.stop()
    assert len(gateway.access_log(200)) == 200


def test_a_message_that_is_no_request_has_nothing_of_the_one_before(launch, origin):
    gateway = launch(origin, workers=1)
    assert gateway.ask().status == 200
    assert gateway.ask(host=None).status == 400
    served, rejected = (flat(entry) for entry in gateway.access_log(2))
    assert "upstream_ms" in served and "upstream_ms" not in rejected and "upstream" not in rejected


def test_a_lost_upstream_is_named_and_counted(launch, origin):
    origin.answer = lambda exchange: (exchange.read_body(), exchange.close())
    gateway = launch(origin)
    assert gateway.ask("POST", "/", body=b"x").status == 502
    assert gateway.access_log(1)[0]["upstream"] == origin.url
    assert gateway.metrics().total("weir_upstream_events_total", event="closed") == 1


def test_a_log_that_cannot_be_opened_anew_is_told(launch, origin, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    gateway = launch(origin, log={"access": str(folder / "access.log")})
    shutil.rmtree(folder)
    gateway.signal(signal.SIGUSR1)
    eventually(lambda: "cannot open the access log" in gateway.errors(), what="the message")
