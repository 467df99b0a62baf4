# SPDX-License-Identifier: Apache-2.0
"""Attacks: slow clients, clients that disconnect, slow readers, resets, and a system or a server without free
resources. The server continues to serve, and has no more descriptors, threads or memory at the end than at the
beginning.

They take seconds; with --attack-for they have full size. test_beside_go.py is part of them."""

import os
import random
import resource
import selectors
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from attack import Size, must_withstand
from client import Connection, NoAnswer, request
from servers import Server, Target
from subject import ProtocolError
from test_bodies import CHUNKED, END, ORDER, chunks, post
from test_http_fuzz import SEED

TIMEOUT_S = 60
"""The timeout for a server that is delayed by other clients."""

PATIENT = [f"{name}_timeout=3600" for name in ("head", "body", "idle", "send")]
"""Time limits that no client exceeds, even if the tests are slow."""

BIG = bytes(range(251)) * 33_000
"""A file of 8 MB, in which no two pages are equal."""


class Reader:
    """Reads the content of a response piece by piece, and then the following response."""

    def __init__(self, connection: Connection) -> None:
        self.socket = connection.socket
        self.head, self.behind = b"", b""
        self.count = 0

    def take(self, expected: bytes) -> bool:
        """Reads the next piece. Returns False at the end."""
        piece = received = self.socket.recv(1 << 18)
        if b"\r\n\r\n" not in self.head:
            content_at = len(self.head)
            self.head += piece
            content_at = self.head.find(b"\r\n\r\n") + 4 - content_at
            piece = piece[content_at:] if b"\r\n\r\n" in self.head else b""
        due = expected[self.count:self.count + len(piece)]
        assert piece.startswith(due), f"a wrong byte at position {self.count} of the content"
        self.count += len(due)
        self.behind += piece[len(due):]
        return bool(received)


def must_get_in_turns(connections: list[Connection], expected: bytes, behind: tuple[bytes, ...]) -> None:
    """Reads from all connections in turns. Each turn reads the data that has arrived on a connection, so no connection
    pauses while others have their turn. The data after the content begins with one of `behind`."""
    readers = [Reader(connection) for connection in connections]
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader.socket, selectors.EVENT_READ, reader)
        while selector.get_map():
            events = selector.select(TIMEOUT_S)
            assert events, f"{len(selector.get_map())} of {len(readers)} readers receive no more data"
            for key, _ in events:
                if not key.data.take(expected):
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
    for reader in readers:
        assert reader.head.startswith(b"HTTP/1.1 200 ") and reader.count == len(expected), f"the content ended after {reader.count} bytes"
        assert reader.behind.startswith(behind), reader.behind[:200]


@pytest.fixture
def attacked(start: Callable[..., Server], target: Target, folder: Path) -> Callable[..., Server]:
    """Returns a function that starts a separate, patient server for a test, with a large file."""
    if not target.promises:
        pytest.skip("other servers do not guarantee a limit of their resources")
    (folder / "big.bin").write_bytes(BIG)
    return partial(start, *PATIENT)


def test_slow_clients(attacked: Callable[..., Server], size: Size) -> None:
    """Each client sends one byte at a time, and all are answered."""
    server = attacked()
    sent = [request(), post(CHUNKED, body=chunks(ORDER[:30], ORDER[30:]) + END), request("POST", "/api/echo", body=ORDER)]
    # The embedded server has 448 KiB for incomplete requests, and rejects further clients.
    room = 300 if server.target.name == "ada-embedded" else size.slow

    def attack() -> None:
        clients = [(server.connect(), sent[i % len(sent)][:-40], sent[i % len(sent)][-40:]) for i in range(size.slow)]
        for connection, head, _ in clients:
            connection.send(head)
        for at in range(40):
            for connection, _, tail in clients:
                connection.send(tail[at:at + 1])
            if at % 10 == 0:
                server.must_serve()
        statuses = [connection.answer().status for connection, _, _ in clients]
        for connection, _, _ in clients:
            connection.socket.close()
        answered = statuses.count(200) + statuses.count(400)
        assert answered >= min(room, size.slow) and answered + statuses.count(503) == size.slow

    must_withstand(server, attack)


def test_clients_that_leave(attacked: Callable[..., Server], size: Size) -> None:
    """Clients disconnect immediately, while they send, or before they read; with an end or a reset."""
    server = attacked()
    dice = random.Random(SEED)

    def attack() -> None:
        for i in range(size.leaving):
            connection = server.connect()
            data = dice.choice([b"", request(), request("GET", "/files/64k.bin") * 3, request("POST", "/api/echo", body=ORDER)])
            connection.send(data[:dice.randrange(len(data) + 1)])
            connection.reset() if dice.random() < 0.5 else connection.socket.close()
            if i % 50 == 0:
                server.must_serve()

    must_withstand(server, attack)


