# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the program under test, an origin, and a way to launch gateways that are always cleaned up."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness import Gateway, Origin, reply  # noqa: E402
from harness.gateway import configuration  # noqa: E402
from harness.mariadb import MariaDbServer  # noqa: E402

SHARED = Path(__file__).resolve().parents[3] / "shared"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    setattr(item, "report_" + call.when, outcome.get_result())


@pytest.fixture(scope="session")
def binary():
    path = os.environ.get("WEIR_BINARY", "")
    if not path:
        pytest.skip("WEIR_BINARY does not name the program")
    if not os.access(path, os.X_OK):
        pytest.skip(f"there is no program at {path}")
    return os.path.abspath(path)


@pytest.fixture(scope="session")
def corpora():
    folder = SHARED / "corpora"
    if not folder.is_dir():
        pytest.skip("the corpora are not beside the repository (../shared/corpora)")
    return folder


@pytest.fixture
def origin():
    with Origin() as one:
        yield one
        assert not one.faults, f"the gateway sent to its upstream what it must not send: {one.faults}"


@pytest.fixture
def launch(request, tmp_path, binary):
    """launch(origin or URL, **top-level keys) starts a gateway; every one is stopped and must end cleanly."""
    started = []

    def start(upstream=None, config=None, open_files=None, **changes):
        config = config or configuration(upstream, **changes)
        gateway = Gateway(binary, tmp_path / f"gateway{len(started)}", config, open_files)
        started.append(gateway)
        return gateway.start()

    yield start
    report = getattr(request.node, "report_call", None)
    problems = []
    for gateway in reversed(started):
        if report is not None and report.failed:
            print(f"--- stderr of {gateway.file}\n{gateway.errors()}")
        try:
            gateway.stop()
        except AssertionError as problem:
            problems.append(str(problem))
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="module")
def mariadb():
    with MariaDbServer() as server:
        yield server


@pytest.fixture(params=["sqlite", "mariadb"])
def url(request, tmp_path):
    """Of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path}/policies.db"
    server = request.getfixturevalue("mariadb")
    server.clear()
    return server.url


class Shared:
    """A catch-all gateway for the tests of one module; a new one takes over when a test has broken it."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = folder
        self.origin = Origin()
        self.gateway = None
        self.starts = 0

    def fresh(self):
        self.origin.forget()
        self.origin.faults.clear()
        self.origin.answer = reply()
        if self.gateway is None or self.gateway.process.poll() is not None:
            self.starts += 1
            self.gateway = Gateway(self.binary, self.folder / str(self.starts), configuration(self.origin)).start()
        return self.gateway, self.origin


@pytest.fixture(scope="module")
def shared(binary, tmp_path_factory):
    one = Shared(binary, tmp_path_factory.mktemp("shared"))
    yield one
    if one.gateway:
        one.gateway.stop()
    one.origin.close()


@pytest.fixture
def plain(shared):
    """(gateway, origin) without limits, shared by a module: for tests that need nothing of their own."""
    gateway, origin = shared.fresh()
    yield gateway, origin
    for client in gateway.clients:
        client.close()
    gateway.clients.clear()
    assert gateway.process.poll() is None, f"the gateway died\n{gateway.errors()}"
    assert not origin.faults, f"the gateway sent to its upstream what it must not send: {origin.faults}"
