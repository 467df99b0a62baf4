# SPDX-License-Identifier: Apache-2.0
"""Clients that are too slow are let go, and slow ones that are not too slow are served. The limits are arguments of `open`."""

import time
from collections.abc import Callable

import pytest

from client import Connection, NoAnswer, request
from servers import Server, Target
from test_bodies import DOCUMENT, ORDER

LIMIT_S = 1
SLACK_S = 3
"""How much later it may be noticed."""


@pytest.fixture
def impatient(target: Target, start: Callable[..., Server]) -> Server:
    """A server with short limits."""
    if not target.promises:
        pytest.skip("its limits are not settable")
    return start(*(f"{name}_timeout={LIMIT_S}" for name in ("head", "body", "idle", "send")))


def must_be_let_go(connection: Connection, since: float, answered: bool = True) -> None:
    """Closed in time and cleanly, with 408 if a request was under way (or without an answer)."""
    try:
        answer = connection.answer()
        assert answered and answer.status == 408 and answer.closes
    except NoAnswer as error:
        assert type(error) is NoAnswer, error
    connection.must_end()
    assert LIMIT_S * 0.9 <= time.monotonic() - since <= LIMIT_S + SLACK_S


def drip(connections: list[Connection], data: bytes, pause_s: float, until: float) -> None:
    """A byte for each, again and again."""
    for byte in data:
        if time.monotonic() > until:
            return
        for connection in connections:
            connection.send(bytes([byte]))
        time.sleep(pause_s)


def test_slow_clients(impatient: Server) -> None:
    """All at once, as their limits run at the same time: one is idle after a request, one before, one stays in its request line,
    one in its header, one in its body, one in a chunk; those that send a byte now and then are let go all the same."""
    begun = time.monotonic()
    connect = impatient.connect
    idle = connect().send(request())
    assert idle.answer().status == 200
    mute = connect()
    line = connect().send(b"GET /api")
    header = connect().send(b"GET /api HTTP/1.1\r\nHost: localhost\r\n")
    body = connect().send(request("POST", "/api/echo", body=ORDER)[:-1000])
    chunk = connect().send(request("POST", "/api/echo", "Transfer-Encoding: chunked") + b"400\r\n{")
    second = connect().send(request() + request()[:-1])
    assert second.answer().status == 200
    expecting = connect().send(request("POST", "/api/echo", "Expect: 100-continue", f"Content-Length: {len(ORDER)}"))
    assert expecting.interim() == 100
    drip([line, header], b"x" * 100, 0.1, until=begun + LIMIT_S * 0.8)
    with connect() as other:
        assert other.send(request()).answer().status == 200
    must_be_let_go(idle, begun, answered=False)
    must_be_let_go(mute, begun, answered=False)
    for connection in (line, header, body, chunk, second, expecting):
        must_be_let_go(connection, begun)
    impatient.must_serve()


def test_slow_but_not_too_slow(impatient: Server) -> None:
    """In time for each of the limits, though not for one over all; and again on the same connection."""
    sent = request("POST", "/api/echo", body=ORDER)
    with impatient.connect() as connection:
        for _ in range(2):
            time.sleep(LIMIT_S * 0.5)
            connection.send(sent[:20])
            time.sleep(LIMIT_S * 0.5)
            connection.send(sent[20:-500])
            time.sleep(LIMIT_S * 0.5)
            assert connection.send(sent[-500:]).answer("POST").json == DOCUMENT


def test_a_client_that_takes_nothing(impatient: Server) -> None:
    """It is let go, and what it asked for is given up."""
    open_files = impatient.open_files
    with impatient.connect(receive_buffer=4096) as connection:
        connection.send(request("GET", "/files/64k.bin") * 400)
        time.sleep(0.2)
        assert impatient.open_files > open_files
        deadline = time.monotonic() + LIMIT_S + SLACK_S
        while impatient.open_files > open_files:
            assert time.monotonic() < deadline, "it is still connected"
            time.sleep(0.02)
    impatient.must_serve()


def test_a_client_that_drips_for_ever(impatient: Server) -> None:
    """A byte now and then does not make a request's limit longer."""
    begun = time.monotonic()
    connections = [impatient.connect().send(start) for start in (
        b"", b"GET /api HTTP/1.1\r\nHost: localhost\r\nX: ", request("POST", "/api/echo", body=ORDER)[:-1024])]
    drip(connections, b"GET /" + b"x" * 1000, 0.1, until=begun + LIMIT_S + 1)
    for connection in connections:
        must_be_let_go(connection, begun)


def test_patience_is_the_default(server: Server) -> None:
    """A client that pauses is served; the experiment wants 60 s for an idle connection, of which two must do here."""
    with server.connect() as idle, server.connect() as slow:
        assert idle.send(request()).answer().status == 200
        slow.send(request()[:20])
        time.sleep(2)
        assert idle.send(request()).answer().status == 200
        assert slow.send(request()[20:]).answer().status == 200
