# SPDX-License-Identifier: Apache-2.0
"""Clients that ask without a break, and how long each answer took: what a failure costs those who are there."""

import collections
import threading
import time

from .client import RawClient
from .poll import eventually

Answer = collections.namedtuple("Answer", "at seconds status key fields")


class Traffic:
    """While the block runs, so many `clients` ask, each over a connection of its own with short pauses. `keys` are the
    values of the field X-Key, which the clients go through. `answers` holds whatever was answered.

    With `control` every second request is for /free, which the test's limits do not match: what these take, and by how
    much pauses are too long, is what the machine adds (`noise`), whatever the store does."""

    def __init__(self, gateway, clients=4, keys=("one",), pause=0.005, control=False):
        self.gateways = gateway if isinstance(gateway, list) else [gateway]
        self.keys = list(keys)
        self.pause = pause
        self.control = control
        self.answers = []
        self.controls = []  # of /free
        self.delays = []  # (when, seconds) of the pauses
        self.problems = []
        self.end = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.end.set()
        for thread in self.threads:
            thread.join(10)
        if kind is None:
            assert not self.problems, self.problems

    def run(self, number):
        turn = number
        try:
            with RawClient(self.gateways[number % len(self.gateways)].address) as client:
                while self.rest():
                    key = self.keys[turn % len(self.keys)]
                    self.answers.append(self.ask(client, f"/{key}", key))
                    turn += 1
                    if self.control:
                        self.controls.append(self.ask(client, "/free", key))
        except Exception as problem:  # whatever it is, the test has to see it
            self.problems.append(repr(problem))

    def rest(self):
        """False at the end."""
        begin = time.monotonic()
        ended = self.end.wait(self.pause)
        self.delays.append((begin, time.monotonic() - begin - self.pause))
        return not ended

    @staticmethod
    def ask(client, target, key):
        begin = time.monotonic()
        answer = client.ask("GET", target, {"X-Key": key})
        return Answer(begin, time.monotonic() - begin, answer.status, key, answer.fields)

    def go_on(self, count, within=10.0):
        """Waits until so many more requests were answered."""
        target = len(self.answers) + count
        eventually(lambda: len(self.answers) >= target or self.problems, within, what=f"{count} more answers")
        assert not self.problems, self.problems

    def between(self, begin, end=float("inf")):
        """What was asked from one instant to another."""
        return [answer for answer in self.answers if begin <= answer.at < end]

    def noise(self, begin, end=float("inf")):
        """In milliseconds, the most that the machine added to something from one instant to another."""
        times = [(answer.at, answer.seconds) for answer in self.controls] + self.delays
        return 1000 * max((seconds for at, seconds in times if begin <= at < end), default=0.0)


def percentile(answers, share=0.99):
    """In milliseconds."""
    times = sorted(answer.seconds for answer in answers)
    return 1000 * times[min(len(times) - 1, int(share * len(times)))] if times else 0.0


def longest(answers):
    return percentile(answers, 1.0)
