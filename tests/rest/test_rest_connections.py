# SPDX-License-Identifier: Apache-2.0
"""Tests connections: how they are kept open, closed and read."""

import resource
import time
from contextlib import ExitStack
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from http1 import TIMEOUT_S, Connection, chunked, request
from server import Server, is_built, rest_subjects, started
from test_rest_answers import ORDER, assert_echoes

GET = request("GET", "/api")
GREETING = b'{"greeting":"Hello World!"}'


def built(number: int) -> bytes:
    return request("GET", f"/api/built?number={number}")


def test_many_requests_on_a_connection(server: Server) -> None:
    with server.connect() as connection:
        for number in range(2000):
            answer = connection.ask("GET", f"/api/built?number={number}")
            assert answer.json()["number"] == number
            assert "close" not in answer.words


@pytest.mark.parametrize("path", ["/api", "/api/hello/Ada", "/files/64k.bin", "/nothing"])
def test_a_connection_is_closed_when_asked(server: Server, path: str) -> None:
    with server.connect() as connection:
        assert connection.ask("GET", "/api").status == 200
        answer = connection.ask("GET", path, headers={"Connection": "close"})
        assert answer.status == (404 if path == "/nothing" else 200)
        assert connection.at_end()


def test_a_connection_for_each_request(server: Server) -> None:
    for number in range(500):
        with server.connect() as connection:
            answer = connection.ask("GET", f"/api/built?number={number}", headers={
                "Connection": "close"})
            assert answer.json()["number"] == number


def test_a_client_of_http_1_0(server: Server) -> None:
    with server.connect() as connection:
        connection.send(b"GET /api HTTP/1.0\r\n\r\n")
        reply = connection.read_all()
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 200 ", b"HTTP/1.0 200 "))
    assert b"chunked" not in head.lower() and body == GREETING


@pytest.mark.parametrize("at_once", [2, 10, 100])
def test_pipelined_requests(server: Server, at_once: int) -> None:
    with server.connect() as connection:
        connection.send(b"".join(map(built, range(at_once))))
        for number in range(at_once):
            assert connection.answer().json()["number"] == number


def test_pipelined_requests_of_every_kind(server: Server) -> None:
    file = (server.files / "64k.bin").read_bytes()
    with server.connect() as connection:
        for _ in range(3):
            connection.send(built(1) + request("POST", "/api/echo", ORDER)
                            + request("GET", "/files/64k.bin") + request("HEAD", "/files/64k.bin")
                            + chunked("POST", "/api/echo", [ORDER[:10], ORDER[10:]])
                            + request("GET", "/nothing") + GET)
            assert connection.answer().json()["number"] == 1
            assert_echoes(connection.answer(), ORDER)
            assert connection.answer().body == file
            assert connection.answer("HEAD").status == 200
            assert_echoes(connection.answer(), ORDER)
            assert connection.answer().status == 404
            assert connection.answer().body == GREETING


def test_pipelined_requests_of_which_the_last_closes(server: Server) -> None:
    with server.connect() as connection:
        connection.send(built(1) + built(2)
                        + request("GET", "/api", headers={"Connection": "close"}))
        assert [connection.answer().json()["number"] for _ in range(2)] == [1, 2]
        assert connection.answer().body == GREETING
        assert connection.at_end()


@pytest.mark.parametrize("size", [1, 3, 16])
def test_a_request_in_pieces(server: Server, size: int) -> None:
    message = request("GET", "/api/hello/Ada%20L", headers={"X-Padding": "y" * 20})
    with server.connect() as connection:
        for at in range(0, len(message), size):
            connection.send(message[at:at + size])
            time.sleep(0.002)
        assert connection.answer().json() == {"greeting": "Hello Ada L!"}


@pytest.mark.parametrize("message", [request("POST", "/api/echo", ORDER),
                                   chunked("POST", "/api/echo", [ORDER[:7], ORDER[7:]])],
                         ids=["length", "chunks"])
