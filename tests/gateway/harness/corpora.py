# SPDX-License-Identifier: Apache-2.0
"""Plays the HTTP/1 corpus against a proxy and judges what the client and the origin saw.

Every case has a client address of its own in 127.0.0.0/8. The proxy tells the origin that address in X-Forwarded-For,
so that many cases can run at once and each request at the origin is known to belong to one case.
"""

import base64
import json
import select
import time
from concurrent.futures import ThreadPoolExecutor

from .client import RawClient
from .message import Cut, Malformed, Silence

ANSWER_LIMIT = 1.2  # how long a step waits for its answer
QUIET = 0.12  # this long without a byte after an answer means that no other answer comes
PAUSE_PER_BYTE = 0.00005


class Case:
    def __init__(self, data, number):
        self.id = data["id"]
        self.note = data["note"]
        self.is_response = data["category"] == "response"
        self.steps = [base64.b64decode(step) for step in data["payload_base64"]]
        self.expected = data["expected_statuses"]
        self.must_refuse = data["must_refuse"]
        self.max_accepted = data.get("max_accepted")
        self.min_accepted = data.get("min_accepted", 0)
        self.must_close = data.get("must_close", False)
        self.hidden = [name.lower() for name in data.get("must_not_forward", [])]
        self.hidden_trailers = [name.lower() for name in data.get("must_not_forward_trailer", [])]
        self.no_interim = data.get("no_1xx", False)
        self.body_is_broken = " body:" in " " + self.note or "; body:" in self.note
        self.number = number

    def source(self, run):
        """A client address that only this case uses in this run."""
        return f"127.{10 + run}.{self.number // 250}.{1 + self.number % 250}"


class Outcome:
    """What the client saw: final answers in order, then how it ended."""

    def __init__(self):
        self.statuses = []
        self.interim = 0
        self.says_close = False
        self.end = ""  # close | timeout | open | malformed: ...

    def first(self):
        return self.statuses[0] if self.statuses else self.end

    def __repr__(self):
        return f"{self.statuses} then {self.end}"


def load_cases(folder):
    data = json.loads((folder / "h1-cases.json").read_text())["cases"]
    return [Case(case, number) for number, case in enumerate(data)]


def play(address, case, run=0, byte_by_byte=False):
    """Sends one request case and returns its outcome."""
    outcome = Outcome()
    with RawClient(address, source=case.source(run)) as client:
        for step in case.steps:
            send = send_bytewise if byte_by_byte else RawClient.send_as_far_as_possible
            send(client, step)
            read_answers(client, outcome, method_of(step))
            if outcome.end != "open":
                break
    return outcome


def method_of(step):
    return "HEAD" if step.lstrip(b"\r\n").startswith(b"HEAD ") else "GET"


def send_bytewise(client, data):
    """One byte per segment; stops when the proxy has answered or gone, as a careful client does."""
    for at in range(len(data)):
        if at % 16 == 0 and select.select([client.sock], [], [], 0)[0]:
            client.send_as_far_as_possible(data[at:])
            return
        if not client.send_as_far_as_possible(data[at : at + 1]):
            return
        time.sleep(PAUSE_PER_BYTE)


def read_answers(client, outcome, method):
    """Reads answers until the connection ends, or nothing more comes."""
    limit = ANSWER_LIMIT
    while True:
        try:
            response = client.response(method, timeout=limit)
        except Silence:
            outcome.end = "open" if outcome.statuses else "timeout"
            return
        except Cut:
            outcome.end = "close"
            return
        except Malformed as fault:
            outcome.end = f"malformed: {fault}"
            return
        outcome.statuses.append(response.status)
        outcome.interim += len(response.interim)
        outcome.says_close = outcome.says_close or response.says_close()
        method, limit = "GET", QUIET


def faults(case, outcome, reached):
    """What is wrong with an outcome; `reached` are the requests that came whole to the origin."""
    found = []
    accepted = sum(1 for status in outcome.statuses if 200 <= status < 400)
    seen = max(accepted, len(reached))
    if not any(fits(expected, outcome) for expected in case.expected):
        found.append(f"first answer {outcome.first()}, expected {case.expected}")
    if outcome.end.startswith("malformed"):
        found.append(outcome.end)
    if case.must_refuse and reached:
        found.append(f"{len(reached)} whole request(s) reached the origin")
    if case.must_refuse and accepted:
        found.append(f"accepted: {outcome.statuses}")
    if case.max_accepted is not None and seen > case.max_accepted:
        found.append(f"{seen} requests accepted, at most {case.max_accepted} are there")
    if accepted < case.min_accepted:
        found.append(f"{accepted} requests accepted, at least {case.min_accepted} must be")
    if case.must_close and not (outcome.says_close or outcome.end == "close"):
        found.append("the connection stays open and no answer says close")
    if case.no_interim and outcome.interim:
        found.append("an interim answer was sent")
    for request in reached:
        found += [f"{name} was forwarded" for name in case.hidden if name in request.fields]
        found += [f"trailer {name} was forwarded" for name in case.hidden_trailers if name in request.trailers]
    return found


def fits(expected, outcome):
    first = outcome.first()
    if expected == "2xx":
        return isinstance(first, int) and 200 <= first < 300
    return first == expected


def play_all(address, origin, cases, run=0, byte_by_byte=False, threads=24):
    """Plays request cases at once; returns {id: outcome} and the list of faults as text."""
    with ThreadPoolExecutor(threads) as pool:
        played = list(pool.map(lambda case: play(address, case, run, byte_by_byte), cases))
    by_source = {}
    for request in origin.requests:
        by_source.setdefault(request.fields.joined("X-Forwarded-For").split(",")[-1].strip(), []).append(request)
    outcomes, report = {}, []
    for case, outcome in zip(cases, played):
        outcomes[case.id] = outcome
        reached = by_source.pop(case.source(run), [])
        report += [f"{case.id} ({case.note}): {fault}" for fault in faults(case, outcome, reached)]
    strangers = [source for source in by_source if source.startswith(f"127.{10 + run}.") or not source]
    report += [f"requests at the origin that belong to no case: {source!r}" for source in strangers]
    return outcomes, report


def answer_faults(case, address):
    """Plays a response case (the origin answers /case/NUMBER with it) and says what is wrong with the result."""
    with RawClient(address, source=case.source(0)) as client:
        try:
            response = client.ask("GET", f"/case/{case.number}", host="localhost")
            ended = "whole"
        except Cut as cut:
            response, ended = cut.partial, "cut"
        except Silence:
            return ["no answer"]
        except Malformed as fault:
            return [f"malformed: {fault}"]
        status = response.status if response else "close"
        found = [] if status in case.expected else [f"status {status}, expected {case.expected}"]
        if case.must_refuse and status != 502 and not (case.body_is_broken and ended == "cut"):
            found.append(f"a broken answer was passed on as {status}, {ended}")
        if not case.must_refuse and ended != "whole":
            found.append(f"a good answer was cut: {response}")
        if ended == "whole" and not response.says_close() and response.framing != "close":
            found += still_in_step(client)
        return found


def still_in_step(client):
    """After every whole answer the connection must be ready for the next request."""
    try:
        probe = client.ask("GET", "/probe", host="localhost")
        return [] if probe.body == b"probe" else [f"the next answer on the connection was {probe}"]
    except (Cut, Silence, Malformed, OSError) as fault:
        return [f"the next request on the connection failed: {fault}"]
