# SPDX-License-Identifier: Apache-2.0
"""Redis as a process, alone or as a cluster: on free ports, in folders of its own, without a trace on disk."""

import re
import shutil
import tempfile
from pathlib import Path

import pytest

from .certificates import Certificates
from .poll import eventually, free_port
from .process import Process
from .resp import RedisClient, RedisError

START_LIMIT = 10.0
CLUSTER_LIMIT = 30.0
SLOTS = 16384
# The tests' own way in, whatever the users of the server may do.
HARNESS = ("harness", "harness")


def documented_permissions():
    """What docs/configuration.md says that the gateways' user needs."""
    text = (Path(__file__).resolve().parents[3] / "docs" / "configuration.md").read_text()
    return " ".join(re.search(r"^    ~weir:.*\n(    [+&].*\n)+", text, re.MULTILINE).group().split())


class RedisServer:
    """Runs when constructed; skips the test where there is no redis-server.

    port       a port of the test's choice
    tcp        False: only the unix socket
    tls        True: speaks TLS only and asks clients for a certificate; "server": does not ask for it.
               The files are in `certificates`, made for this server where none are given
    password   what the default user must say
    user       (name, password) of a user with the permissions `rules`; without `password`, the default user is off
    cluster    True: a node, see RedisCluster
    extra      further arguments
    """

    def __init__(self, *extra, port=None, tcp=True, tls=False, password=None, user=None, rules="~* &* +@all",
                 certificates=None, cluster=False):
        if not shutil.which("redis-server"):
            pytest.skip("there is no redis-server in the PATH")
        self.extra = extra
        self.port = port
        self.bus_port = None
        self.tcp = tcp
        self.tls = tls
        self.password = password
        self.user = user
        self.rules = rules
        self.cluster = cluster
        self.process = None
        self.folder = Path(tempfile.mkdtemp(prefix="weir-redis-"))
        self.unix_path = str(self.folder / "socket")
        self.certificates = certificates
        try:
            if tls and not certificates:
                self.certificates = Certificates(self.folder / "tls")
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Start and end

    def start(self):
        chosen = self.port
        for _ in range(8):
            self.port = chosen or (free_port() if self.tcp else 0)
            self.bus_port = free_port() if self.cluster else None
            if self.came_up():
                return
        raise AssertionError(f"redis-server did not start:\n{self.process.output()}")

    def came_up(self):
        """False when it ended at once, perhaps because a port was taken. It answers only once it has its ports."""
        self.process = Process(["redis-server", *self.arguments()], self.folder / "log")
        eventually(lambda: self.answers() or not self.process.is_running(), START_LIMIT, what="an answer of Redis")
        return self.process.is_running()

    def answers(self):
        try:
            return self.command("PING") == "PONG"
        except OSError:
            return False

    def arguments(self):
        yield from ("--bind", "127.0.0.1", "--unixsocket", self.unix_path, "--dir", self.folder)
        yield from ("--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")
        yield from ("--repl-diskless-sync-delay", "0")
        yield from ("--port", 0 if self.tls else self.port)
        if self.tls:
            yield from ("--tls-port", self.port, "--tls-auth-clients", "no" if self.tls == "server" else "yes")
            yield from ("--tls-ca-cert-file", self.certificates.file("authority.crt"))
            yield from ("--tls-cert-file", self.certificates.file("server.crt"))
            yield from ("--tls-key-file", self.certificates.file("server.key"))
        if self.is_guarded():
            yield from self.guards()
        if self.cluster:
            yield from ("--cluster-enabled", "yes", "--cluster-port", self.bus_port, "--cluster-node-timeout", "1000")
        if self.cluster and self.tls:
            yield from ("--tls-cluster", "yes", "--tls-replication", "yes")
        yield from self.extra

    def guards(self):
        name, password = HARNESS
        yield from ("--user", name, "on", ">" + password, "~*", "&*", "+@all")
        yield from ("--masteruser", name, "--masterauth", password)
        if self.password:
            yield from ("--requirepass", self.password)
        elif self.user:
            yield from ("--user", "default", "off")
        if self.user:
            yield from ("--user", self.user[0], "on", ">" + self.user[1], *self.rules.split())

    def is_guarded(self):
        return bool(self.password or self.user)

    def kill(self):
        self.process.kill()

    def stop(self):
        self.process.stop()

    def cont(self):
        self.process.cont()

    def restart(self):
        """A new process with the same ports and no data. A node of a cluster remembers the cluster."""
        self.kill()
        eventually(self.came_up, START_LIMIT, what="the restart")

    def close(self):
        if self.process:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Talking to it

    @property
    def address(self):
        return ("127.0.0.1", self.port) if self.tcp else self.unix_path

    @property
    def url(self):
        """As in weir's configuration, with the credentials of `user`, or else of the default user."""
        if not self.tcp:
            return f"unix:{self.unix_path}"
        name, password = self.user or ("", self.password)
        credentials = f"{name}:{password}@" if password else ""
        return f"{'rediss' if self.tls else 'redis'}://{credentials}127.0.0.1:{self.port}"

    def connect(self, **options):
        """A client from outside, over the address that everybody uses. It has not said who it is."""
        if self.tls:
            options.setdefault("tls", self.certificates.context())
        return RedisClient(self.address, **options)

    def client(self):
        """A client that may do everything."""
        client = RedisClient(self.unix_path)
        if self.is_guarded():
            client.command("AUTH", *HARNESS)
        return client

    def command(self, *words):
        """One command on a connection of its own. An error raises RedisError."""
        with self.client() as client:
            return client.command(*words)

    def info(self, field=None):
        """A field of INFO, as a number where it is one; all fields as a dict without a name."""
        pairs = (line.split(":", 1) for line in self.command("INFO", "all").splitlines() if ":" in line)
        fields = {name: int(value) if value.isdigit() else value for name, value in pairs}
        return fields if field is None else fields[field]

    # As a node of a cluster

    @property
    def identity(self):
        return self.command("CLUSTER", "MYID")

    def is_master(self):
        return self.command("ROLE")[0] == "master"

    def sees(self, nodes, replicas):
        """Does it know so many nodes, and so many of them as replicas, and find everything in order?"""
        table = self.command("CLUSTER", "NODES").splitlines()
        flags = [line.split()[2].split(",") for line in table]
        healthy = [words for words in flags if not {"handshake", "fail", "fail?", "noaddr"} & set(words)]
        state = self.command("CLUSTER", "INFO")
        return (len(table) == len(healthy) == nodes and sum("slave" in words for words in flags) == replicas
                and f"cluster_slots_ok:{SLOTS}" in state)

    def is_ok(self):
        state, link = self.command("CLUSTER", "INFO"), self.info().get("master_link_status")
        return "cluster_state:ok" in state and link != "down"


