# SPDX-License-Identifier: Apache-2.0
"""Programs that run beside a test, each with a log, ended by their ids."""

import ctypes
import signal
import subprocess
from pathlib import Path

from .poll import eventually

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class Process:
    """Ends with the thread that started it at the latest: a test run that dies leaves nothing behind."""

    def __init__(self, arguments, log):
        self.log = Path(log)
        with open(self.log, "ab") as out:
            self.popen = subprocess.Popen(
                [str(argument) for argument in arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )

    @property
    def pid(self):
        return self.popen.pid

    def is_running(self):
        return self.popen.poll() is None

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def stop(self):
        """The process stands still: connections are accepted by the kernel, and nothing answers."""
        self.popen.send_signal(signal.SIGSTOP)
        eventually(lambda: "State:\tT" in Path(f"/proc/{self.pid}/status").read_text(), what="the stop")

    def cont(self):
        self.popen.send_signal(signal.SIGCONT)

    def output(self):
        return self.log.read_text(errors="replace")[-8000:]
