# SPDX-License-Identifier: Apache-2.0
"""Connections that are kept open, closed, half-closed and reset, with many requests on one connection (RFC 9112 9)."""

import re
import time
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from client import LATE_S, TIMEOUT_S, Connection, request
from servers import FILES, Server
from test_bodies import DOCUMENT, ORDER

HELLO = {"greeting": "Hello World!"}
FILE = FILES["64k.bin"]


def hello(name: str, *headers: str) -> bytes:
    return request("GET", f"/api/hello/{name}", *headers)


# -- Kept and closed ---------------------------------------------------------------------------


def test_a_connection_is_kept(server: Server) -> None:
    with server.connect() as connection:
        for i in range(100):
            answer = connection.send(hello(f"N{i}")).answer()
            assert answer.json == {"greeting": f"Hello N{i}!"} and not answer.closes
        assert connection.is_open()


@pytest.mark.parametrize("option", ["close", "Close", "CLOSE", "x, close", "close, x", " , close ,"])
def test_close_is_heeded(server: Server, option: str) -> None:
    with server.connect() as connection:
        answer = connection.send(request("GET", "/api", f"Connection: {option}") + hello("late")).answer()
        assert answer.json == HELLO and answer.closes
        connection.must_end()


def test_close_in_a_second_line(server: Server) -> None:
    with server.connect() as connection:
        answer = connection.send(request("GET", "/api", "Connection: keep-alive", "Connection: close")).answer()
        assert answer.json == HELLO and answer.closes
        connection.must_end()


@pytest.mark.parametrize("option", ["closed", "not-close", "xclose", "close-x", "", ",", "upgrade"])
def test_another_option_closes_nothing(server: Server, option: str) -> None:
    with server.connect() as connection:
        for _ in range(2):
            assert not connection.send(request("GET", "/api", f"Connection: {option}")).answer().closes


