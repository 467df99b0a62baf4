# SPDX-License-Identifier: Apache-2.0
"""Attacks: slow clients, clients that leave, limits of the system, and requests at random beside Go's net/http. A server serves
on, and has no descriptor, thread or memory more at the end than at the beginning.

Sizes are for seconds. BENCHLAB_ATTACK=full takes 1,000 slow clients and 5,000 that leave; BENCHLAB_ATTACK_S=1800 compares with
Go for that long, from BENCHLAB_FUZZ_SEED on."""

import json
import os
import random
import re
import selectors
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import servers
from client import Answer, Connection, Malformed, NoAnswer, request
from servers import Server, Target
from subject import ProtocolError
from test_bodies import CHUNKED, END, ORDER, chunks, post
from test_connections import must_fall_to, resident
from test_http_fuzz import mutated

FULL = os.environ.get("BENCHLAB_ATTACK") == "full"
SLOW, LEAVING, READERS = (1000, 5000, 200) if FULL else (60, 300, 12)
ORACLE_S = float(os.environ.get("BENCHLAB_ATTACK_S", 3))
SEED = int(os.environ.get("BENCHLAB_FUZZ_SEED", 1))

PATIENCE_S = 60
"""With a server that others keep from its work."""

SPARE_BYTES = 1_000_000
"""So much may the resident memory vary by what the system reclaims or not."""

BIG = bytes(range(251)) * 33_000
"""8 MB, of which no two pages are alike."""


def threads(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.subject.pid}/task"))


class Reader:
    """Takes the content of an answer bit by bit, and then what is behind it."""

    def __init__(self, connection: Connection) -> None:
        self.socket = connection.socket
        self.head, self.behind = b"", b""
        self.count = 0

    def take(self, wanted: bytes) -> bool:
        """False at the end."""
        piece = received = self.socket.recv(1 << 18)
        if b"\r\n\r\n" not in self.head:
            content_at = len(self.head)
            self.head += piece
            content_at = self.head.find(b"\r\n\r\n") + 4 - content_at
            piece = piece[content_at:] if b"\r\n\r\n" in self.head else b""
        here = wanted[self.count:self.count + len(piece)]
        assert piece.startswith(here), f"another byte after {self.count}"
        self.count += len(here)
        self.behind += piece[len(here):]
        return bool(received)


def must_get_in_turns(connections: list[Connection], wanted: bytes) -> None:
    """Each takes what has come for it, until its end: nobody takes nothing for as long as the others need."""
    readers = [Reader(connection) for connection in connections]
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader.socket, selectors.EVENT_READ, reader)
        while selector.get_map():
            events = selector.select(PATIENCE_S)
            assert events, f"{len(selector.get_map())} of {len(readers)} readers get nothing more"
            for key, _ in events:
                if not key.data.take(wanted):
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
    for reader in readers:
        assert reader.head.startswith(b"HTTP/1.1 200 ") and reader.count == len(wanted), f"cut off after {reader.count} bytes"
        assert reader.behind[:12] in (b"HTTP/1.1 200", b"HTTP/1.1 503")


@pytest.fixture
def attacked(start: Callable[..., Server], folder: Path) -> Iterator[Server]:
    """A server of the test's own that must be afterwards as it was before."""
    (folder / "big.bin").write_bytes(BIG)
    server = start()
    if not server.promises:
        pytest.skip("what another server keeps is its own affair")
    for _ in range(50):
        server.must_serve()
    files, before = server.open_files, threads(server)
    yield server
    server.must_serve()
    must_fall_to(server, files)
    assert threads(server) == before
    assert server.is_usable


def test_slow_clients(attacked: Server) -> None:
    """Each sends a byte at a time, and all are answered."""
    sent = [request(), post(CHUNKED, body=chunks(ORDER[:30], ORDER[30:]) + END), request("POST", "/api/echo", body=ORDER)]
    clients = [(attacked.connect(), sent[i % len(sent)][:-40], sent[i % len(sent)][-40:]) for i in range(SLOW)]
    for connection, head, _ in clients:
        connection.send(head)
    for at in range(40):
        for connection, _, tail in clients:
            connection.send(tail[at:at + 1])
        if at % 10 == 0:
            attacked.must_serve()
    statuses = [connection.answer().status for connection, _, _ in clients]
    for connection, _, _ in clients:
        connection.socket.close()
    # The device has 448 KiB for requests that are not whole, and refuses who comes then
    room = 300 if attacked.target.name == "ada-embedded" else SLOW
    answered = statuses.count(200) + statuses.count(400)
    assert answered >= min(room, SLOW) and answered + statuses.count(503) == SLOW


