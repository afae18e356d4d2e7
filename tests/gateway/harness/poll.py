# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions, always with an end."""

import itertools
import os
import socket
import time

# Below what the system gives to whoever asks for any port, or connects: nobody gets one of these by accident.
_PORTS = range(12_000, 32_000)
_ports = itertools.cycle(_PORTS)
next(itertools.islice(_ports, os.getpid() * 41 % len(_PORTS), None))


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
    """A port that was free a moment ago and was given to nobody else in this run."""
    for port in itertools.islice(_ports, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")