def test_upgrade_is_not_heeded(server: Server) -> None:
    """RFC 9110 7.8: the server ignores an unknown protocol."""
    with server.connect() as connection:
        sent = request("GET", "/api", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")
        assert connection.send(sent).answer().json == HELLO
        assert connection.send(request()).answer().json == HELLO


def test_http_1_0_is_closed(server: Server) -> None:
    with server.connect() as connection:
        assert connection.send(request(version="1.0") + hello("late")).answer(version="1.0").json == HELLO
        connection.must_end()


@pytest.mark.parametrize("option", ["keep-alive", "Keep-Alive"])
def test_http_1_0_is_kept_if_it_asks(server: Server, option: str) -> None:
    """The response says keep-alive; otherwise the client would wait for the end (RFC 9112 9.3 and C.2.2)."""
    with server.connect() as connection:
        for _ in range(2):
            answer = connection.send(request("GET", "/api", f"Connection: {option}", version="1.0")).answer(version="1.0")
            assert answer.json == HELLO
            if "keep-alive" not in answer.words("Connection"):
                assert not server.promises, "the response does not announce keep-alive"
                connection.must_end()
                return
        connection.send(request(version="1.0")).answer(version="1.0")
        connection.must_end()


# -- Many requests at once ---------------------------------------------------------------------


def test_pipelined_answers_are_in_order(server: Server) -> None:
    names = [f"N{i}" for i in range(500)]
    with server.connect() as connection:
        connection.send(b"".join(map(hello, names)))
        assert [connection.answer().json["greeting"] for _ in names] == [f"Hello {name}!" for name in names]
        assert connection.is_open()


@pytest.mark.files
def test_all_kinds_are_pipelined(server: Server) -> None:
    kinds = [("GET", request()), ("HEAD", request("HEAD", "/files/64k.bin")), ("GET", request("GET", "/files/64k.bin")),
             ("POST", request("POST", "/api/echo", body=ORDER)), ("GET", request("GET", "/nothing")),
             ("DELETE", request("DELETE", "/api")), ("GET", request("GET", "/api/built?number=x")), ("GET", hello("Ada"))]
    with server.connect() as connection:
        connection.send(b"".join(sent for _, sent in kinds * 3))
        answers = [connection.answer(method) for method, _ in kinds * 3]
        for at in range(0, len(answers), len(kinds)):
            some = answers[at:at + len(kinds)]
            assert [answer.status for answer in some] == [200, 200, 200, 200, 404, 405, 400, 200]
            assert some[2].body == FILE and some[3].json == DOCUMENT and some[7].json == {"greeting": "Hello Ada!"}
        assert connection.is_open()


@pytest.mark.parametrize("wrong", [b"GET /api HTTP/1.1\r\n\r\n", b"NONSENSE\r\n\r\n", b"GET /api HTTP/9.9\r\nHost: x\r\n\r\n",
                                   b"GET /api HTTP/1.1\r\nHost : x\r\n\r\n"],
                         ids=["no Host", "nonsense", "version", "blank"])
def test_an_error_in_the_middle(server: Server, wrong: bytes) -> None:
    """The server responds to the requests before the error, and to none after it."""
    with server.connect() as connection:
        connection.send(hello("one") + hello("two") + wrong + hello("late"))
        assert connection.answer().json == {"greeting": "Hello one!"}
        assert connection.answer().json == {"greeting": "Hello two!"}
        error = connection.answer()
        assert error.status in (400, 505) and (error.closes or not server.promises)
        connection.must_end()


def test_a_close_in_the_middle(server: Server) -> None:
    with server.connect() as connection:
        connection.send(hello("one") + hello("two", "Connection: close") + hello("late"))
        assert connection.answer().json == {"greeting": "Hello one!"}
        assert connection.answer().closes
        connection.must_end()


def test_pipelined_in_pieces(server: Server) -> None:
    """Each piece ends at some position in a request."""
    names = [f"N{i}" for i in range(60)]
    sent = b"".join(map(hello, names))
    with server.connect() as connection:
        connection.send_in_pieces(sent[at:at + 97] for at in range(0, len(sent), 97))
        assert [connection.answer().json["greeting"] for _ in names] == [f"Hello {name}!" for name in names]


# -- Clients that disconnect -------------------------------------------------------------------


@pytest.mark.files
def test_a_half_closed_connection_is_answered(server: Server) -> None:
    """RFC 9112 9.6: a client may end its own direction first."""
    with server.connect() as connection:
        connection.send(hello("one") + request("GET", "/files/64k.bin") + hello("two")).end_sending()
        assert connection.answer().json == {"greeting": "Hello one!"}
        assert connection.answer().body == FILE
        assert connection.answer().json == {"greeting": "Hello two!"}
        connection.must_end()


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"G", b"GET /api HTTP/1.1\r\n", request()[:-1]],
                         ids=["nothing", "an empty line", "a letter", "a line", "almost all"])
def test_a_connection_half_closed_within_a_request(server: Server, sent: bytes) -> None:
    """The connection is closed, with 400 or without a response."""
    with server.connect() as connection:
        connection.send(sent).end_sending()
        assert re.match(rb"HTTP/1\.1 4\d\d |$", connection.everything())


STAGES = {"connected": b"", "in the line": b"GET /a", "in the header": b"GET /api HTTP/1.1\r\nHost: ",
          "in the body": request("POST", "/api/echo", body=ORDER)[:-500],
          "in a chunk": request("POST", "/api/echo", "Transfer-Encoding: chunked") + b"400\r\n{",
          "asked": request(), "asked for a file": request("GET", "/files/64k.bin") * 50,
          "expecting": request("POST", "/api/echo", "Expect: 100-continue", "Content-Length: 1024")}