def test_a_document_in_pieces(server: Server, message: bytes) -> None:
    with server.connect() as connection:
        for at in range(0, len(message), 37):
            connection.send(message[at:at + 37])
            time.sleep(0.002)
        assert_echoes(connection.answer(), ORDER)
        assert connection.ask("GET", "/api").body == GREETING


def test_a_request_that_ends_with_the_next_ones_beginning(server: Server) -> None:
    stream = b"".join(map(built, range(50)))
    with server.connect() as connection:
        for at in range(0, len(stream), 100):  # a request is shorter than that
            connection.send(stream[at:at + 100])
            time.sleep(0.001)
        assert [connection.answer().json()["number"] for _ in range(50)] == list(range(50))


@pytest.mark.parametrize("nonsense", [
    b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"\0\1\2\3" * 100 + b"\r\n\r\n",
    b"GET /api HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
    b"GET /api HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"])
def test_nonsense(server: Server, nonsense: bytes) -> None:
    """Nonsense is rejected, or the connection is closed; other clients are served."""
    with server.connect() as second, server.connect() as connection:
        assert second.ask("GET", "/api").status == 200
        connection.send(nonsense)
        connection.end()
        reply = connection.read_all()
        assert not reply.startswith(b"HTTP/1.1 2"), reply
        assert second.ask("GET", "/api").status == 200


def test_clients_that_go_away(server: Server) -> None:
    """Clients that disconnect leave nothing open: neither their connections nor the files that they
    requested."""
    assert server.ask("GET", "/files/64k.bin").status == 200
    before = server.open_files()
    message = request("POST", "/api/echo", ORDER)
    for size in (0, 1, 20, len(message) - len(ORDER), len(message) - 1):
        for _ in range(20):
            with server.connect() as connection:
                connection.send(message[:size])
    for _ in range(50):
        with server.connect() as connection:
            connection.send(request("GET", "/files/64k.bin") * 5)
    assert server.ask("GET", "/api").body == GREETING
    deadline = time.monotonic() + TIMEOUT_S
    while server.open_files() > before + 5 and time.monotonic() < deadline:  # a few are a runtime's own
        time.sleep(0.1)
    assert server.open_files() <= before + 5


def test_1024_connections(server: Server) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 1100:
        pytest.skip("the limit of open files is too low for this test")
    with ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(1024)]
        for _ in range(2):
            for connection in connections:
                connection.send(GET)
            for connection in connections:
                assert connection.answer().body == GREETING


def test_a_frozen_server_is_waited_for(server: Server) -> None:
    """benchlab stops a server while others have their turn. At least a thousand clients can connect and wait in the
    meantime."""
    with ExitStack() as stack:
        old = stack.enter_context(server.connect())
        assert old.ask("GET", "/api").status == 200
        with server.frozen():
            old.send(GET)
            new = [stack.enter_context(server.connect()) for _ in range(1000)]
            for connection in new:
                connection.send(GET)
        for connection in [old, *new]:
            assert connection.answer().body == GREETING


def test_connections_are_kept_for_a_minute(files: Path) -> None:
    """Tests all subjects at the same time, because it is slow. The subjects are frozen, as by benchlab, so that all
    their timers are due when they continue."""
    built = [declared for declared in rest_subjects() if is_built(declared)]
    with ExitStack() as stack:
        connections = {}
        with ExitStack() as frozen:
            for declared in built:
                subject = started(declared)
                stack.callback(subject.kill)
                server = Server(subject, files)
                used, new = (stack.enter_context(server.connect()) for _ in range(2))
                assert used.ask("GET", "/api").status == 200
                connections[str(declared)] = used, new
                frozen.enter_context(server.frozen())
            time.sleep(61)
        time.sleep(2)
        assert [name for name, pair in connections.items() if not all(map(serves, pair))] == []


def serves(connection: Connection) -> bool:
    """Returns True if the connection is still open, and its responses soon have the current time: some servers update it
    with a timer."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            date = connection.ask("GET", "/api").header("date")
        except (AssertionError, ConnectionError):
            return False
        if abs(parsedate_to_datetime(date).timestamp() - time.time()) <= 10:
            return True
        time.sleep(0.1)
    return False
