# SPDX-License-Identifier: Apache-2.0
"""Thousands of idle connections, 512 busy connections, and more connections than the server has room for."""

import resource
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from client import TIMEOUT_S, Connection, request
from servers import Server
from test_bodies import DOCUMENT, ORDER

MIN_CONNECTIONS = 1024
"""The number of open connections that the experiment requires."""


def hello(name: str) -> bytes:
    return request("GET", f"/api/hello/{name}")


@contextmanager
def connections(server: Server, count: int) -> Iterator[list[Connection]]:
    if count + 100 > resource.getrlimit(resource.RLIMIT_NOFILE)[0]:
        pytest.skip("the limit of open files is too low for this test")
    with ExitStack() as stack:
        yield [stack.enter_context(server.connect()) for _ in range(count)]


@pytest.mark.parametrize("count", [1000, 4000])
def test_idle_connections(server: Server, count: int) -> None:
    """All idle connections are open and do not delay other connections. Each connection is served when it sends a
    request."""
    if count > MIN_CONNECTIONS and server.target.name not in ("ada-server", "ada-rest"):
        pytest.skip("the experiment requires only 1,024 connections")
    with connections(server, count) as idle:
        for connection in idle[::10]:
            assert connection.send(request()).answer().status == 200
        server.must_serve()
        for i in range(0, count, 7):
            assert idle[i].send(hello(f"N{i}")).answer().json == {"greeting": f"Hello N{i}!"}
        assert all(connection.is_open(0) for connection in idle)


def test_512_busy_connections(server: Server) -> None:
    """Each connection always has a request in progress, and gets its own responses in its own order."""
    rounds = 12
    with connections(server, 512) as busy, selectors.DefaultSelector() as selector:
        turns = dict.fromkeys(range(len(busy)), 0)
        for i, connection in enumerate(busy):
            selector.register(connection.socket, selectors.EVENT_READ, i)
            connection.send(hello(f"N{i}-0"))
        while turns:
            ready = selector.select(timeout=TIMEOUT_S)
            assert ready, f"{len(turns)} connections wait for a response"
            for key, _ in ready:
                i = key.data
                assert busy[i].answer().json == {"greeting": f"Hello N{i}-{turns[i]}!"}
                turns[i] += 1
                if turns[i] == rounds:
                    selector.unregister(key.fileobj)
                    del turns[i]
                else:
                    busy[i].send(hello(f"N{i}-{turns[i]}"))


def test_512_bodies_at_once(server: Server) -> None:
    """Each body is sent in two pieces, so that all bodies are in progress at the same time. The embedded profile has
    memory for some bodies, and rejects the others."""
    sent = request("POST", "/api/echo", body=ORDER)
    with connections(server, 512) as busy:
        for connection in busy:
            connection.send(sent[:600])
        server.must_serve()
        for connection in busy:
            connection.send(sent[600:])
        answers = [connection.answer("POST") for connection in busy]
        served = [answer for answer in answers if answer.status == 200]
        assert all(answer.json == DOCUMENT for answer in served)
        if server.target.name == "ada-embedded":
            assert len(served) >= 64 and {answer.status for answer in answers} <= {200, 503}
        else:
            assert len(served) == len(answers)


def test_a_thousand_wait_to_be_accepted(server: Server) -> None:
    """A thousand clients connect and send requests before any response is read."""
    with connections(server, 1000) as waiting:
        for connection in waiting:
            connection.send(request("GET", "/api", "Connection: close"))
        for connection in waiting:
            assert connection.answer().status == 200
            connection.must_end()


def test_more_than_there_is_room_for(server: Server) -> None:
    """Excess connections wait, and are served when others have disconnected."""
    with connections(server, MIN_CONNECTIONS + 300) as some:
        last = some[-1].send(request())
        if last.is_open(0.3):
            for connection in some[:400]:
                connection.socket.close()
        assert last.answer().status == 200
    server.must_serve()


@pytest.mark.promised
def test_no_open_files_left(start: Callable[..., Server]) -> None:
    """Connections that cannot be accepted replace idle connections, starting with the oldest, and use no CPU time while
    they wait."""
    server = start(prefix=["prlimit", "--nofile=120:120"])
    with connections(server, 200) as some:
        assert some[-1].send(request()).answer().status == 200
        before = sum(server.subject.cpu_time_by_thread().values())
        time.sleep(0.5)
        used = sum(server.subject.cpu_time_by_thread().values()) - before
        assert used < 250_000_000, f"{used / 1e6} ms of CPU time in 500 ms without work"
        assert some[-2].send(request()).answer().status == 200
        some[0].must_end()
    server.must_serve()
