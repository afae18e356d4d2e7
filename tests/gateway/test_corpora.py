# SPDX-License-Identifier: Apache-2.0
"""Every case of the HTTP/1 corpus, as a client sends it (http A-F) and as an upstream answers it (http Q3, E10)."""

from concurrent.futures import ThreadPoolExecutor

from harness import reply
from harness.corpora import answer_faults, load_cases, play_all
from harness.poll import eventually

BYTEWISE_UP_TO = 1200  # bytes; longer cases are about size


def report_of(faults):
    return f"{len(faults)} faults:\n" + "\n".join(faults)


def open_gateway(launch, origin):
    """Nothing is limited and everything is routed, so that only the parser decides."""
    return launch(origin, log={"level": "error", "access": "off"})


def test_every_request_case_is_judged_as_the_specification_says(launch, origin, corpora):
    gateway = open_gateway(launch, origin)
    cases = [case for case in load_cases(corpora) if not case.is_response]
    _, faults = play_all(gateway.address, origin, cases)
    assert len(cases) > 300
    assert not faults, report_of(faults)


def test_a_request_case_sent_byte_by_byte_ends_as_it_does_in_one_piece(launch, origin, corpora):
    gateway = open_gateway(launch, origin)
    cases = [
        case for case in load_cases(corpora) if not case.is_response and sum(map(len, case.steps)) <= BYTEWISE_UP_TO
    ]
    whole, _ = play_all(gateway.address, origin, cases)
    cut, faults = play_all(gateway.address, origin, cases, run=1, byte_by_byte=True)
    for case in cases:
        if whole[case.id].statuses != cut[case.id].statuses:
            faults.append(f"{case.id} ({case.note}): whole {whole[case.id]}, byte by byte {cut[case.id]}")
    assert not faults, report_of(faults)


def test_every_broken_answer_of_an_upstream_is_stopped_and_every_good_one_passes(launch, origin, corpora):
    cases = [case for case in load_cases(corpora) if case.is_response]
    payloads = {f"/case/{case.number}": case.steps[0] for case in cases}

    def answer(exchange):
        if exchange.request.target == "/probe":
            return reply(body=b"probe")(exchange)
        exchange.send(payloads[exchange.request.target])
        return exchange.close()

    origin.answer = answer
    gateway = open_gateway(launch, origin)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda case: answer_faults(case, gateway.address), cases))
    faults = [f"{case.id} ({case.note}): {fault}" for case, some in zip(cases, found) for fault in some]
    assert not faults, report_of(faults)


def test_the_gateway_is_alive_and_in_step_after_the_whole_corpus(launch, origin, corpora):
    gateway = open_gateway(launch, origin)
    cases = [case for case in load_cases(corpora) if not case.is_response]
    play_all(gateway.address, origin, cases, threads=48)
    origin.forget()
    assert gateway.ask("GET", "/after").status == 200
    assert [request.target for request in origin.requests] == ["/after"]
    eventually(lambda: gateway.health("/readyz") == 200)