class RedisCluster:
    """`masters` share the slots evenly, in their order; each has so many `replicas`. `nodes` are the masters, then
    the replicas of the first master, of the second and so on: the roles at the start.

    A master that is gone is replaced by a replica after about two seconds, by the votes of most masters: it takes
    three. `extra` and `options` are those of every RedisServer; the nodes share the `certificates` of the first."""

    def __init__(self, *extra, masters=3, replicas=0, **options):
        self.nodes = []
        self.replicas = masters * replicas
        try:
            for _ in range(masters + self.replicas):
                self.nodes.append(RedisServer(*extra, cluster=True, **options))
                options["certificates"] = self.certificates
            self.form(masters, replicas)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for node in self.nodes:
            node.close()

    def form(self, masters, replicas):
        first = self.nodes[0]
        for index, node in enumerate(self.nodes[:masters]):
            start, end = index * SLOTS // masters, (index + 1) * SLOTS // masters - 1
            node.command("CLUSTER", "ADDSLOTSRANGE", start, end)
            # Different epochs from the start spare the masters to settle them.
            node.command("CLUSTER", "SET-CONFIG-EPOCH", index + 1)
        for node in self.nodes[1:]:
            first.command("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus_port)
        self.wait(lambda: all(node.sees(len(self.nodes), 0) for node in self.nodes), "the meeting of all nodes")
        for index, node in enumerate(self.nodes[masters:]):
            node.command("CLUSTER", "REPLICATE", self.nodes[index // replicas].identity)
        self.wait_until_ok()

    def wait_until_ok(self):
        """Waits until every node is back in a cluster that works."""
        everybody = len(self.nodes)
        self.wait(lambda: all(node.sees(everybody, self.replicas) and node.is_ok() for node in self.nodes),
                  "the state of all nodes")

    @staticmethod
    def wait(condition, what):
        eventually(condition, CLUSTER_LIMIT, every=0.02, what=what)

    # Looking at it

    @property
    def urls(self):
        return [node.url for node in self.nodes]

    @property
    def certificates(self):
        return self.nodes[0].certificates

    def alive(self):
        return [node for node in self.nodes if node.process.is_running()]

    def masters(self):
        return [node for node in self.alive() if node.is_master()]

    def replica_of(self, master):
        """One of its replicas, as the master sees it."""
        identity = next(line.split()[0] for line in master.command("CLUSTER", "REPLICAS", master.identity))
        return self.node_with(identity)

    def slot_of(self, key):
        return self.alive()[0].command("CLUSTER", "KEYSLOT", key)

    def node_of(self, key):
        """The master of the key's slot, as a living node sees it."""
        return self.owner(self.slot_of(key))

    def owner(self, slot, seen_by=None):
        for start, end, (_, _, identity, *_), *_ in (seen_by or self.alive()[0]).command("CLUSTER", "SLOTS"):
            if start <= slot <= end:
                return self.node_with(identity)
        raise AssertionError(f"nobody has slot {slot}")

    def node_with(self, identity):
        return next(node for node in self.alive() if node.identity == identity)

    def command(self, *words):
        """Asks one node, and then the one that it names when the key is elsewhere."""
        try:
            return self.alive()[0].command(*words)
        except RedisError as error:
            if not str(error).startswith("MOVED "):
                raise
            return self.owner(int(str(error).split()[1])).command(*words)

    # Changing it

    def failover(self, replica, how=None):
        """The replica becomes the master; returns once every living node knows. `how` is FORCE or TAKEOVER; without
        it the master has to live, and nothing is lost."""
        replica.command("CLUSTER", "FAILOVER", *([how] if how else []))
        self.wait_for_master(replica)

    def wait_for_master(self, replica):
        """Waits until every living node takes the replica for a master, as it should when its master is gone."""
        identity = replica.identity

        def known(node):
            lines = node.command("CLUSTER", "NODES").splitlines()
            return any(line.startswith(identity) and "master" in line.split()[2] for line in lines)

        self.wait(lambda: all(known(node) for node in self.alive()), "the failover")

    def move_slot(self, slot, to):
        """Moves a slot with its keys; returns once every living node knows."""
        self.begin_move(slot, to)
        self.move_keys(slot, to)
        self.end_move(slot, to)

    def begin_move(self, slot, to):
        """From here on the source answers ASK for keys that it has not (any more)."""
        source = self.owner(slot, to)
        to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.identity)
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to.identity)

    def move_keys(self, slot, to, *keys):
        """Moves these keys, or all that the slot has."""
        source = self.owner(slot, to)
        login = ("AUTH2", *HARNESS) if to.is_guarded() else ()
        while True:
            batch = keys or source.command("CLUSTER", "GETKEYSINSLOT", slot, 100)
            if batch:
                source.command("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, *login, "KEYS", *batch)
            if keys or not batch:
                return

    def end_move(self, slot, to):
        source, identity = self.owner(slot, to), to.identity
        # The new owner first: a source that let go before would leave the slot to nobody.
        for node in [to, source, *(other for other in self.masters() if other not in (to, source))]:
            node.command("CLUSTER", "SETSLOT", slot, "NODE", identity)
        self.wait(lambda: all(self.owner(slot, node) is to for node in self.alive()), f"the move of slot {slot}")