def test_clients_that_leave(attacked: Server) -> None:
    """At once, in the middle of what they send, before they read; with an end or a reset."""
    dice = random.Random(SEED)
    memory = 0
    for i in range(LEAVING):
        connection = attacked.connect()
        whole = dice.choice([b"", request(), request("GET", "/files/64k.bin") * 3, request("POST", "/api/echo", body=ORDER)])
        connection.send(whole[:dice.randrange(len(whole) + 1)])
        connection.reset() if dice.random() < 0.5 else connection.socket.close()
        if i % 50 == 0:
            attacked.must_serve()
        if i == LEAVING // 2:
            memory = resident(attacked)
    attacked.must_serve()
    assert resident(attacked) < memory + SPARE_BYTES


def test_slow_readers(attacked: Server) -> None:
    """They take a large file bit by bit, with the next request sent already, and get all of it."""
    readers = [attacked.connect(receive_buffer=4096, timeout_s=20).send(request("GET", "/files/big.bin") + request())
               for _ in range(READERS)]
    for _ in range(5):
        time.sleep(0.05)
        attacked.must_serve()
    for connection in readers:
        connection.end_sending()
    must_get_in_turns(readers, BIG)


def test_resets_in_the_middle_of_a_file(attacked: Server) -> None:
    for i in range(READERS * 5):
        connection = attacked.connect(receive_buffer=4096).send(request("GET", "/files/big.bin"))
        connection.socket.recv(1 + i * 97 % 4000)
        connection.reset()
    attacked.must_serve()


def test_no_descriptors(start: Callable[..., Server], target: Target) -> None:
    """A server that may have 40 open files lets the others wait, and does not spin meanwhile."""
    if not target.promises:
        pytest.skip("what it does then is its own affair")
    server = start(prefix=("prlimit", "--nofile=40:40"))
    server.must_serve()
    before = server.open_files
    clients = [server.connect().send(request("GET", "/files/64k.bin")) for _ in range(100)]
    answered = 0
    for connection in clients:
        try:
            answered += connection.answer().status in (200, 503)
        except (NoAnswer, TimeoutError):
            pass
        connection.socket.close()
    assert answered >= 20
    server.must_serve()
    must_fall_to(server, before)


def test_no_threads(start: Callable[..., Server], target: Target) -> None:
    """A server that cannot have its threads says so, and ends what it began."""
    if target.name not in ("ada-server", "ada-rest"):
        pytest.skip("it has one thread")
    with pytest.raises(ProtocolError, match="error"):
        start("workers=64", prefix=("prlimit", f"--as={90 << 20}"))


