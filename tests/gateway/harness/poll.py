# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions, always with an end."""

import socket
import time


def eventually(condition, within=3.0, every=0.005, what="the condition"):
    """Returns the first true value of `condition()`; fails when there is none `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {within} s (last value: {value!r})")
        time.sleep(every)


def free_port():
    """A port that was free a moment ago; whoever uses it must be ready to try another one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
