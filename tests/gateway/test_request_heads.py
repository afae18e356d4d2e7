# SPDX-License-Identifier: Apache-2.0
"""Request lines, field lines, Host and target forms that are beyond the corpus (http A, B, C, N)."""

import pytest

from harness import RawClient, reply, request_bytes


def head(*lines):
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def refused(gateway, origin, data, *statuses):
    """Sends `data`; the answer must be one of `statuses` and close, and nothing may reach the origin."""
    with RawClient(gateway.address) as client:
        client.send_as_far_as_possible(data)
        response = client.response()
        assert response.status in statuses, response
        assert response.says_close(), response
        assert client.is_closed(within=2), "the connection stays open"
    assert not origin.begun, origin.begun
    return response


@pytest.mark.parametrize("empty_lines, status", [(0, 200), (1, 200), (4, 200), (5, 400)])
def test_up_to_four_empty_lines_before_a_request_are_skipped(plain, empty_lines, status):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send(b"\r\n" * empty_lines + request_bytes())
        assert client.response().status == status


@pytest.mark.parametrize(
    "version, status",
    [
        ("HTTP/1.1", 200),
        ("HTTP/1.0", 200),
        ("HTTP/1.2", 200),
        ("HTTP/1.9", 200),
        ("HTTP/2.0", 505),
        ("HTTP/9.9", 505),
        ("HTTP/0.9", 505),
        ("http/1.1", 400),
        ("HTTP/01.1", 400),
        ("HTTP/1", 400),
        ("HTTP/1.10", 400),
        ("ICE/1.0", 400),
    ],
)
def test_the_version_decides_whether_a_request_is_served(plain, version, status):
    gateway, origin = plain
    assert gateway.ask(version=version).status == status


@pytest.mark.parametrize("method", ["PROPFIND", "QUERY", "get", "M!#$%&'*+-.^_`|~9", "X" * 32])
def test_any_token_is_a_method_and_goes_on_as_it_is(plain, method):
    gateway, origin = plain
    assert gateway.ask(method).status == 200
    assert origin.last().method == method


def test_a_method_of_33_bytes_is_not_implemented(plain):
    gateway, origin = plain
    refused(gateway, origin, request_bytes("X" * 33), 501)


@pytest.mark.parametrize("method, target", [("CONNECT", "localhost:80"), ("CONNECT", "/"), ("TRACE", "/")])
def test_connect_and_trace_are_never_forwarded(plain, method, target):
    gateway, origin = plain
    assert gateway.ask(method, target, host="localhost:80").status == 405
    assert not origin.begun


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
        bytes((index * 167 + 13) % 256 for index in range(256)),
        b"PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\r\n\r\n\x00\r\nQUIT\n" + b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
    ids=["TLS hello", "random bytes", "PROXY line", "other protocol"],
)
def test_bytes_that_are_not_http_end_the_connection_quickly(plain, garbage):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send_as_far_as_possible(garbage)
        answer = client.everything(within=2)
        assert not answer or answer.startswith(b"HTTP/1.1 4"), answer
        assert client.wire.ended, "the connection stays open"
    assert not origin.begun
    assert gateway.ask().status == 200


def test_the_http2_preface_on_a_cleartext_listener_gets_505(plain):
    gateway, origin = plain
    refused(gateway, origin, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)


@pytest.mark.parametrize(
    "line",
    [
        "X_Partner_Id: 1",
        "Transfer_Encoding: chunked",
        "X Y: 1",
        "X : 1",
        ": 1",
        "X",
        "[X]: 1",
        "X@: 1",
        "\xe9: 1",
        " X: folded",
        "X: a\x00b",
        "X: a\x01b",
        "X: a\x7fb",
        "X: a\rb",
        "X: a\nb",
    ],
)
def test_a_field_line_that_two_parsers_could_read_differently_is_refused(plain, line):
    gateway, origin = plain
    refused(gateway, origin, head("GET / HTTP/1.1", "Host: a", line), 400)


def test_names_with_an_underscore_are_dropped_when_the_setting_says_so(launch, origin):
    gateway = launch(origin, http={"underscores": "drop"})
    assert gateway.ask(fields={"X_Partner_Id": "1", "X-Kept": "2"}).status == 200
    assert "X_Partner_Id" not in origin.last().fields and "X-Partner-Id" not in origin.last().fields
    assert origin.last().fields.get("X-Kept") == "2"


@pytest.mark.parametrize(
    "name, value",
    [
        ("Authorization", "Bearer a"),
        ("X-Api-Key", "demo"),
        ("Content-Type", "text/plain"),
        ("Content-Length", "0"),
        ("Host", "a"),
    ],
)
def test_a_field_that_decides_something_may_come_only_once(launch, origin, name, value):
    gateway = launch(
        origin, callers=[{"api_key": {"header": "X-Api-Key"}}], keys=[{"key": "demo", "partner": "acme"}]
    )
    lines = [] if name == "Host" else ["Host: a"]
    refused(gateway, origin, head("GET / HTTP/1.1", *lines, f"{name}: {value}", f"{name}: {value}"), 400)