def test_slow_readers(attacked: Callable[..., Server], size: Size) -> None:
    """Clients read a large file piece by piece, after they have already sent the next request, and get the
    whole file."""
    server = attacked()

    def attack() -> None:
        readers = [server.connect(receive_buffer=4096).send(request("GET", "/files/big.bin") + request())
                   for _ in range(size.readers)]
        for _ in range(5):
            time.sleep(0.05)
            server.must_serve()
        for connection in readers:
            connection.end_sending()
        must_get_in_turns(readers, BIG, (b"HTTP/1.1 200 ", b"HTTP/1.1 503 "))

    must_withstand(server, attack)


def test_resets_in_the_middle_of_a_file(attacked: Callable[..., Server], size: Size) -> None:
    server = attacked()

    def attack() -> None:
        for i in range(size.resets):
            connection = server.connect(receive_buffer=4096).send(request("GET", "/files/big.bin"))
            connection.socket.recv(1 + i * 97 % 4000)
            connection.reset()

    must_withstand(server, attack)


def test_no_descriptors(attacked: Callable[..., Server]) -> None:
    """A server that may have 40 open files lets the other clients wait, without using CPU time."""
    server = attacked(prefix=("prlimit", "--nofile=40:40"))

    def attack() -> None:
        clients = [server.connect().send(request("GET", "/files/64k.bin")) for _ in range(100)]
        answered = 0
        for connection in clients:
            try:
                answered += connection.answer().status in (200, 503)
            except (NoAnswer, TimeoutError):
                pass
            connection.socket.close()
        assert answered >= 20

    must_withstand(server, attack)


def test_no_threads(attacked: Callable[..., Server], target: Target) -> None:
    """A server that cannot start all of its threads reports this, and stops the threads that it started."""
    if target.name == "ada-embedded":
        pytest.skip("this profile has only one thread")
    with pytest.raises(ProtocolError, match="error"):
        attacked("workers=64", prefix=("prlimit", f"--as={90 << 20}"))


def unfinished(body: int) -> bytes:
    """Returns a request whose content has this many bytes so far."""
    return request("POST", "/api/echo", "Content-Length: 65000") + b" " * body


def fill(server: Server) -> list[Connection]:
    """Fills the server's memory with clients that wait in the middle of their content, and returns the clients."""
    sent: list[Connection] = []
    while all(connection.is_open(0) for connection in sent):
        sent.append(server.connect().send(unfinished(60_000)))
        server.must_serve()
    server.subject.wait_until_idle(server.address[1])
    waiting = [connection for connection in sent if connection.is_open(0)]
    for connection in set(sent).difference(waiting):
        assert connection.answer("POST").status == 503
        connection.socket.close()
    return waiting


def test_no_waiting_memory(attacked: Callable[..., Server]) -> None:
    """When all memory for waiting requests is used, a client that needs more gets it, and the client with the
    most memory for the longest time gets 503. After these clients have left, as much memory is free as at
    first."""
    server = attacked(prefix=("taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))))  # one loop, one pool
    rooms = []

    def attack() -> None:
        waiting = fill(server)
        rooms.append(len(waiting))
        behind = request("GET", "/api", "X: " + "x" * 1000, "Connection: close")
        reader = server.connect(receive_buffer=4096).send(request("GET", "/files/big.bin") + behind[:600])
        server.must_serve()
        reader.send(behind[600:])
        must_get_in_turns([reader], BIG, (b"HTTP/1.1 200 ",))
        for connection in waiting:
            connection.reset()

    must_withstand(server, attack)
    assert rooms[0] == rooms[1] >= 7


EVERYTHING = [request(), request("GET", "/api/built?number=17"), request("GET", "/api/hello/Ada"), request("GET", "/files/64k.bin"),
              request("GET", "/nothing"), request("GET", "/api/built?number=x"), request("POST", "/api/echo", body=ORDER),
              request("POST", "/api/echo", body=ORDER[:-1]), request("POST", "/api", body=ORDER), b"GET /api HTTP/1.1\r\n\r\n"]


def test_no_memory(attacked: Callable[..., Server]) -> None:
    """A server that gets no more memory from the system answers everything as before."""
    server = attacked()

    def statuses() -> list[int]:
        result = []
        for sent in EVERYTHING:
            with server.connect() as connection:
                result.append(connection.send(sent).answer().status)
        return result

    def attack() -> None:
        for _ in range(20):
            assert statuses() == before

    for _ in range(50):
        before = statuses()
    pages = int(Path(f"/proc/{server.subject.pid}/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE")
    resource.prlimit(server.subject.pid, resource.RLIMIT_AS, (most, most))
    must_withstand(server, attack)


def test_stopped_and_continued(attacked: Callable[..., Server]) -> None:
    """The server is repeatedly stopped and continued by signals, under load."""
    server = attacked()

    def attack() -> None:
        clients = [server.connect() for _ in range(40)]
        for _ in range(5):
            for connection in clients:
                connection.send(request("GET", "/files/64k.bin") + request())
            os.kill(server.subject.pid, signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(server.subject.pid, signal.SIGCONT)
            for connection in clients:
                assert connection.answer().status == 200 and connection.answer().status == 200
        for connection in clients:
            connection.socket.close()

    must_withstand(server, attack)
