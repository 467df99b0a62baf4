# SPDX-License-Identifier: Apache-2.0
"""Expect: 100-continue; RFC 9110 10.1.1."""

import pytest

from client import request
from servers import Server
from test_bodies import DOCUMENT, ORDER

HEAD = ("POST /api/echo HTTP/{version}\r\nHost: localhost\r\nContent-Length: {length}\r\n"
        "Expect: {expectation}\r\n\r\n")


def head(expectation: str = "100-continue", length: int = len(ORDER), version: str = "1.1") -> bytes:
    return HEAD.format(expectation=expectation, length=length, version=version).encode()


@pytest.mark.parametrize("expectation", ["100-continue", "100-Continue"])
def test_the_interim_answer_comes_before_the_body(server: Server, expectation: str) -> None:
    with server.connect() as connection:
        for _ in range(2):
            connection.send(head(expectation))
            assert connection.interim() == 100
            assert connection.is_open(), "the response precedes the body"
            answer = connection.send(ORDER).answer("POST")
            assert answer.json == DOCUMENT and answer.interim == []


def test_with_chunks(server: Server) -> None:
    with server.connect() as connection:
        connection.send(request("POST", "/api/echo", "Transfer-Encoding: chunked", "Expect: 100-continue"))
        assert connection.interim() == 100
        connection.send(b"400\r\n" + ORDER + b"\r\n0\r\n\r\n")
        assert connection.answer("POST").json == DOCUMENT


def test_with_the_body_at_once(server: Server) -> None:
    """If the body is sent immediately, the interim response may be omitted. There is at most one."""
    with server.connect() as connection:
        answer = connection.send(head() + ORDER + request()).answer("POST")
        assert answer.json == DOCUMENT and answer.interim in ([], [100])
        assert connection.answer().status == 200


def test_without_a_body(server: Server) -> None:
    """A request without a body gets no interim response, because there is no body to wait for."""
    with server.connect() as connection:
        answer = connection.send(request("GET", "/api", "Expect: 100-continue")).answer()
        assert answer.status == 200 and answer.interim in ([], [100])
        assert connection.send(request()).answer().interim == []


def test_http_1_0_is_sent_none(server: Server) -> None:
    with server.connect() as connection:
        connection.send(head(version="1.0"))
        assert connection.is_open(), "a response precedes the body"
        answer = connection.send(ORDER).answer("POST", version="1.0")
        assert answer.json == DOCUMENT and answer.interim == []
        connection.must_end()


@pytest.mark.parametrize("expectation", ["x", "200-ok", "100-continue, x", "100-continue=1", "100"])
def test_another_expectation(server: Server, expectation: str) -> None:
    """The response to an unknown expectation is 417, or the server ignores an unknown expectation. In both cases the
    body is not read as a request."""
    with server.connect() as connection:
        answer = connection.send(head(expectation) + ORDER + request()).answer("POST")
        assert answer.status in ((417,) if server.promises else (417, 200, 400))
        if not answer.closes:
            assert connection.answer().status == 200
        else:
            connection.must_end()


@pytest.mark.promised
def test_a_body_that_is_too_large_is_not_asked_for(server: Server) -> None:
    """A request with too large a body gets a final response instead of 100."""
    with server.connect() as connection:
        sent = request("POST", "/api/echo", "Content-Length: 100000000", "Expect: 100-continue")
        answer = connection.send(sent).answer("POST")
        assert answer.status == 413 and answer.interim == []
        if answer.closes:
            connection.must_end()


@pytest.mark.parametrize("method, path, status", [("POST", "/nothing", 404), ("PUT", "/api", 405)])
def test_what_has_no_handler(server: Server, method: str, path: str, status: int) -> None:
    """A request without a handler gets a final response instead of 100, or after it."""
    with server.connect() as connection:
        sent = request(method, path, "Content-Length: 1024", "Expect: 100-continue")
        connection.send(sent)
        if connection.is_interim():
            assert connection.interim() == 100
            connection.send(ORDER)
        answer = connection.answer(method)
        assert answer.status == status
        if answer.closes:
            connection.must_end()


def test_a_refused_request_may_be_followed_by_its_body(server: Server) -> None:
    """A client need not wait for the interim response."""
    with server.connect() as connection:
        inside = request("GET", "/api/hello/smuggled")
        connection.send(request("POST", "/nothing", "Expect: 100-continue", body=inside) + request())
        first = connection.answer("POST")
        assert first.status == 404
        if not first.closes:
            assert connection.answer().json == {"greeting": "Hello World!"}
            assert connection.is_open()
        else:
            connection.must_end()


def test_a_wrong_message_is_not_continued(server: Server) -> None:
    with server.connect() as connection:
        connection.send(request("POST", "/api/echo", "Expect: 100-continue", "Content-Length: 5", "Transfer-Encoding: chunked"))
        answer = connection.answer("POST")
        assert answer.status == 400 and answer.interim == []
        connection.must_end()