@pytest.mark.parametrize(
    "settings, filler, status",
    [
        ({}, 60 * 1024, 200),
        ({}, 65 * 1024, 431),
        ({"max_head": "2KiB", "max_target": "1KiB"}, 1024, 200),
        ({"max_head": "2KiB", "max_target": "1KiB"}, 2048, 431),
    ],
)
def test_a_head_above_its_limit_gets_431(launch, origin, settings, filler, status):
    gateway = launch(origin, http=settings)
    fields = [(f"X-{index}", "v" * 1000) for index in range(filler // 1024)] + [("X-Rest", "v" * 900)]
    with gateway.connect() as client:
        client.send_as_far_as_possible(request_bytes(fields=fields))
        assert client.response().status == status


def test_a_head_is_refused_at_the_moment_the_limit_is_passed(plain):
    gateway, origin = plain
    with gateway.connect() as client:
        client.send_as_far_as_possible(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"v" * (64 * 1024))
        assert client.response(timeout=2).status == 431


@pytest.mark.parametrize(
    "settings, count, status",
    [({}, 100, 200), ({}, 101, 431), ({"max_fields": 10}, 10, 200), ({"max_fields": 10}, 11, 431)],
)
def test_one_field_more_than_the_limit_gets_431(launch, origin, settings, count, status):
    gateway = launch(origin, http=settings)
    assert gateway.ask(fields=[(f"X-{index}", "1") for index in range(count - 1)]).status == status


@pytest.mark.parametrize(
    "settings, length, status",
    [({}, 8192, 200), ({}, 8193, 414), ({"max_target": 100}, 100, 200), ({"max_target": 100}, 101, 414)],
)
def test_one_byte_more_than_the_longest_target_gets_414(launch, origin, settings, length, status):
    gateway = launch(origin, http=settings)
    assert gateway.ask(target="/" + "p" * (length - 1)).status == status


def test_large_but_ordinary_heads_are_served(plain):
    gateway, origin = plain
    fields = [("Cookie", "c" * 12 * 1024)] + [(f"X-{index}", "1") for index in range(85)]
    assert gateway.ask(target="/" + "p" * 7900, fields=fields).status == 200
    assert origin.last().fields.get("Cookie") == "c" * 12 * 1024


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["Host: a", "Host: a"],
        ["Host:"],
        ["Host: a,b"],
        ["Host: a/b"],
        ["Host: u@a"],
        ["Host: a b"],
        ["Host: a:x"],
        ["Host: a:99999"],
        ["Host: [::1"],
        ["Host: [::1%25eth0]"],
        ["Host: a%41"],
        ["Host: [::g]"],
    ],
)
def test_a_missing_double_or_broken_host_gets_400(plain, lines):
    gateway, origin = plain
    refused(gateway, origin, head("GET / HTTP/1.1", *lines), 400)


@pytest.mark.parametrize("host", ["name:8080", "[::1]:80", "[2001:db8::1]", "under_score.example", "UPPER.example."])
def test_every_well_formed_host_is_served(plain, host):
    gateway, origin = plain
    assert gateway.ask(host=host).status == 200
    assert origin.last().fields.get("Host") == host


def test_hosts_are_matched_without_case_port_and_trailing_dot(launch, origin):
    gateway = launch(origin, services={"ONE": {"upstream": "main", "hosts": ["open.example.com"]}})
    for host in ("open.example.com", "OPEN.Example.COM", "open.example.com.", "open.example.com:8080"):
        assert gateway.ask(host=host).status == 200, host
    for host in ("example.com", "open.example.com.evil", "xopen.example.com"):
        assert gateway.ask(host=host).status == 404, host


def test_http10_without_host_goes_to_the_service_that_takes_every_host(launch, origin):
    assert launch(origin).ask(version="HTTP/1.0", host=None).status == 200
    gateway = launch(origin, services={"ONE": {"upstream": "main", "hosts": ["a"]}})
    assert gateway.ask(version="HTTP/1.0", host=None).status == 400


def test_an_absolute_target_is_served_as_a_path(plain):
    gateway, origin = plain
    assert gateway.ask(target="http://name.example/p/q?r=1", host="name.example").status == 200
    assert origin.last().target == "/p/q?r=1"
    assert origin.last().fields.get("Host") == "name.example"


def test_an_absolute_target_without_a_path_becomes_a_slash(plain):
    gateway, origin = plain
    assert gateway.ask(target="http://name.example", host="name.example").status == 200
    assert origin.last().target == "/"


def test_an_authority_that_differs_from_host_is_refused_or_replaces_it(launch, origin):
    data = request_bytes(target="http://other.example/p", host="name.example")
    refused(launch(origin), origin, data, 400)
    with launch(origin, http={"authority": "replace"}).connect() as client:
        client.send(data)
        assert client.response().status == 200
    assert origin.last().fields.get("Host") == "other.example"


