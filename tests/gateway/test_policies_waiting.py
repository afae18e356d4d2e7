# SPDX-License-Identifier: Apache-2.0
"""Requests that wait for the database: what happens to them, and around them, meanwhile.

The database stands still (SIGSTOP) until the test lets it go on, so a request waits for as long as the test wants."""

import json
import signal

import pytest

from harness import RawClient, eventually, reply, request_bytes
from harness.policies import ROWS, as_partner, figure, launch_with_policies, limit_of

BODY = bytes(range(256)) * 256


class Stopped:
    """A gateway that knows nobody, with one worker, and its database, which stands still."""

    def __init__(self, gateway, database):
        self.gateway = gateway
        self.database = database

    def go_on(self):
        self.database.process.cont()

    def wait_for(self, requests):
        """Until so many requests wait, and the worker has nothing else to do."""
        eventually(lambda: figure(self.gateway, "weir_policies_lookups_total", result="wanted") >= requests,
                   what=f"{requests} requests that wait")
        self.gateway.turn()


@pytest.fixture
def stopped(launch, origin, binary, tmp_path, mariadb):
    """stopped(budget, timeout, **top-level keys): acme has 1000 a day."""
    mariadb.clear()

    def start(budget="10s", timeout="10s", **changes):
        policies = {"budget": budget, "poll": "50ms", "sql": {"url": mariadb.url, "timeout": timeout}}
        database, gateway = launch_with_policies(launch, origin, binary, tmp_path, mariadb.url, policies=policies,
                                                 workers=1, **changes)
        database("partners", "put", "acme")
        database.limit("acme", "1000/day")
        eventually(lambda: figure(gateway, "weir_policies_revision") == 2, what="a gateway that knows the changes")
        mariadb.process.stop()
        return Stopped(gateway, mariadb)

    yield start
    mariadb.process.cont()


def request_of(partner="acme", method="GET", target="/", fields=(), body=None):
    return request_bytes(method, target, {"X-Partner": partner, **dict(fields)}, body)


def test_who_expects_100_gets_it_after_the_verdict(stopped, origin):
    scene = stopped()
    with scene.gateway.connect() as client:
        client.send(request_of(method="POST", fields={"Expect": "100-continue", "Content-Length": str(len(BODY))}))
        scene.wait_for(1)
        assert client.is_quiet(0)
        assert not origin.begun
        scene.go_on()
        client.wait_for(b"HTTP/1.1 100 ")
        client.send(BODY)
        response = client.response()
    assert response.status == 200 and limit_of(response) == "1000"
    assert [interim.status for interim in response.interim] == [100]
    assert origin.last().body == BODY


def test_who_expects_100_and_is_refused_never_gets_it(stopped, origin):
    scene = stopped(identify="required")
    with scene.gateway.connect() as client:
        fields = {"X-Api-Key": "weir_nobodys", "Expect": "100-continue", "Content-Length": "5"}
        client.send(request_bytes("POST", "/", fields))
        scene.wait_for(1)
        assert client.is_quiet(0)
        scene.go_on()
        response = client.response()
        assert response.status == 401 and not response.interim and response.says_close()
    assert not origin.begun


def test_what_comes_behind_a_request_that_waits_is_answered_in_order(stopped, origin):
    origin.answer = lambda exchange: reply(body=exchange.request.target.encode())(exchange)
    scene = stopped()
    targets = [f"/{number}" for number in range(12)]
    partners = ["acme", "stranger", "acme", "other"]
    with scene.gateway.connect() as client:
        requests = [request_of(partners[number % 4], target=target) for number, target in enumerate(targets)]
        client.send(b"".join(requests[:6]))
        scene.wait_for(1)
        client.send(b"".join(requests[6:]))
        scene.gateway.turn()
        assert client.is_quiet(0), "nobody overtakes"
        scene.go_on()
        responses = [client.response() for _ in targets]
    assert [response.body.decode() for response in responses] == targets
    assert [limit_of(response) for response in responses] == ["1000", None] * 6
    assert [request.target for request in origin.requests] == targets


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_comes_meanwhile_gets_through(stopped, origin, chunked):
    scene = stopped()
    if chunked:
        fields = {"Transfer-Encoding": "chunked"}
        sent = b"".join(b"%x\r\n%s\r\n" % (1000, BODY[at : at + 1000]) for at in range(0, 64_000, 1000)) + b"0\r\n\r\n"
    else:
        fields, sent = {"Content-Length": str(len(BODY))}, BODY
    with scene.gateway.connect() as client:
        client.send(request_of(method="POST", fields=fields) + sent[:100])
        scene.wait_for(1)
        for at in range(100, len(sent), 9973):
            client.send(sent[at : at + 9973])
        scene.gateway.turn()
        assert not origin.begun
        scene.go_on()
        assert client.response().status == 200
        assert client.ask("GET", "/after", {"X-Partner": "acme"}).status == 200, "in step"
    assert origin.requests[0].body == (BODY[:64_000] if chunked else BODY)