def test_stopped_and_continued(attacked: Server) -> None:
    """By signals, under load, again and again."""
    clients = [attacked.connect() for _ in range(40)]
    for _ in range(5):
        for connection in clients:
            connection.send(request("GET", "/files/64k.bin") + request())
        os.kill(attacked.subject.pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(attacked.subject.pid, signal.SIGCONT)
        for connection in clients:
            assert connection.answer().status == 200 and connection.answer().status == 200
    for connection in clients:
        connection.socket.close()


# -- Go's net/http as the oracle --------------------------------------------------------------------


@pytest.fixture(scope="module")
def oracle(folder: Path) -> Iterator[Server]:
    go = {subject.name: subject for subject in servers.declared_subjects() if subject.experiment == "rest"}.get("go")
    if go is None or not (servers.ROOT / go.program[0]).exists():
        pytest.skip("the subject of Go is not built")
    server = servers.start(Target("go", go), folder)
    yield server
    server.close()


PATHS = ["/api", "/api/built?number=17", "/api/built?number=x", "/api/built?number=%31", "/api/built?a=b|c&number=9",
         "/api/built?q={x}&number=1", "/api/built?number=5&x=100%25", "/api/built?q=\xc3\xa9&number=3", "/api/hello/Ada%20B",
         "/api/hello/A%3CB", "/api/hello/A.B", "/files/64k.bin", "/files/one.bin", "/files/empty.bin", "/files/none", "/nothing", "/a|b",
         "http://localhost/api", "/files/a%20name.bin", "/files/100%25.bin"]
REFUSALS = (400, 414, 417, 431, 501, 505)
"""Of messages, whatever they are about."""

FIELDS = ["Accept: */*", "Accept: application/json", "X: y", "X:", "X: \t a b \t", "Cookie: a=b; c=d", "User-Agent: " + "u" * 500,
          "Accept-Encoding: identity", "Connection: keep-alive", "Range: bytes=0-0", "Range: bytes=5-", "Range: bytes=-3",
          "Range: bytes=99999999-", "If-Modified-Since: Wed, 06 Nov 2019 08:49:37 GMT",
          "If-Modified-Since: Wed, 06 Nov 2199 08:49:37 GMT", "If-Unmodified-Since: Wed, 06 Nov 2019 08:49:37 GMT"]


def well_formed(dice: random.Random) -> bytes:
    """What the RFCs leave servers no choice about."""
    fields = list({field.split(":")[0]: field.encode("latin-1") for field in dice.sample(FIELDS, dice.randrange(4))}.values())
    if dice.random() < 0.3:
        body = dice.choice((ORDER, ORDER[:-1], b"", b"[", b"{}x"))
        if dice.random() < 0.5:
            cut = dice.randrange(1, len(body)) if len(body) > 1 else 0
            return post(CHUNKED, *fields, body=chunks(*[piece for piece in (body[:cut], body[cut:]) if piece]) + END)
        return post(b"Content-Length: %d" % len(body), *fields, body=body)
    method, path = dice.choice(("GET", "GET", "HEAD")), dice.choice(PATHS)
    if method == "HEAD" or "empty" in path:  # Go takes ranges of HEAD (not so RFC 9110 14.2), and none of an empty file
        fields = [field for field in fields if not field.startswith(b"Range")]
    lines = [f"{method} {path} HTTP/1.1".encode("latin-1"), b"Host: localhost", *fields]
    return b"\r\n".join([*lines, b"", b""])


def first_answer(server: Server, sent: bytes) -> Answer | None:
    """None if the server closes without one, as it does to what is not a whole request."""
    method = sent.split(b" ", 1)[0].decode("latin-1")
    with server.connect() as connection:
        connection.send(sent)
        connection.end_sending()
        try:
            return connection.answer(method if method in ("GET", "HEAD", "POST") else "GET")
        except NoAnswer:
            return None
        except Malformed:
            if server.promises:
                raise
            return None  # Go answers 1.0 with 1.0


def content(answer: Answer) -> object:
    """JSON by its value: how it is written is a server's affair."""
    if answer.status == 200 and (answer.get("Content-Type") or "").startswith("application/json") and answer.body:
        return json.loads(answer.body)
    return answer.body if answer.status in (200, 206) else b""


def test_beside_go(attacked: Server, oracle: Server) -> None:
    """The same status class and the same content; and what is damaged is never taken here if Go refuses it."""
    dice = random.Random(SEED)
    ends = time.monotonic() + ORACLE_S
    compared = 0
    while time.monotonic() < ends:
        sent = well_formed(dice)
        ours, theirs = first_answer(attacked, sent), first_answer(oracle, sent)
        assert ours is not None and theirs is not None, sent
        assert ours.status // 100 == theirs.status // 100, f"{ours.status}, Go {theirs.status}: {sent!r}"
        assert content(ours) == content(theirs), sent
        damaged = mutated(sent, dice)
        # Go takes no empty line before a request, as servers should (RFC 9112, 2.2)
        ours, theirs = first_answer(attacked, damaged), first_answer(oracle, re.sub(rb"^(\r\n)+", b"", damaged))
        if ours is not None and ours.status < 300 and theirs is not None:
            assert theirs.status not in REFUSALS, f"{ours.status}, Go {theirs.status}: {damaged!r}"
        compared += 1
    assert compared > 10
