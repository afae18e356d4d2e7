# SPDX-License-Identifier: Apache-2.0
"""The end of the process: drained, hurried, or killed (http S5, S6, S8, S9)."""

import json
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from harness import Cut, Hold, RawClient, free_port, reply, request_bytes
from harness.gateway import configuration
from harness.load import fate
from harness.poll import eventually


def refuses(gateway):
    try:
        RawClient(gateway.address).close()
        return False
    except ConnectionResetError:  # it came between the last accept and the close
        return False
    except ConnectionRefusedError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_gateway_without_work_ends_at_once(launch, origin, number):
    gateway = launch(origin)
    assert gateway.ask().status == 200
    start = time.monotonic()
    gateway.signal(number)
    assert gateway.exit_code() == 0
    assert time.monotonic() - start < 1.0


def test_a_running_request_is_finished_and_told_to_close(launch, origin):
    origin.answer = hold = Hold()
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(request_bytes())
        origin.wait_for(1)
        gateway.signal(signal.SIGTERM)
        eventually(lambda: refuses(gateway), what="the end of the listener")
        assert gateway.process.poll() is None
        hold.go.set()
        response = client.response()
        assert response.body == b"held" and response.says_close()
        start = time.monotonic()
        assert gateway.exit_code() == 0
        assert time.monotonic() - start < 1.0


def test_readiness_ends_within_100_ms_and_liveness_does_not(launch, origin):
    origin.answer = hold = Hold()
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(request_bytes())
        origin.wait_for(1)
        gateway.signal(signal.SIGTERM)
        start = time.monotonic()
        eventually(lambda: gateway.health("/readyz") == 503, within=1, every=0.001, what="the end of readiness")
        assert time.monotonic() - start < 0.2
        assert gateway.health("/livez") == 200
        hold.go.set()
        assert client.response().status == 200


def test_during_the_delay_everything_is_served_but_not_ready(launch, origin):
    gateway = launch(origin, shutdown={"delay": "600ms"})
    start = time.monotonic()
    gateway.signal(signal.SIGTERM)
    eventually(lambda: gateway.health("/readyz") == 503, within=0.5, what="the end of readiness")
    served = 0
    while time.monotonic() - start < 0.45:
        served += gateway.ask().status == 200
    assert served > 0
    assert gateway.exit_code() == 0
    assert 0.55 < time.monotonic() - start < 2.5


def test_an_idle_connection_may_send_one_more_request_in_the_drain(launch, origin):
    """It is closed only after a second without a request, so that a request on its way is not lost."""
    gateway = launch(origin)
    with RawClient(gateway.address) as client:
        assert client.ask().status == 200
        gateway.signal(signal.SIGTERM)
        eventually(lambda: refuses(gateway), what="the end of the listener")
        assert client.is_quiet(0.3), "the idle connection was closed at once"
        response = client.ask()
        assert response.status == 200 and response.says_close()
        assert client.is_closed()
    assert gateway.exit_code(within=2) == 0


def test_an_idle_connection_is_closed_after_a_second_of_the_drain(launch, origin):
    gateway = launch(origin)
    with RawClient(gateway.address) as client:
        assert client.ask().status == 200
        gateway.signal(signal.SIGTERM)
        start = time.monotonic()
        assert client.is_closed(within=3)
        assert 0.8 < time.monotonic() - start < 2
    assert gateway.exit_code(within=2) == 0


def test_what_is_not_finished_in_time_is_cut_and_its_number_logged(launch, origin):
    origin.answer = Hold()
    gateway = launch(origin, shutdown={"timeout": "400ms"})
    with gateway.connect() as one, gateway.connect() as two:
        for client in (one, two):
            client.send(request_bytes())
        origin.wait_for(2)
        start = time.monotonic()
        gateway.signal(signal.SIGTERM)
        assert gateway.exit_code(within=3) == 0
        assert 0.3 < time.monotonic() - start < 2
        with pytest.raises(Cut):
            one.response()
    assert re.search(r"\b2\b", gateway.errors()[-1500:] + gateway.output()[-1500:])


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(launch, origin, second):
    origin.answer = Hold()
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(request_bytes())
        origin.wait_for(1)
        gateway.signal(signal.SIGTERM)
        eventually(lambda: gateway.health("/readyz") != 200, what="the end of readiness")
        start = time.monotonic()
        gateway.signal(second)
        gateway.expect_exit = gateway.exit_code(within=2)
        assert time.monotonic() - start < 1.5