@pytest.mark.parametrize(
    "target",
    [
        "http://user:pw@a/",
        "ftp://a/",
        "http:///p",
        "a:80",
        "foo/bar",
        "?x",
        "*",
        "/a#b",
        "/a\\b",
        "/a\x80b",
        "/a\x7fb",
        "/a%00b",
        "/a%1fb",
        "/a%7fb",
        "/a%zzb",
        "/a%2",
        "/%",
        "/../a",
        "/a/../../b",
        "/%2e%2e/a",
    ],
)
def test_a_target_that_is_not_a_clean_path_is_refused(launch, origin, target):
    gateway = launch(origin, http={"authority": "replace"})
    with gateway.connect() as client:
        client.send(request_bytes(target=target, host="a"))
        assert client.response().status == 400
    assert not origin.begun


def test_options_of_everything_is_answered_by_the_gateway(plain):
    gateway, origin = plain
    response = gateway.ask("OPTIONS", "*")
    assert response.status == 204 and response.fields.get("Allow"), response
    assert not origin.begun


def test_an_unknown_host_or_path_is_a_problem_without_inside_knowledge(launch, origin):
    gateway = launch(origin, services={"ONE": {"upstream": "main", "hosts": ["a"], "paths": ["/api"]}})
    for response in (gateway.ask(target="/api", host="b"), gateway.ask(target="/other", host="a")):
        assert response.status == 404
        assert response.fields.get("Content-Type") == "application/problem+json"
        assert response.fields.get("Cache-Control") == "no-store"
        assert b"127.0.0.1" not in response.body and b"main" not in response.body, response.body


def test_paths_match_by_whole_segments_and_the_longest_wins(launch, origin):
    origin.answer = lambda exchange: reply(fields={"X-Target": exchange.request.target})(exchange)
    gateway = launch(
        origin,
        services={
            "API": {"upstream": "main", "paths": ["/api"], "max_body": "1KiB"},
            "DEEP": {"upstream": "main", "paths": ["/api/deep"], "max_body": "2KiB"},
        },
    )
    assert gateway.ask(target="/apix").status == 404
    assert gateway.ask(target="/API").status == 404
    for target in ("/api", "/api/", "/api?x", "/api/x", "//api", "/./api", "/b/../api", "/%61pi"):
        assert gateway.ask(target=target).fields.get("X-Target") == target
    assert gateway.ask("POST", "/api/x", body=b"x" * 1500).status == 413
    assert gateway.ask("POST", "/api/deep", body=b"x" * 1500).status == 200
    assert gateway.ask("POST", "/api/deeper", body=b"x" * 1500).status == 413


@pytest.mark.parametrize(
    "target", ["/open%2F..%2Fclosed", "/closed;x/open", "/open/%252e%252e/closed", "/open/..;/closed"]
)
def test_a_path_with_two_plausible_services_is_refused(launch, origin, target):
    gateway = launch(
        origin,
        services={
            "OPEN": {"upstream": "main", "paths": ["/open"]},
            "CLOSED": {"upstream": "main", "paths": ["/closed"]},
        },
    )
    assert gateway.ask(target=target).status in (400, 404)
    assert not origin.begun


@pytest.mark.parametrize("target", ["/a%2Fb", "/a%5Cb", "/a;v=1/b", "/a%252eb"])
def test_a_path_whose_readings_agree_on_the_service_goes_on_raw(plain, target):
    gateway, origin = plain
    assert gateway.ask(target=target).status == 200
    assert origin.last().target == target


def wrong_spellings():
    """Transfer-Encoding with every doubtful byte before and after its name and its value (http V3)."""
    for byte in [*range(0x00, 0x21), *range(0x7F, 0x100)]:
        x = bytes([byte])
        yield x + b"Transfer-Encoding: chunked"
        yield b"Transfer-Encoding" + x + b": chunked"
        if byte not in (0x09, 0x20):
            yield b"Transfer-Encoding:" + x + b"chunked"
            yield b"Transfer-Encoding: chunked" + x
    for value in (
        "xchunked",
        "chunkedx",
        "identity",
        "",
        "chunked, chunked",
        ", chunked",
        "chunked,",
        "chunked;a=b",
        '"chunked"',
        "'chunked'",
        "chunked chunked",
        "gzip, chunked",
        "chunked, identity",
        "chu nked",
        "identity\r\nTransfer-Encoding: chunked",
        "chunked\r\nTransfer-Encoding: chunked",
    ):
        yield b"Transfer-Encoding: " + value.encode()


def test_no_wrongly_spelt_transfer_encoding_is_ever_accepted(launch, origin):
    gateway = launch(origin, log={"level": "error", "access": "off"})
    accepted, tried = [], 0
    for line in wrong_spellings():
        for length in (b"", b"Content-Length: 3\r\n"):
            data = b"POST / HTTP/1.1\r\nHost: a\r\n" + length + line + b"\r\n\r\n0\r\n\r\n"
            with RawClient(gateway.address) as client:
                client.send_as_far_as_possible(data)
                status = client.response().status
            tried += 1
            if status not in (400, 501):
                accepted.append((line, length, status))
    assert tried > 1300
    assert not accepted, accepted
    assert not origin.begun