def test_many_who_wait_for_the_same_are_answered_by_one_look_up(stopped, origin):
    scene = stopped()
    reads = figure(scene.gateway, "weir_policies_reads_total", **{"from": "sql"})
    clients = [scene.gateway.connect() for _ in range(40)]
    for client in clients:
        client.send(request_of())
    scene.wait_for(len(clients))
    scene.go_on()
    assert {client.response().status for client in clients} == {200}
    assert len(origin.requests) == len(clients)
    assert figure(scene.gateway, "weir_policies_reads_total", **{"from": "sql"}) == reads + 1


@pytest.mark.parametrize("leave", [RawClient.close, RawClient.reset])
def test_nothing_is_left_of_clients_that_leave(stopped, leave):
    scene = stopped()
    gateway = scene.gateway
    assert gateway.ask().status == 200
    links = lambda: figure(gateway, "weir_connections", side="client")  # noqa: E731
    eventually(lambda: links() == 0, what="the end of the first connection")
    before = own_sockets(gateway)
    clients = [gateway.connect() for _ in range(30)]
    for number, client in enumerate(clients):
        client.send(request_of(f"partner{number}"))
    scene.wait_for(len(clients))
    eventually(lambda: links() == len(clients))
    for client in clients:
        leave(client)
    scene.go_on()
    eventually(lambda: links() == 0, what="the end of all connections")
    assert as_partner(gateway).status == 200
    to_database = 4  # its readers have none before they read
    eventually(lambda: own_sockets(gateway) <= before + to_database, what="the end of all sockets")


def own_sockets(gateway):
    """Sockets without those to upstreams, which are kept for later."""
    sockets = sum(name.startswith("socket:") for name in gateway.descriptors())
    return sockets - figure(gateway, "weir_connections", side="upstream")


def refuses(gateway):
    try:
        RawClient(gateway.address).close()
        return False
    except ConnectionResetError:
        return False
    except ConnectionRefusedError:
        return True


def test_a_request_that_waits_when_the_process_is_to_end_is_answered(stopped, origin):
    scene = stopped()
    with scene.gateway.connect() as client:
        client.send(request_of() + request_of(target="/behind"))
        scene.wait_for(1)
        scene.gateway.signal(signal.SIGTERM)
        eventually(lambda: refuses(scene.gateway), what="the end of the listener")
        assert scene.gateway.process.poll() is None
        scene.go_on()
        response = client.response()
        assert response.status == 200 and limit_of(response) == "1000" and response.says_close()
        assert client.is_closed()
    assert scene.gateway.exit_code() == 0
    assert [request.target for request in origin.requests] == ["/"]


def test_a_database_that_hangs_does_not_keep_the_process_from_ending(stopped):
    scene = stopped(budget="300ms", timeout="1s")
    with scene.gateway.connect() as client:
        client.send(request_of("stranger"))
        scene.wait_for(1)
        scene.gateway.signal(signal.SIGTERM)
        response = client.response()
        assert response.status == 200 and response.says_close(), "by its time, as if the database was away"
    assert scene.gateway.exit_code() == 0


def test_a_request_that_waits_during_a_reload_is_judged_as_it_began(stopped, origin):
    scene = stopped()
    with scene.gateway.connect() as client:
        client.send(request_of())
        scene.wait_for(1)
        scene.gateway.reload(limits=[{**ROWS, "name": "renamed"}])
        scene.go_on()
        response = client.response()
        assert response.status == 200 and limit_of(response) == "1000"
        after = client.ask(fields={"X-Partner": "acme"})
        assert after.status == 200 and limit_of(after) is None, "it has no row for the limit of the new name"
    assert len(origin.requests) == 2


@pytest.mark.parametrize("on_failure, status", [("open", 200), ("closed", 503)])
def test_whoever_waits_longer_than_the_budget_is_judged_without_an_answer(stopped, origin, on_failure, status):
    scene = stopped(budget="200ms", limits=[{**ROWS, "on_store_failure": on_failure}])
    with scene.gateway.connect() as client:
        client.send(request_of(method="POST", body=b"one") + request_of(method="POST", body=b"two"))
        for _ in range(2):
            response = client.response()
            assert response.status == status and limit_of(response) is None
            if status == 503:
                assert json.loads(response.body)["status"] == 503 and response.fields.get("Retry-After")
    assert [request.body for request in origin.requests] == ([b"one", b"two"] if status == 200 else [])
    assert figure(scene.gateway, "weir_policies_lookups_total", result="away") == 2
    scene.go_on()
    eventually(lambda: limit_of(as_partner(scene.gateway)) == "1000", 10, what="the database")
