# SPDX-License-Identifier: Apache-2.0
"""The admin API as a client: every answer is checked against the description that the gateway serves."""

import http.client
import json
import re
import socket
import urllib.parse

import pytest

jsonschema = pytest.importorskip("jsonschema")


class Answer:
    def __init__(self, response, text):
        self.status = response.status
        self.fields = response.headers
        self.text = text
        kind = response.headers.get_content_type()
        self.json = json.loads(text) if kind in ("application/json", "application/problem+json") else None

    @property
    def tag(self):
        return self.fields["ETag"]

    def __repr__(self):
        return f"{self.status} {self.text}"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


class Api:
    """`token` is sent where there is one; `checked`: whether answers have to be as described."""

    def __init__(self, address, token=None):
        self.address = address
        self.token = token
        self.description = None

    def open(self):
        if isinstance(self.address, str):
            return UnixConnection(self.address)
        return http.client.HTTPConnection(*self.address, timeout=20)

    def __call__(self, method, target, body=None, checked=True, **fields):
        """Fields are written with underscores: if_match='"3"'."""
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection = self.open()
        try:
            connection.request(method, target, None if body is None else body.encode(), headers)
            response = connection.getresponse()
            answer = Answer(response, response.read().decode())
        finally:
            connection.close()
        if checked:
            self.check(method, target, answer)
        return answer

    def described(self):
        if self.description is None:
            self.description = self("GET", "/v1/openapi.json", checked=False).json
        return self.description

    def resolve(self, thing):
        while "$ref" in thing:
            found = self.described()
            for part in thing["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            thing = found
        return thing

    def operation(self, method, target):
        path = target.partition("?")[0]
        for pattern, operations in self.described()["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path) and method.lower() in operations:
                return operations[method.lower()]
        raise AssertionError(f"{method} {target} is not described")

    def check(self, method, target, answer):
        responses = self.operation("GET" if method == "HEAD" else method, target)["responses"]
        assert str(answer.status) in responses, f"{method} {target} is not said to answer {answer}"
        contents = self.resolve(responses[str(answer.status)])["content"]
        kind = answer.fields.get_content_type()
        assert kind in contents, f"{method} {target} is not said to answer {kind}"
        if answer.json is not None:
            schema = {**contents[kind]["schema"], "components": self.described()["components"]}
            jsonschema.Draft202012Validator(schema).validate(answer.json)


def quoted(text):
    return urllib.parse.quote(text, safe="")
