# SPDX-License-Identifier: Apache-2.0
"""What must pass through unchanged (http B3, B6, B11, C, G7, I1, I2, J, K1; design: the proxy is transparent)."""

import gzip

import pytest

from harness import replay, reply

VISIBLE = [chr(byte) for byte in range(0x21, 0x7F)]
GATEWAY_FIELDS = {
    "via",
    "x-request-id",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "content-length",
    "connection",
    "transfer-encoding",
    "traceparent",
}
EVERY_BYTE = bytes(range(256)) * 40


def seen_targets(gateway, origin, targets):
    """What the origin saw of these targets, asked one after the other on one connection."""
    origin.forget()
    with gateway.connect() as client:
        for target in targets:
            status = client.ask(target=target).status
            assert status == 200, f"{target!r} got {status}"
    return [request.target for request in origin.requests]


def test_every_visible_byte_of_a_path_arrives_as_it_was_sent(plain):
    gateway, origin = plain
    targets = [f"/a{char}b" for char in VISIBLE if char not in "#\\%?"]
    targets.append("/" + "".join(char for char in VISIBLE if char not in "#\\%?"))
    assert seen_targets(gateway, origin, targets) == targets


def test_every_visible_byte_of_a_query_arrives_as_it_was_sent(plain):
    gateway, origin = plain
    targets = [f"/p?a{char}b" for char in VISIBLE if char != "#"]
    targets.append("/p?" + "".join(char for char in VISIBLE if char != "#"))
    assert seen_targets(gateway, origin, targets) == targets


def test_escapes_and_odd_queries_arrive_byte_for_byte(plain):
    gateway, origin = plain
    targets = [
        "/p?",
        "/p??",
        "/p?&",
        "/p?a&b=",
        "/p?a=1&a=2",
        "/p?a==b",
        "/p?&&",
        "/p?%26%2B%2f%2F%7C%7c",
        "/p?%zz%",
        "/p?%00",
        '/p?a=%E2%82%AC;b=[1]{2}|"',
        "/p?b=2&a=1&c",
        "/p?/../x",
        "/p?http://a/b?c",
    ]
    assert seen_targets(gateway, origin, targets) == targets


def test_escapes_and_odd_paths_arrive_byte_for_byte(plain):
    gateway, origin = plain
    targets = [
        "/%2F",
        "/%2f",
        "/a%2Fb%2f",
        "/%20+",
        "/a;v=1",
        "/a:b@c,d~e%7E",
        "/%7e%7E",
        '/"<>^`{|}[]',
        "//",
        "//a//b",
        "/./a",
        "/a/./b",
        "/b/../a",
        "/a/",
        "/a/.",
        "/a/..",
        "/%61%2e%2E",
        "/%C3%A9",
        "/a%25b",
        "/a=b&c=d",
        "/..a/b..",
    ]
    assert seen_targets(gateway, origin, targets) == targets


def test_request_fields_keep_their_order_spelling_values_and_lines(plain):
    gateway, origin = plain
    sent = [
        ("X-First", "1"),
        ("accept", "text/html, */*;q=0.1"),
        ("COOKIE", 'a=b; c="d"'),
        ("x-MiXeD-cAsE", "v"),
        ("X-Twice", "one"),
        ("X-Other", "between"),
        ("X-Twice", "two"),
        ("X-Empty", ""),
        ("User-Agent", "a/1 (b; c)"),
        ("X-Bytes", "tab\tand \x80\xff\xe9"),
        ("Range", "bytes=0-1,5-"),
        ("If-None-Match", 'W/"a", "b"'),
        ("Authorization", "Bearer a.b.c"),
        ("X-HTTP-Method-Override", "DELETE"),
        ("!#$%&'*+-.^`|~9", "token"),
        ("X-Last", "end"),
    ]
    assert gateway.ask(fields=sent).status == 200
    got = [pair for pair in origin.last().fields if pair[0].lower() not in GATEWAY_FIELDS]
    assert got == [("Host", "localhost"), *sent]


def test_response_fields_keep_their_order_spelling_values_and_lines(plain):
    gateway, origin = plain
    sent = [
        ("x-first", "1"),
        ("Set-Cookie", "a=1; Path=/, x"),
        ("X-MiXeD", "v"),
        ("Set-Cookie", "b=2"),
        ("Server", "odd/1"),
        ("ETag", 'W/"x"'),
        ("SET-COOKIE", "c=3"),
        ("X-Empty", ""),
        ("X-Bytes", "tab\tand \x80\xff\xe9"),
        ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Cache-Control", "public"),
        ("Vary", "*"),
        ("X_Under", "1"),
        ("Access-Control-Allow-Origin", "*"),
        ("X-Last", "end"),
    ]
    origin.answer = reply(fields=sent)
    ours = GATEWAY_FIELDS | {"x-ratelimit-limit", "ratelimit", "ratelimit-policy"}
    response = gateway.ask()
    assert [pair for pair in response.fields if pair[0].lower() not in ours] == sent


def test_a_missing_date_is_added_and_the_own_server_name_is_not(plain):
    gateway, origin = plain
    response = gateway.ask()
    assert response.fields.get("Date", "").endswith(" GMT")
    assert "Server" not in response.fields


def test_answers_made_by_the_gateway_say_weir_without_a_version(launch, origin):
    gateway = launch(origin, services={"ONE": {"upstream": "main", "paths": ["/api"]}})
    response = gateway.ask(target="/other")
    assert response.fields.get("Server") == "weir"
    assert response.fields.get("Date", "").endswith(" GMT")


