# SPDX-License-Identifier: Apache-2.0
"""Clients that are too slow are disconnected, and slow clients within the limits are served. The limits are arguments
of `open`."""

import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from client import Connection, NoAnswer, request
from servers import Server, Target
from test_bodies import DOCUMENT, ORDER

LIMIT_S = 1
SLACK_S = 3
"""The delay with which a server may notice that a limit has passed."""
WITHIN_S = 30
"""The timeout in seconds for events that must happen eventually, on a busy machine."""


@pytest.fixture
def impatient(target: Target, start: Callable[..., Server]) -> Server:
    """Starts a server with short limits."""
    if not target.promises:
        pytest.skip("the limits of this server cannot be set")
    return start(*(f"{name}_timeout={LIMIT_S}" for name in ("head", "body", "idle", "send")))


def must_be_let_go(connection: Connection, since: float, answered: bool = True) -> None:
    """Checks that the connection is closed in time and cleanly, with 408 if a request was in progress (or
    without a response)."""
    try:
        answer = connection.answer()
        assert answered and answer.status == 408 and answer.closes
    except NoAnswer as error:
        assert type(error) is NoAnswer, error
    connection.must_end()
    assert LIMIT_S * 0.9 <= time.monotonic() - since <= LIMIT_S + SLACK_S


def test_slow_clients(impatient: Server) -> None:
    """Tests slow clients at the same time: some are idle after a request or before one, others stop in a request line,
    in a header, in a body, in a chunk, or do not read their response. A byte now and then does not extend a limit."""
    open_files = impatient.open_files
    greedy = impatient.connect(receive_buffer=4096).send(request("GET", "/files/64k.bin") * 400)
    begun = time.monotonic()
    idle, mute, line, header, body, chunk, second, expecting = (impatient.connect() for _ in range(8))
    assert idle.send(request()).answer().status == 200
    line.send(b"GET /api")
    header.send(b"GET /api HTTP/1.1\r\nHost: localhost\r\nX: ")
    body.send(request("POST", "/api/echo", body=ORDER)[:-1000])
    chunk.send(request("POST", "/api/echo", "Transfer-Encoding: chunked") + b"400\r\n{")
    assert second.send(request() + request()[:-1]).answer().status == 200
    expecting.send(request("POST", "/api/echo", "Expect: 100-continue", f"Content-Length: {len(ORDER)}"))
    assert expecting.interim() == 100
    while time.monotonic() < begun + LIMIT_S:
        for connection in (line, header, body, chunk):
            connection.send(b"x")
        time.sleep(0.1)
    for connection in (idle, mute):
        must_be_let_go(connection, begun, answered=False)
        connection.socket.close()
    for connection in (line, header, body, chunk, second, expecting):
        must_be_let_go(connection, begun)
        connection.socket.close()
    while impatient.open_files > open_files:
        assert time.monotonic() < begun + LIMIT_S + SLACK_S, "the server still has a connection or file open"
        time.sleep(0.02)
    greedy.socket.close()
    impatient.must_serve()


@pytest.mark.files
@pytest.mark.parametrize("asked", [request("GET", "/files/64k.bin") * 400, request("GET", "/api") * 200_000], ids=["files", "texts"])
def test_a_reader_that_dribbles(impatient: Server, asked: bytes) -> None:
    """A client that always reads, but below the minimum rate, loses the connection, and the server closes the file."""
    open_files = impatient.open_files
    with socket.socket() as client:
        client.settimeout(SLACK_S)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 88)
        client.connect(impatient.address)
        client.setblocking(False)
        limit = time.monotonic() + WITHIN_S
        with pytest.raises(ConnectionError):
            while True:
                assert time.monotonic() < limit, "the slow client is still connected"
                with suppress(BlockingIOError):
                    asked = asked[client.send(asked):] if asked else asked
                time.sleep(0.1)
                with suppress(BlockingIOError):
                    client.recv(10)
    while impatient.open_files > open_files:
        assert time.monotonic() < limit, "the server still has a connection or file open"
        time.sleep(0.02)
    impatient.must_serve()


def test_slow_but_not_too_slow(impatient: Server) -> None:
    """The client is in time for each limit, although it takes longer than any of them in total."""
    sent = request("POST", "/api/echo", body=ORDER)
    with impatient.connect() as connection:
        for begin, end in ((0, 20), (20, -500), (-500, None)):
            time.sleep(LIMIT_S * 0.5)
            connection.send(sent[begin:end])
        assert connection.answer("POST").json == DOCUMENT


def test_a_stopped_server_lets_nobody_go(target: Target, start: Callable[..., Server]) -> None:
    """benchlab stops a server while others have their turn: its clients must not be disconnected for this."""
    if not target.promises:
        pytest.skip("the limits of this server cannot be set")
    server = start("head_timeout=3", "idle_timeout=3")
    idle, slow = server.connect(), server.connect()
    assert idle.send(request()).answer().status == 200
    slow.send(request()[:20])
    time.sleep(0.2)
    os.kill(server.subject.pid, signal.SIGSTOP)
    time.sleep(3.1)
    os.kill(server.subject.pid, signal.SIGCONT)
    time.sleep(0.2)
    assert slow.send(request()[20:]).answer().status == 200
    assert idle.send(request()).answer().status == 200