def test_a_stop_under_load_loses_no_request(launch, origin):
    gateway = launch(origin, log={"access": "off"})
    with fate(gateway.address, seconds=2, options=["-c", "16"]) as load:
        origin.wait_for(50)
        load.sleep(0.3)
        gateway.signal(signal.SIGTERM)
        assert gateway.exit_code() == 0
    result = load.result
    assert (
        result["answered"] > 100 and result["lost"] == 0 and result["truncated"] == 0 and result["timeout"] == 0
    ), json.dumps(result)
    assert set(result["status"]) == {"200"}, json.dumps(result)


def test_the_load_tool_sees_the_losses_of_a_killed_gateway(launch, origin):
    """Without this a count of 0 would mean nothing."""
    origin.answer = reply(body=b"x" * 20000)
    gateway = launch(origin, log={"access": "off"})
    with fate(gateway.address, seconds=2, options=["-c", "16"]) as load:
        origin.wait_for(50)
        load.sleep(0.3)
        gateway.kill()
    assert load.result["lost"] + load.result["truncated"] > 0, json.dumps(load.result)


def test_a_killed_gateway_starts_again_on_the_same_address_within_half_a_second(launch, origin):
    """The best of three counts, because other processes share the machine."""
    gateway, times = launch(origin), []
    for _ in range(3):
        clients = [gateway.connect() for _ in range(20)]
        assert [client.ask().status for client in clients] == [200] * 20
        gateway.kill()
        gateway.expect_exit = 0
        gateway.spawn()
        assert gateway.became_ready(), gateway.errors()
        times.append(time.monotonic() - gateway.started_at)
        assert gateway.ask().status == 200
    assert min(times) < 0.5, times


@pytest.mark.parametrize("which", ["listeners", "admin"])
def test_an_address_that_is_taken_is_an_error_and_not_a_hang(binary, tmp_path, which):
    """Exit code 1: the process could not go on; 78 would say that the configuration is wrong."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = {"address": "{}:{}".format(*taken.getsockname())}
        config = configuration("http://127.0.0.1:9", listeners=[{"address": f"127.0.0.1:{free_port()}"}])
        config.update({"listeners": [address]} if which == "listeners" else {"admin": address})
        (tmp_path / "weir.yaml").write_text(json.dumps(config))
        done = subprocess.run(
            [binary, "run", "weir.yaml"], cwd=tmp_path, capture_output=True, timeout=10, check=False
        )
        assert done.returncode == 1, done


def test_unix_sockets_are_gone_after_a_clean_end(launch, origin, tmp_path):
    path = tmp_path / "in.sock"
    gateway = launch(origin, listeners=[{"address": f"unix:{path}"}])
    assert path.exists()
    gateway.stop()
    assert not path.exists()


def test_a_fault_of_a_running_request_is_told_to_close(launch, origin):
    go_on = threading.Event()

    def answer(exchange):
        exchange.read_body()
        go_on.wait(5)
        exchange.close()

    origin.answer = answer
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(request_bytes("POST", "/", body=b"x"))
        origin.wait_for(1)
        gateway.signal(signal.SIGTERM)
        eventually(lambda: refuses(gateway), what="the end of the listener")
        go_on.set()
        response = client.response("POST")
        assert response.status == 502 and response.says_close()


def test_a_head_that_has_begun_keeps_its_time(launch, origin):
    gateway = launch(origin)
    with gateway.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        eventually(lambda: gateway.metrics().total("weir_connections", side="client") >= 1, what="the connection")
        gateway.signal(signal.SIGTERM)
        eventually(lambda: refuses(gateway), what="the end of the listener")
        assert client.is_quiet(1.3)  # longer than an idle connection stays
        client.send(b"\r\n")
        response = client.response()
        assert response.status == 200 and response.says_close()
