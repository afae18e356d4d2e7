# SPDX-License-Identifier: Apache-2.0
"""Load from the tool `fate`, which tells what became of every request, and an upstream that bears it."""

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from .poll import eventually
from .process import Process

FATE = Path(__file__).resolve().parents[4] / "shared" / "tools" / "fate"


class Load:
    def __init__(self, process):
        self.process = process
        self.result = None

    def sleep(self, seconds):
        """Lets the load go on for a while; fails when it has ended already."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        raise AssertionError("the load ended too early")


@contextmanager
def fate(address, seconds, options=()):
    """Runs the tool against an address; `result` holds its report after the block."""
    if not FATE.exists():
        pytest.skip("the tool fate is not beside the repository (../shared/tools)")
    built = subprocess.run([str(FATE), "--help"], capture_output=True, timeout=120, check=False)
    if b"cannot build" in built.stderr:
        pytest.skip("the tool fate needs a C compiler")
    command = [str(FATE), "-t", str(seconds), *options, f"{address[0]}:{address[1]}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    load = Load(process)
    try:
        yield load
        out, err = process.communicate(timeout=seconds + 30)
        assert process.returncode == 0, err.decode()
        load.result = json.loads(out)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


class PlainOrigin:
    """A process of its own, which keeps up with load where Origin would not, and remembers no request."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="weir-origin-"))
        self.process = Process([sys.executable, Path(__file__).with_name("plain_origin.py")], self.folder / "log")
        try:
            eventually(lambda: self.process.output().endswith("\n"), what="the port of the upstream")
            self.port = int(self.process.output())
        except BaseException:
            self.close()
            raise

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
