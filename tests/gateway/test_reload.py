# SPDX-License-Identifier: Apache-2.0
"""A new configuration without surprise (http S1-S4, S10; design 10)."""

import json
import re
import signal
import subprocess
import threading

import pytest

from harness import Hold, Origin, RawClient, free_port, reply, request_bytes
from harness.load import fate
from harness.poll import eventually

LIMIT = {"name": "one", "per": ["service"], "rate": "3/h"}
BROKEN = "listeners:\n  - adress: 127.0.0.1:1\nlimits:\n  - name: a\n    per: [service]\n    rate: fast\n"


def rate(text):
    return [{**LIMIT, "rate": text}]


def statuses(gateway, count):
    with RawClient(gateway.address) as client:
        return [client.ask().status for _ in range(count)]


def test_counters_stay_over_a_reload_that_changes_nothing(launch, origin):
    gateway = launch(origin, limits=[LIMIT])
    assert statuses(gateway, 4) == [200, 200, 200, 429]
    gateway.reload()
    assert statuses(gateway, 1) == [429]


def test_counters_stay_over_a_reload_that_changes_something_else(launch, origin):
    gateway = launch(origin, limits=[LIMIT])
    assert statuses(gateway, 4) == [200, 200, 200, 429]
    gateway.reload(
        limits=[{"name": "new", "per": ["service"], "match": ["POST /x"], "rate": "1/h"}, LIMIT],
        services={"OTHER": {"upstream": "main", "paths": ["/other"]}, "MAIN": {"upstream": "main"}},
    )
    assert statuses(gateway, 1) == [429]


def test_a_raised_limit_applies_from_the_next_request_on_and_is_not_a_fresh_burst(launch, origin):
    gateway = launch(origin, limits=[LIMIT])
    assert statuses(gateway, 4) == [200, 200, 200, 429]
    gateway.reload(limits=rate("5/h"))
    assert statuses(gateway, 3) == [200, 200, 429]


def test_a_lowered_limit_applies_from_the_next_request_on(launch, origin):
    gateway = launch(origin, limits=rate("10/h"))
    assert statuses(gateway, 3) == [200] * 3
    gateway.reload(limits=rate("4/h"))
    assert statuses(gateway, 2) == [200, 429]


def test_a_new_limit_and_a_removed_limit_take_effect(launch, origin):
    gateway = launch(origin)
    assert statuses(gateway, 5) == [200] * 5
    gateway.reload(limits=rate("1/h"))
    assert statuses(gateway, 2) == [200, 429]
    gateway.reload(limits=[])
    assert statuses(gateway, 5) == [200] * 5


def test_kept_alive_connections_see_the_new_configuration(launch, origin):
    with Origin(reply(body=b"second")) as second:
        gateway = launch(origin)
        with gateway.connect() as client:
            assert client.ask().body == b"ok"
            gateway.reload(upstreams={"main": {"url": second.url}})
            assert client.ask().body == b"second"


def test_upstream_connections_stay_over_a_reload(launch, origin):
    gateway = launch(origin, workers=1)
    assert statuses(gateway, 2) == [200, 200]
    gateway.reload(limits=rate("100/h"))
    assert statuses(gateway, 2) == [200, 200]
    assert len(origin.links) == 1


def test_a_request_lives_in_one_generation(launch, origin):
    release = threading.Event()

    def answer(exchange):
        release.wait(10)
        reply(body=b"old")(exchange)

    origin.answer = answer
    with Origin(reply(body=b"new")) as second:
        gateway = launch(origin)
        with gateway.connect() as old:
            old.send(request_bytes())
            origin.wait_for(1, whole=False)
            gateway.reload(upstreams={"main": {"url": second.url}})
            assert gateway.ask().body == b"new"
            release.set()
            assert old.response().body == b"old"