@pytest.mark.parametrize(
    "head, status, reason",
    [
        (b"200", 200, ""),
        (b"200 ", 200, ""),
        (b"299 Odd \xe9 (x)", 299, "Odd \xe9 (x)"),
        (b"418 I'm a teapot", 418, "I'm a teapot"),
        (b"599 What", 599, "What"),
        (b"204 Nothing", 204, "Nothing"),
        (b"500 Ori\xc3\xabntatie", 500, "Ori\xc3\xabntatie"),
    ],
)
def test_unknown_statuses_and_odd_reasons_pass(plain, head, status, reason):
    gateway, origin = plain
    length = b"" if status == 204 else b"Content-Length: 0\r\n"
    origin.answer = replay(b"HTTP/1.1 " + head + b"\r\n" + length + b"\r\n", close=False)
    response = gateway.ask()
    assert (response.status, response.reason) == (status, reason)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_pass_and_are_never_followed(plain, status):
    gateway, origin = plain
    origin.answer = reply(status, {"Location": f"{origin.url}/else?x=%2F"}, b"moved")
    response = gateway.ask("POST", "/here", body=b"data")
    assert response.status == status
    assert response.fields.get("Location") == f"{origin.url}/else?x=%2F"
    assert len(origin.requests) == 1


@pytest.mark.parametrize("status", [401, 403, 407, 404, 500, 503])
def test_refusals_of_the_upstream_pass_unchanged(plain, status):
    gateway, origin = plain
    origin.answer = reply(
        status,
        [("WWW-Authenticate", 'Basic realm="a, b"'), ("WWW-Authenticate", "Bearer"), ("Content-Type", "text/odd")],
        b"no",
    )
    response = gateway.ask()
    assert response.status == status and response.body == b"no"
    assert response.fields.all("WWW-Authenticate") == ['Basic realm="a, b"', "Bearer"]
    assert response.fields.get("Content-Type") == "text/odd"


def test_encoded_and_partial_content_is_untouched(plain):
    gateway, origin = plain
    body = gzip.compress(b"weir" * 1000)
    origin.answer = reply(206, {"Content-Encoding": "gzip", "Content-Range": "bytes 0-9/100", "ETag": '"a"'}, body)
    response = gateway.ask(fields={"Accept-Encoding": "gzip;q=1", "Range": "bytes=0-9", "If-Range": '"a"'})
    assert response.status == 206 and response.body == body
    assert origin.last().fields.get("If-Range") == '"a"'
    assert origin.last().fields.get("Accept-Encoding") == "gzip;q=1"


def test_credentials_that_the_gateway_read_still_reach_the_upstream(launch, origin):
    gateway = launch(
        origin, callers=[{"api_key": {"header": "X-Api-Key"}}], keys=[{"key": "demo", "partner": "acme"}]
    )
    gateway.ask(fields={"X-Api-Key": "demo", "Authorization": "Basic YTpi"})
    assert origin.last().fields.get("X-Api-Key") == "demo"
    assert origin.last().fields.get("Authorization") == "Basic YTpi"


def test_options_and_access_control_fields_pass_where_no_cors_is_configured(plain):
    gateway, origin = plain
    origin.answer = reply(204, {"Access-Control-Allow-Origin": "https://a", "Access-Control-Max-Age": "5"})
    response = gateway.ask("OPTIONS", "/p", {"Origin": "https://a", "Access-Control-Request-Method": "PUT"})
    assert response.fields.get("Access-Control-Allow-Origin") == "https://a"
    assert response.fields.get("Access-Control-Max-Age") == "5"
    assert origin.last().fields.get("Access-Control-Request-Method") == "PUT"


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_every_byte_of_a_body_passes_in_both_directions(plain, framing):
    gateway, origin = plain

    def answer(exchange):
        body = exchange.read_body()
        if framing == "length":
            return exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        return exchange.send(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        )

    origin.answer = answer
    with gateway.connect() as client:
        if framing == "length":
            response = client.ask("POST", "/", body=EVERY_BYTE)
        else:
            chunks = b"".join(
                b"%x\r\n%b\r\n" % (len(part), part) for part in (EVERY_BYTE[:1], EVERY_BYTE[1:77], EVERY_BYTE[77:])
            )
            response = client.ask("POST", "/", {"Transfer-Encoding": "chunked"}, chunks + b"0\r\n\r\n")
    assert response.body == EVERY_BYTE and response.framing == framing
    assert origin.last().body == EVERY_BYTE


def test_the_client_host_goes_upstream_as_it_was_spelt(plain):
    gateway, origin = plain
    gateway.ask(host="Open.Example.COM:8080")
    assert origin.last().fields.get("Host") == "Open.Example.COM:8080"


def test_the_upstream_gets_its_own_host_where_preserve_host_is_off(launch, origin):
    launch(origin, upstreams={"main": {"url": origin.url, "preserve_host": False}}).ask(host="open.example.com")
    assert origin.last().fields.get("Host") == f"127.0.0.1:{origin.port}"
    assert origin.last().fields.get("X-Forwarded-Host") == "open.example.com"


def test_fields_named_in_connection_go_whatever_their_name(plain):
    gateway, origin = plain
    origin.answer = reply(fields={"Connection": "Server, Cache-Control", "Server": "s", "Cache-Control": "no-store"})
    response = gateway.ask(
        fields={
            "Connection": "Cookie, Cache-Control, Host, Authorization, Via",
            "Cookie": "a=b",
            "Cache-Control": "no-cache",
            "Authorization": "Bearer x",
            "Via": "1.1 before",
        }
    )
    got = origin.last().fields
    assert "Cookie" not in got and "Cache-Control" not in got
    # What the gateway sets or may decide by stays (http G2).
    assert got.get("Authorization") == "Bearer x" and got.get("Host") and "before" in got.joined("Via")
    assert "Server" not in response.fields and "Cache-Control" not in response.fields