@pytest.mark.parametrize("stage", STAGES)
def test_clients_that_reset(server: Server, stage: str) -> None:
    """The server continues to run, and keeps no resources of these clients."""
    with server.connect() as second:
        second.send(request()).answer()
        before = server.open_files if server.subject else 0
        for i in range(60):
            connection = server.connect().send(STAGES[stage])
            time.sleep(i % 3 / 1000)
            connection.reset()
        assert second.send(request()).answer().json == HELLO
        if server.subject:
            must_fall_to(server, before)


def must_fall_to(server: Server, open_files: int) -> None:
    """Checks that connections of clients that disconnected are closed soon."""
    deadline = time.monotonic() + TIMEOUT_S
    while server.open_files > open_files:
        assert time.monotonic() < deadline, f"{server.open_files} open files, {open_files} before"
        time.sleep(0.01)


@pytest.mark.files
def test_a_client_that_does_not_read(server: Server) -> None:
    """The server stops reading from this client, serves the other clients, and continues at the same position."""
    times = 400  # 26 MB, more than the kernel buffers
    with server.connect(receive_buffer=4096) as connection:
        memory = resident(server)
        connection.send(request("GET", "/files/64k.bin") * times)
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            server.must_serve()
        if server.subject and server.promises:
            assert resident(server) < memory + 2_000_000, "the server stores the responses in memory"
        for _ in range(times):
            assert connection.answer().body == FILE
        assert connection.is_open()


def resident(server: Server) -> int:
    """Returns the resident memory in bytes."""
    if server.subject is None:
        return 0
    status = Path(f"/proc/{server.subject.pid}/status").read_text()
    return 1024 * int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])


@pytest.mark.files
def test_a_client_that_reads_slowly(server: Server) -> None:
    with server.connect(receive_buffer=4096) as connection:
        connection.send(request("GET", "/files/64k.bin", "Connection: close"))
        read = bytearray()
        while piece := connection.socket.recv(3000):
            read += piece
            time.sleep(0.002)
        assert bytes(read).endswith(FILE)


def test_many_connections_one_after_the_other(server: Server) -> None:
    with server.connect() as second:
        second.send(request()).answer()
        before = server.open_files if server.subject else 0
        for i in range(500):
            with server.connect() as connection:
                connection.send(request("GET", "/api", "Connection: close") if i % 2 else request())
                assert connection.answer().status == 200
        if server.subject:
            must_fall_to(server, before)


# -- Date --------------------------------------------------------------------------------------


def date_of(connection: Connection) -> datetime:
    return parsedate_to_datetime(connection.send(request()).answer().get("Date"))


def test_date_advances(server: Server) -> None:
    """Date also advances on a connection or a server that was idle: RFC 9110 6.6.1. For every response in
    these tests the client checks that Date is current and an IMF-fixdate."""
    with server.connect() as connection:
        first = date_of(connection)
        time.sleep(1.1)
        deadline = time.monotonic() + LATE_S
        while (second := date_of(connection)) == first:
            assert time.monotonic() < deadline, "Date does not advance"
            time.sleep(0.1)
        dates = [first, second, *(date_of(connection) for _ in range(3))]
        assert dates == sorted(dates)


def test_connections_are_apart(server: Server) -> None:
    """Pieces of requests are sent over many connections, in turns."""
    connections = [server.connect() for _ in range(20)]
    sent = [hello(f"N{i}") for i in range(len(connections))]
    for at in range(0, max(map(len, sent)), 7):
        for connection, message in zip(connections, sent):
            connection.send(message[at:at + 7])
    for i, connection in enumerate(connections):
        assert connection.answer().json == {"greeting": f"Hello N{i}!"}
        connection.socket.close()


def test_an_open_connection_costs_no_other(server: Server) -> None:
    """A request that never ends does not prevent other clients from being served."""
    waiting: list[Connection] = [server.connect().send(request()[:-i - 1]) for i in range(30)]
    for _ in range(20):
        server.must_serve()
    for connection in waiting:
        connection.socket.close()