def test_a_bad_file_changes_nothing_and_is_reported(launch, origin):
    gateway = launch(origin, limits=[LIMIT])
    good = gateway.file.read_text()
    before = gateway.metrics()
    gateway.reload(BROKEN)
    assert statuses(gateway, 4) == [200, 200, 200, 429]
    after = gateway.metrics()
    failed = {
        labels["result"]
        for _, labels, value in after.matching("weir_config_reloads_total")
        if value > before.value("weir_config_reloads_total", result=labels["result"])
    }
    assert len(failed) == 1 and "success" not in failed
    name = "weir_config_last_success_timestamp_seconds"
    assert after.value(name) == before.value(name)
    eventually(
        lambda: re.search(r"weir\.yaml:2:\d+: error:", gateway.errors() + gateway.output()),
        what="the error in the log",
    )
    assert re.search(r"weir\.yaml:6:\d+: error:", gateway.errors() + gateway.output()), "not all errors were reported"
    gateway.reload(good)
    assert statuses(gateway, 1) == [429]


def test_a_missing_file_changes_nothing(launch, origin):
    gateway = launch(origin)
    before = gateway.reloads()
    gateway.file.unlink()
    gateway.signal(signal.SIGHUP)
    eventually(lambda: gateway.reloads() > before, what="the count of the failed reload")
    assert statuses(gateway, 1) == [200]


def test_of_many_reloads_the_last_one_wins(launch, origin):
    gateway = launch(origin, limits=rate("1000/h"))
    for count in range(10, 30):
        gateway.config["limits"] = rate(f"{count}/h")
        gateway.write(gateway.config)
        gateway.signal(signal.SIGHUP)
    eventually(lambda: gateway.ask().fields.get("X-RateLimit-Limit") == "29", what="the last configuration")


def test_a_listener_can_be_added_and_removed(launch, origin):
    gateway = launch(origin)
    first, port = gateway.config["listeners"][0], free_port()
    gateway.reload(listeners=[first, {"address": f"127.0.0.1:{port}"}])
    with RawClient(("127.0.0.1", port)) as client:
        assert client.ask().status == 200
    assert statuses(gateway, 1) == [200]
    gateway.reload(listeners=[first])
    eventually(lambda: refuses(port), what="the end of the removed listener")
    assert statuses(gateway, 1) == [200]


def refuses(port):
    try:
        RawClient(("127.0.0.1", port)).close()
        return False
    except ConnectionRefusedError:
        return True


def test_many_policies_are_loaded_quickly(launch, origin):
    """http S1: at most 1 s for 10 000 policies; here a tenth of them."""
    limits = [
        {"name": f"limit-{index}", "per": ["service"], "match": [f"GET /x/{index}"], "rate": "5/h"}
        for index in range(1000)
    ]
    gateway = launch(origin)
    gateway.reload(limits=limits)
    assert gateway.ask(target="/x/999").fields.get("X-RateLimit-Limit") == "5"


def test_other_signals_do_no_harm(launch, origin):
    gateway = launch(origin)
    for number in (signal.SIGPIPE, signal.SIGUSR1, signal.SIGWINCH):
        gateway.signal(number)
        assert statuses(gateway, 2) == [200, 200]


@pytest.mark.parametrize(
    "options", [[], ["--think", "20"], ["--close"]], ids=["saturated", "with pauses", "a connection each"]
)
def test_ten_reloads_under_load_lose_no_request(binary, launch, options):
    port = free_port()
    with subprocess.Popen(
        [binary, "echo", "--address", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as echo:
        try:
            eventually(lambda: not refuses(port), what="the echo server")
            gateway = launch(f"http://127.0.0.1:{port}", log={"access": "off"}, limits=rate("1000000000/h"))
            with fate(gateway.address, seconds=4, options=["-c", "32", *options]) as load:
                for turn in range(10):
                    load.sleep(0.3)
                    gateway.reload(limits=rate(f"{1000000000 - turn}/h"))
            result = load.result
        finally:
            echo.terminate()
    assert result["failed"] == 0 and result["lost"] == 0, json.dumps(result)
    assert result["answered"] > 100 and set(result["status"]) == {"200"}, json.dumps(result)


def test_requests_of_an_older_configuration_count_towards_what_an_upstream_takes(launch, origin):
    origin.answer = hold = Hold()
    gateway = launch(origin, upstreams={"main": {"url": origin.url, "max_running": 1}})
    with gateway.connect() as client:
        client.send(request_bytes())
        eventually(lambda: origin.open_links(), what="a request upstream")
        gateway.reload()
        assert gateway.ask().status == 503
        hold.go.set()
        assert client.response().status == 200
    assert gateway.ask().status == 200
