# SPDX-License-Identifier: Apache-2.0
"""Clients that are too slow are disconnected, and slow clients within the limits are served. The limits are arguments
of `open`."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

import servers
from client import TIMEOUT_S, Connection, NoAnswer, request
from databases import eventually
from servers import Server, Target
from test_bodies import DOCUMENT, ORDER

LIMIT_S = 1
"""The short limit, which must pass."""
LONG_S = 3600
"""The limit for all else, which must not pass."""
STOPPED_S = 60
"""The limit that passes while a server is stopped."""


@pytest.fixture
def impatient(target: Target, start: Callable[..., Server]) -> Server:
    """Starts a server with short limits."""
    skip_unless_settable(target)
    return start(*(f"{name}_timeout={LIMIT_S}" for name in ("head", "body", "idle", "send")))


def skip_unless_settable(target: Target) -> None:
    if not target.promises:
        pytest.skip("the limits of this server cannot be set")


@contextmanager
def stopped(*some: Server) -> Iterator[None]:
    """Stops the servers, so that they see everything at once that clients do in the meantime: no limit passes while a
    slow machine runs the test."""
    with ExitStack() as stack:
        for server in some:
            stack.callback(os.kill, server.subject.pid, signal.SIGCONT)
            os.kill(server.subject.pid, signal.SIGSTOP)
        yield


def must_be_let_go(connection: Connection, since: float, answered: bool = True) -> None:
    """Checks that the connection is closed after the limit and cleanly, with 408 if a request was in progress (or
    without a response)."""
    try:
        answer = connection.answer()
        assert answered and answer.status == 408 and answer.closes
    except NoAnswer as error:
        assert type(error) is NoAnswer, error
    connection.must_end()
    assert LIMIT_S * 0.9 <= time.monotonic() - since


def test_slow_clients(impatient: Server) -> None:
    """Tests slow clients at the same time: some are idle after a request or before one, others stop in a request line,
    in a header, in a body, in a chunk, or do not read their response. A byte now and then does not extend a limit."""
    open_files = impatient.open_files
    begun = time.monotonic()
    with stopped(impatient):
        greedy = impatient.connect(receive_buffer=4096).send(request("GET", "/files/64k.bin") * 400)
        idle, mute, line, header, body, chunk, second, expecting = (impatient.connect() for _ in range(8))
        idle.send(request())
        line.send(b"GET /api")
        header.send(b"GET /api HTTP/1.1\r\nHost: localhost\r\nX: ")
        body.send(request("POST", "/api/echo", body=ORDER)[:-1000])
        chunk.send(request("POST", "/api/echo", "Transfer-Encoding: chunked") + b"400\r\n{")
        second.send(request() + request()[:-1])
        expecting.send(request("POST", "/api/echo", "Expect: 100-continue", f"Content-Length: {len(ORDER)}"))
    while time.monotonic() < begun + LIMIT_S:
        for connection in (line, header, body, chunk):
            connection.send(b"x")
        time.sleep(0.1)
    assert idle.answer().status == second.answer().status == 200
    assert expecting.interim() == 100
    for connection in (idle, mute):
        must_be_let_go(connection, begun, answered=False)
        connection.socket.close()
    for connection in (line, header, body, chunk, second, expecting):
        must_be_let_go(connection, begun)
        connection.socket.close()
    assert eventually(lambda: impatient.open_files <= open_files), "the server still has a connection or file open"
    greedy.socket.close()
    impatient.must_serve()


@pytest.mark.files
@pytest.mark.parametrize("asked", [request("GET", "/files/64k.bin") * 400, request("GET", "/api") * 200_000], ids=["files", "texts"])
def test_a_reader_that_dribbles(impatient: Server, asked: bytes) -> None:
    """A client that always reads, but below the minimum rate, loses the connection, and the server closes the file."""
    open_files = impatient.open_files
    with socket.socket() as client:
        client.settimeout(TIMEOUT_S)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 88)
        client.connect(impatient.address)
        client.setblocking(False)
        limit = time.monotonic() + TIMEOUT_S
        with pytest.raises(ConnectionError):
            while True:
                assert time.monotonic() < limit, "the slow client is still connected"
                with suppress(BlockingIOError):
                    asked = asked[client.send(asked):] if asked else asked
                time.sleep(0.1)
                with suppress(BlockingIOError):
                    client.recv(10)
    assert eventually(lambda: impatient.open_files <= open_files), "the server still has a connection or file open"
    impatient.must_serve()


PAUSES = {"idle": (20, -500), "head": (0, -500), "body": (0, 20)}
"""For each limit, two positions in the request where the client pauses, which do not count for this limit."""


@pytest.mark.parametrize("short", PAUSES)
def test_each_limit_counts_its_own_time(target: Target, start: Callable[..., Server], short: str) -> None:
    """The client takes longer than the short limit in total, but not in the stage of this limit."""
    skip_unless_settable(target)
    server = start(*(f"{name}_timeout={LIMIT_S if name == short else LONG_S}" for name in ("head", "body", "idle", "send")))
    sent = request("POST", "/api/echo", body=ORDER)
    first, second = PAUSES[short]
    with stopped(server):
        connection = server.connect().send(sent[:first])
    with connection:
        time.sleep(LIMIT_S * 1.2)
        connection.send(sent[first:second])
        time.sleep(LIMIT_S * 1.2)
        assert connection.send(sent[second:]).answer("POST").json == DOCUMENT


def test_a_stopped_server_lets_nobody_go(folder: Path) -> None:
    """benchlab stops a server while others have their turn: its clients must not be disconnected for this. Tests all
    servers at the same time, because it is slow."""
    targets = [target for target in servers.targets() if target.promises]
    if not targets:
        pytest.skip("the limits of these servers cannot be set")
    with ExitStack() as stack:
        clients: list[tuple[Server, Connection, Connection]] = []
        for target in targets:
            server = servers.start(target, folder, f"head_timeout={STOPPED_S}", f"idle_timeout={STOPPED_S}")
            stack.callback(server.close)
            idle, slow = (stack.enter_context(server.connect()) for _ in range(2))
            assert idle.send(request()).answer().status == 200
            slow.send(request()[:20])
            server.subject.wait_until_idle(server.address[1])
            clients.append((server, idle, slow))
        with stopped(*(server for server, _, _ in clients)):
            time.sleep(STOPPED_S + 1)
        time.sleep(0.2)
        for _, idle, slow in clients:
            assert slow.send(request()[20:]).answer().status == 200
            assert idle.send(request()).answer().status == 200
