# SPDX-License-Identifier: Apache-2.0
"""Load from the tool `fate`, which tells what became of every request."""

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

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
