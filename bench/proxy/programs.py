# SPDX-License-Identifier: Apache-2.0
"""Programs that are started for a measurement, and what /proc says about them.

Each runs pinned to one CPU, in a process group of its own, writes to a file, and ends when this process ends.
"""

import os
import random
import signal
import socket
import subprocess
from pathlib import Path


class Failed(Exception):
    """The measurement cannot go on; the text is for the user."""


class Programs:
    """Starts and stops programs by process id. As a context manager it stops whatever is left at its end."""

    def __init__(self):
        self._running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in reversed(list(self._running)):
            self.stop(program)

    def start(self, command, cpu, log=None, **options):
        """Returns the Popen of `command`. Its output goes to the file `log` unless `options` direct it elsewhere."""
        pinned = ["taskset", "-c", str(cpu), "setpriv", "--pdeathsig", "TERM", *map(str, command)]
        options.setdefault("stdin", subprocess.DEVNULL)
        with open(log or os.devnull, "ab") as output:
            options.setdefault("stdout", output)
            options.setdefault("stderr", output)
            program = subprocess.Popen(pinned, process_group=0, **options)
        self._running.append(program)
        return program

    def stop(self, program, how=signal.SIGTERM):
        """Waits until the program has gone; what does not go within three seconds is killed with its children."""
        if program.poll() is None:
            program.send_signal(how)
            try:
                program.wait(3)
            except subprocess.TimeoutExpired:
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()
        for stream in (program.stdin, program.stdout, program.stderr):
            if stream:
                stream.close()
        if program in self._running:
            self._running.remove(program)


def free_port():
    """A port of 127.0.0.1 that nobody listens on, below the range that outgoing connections take theirs from."""
    for _ in range(1000):
        port = random.randint(15000, 31000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failed("no free port between 15000 and 31000")


def family(pid):
    """The process and its direct children, e.g. nginx's master and worker."""
    found = [pid]
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # gone in between
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def anonymous_kib(pid):
    """User memory of the process in KiB: what is resident and not backed by a file."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise Failed(f"/proc/{pid}/status has no RssAnon")


def tail(path, lines=15):
    try:
        return "\n".join(Path(path).read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
