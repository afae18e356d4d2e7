# SPDX-License-Identifier: Apache-2.0
"""What other tests count on when they start Redis: it needs no gateway."""

import ssl

import pytest

from harness import FaultProxy, RedisClient, RedisCluster, RedisError, RedisServer


@pytest.fixture(scope="module")
def cluster():
    with RedisCluster(replicas=1) as one:
        yield one


def test_a_restarted_server_is_empty_and_has_its_old_port():
    with RedisServer() as server:
        port, pid = server.port, server.process.pid
        assert server.command("SET", "key", b"\xff\0\r\n") == "OK"
        assert server.command("GET", "key").encode(errors="surrogateescape") == b"\xff\0\r\n"
        server.restart()
        assert server.command("DBSIZE") == 0
        assert (server.info("tcp_port"), server.info("process_id")) == (server.port, server.process.pid)
        assert server.port == port and server.process.pid != pid


def test_a_stopped_server_answers_when_it_goes_on():
    with RedisServer() as server:
        server.stop()
        with pytest.raises(TimeoutError), RedisClient(server.address, timeout=0.05) as client:
            client.command("PING")
        server.cont()
        assert server.command("PING") == "PONG"


def test_tls_is_trusted_by_its_authority_only():
    with RedisServer(tls=True) as server:
        with server.connect() as client:
            assert client.command("PING") == "PONG"
        with pytest.raises(ssl.SSLError):
            server.connect(tls=ssl.create_default_context())
        with pytest.raises(OSError):  # a refused certificate is told with the first read
            server.connect(tls=server.certificates.context(with_client=False)).command("PING")


def test_a_client_has_to_say_who_it_is():
    with RedisServer(password="word", user=("weir", "secret"), rules="~weir:* +get") as server:
        with server.connect() as client:
            with pytest.raises(RedisError, match="NOAUTH"):
                client.command("GET", "weir:1")
            assert client.command("AUTH", "word") == "OK"
            assert client.command("SET", "weir:1", "1") == "OK"
            assert client.command("AUTH", "weir", "secret") == "OK"
            assert client.command("GET", "weir:1") == "1"
            with pytest.raises(RedisError, match="NOPERM"):
                client.command("SET", "weir:1", "1")


def test_a_user_shuts_out_the_default_user():
    with RedisServer(user=("weir", "secret")) as server, server.connect() as client:
        with pytest.raises(RedisError, match="NOAUTH"):
            client.command("PING")
        assert server.url == f"redis://weir:secret@127.0.0.1:{server.port}"


def test_a_moved_slot_takes_its_keys_along(cluster):
    keys = [f"{{moved}}{number}" for number in range(250)]
    for key in keys:
        cluster.command("SET", key, key)
    source = cluster.node_of("{moved}")
    target = next(node for node in cluster.masters() if node is not source)
    slot = cluster.slot_of("{moved}")
    cluster.begin_move(slot, target)
    cluster.move_keys(slot, target, keys[0])
    with pytest.raises(RedisError, match=f"ASK {slot} 127.0.0.1:{target.port}"):
        source.command("GET", keys[0])
    assert source.command("GET", keys[1]) == keys[1]
    cluster.move_keys(slot, target)
    cluster.end_move(slot, target)
    assert cluster.node_of("{moved}") is target
    assert [target.command("GET", key) for key in keys] == keys
    with pytest.raises(RedisError, match=f"MOVED {slot} 127.0.0.1:{target.port}"):
        source.command("GET", keys[0])


def test_a_failover_keeps_what_was_written(cluster):
    master = cluster.node_of("kept")
    cluster.command("SET", "kept", "1")
    replica = cluster.replica_of(master)
    cluster.failover(replica)
    assert cluster.node_of("kept") is replica
    assert replica.command("GET", "kept") == "1"
    cluster.wait_until_ok()


def test_a_master_that_was_killed_is_replaced_and_comes_back_as_a_replica(cluster):
    master = cluster.masters()[0]
    replica = cluster.replica_of(master)
    master.kill()
    cluster.wait_for_master(replica)
    master.restart()
    cluster.wait_until_ok()
    assert not master.is_master()


def test_a_cluster_can_have_tls_and_users():
    with RedisCluster(masters=2, replicas=1, tls=True, user=("weir", "secret")) as cluster:
        cluster.command("SET", "{moved}", "1")
        target = next(node for node in cluster.masters() if node is not cluster.node_of("{moved}"))
        cluster.move_slot(cluster.slot_of("{moved}"), target)
        with target.connect() as client:
            client.command("AUTH", "weir", "secret")
            assert client.command("GET", "{moved}") == "1"
            slots = client.command("CLUSTER", "SLOTS")
            assert {entry[2][1] for entry in slots} == {node.port for node in cluster.masters()}


def test_a_proxy_breaks_and_mends_the_way_to_redis():
    with RedisServer() as server, FaultProxy(store=server) as proxy:
        address = proxy.address("store")
        with RedisClient(address) as client:
            assert client.command("PING") == "PONG"
            proxy.ctl("store reset")
            with pytest.raises(ConnectionError):
                client.command("PING")
        proxy.ctl("store refuse")
        with pytest.raises(ConnectionRefusedError):
            RedisClient(address)
        proxy.ctl("* pass")
        with RedisClient(address) as client:
            assert client.command("PING") == "PONG"
        assert proxy.status()["store"]["accepted"] == 2
        with pytest.raises(AssertionError, match="unknown command"):
            proxy.ctl("store nonsense")


def test_a_node_announces_the_port_of_its_proxy():
    with RedisCluster(masters=1) as cluster, FaultProxy(first=cluster.nodes[0]) as proxy:
        proxy.announce("first", cluster.nodes[0])
        assert cluster.command("CLUSTER", "SLOTS")[0][2][1] == proxy.ports["first"]
