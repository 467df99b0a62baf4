# SPDX-License-Identifier: Apache-2.0
"""Streamed content in the servers of appserver/ada: any length in constant memory, limits, and clients that
are slow, disconnect, or send invalid content."""

import os
import random
import re
import signal
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from attack import Size
from client import Connection, NoAnswer, Reset, request
from test_services import PROGRAMS, Program

PATTERN = bytes(range(251))
WITHIN_S = 60
"""The timeout in seconds for events that must happen eventually, on a busy machine."""
PATIENT_S = 20
"""A limit for clients in seconds that is longer than a client may pause on a busy machine."""


def start(profile: str, seconds: float) -> Program:
    return Program("streams_server", profile, str(seconds))


@pytest.fixture(scope="module", params=["server", "embedded"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    program = start(request.param, 60)
    yield program
    program.end()
    program.close()


@pytest.fixture(params=["server", "embedded"])
def impatient(request: pytest.FixtureRequest) -> Iterator[Program]:
    """Starts a server whose clients have half a second."""
    program = start(request.param, 0.5)
    yield program
    none_is_open(program)
    program.end()
    program.close()


@pytest.fixture(autouse=True)
def all_closed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever happens to a client, the receivers and sources opened for it are closed."""
    program = request.getfixturevalue("program") if "program" in request.fixturenames else None
    yield
    if program is not None:
        none_is_open(program)


def wait_until(condition: Callable[[], bool], event: str) -> None:
    limit = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < limit, event
        time.sleep(0.01)


def none_is_open(program: Program) -> None:
    wait_until(lambda: program.get("/open").body == b"0", "receivers or sources remain open")


def counted(content: bytes) -> bytes:
    return b"%d %d" % (len(content), zlib.crc32(content))


def head(path: str, *fields: str, version: str = "1.1") -> bytes:
    return "\r\n".join([f"POST {path} HTTP/{version}", "Host: h", *fields, "", ""]).encode()


def chunked(content: bytes, size: int, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    pieces = [content[at:at + size] for at in range(0, len(content), size)]
    return b"".join(b"%x%b\r\n%b\r\n" % (len(piece), extension, piece) for piece in pieces) + b"0\r\n" + trailer + b"\r\n"


CHUNKS = "Transfer-Encoding: chunked"


def some(length: int) -> bytes:
    return random.Random(length).randbytes(length)


# Uploads

@pytest.mark.parametrize("length", [1, 2, 1_000, 16_384, 65_535, 65_536, 65_537, 100_000, 3_000_000])
@pytest.mark.parametrize("form", ["length", "chunks"])
def test_content_of_any_length(program: Program, length: int, form: str) -> None:
    content = some(length)
    sent = (head("/upload/count", f"Content-Length: {length}") + content if form == "length"
            else head("/upload/count", CHUNKS) + chunked(content, 5_000))
    with program.connect() as connection:
        for _ in range(2):
            assert connection.send(sent).answer("POST").body == counted(content)


def test_content_that_is_empty(program: Program) -> None:
    """Without content there is nothing to plan; the last chunk has no content either."""
    with program.connect() as connection:
        assert connection.send(head("/upload/count", "Content-Length: 0")).answer("POST").status == 404
        assert connection.send(head("/upload/count", CHUNKS) + b"0\r\n\r\n").answer("POST").body == counted(b"")


@pytest.mark.parametrize("size", [1, 2, 3, 15, 16, 17, 255, 256, 65_536])
def test_chunks_of_any_size(program: Program, size: int) -> None:
    content = some(20_000)
    with program.connect() as connection:
        for extension, trailer in ((b"", b""), (b" ;a=b", b"X: y\r\n")):
            if extension and size < 100:
                continue  # more of them than the parser accepts
            connection.send(head("/upload/count", CHUNKS) + chunked(content, size, extension, trailer))
            assert connection.answer("POST").body == counted(content)


@pytest.mark.parametrize("form", ["length", "chunks"])
def test_split_at_each_byte(program: Program, form: str) -> None:
    content = some(40)
    sent = (head("/upload/count", "Content-Length: 40") + content if form == "length"
            else head("/upload/count", CHUNKS) + chunked(content, 16, b";x", b"A: b\r\n")) + request("GET", "/open")
    with program.connect() as connection:
        for cut in range(1, len(sent)):
            connection.send(sent[:cut])
            time.sleep(0.002)
            connection.send(sent[cut:])
            assert connection.answer("POST").body == counted(content), cut
            assert connection.answer().body == b"0", cut
        connection.send_in_pieces(sent[at:at + 1] for at in range(len(sent)))
        assert connection.answer("POST").body == counted(content)
        assert connection.answer().body == b"0"


def test_a_path_that_is_encoded(program: Program) -> None:
    """The path is decoded for the plan, and the header is parsed again after the content."""
    for target in ("/%75ploa%64/count", "http://h/%75pload/c%6funt?%41=b"):
        with program.connect() as connection:
            sent = head(target, "Content-Length: 100000", "X: y") + some(100_000)
            assert connection.send(sent + sent).answer("POST").body == counted(some(100_000))
            assert connection.answer("POST").body == counted(some(100_000))


def test_many_behind_one_another(program: Program) -> None:
    contents = [some(length) for length in (1, 100_000, 7, 30_000, 2)]
    sent = b"".join(head("/upload/count", f"Content-Length: {len(content)}") + content + request("GET", "/open")
                    + head("/upload/count", CHUNKS) + chunked(content, 999) for content in contents)
    with program.connect() as connection:
        connection.send(sent)
        for content in contents:
            assert connection.answer("POST").body == counted(content)
            assert connection.answer().body == b"0"
            assert connection.answer("POST").body == counted(content)


def resident(program: Program, field: str) -> int:
    """Returns VmHWM or VmRSS, in bytes."""
    status = Path(f"/proc/{program.process.pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) * 1024


@pytest.mark.parametrize("form", ["length", "chunks"])
def test_much_in_constant_memory(program: Program, form: str, size: Size) -> None:
    """All memory that content needs is allocated after the first megabytes."""
    piece = some(10**6)
    sent = piece if form == "length" else b"%x\r\n%b\r\n" % (len(piece), piece)
    check, least = 0, 0
    with program.connect() as connection:
        connection.socket.settimeout(WITHIN_S)
        connection.send(head("/upload/count", CHUNKS if form == "chunks" else f"Content-Length: {size.streamed}"))
        for number in range(size.streamed // len(piece)):
            connection.send(sent)
            check = zlib.crc32(piece, check)
            if number == 10:
                least = resident(program, "VmHWM")
        connection.send(b"0\r\n\r\n" if form == "chunks" else b"")
        assert connection.answer("POST").body == b"%d %d" % (size.streamed, check)
    assert resident(program, "VmHWM") - least < 2**20


@pytest.mark.parametrize("form", ["length", "chunks"])
def test_the_limit_of_a_route(program: Program, form: str) -> None:
    def sent(length: int) -> bytes:
        content = bytes(length)
        return (head("/upload/short", f"Content-Length: {length}") + content if form == "length"
                else head("/upload/short", CHUNKS) + chunked(content, 300))
    with program.connect() as connection:
        assert connection.send(sent(1_000)).answer("POST").body == counted(bytes(1_000))
        assert connection.send(sent(1_001)).answer("POST").status == 413
        connection.must_end()


@pytest.mark.parametrize("length", [2**32 + 1, 2**63 - 1, 2**63, 10**30])
def test_more_than_any_limit(program: Program, length: int) -> None:
    for sent in (head("/upload/count", f"Content-Length: {length}"), head("/upload/count", CHUNKS) + b"%x\r\n" % length):
        with program.connect() as connection:
            assert connection.send(sent).answer("POST").status in (413, 400)
            connection.must_end()


@pytest.mark.parametrize("form", ["length", "chunks"])
def test_buffered_content_has_a_limit_of_its_own(program: Program, form: str) -> None:
    def sent(length: int) -> bytes:
        content = b"x" * length
        return (head("/upload/buffered", f"Content-Length: {length}") + content if form == "length"
                else head("/upload/buffered", CHUNKS) + chunked(content, 30))
    with program.connect() as connection:
        assert connection.send(sent(100)).answer("POST").body == b"x" * 100
        connection.send_in_pieces([sent(100)[:200], sent(100)[200:]])
        assert connection.answer("POST").body == b"x" * 100
        assert connection.send(sent(101)).answer("POST").status == 413
        connection.must_end()


@pytest.mark.parametrize("path, status", [("/upload/refused", 401), ("/upload/plan", 500)])
def test_refused_before_it_is_sent(program: Program, path: str, status: int) -> None:
    for field in ("Content-Length: 1000000000", CHUNKS):
        for expect in ([], ["Expect: 100-continue"]):
            with program.connect() as connection:
                answer = connection.send(head(path, field, *expect)).answer("POST")
                assert (answer.status, answer.interim, answer.closes) == (status, [], True)
                connection.must_end()


def test_a_client_that_waits_to_be_told(program: Program) -> None:
    content = some(100_000)
    for fields, body in (([f"Content-Length: {len(content)}"], content), ([CHUNKS], chunked(content, 10_000))):
        with program.connect() as connection:
            connection.send(head("/upload/count", *fields, "Expect: 100-continue"))
            assert connection.interim() == 100
            assert connection.send(body).answer("POST").body == counted(content)
    with program.connect() as connection:
        connection.send(head("/upload/short", "Content-Length: 1001", "Expect: 100-continue"))
        answer = connection.answer("POST")
        assert (answer.status, answer.interim) == (413, [])


def test_enough_is_enough(program: Program) -> None:
    """When the receiver has enough, the response arrives although more data is on its way."""
    with program.connect() as connection:
        connection.send(head("/upload/enough", "Content-Length: 1000000000") + b"x" * 10)
        answer = connection.answer("POST")
        assert answer.body == counted(b"x" * 10) and answer.closes
        connection.must_end()


def test_an_exception_of_a_receiver(program: Program) -> None:
    with program.connect() as connection:
        connection.send(head("/upload/raise", "Content-Length: 1000"))
        connection.send(b"1234")
        answer = connection.send(b"!").answer("POST")
        assert answer.status == 500 and answer.closes
        connection.must_end()


@pytest.mark.parametrize("damage", [b"x\r\n", b"5\r\n123456\r\n", b"5\n12345\r\n", b"-1\r\n", b"5 \r\n", b"1" * 300, b"\r\n",
                                    b"5\r\n12345\r\n0\r\nX : y\r\n\r\n", b"5\r\n12345\r\n0\r\n" + b"A: b\r\n" * 2_000])
def test_chunks_that_are_none(program: Program, damage: bytes) -> None:
    for begin in (b"", b"5\r\n12345\r\n"):
        with program.connect() as connection:
            assert connection.send(head("/upload/count", CHUNKS) + begin + damage).answer("POST").status == 400
            connection.must_end()


def test_uploads_at_a_time(program: Program) -> None:
    """Other clients are served during more endless uploads than there are workers."""
    clients = [program.connect() for _ in range(17)]
    try:
        for client in clients[:16]:
            client.send(head("/upload/count", "Content-Length: 1000") + b"x")
        wait_until(lambda: program.get("/open").body == b"16", "16 are not open")
        assert clients[16].send(head("/upload/count", "Content-Length: 1000") + b"x").answer("POST").status == 503
        assert program.get("/count").status == 200
        for client in clients[:8]:
            assert client.send(b"x" * 999).answer("POST").body == counted(b"x" * 1000)
        for client in clients[8:16]:
            client.reset()
    finally:
        for client in clients:
            client.socket.close()


@pytest.mark.parametrize("cut", [0, 1, 5_000])
def test_a_client_that_goes(program: Program, cut: int) -> None:
    for form in ("Content-Length: 100000", CHUNKS):
        for ends in (Connection.end_sending, Connection.reset):
            with program.connect() as connection:
                connection.send(head("/upload/count", form) + (b"186a0\r\n" if form == CHUNKS else b"") + bytes(cut))
                ends(connection)


@pytest.mark.parametrize("profile", ["server", "embedded"])
def test_a_server_that_stops(profile: str) -> None:
    """Uploads in progress end with the server, if they are quick; clients that are not quick lose their
    connection."""
    another = start(profile, 60)
    try:
        with another.connect() as quick, another.connect() as slow:
            for client in (quick, slow):
                client.send(head("/upload/count", "Content-Length: 10") + b"12345")
            wait_until(lambda: another.get("/open").body == b"2", "the two receivers are not open")
            another.process.stdin.close()
            answer = quick.send(b"67890").answer("POST")
            assert answer.body == counted(b"1234567890")
            slow.socket.settimeout(WITHIN_S)
            with pytest.raises(NoAnswer):
                slow.answer("POST")
        assert another.process.wait(timeout=WITHIN_S) == 0
    finally:
        another.close()


def test_content_that_dribbles(impatient: Program) -> None:
    """Content below the minimum rate gets status 408. Other clients are not delayed."""
    with impatient.connect() as connection:
        connection.socket.settimeout(WITHIN_S)
        connection.send(head("/upload/count", "Content-Length: 1000000"))
        limit = time.monotonic() + WITHIN_S
        while connection.is_open(within_s=0.02):
            assert time.monotonic() < limit
            connection.send(b"x")
            assert impatient.get("/count").status == 200
        assert connection.answer("POST").status == 408


def test_content_that_stops(impatient: Program) -> None:
    for field, begin in (("Content-Length: 1000", b"x"), (CHUNKS, b"5\r\n12"), (CHUNKS, b"")):
        with impatient.connect() as connection:
            connection.socket.settimeout(WITHIN_S)
            assert connection.send(head("/upload/count", field) + begin).answer("POST").status == 408


@pytest.mark.parametrize("in_one_packet", [True, False])
def test_content_that_stops_after_much(impatient: Program, in_one_packet: bool) -> None:
    """Data that arrived fast earns no credit beyond the limit: 4 MB at the minimum rate would be two hours."""
    with impatient.connect() as connection:
        connection.socket.settimeout(WITHIN_S)
        begin, more = head("/upload/count", "Content-Length: 1000000000"), bytes(4_000_000)
        if in_one_packet:
            connection.send(begin + more)
        else:
            connection.send(begin)
            time.sleep(0.2)
            connection.send(more)
        assert connection.answer("POST").status == 408


def test_the_time_of_the_receiver_does_not_count_for_the_client(impatient: Program) -> None:
    """All content waits in the system's buffers, and the receiver takes longer than the limit: 0.1 s for 64 KiB or less."""
    content = bytes(450_000)
    sent = head("/upload/slow", f"Content-Length: {len(content)}") + content
    with impatient.connect() as connection:
        os.kill(impatient.process.pid, signal.SIGSTOP)
        try:
            connection.socket.setblocking(False)
            assert connection.socket.send(sent) == len(sent)
        finally:
            os.kill(impatient.process.pid, signal.SIGCONT)
        began = time.monotonic()
        connection.socket.settimeout(WITHIN_S)
        assert connection.answer("POST").body == counted(content)
        assert time.monotonic() - began > 0.5, "the transfer was shorter than the time limit"


def test_transfers_that_last_longer_than_the_limit() -> None:
    """A client that is fast enough is served, however long it takes. Tests all transfers at the same time, because the
    limit must be longer than the tests may pause on a busy machine."""
    programs = [start(profile, PATIENT_S) for profile in ("server", "embedded")]
    try:
        with ThreadPoolExecutor(2 * len(programs)) as pool:
            for transfer in [pool.submit(transfer, program) for transfer in (upload_steadily, download_steadily)
                             for program in programs]:
                assert transfer.result() > PATIENT_S, "the transfer was shorter than the time limit"
        for program in programs:
            none_is_open(program)
            assert program.end() == 0
    finally:
        for program in programs:
            program.close()


def upload_steadily(program: Program) -> float:
    """Returns the duration in seconds."""
    pieces = int(PATIENT_S * 11)
    with program.connect() as connection:
        began = time.monotonic()
        connection.send(head("/upload/count", f"Content-Length: {pieces * 50_000}"))
        for _ in range(pieces):
            connection.send(bytes(50_000))
            time.sleep(0.1)
        assert connection.answer("POST").body == counted(bytes(pieces * 50_000))
        return time.monotonic() - began


def download_steadily(program: Program) -> float:
    """Returns the duration in seconds."""
    with Connection(program.addresses[0], receive_buffer=4_096) as connection:
        connection.send(request("GET", "/stream?size=100000000"))
        began, last = time.monotonic(), b""
        while not last.endswith(b"\r\n0\r\n\r\n"):
            assert (read := connection.socket.recv(1_000_000)), "the server closed the connection"
            last = (last + read)[-10:]
            if time.monotonic() - began < PATIENT_S * 1.1:
                time.sleep(0.05)
        return time.monotonic() - began


def test_damaged_uploads(program: Program) -> None:
    """Uploads that are cut and changed anywhere: there is a response or an end, and the server continues to
    serve."""
    chance = random.Random(20261123)
    for _ in range(300):
        content = some(chance.randrange(1, 3_000))
        body = (chunked(content, chance.randrange(1, 500), b";e", b"T: u\r\n") if chance.random() < 0.7 else content)
        sent = bytearray(head("/upload/count", CHUNKS if body is not content else f"Content-Length: {len(content)}") + body)
        for _ in range(chance.randrange(3)):
            sent[chance.randrange(len(sent))] = chance.randrange(256)
        del sent[chance.randrange(len(sent) // 2, len(sent) + 1):]
        with program.connect() as connection:
            place = chance.randrange(len(sent) + 1)
            connection.send(bytes(sent[:place])).send(bytes(sent[place:]))
            connection.end_sending()
            try:
                received = connection.everything()
            except Reset:
                continue
            assert received == b"" or received.startswith(b"HTTP/1.1 ")
    assert program.get("/count").status == 200


# Answers

def pattern(length: int) -> bytes:
    return (PATTERN * (length // len(PATTERN) + 1))[:length]


@pytest.mark.parametrize("length", [0, 1, 1_000, 65_536, 1_000_000])
@pytest.mark.parametrize("piece", [1, 7, 1_000, 10**6])
def test_an_answer_in_chunks(program: Program, length: int, piece: int) -> None:
    if length // piece > 100_000:
        return
    with program.connect() as connection:
        connection.send(request("GET", f"/stream?size={length}&piece={piece}") * 2 + request("GET", "/count"))
        for _ in range(2):
            answer = connection.answer()
            assert answer.body == pattern(length)
            assert answer.get("Transfer-Encoding") == "chunked"
        assert connection.answer().status == 200


@pytest.mark.parametrize("length", [0, 1, 100_000, 1_000_000])
def test_an_answer_with_a_length(program: Program, length: int) -> None:
    with program.connect() as connection:
        connection.send(request("GET", f"/stream?size={length}&counted={length}") * 2 + request("GET", "/count"))
        for _ in range(2):
            answer = connection.answer()
            assert answer.body == pattern(length)
            assert (answer.get("Content-Length"), answer.get("Transfer-Encoding")) == (str(length), None)
        assert connection.answer().status == 200


def test_what_a_source_gives_beyond_its_length_is_not_sent(program: Program) -> None:
    with program.connect() as connection:
        connection.send(request("GET", "/stream?size=100000&counted=50000") + request("GET", "/count"))
        assert connection.answer().body == pattern(50_000)
        assert connection.answer().status == 200


def test_an_old_client(program: Program) -> None:
    """The end of the connection is the end of the response, even if the client wants to keep the connection
    open."""
    with program.connect() as connection:
        answer = connection.send(request("GET", "/stream?size=100000", "Connection: keep-alive", version="1.0")).answer(
            version="1.0")
        assert answer.body == pattern(100_000)
        assert answer.get("Transfer-Encoding") is None and answer.get("Content-Length") is None and answer.closes
    with program.connect() as connection:
        for _ in range(2):
            connection.send(request("GET", "/stream?size=9&counted=9", "Connection: keep-alive", version="1.0"))
            answer = connection.answer(version="1.0")
            assert answer.body == pattern(9) and answer.get("Connection") == "keep-alive"


def test_head_of_a_stream(program: Program) -> None:
    with program.connect() as connection:
        for query in ("size=100000", "size=100000&counted=100000", "size=5&raise=0"):
            connection.send(request("HEAD", f"/stream?{query}"))
            answer = connection.answer("HEAD")
            assert answer.status == 200 and not answer.body
        assert connection.send(request("GET", "/count")).answer().status == 200


@pytest.mark.parametrize("query", ["size=100000&raise=50000&piece=1000", "size=5&raise=0", "size=1000&counted=1001",
                                   "size=300000&raise=200000&counted=300000", "size=0&counted=1"])
def test_an_answer_that_fails_is_cut_off(program: Program, query: str) -> None:
    """The client, even an HTTP/1.0 client, can see that the response is incomplete."""
    for version in ("1.1", "1.0"):
        with program.connect() as connection, pytest.raises(NoAnswer):
            connection.send(request("GET", f"/stream?{query}", version=version)).answer(version=version)


def test_much_of_an_answer(program: Program, size: Size) -> None:
    with program.connect() as connection:
        connection.socket.settimeout(WITHIN_S)
        connection.send(request("GET", f"/stream?size={size.streamed}&counted={size.streamed}"))
        received, least = 0, 0
        while received < size.streamed:
            received += len(connection.socket.recv(1_000_000))
            if not least and received > 10**7:
                least = resident(program, "VmHWM")
    assert resident(program, "VmHWM") - least < 2**20


def test_a_client_that_goes_before_the_end(program: Program) -> None:
    for _ in range(20):
        with program.connect() as connection:
            connection.send(request("GET", "/stream?size=1000000000")).socket.recv(1)
            connection.reset()


def test_clients_that_do_not_read(program: Program) -> None:
    """As many clients as there are sources: other clients are served in the meantime, and these when they
    read."""
    clients = [Connection(program.addresses[0], receive_buffer=4_096) for _ in range(16)]
    try:
        for client in clients:
            client.send(request("GET", "/stream?size=10000000"))
        wait_until(lambda: program.get("/open").body == b"16", "16 are not open")
        assert program.get("/stream?size=1").status == 503
        clients[0].socket.settimeout(WITHIN_S)
        assert clients[0].answer().body == pattern(10_000_000)
        assert program.get("/stream?size=1").body == pattern(1)
    finally:
        for client in clients:
            client.socket.close()


def test_an_answer_that_is_read_slowly(impatient: Program) -> None:
    """A rate below the minimum ends the connection."""
    with Connection(impatient.addresses[0], receive_buffer=4_096) as slow:
        slow.send(request("GET", "/stream?size=100000000"))
        wait_until(lambda: impatient.get("/open").body == b"1", "the source is not open")
        wait_until(lambda: impatient.get("/open").body == b"0", "the slow client keeps the source open")


def test_the_example() -> None:
    """appserver/ada/tests/http/upload_server.adb, which allocates receivers and sources on the heap."""
    process = subprocess.Popen([PROGRAMS / "upload_server", "0"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        host, port = process.stdout.readline().strip().removeprefix("http://").split(":")
        with Connection((host, int(port))) as connection:
            content = b"line\n" * 100_000
            fields = "Authorization: Bearer of a token", f"Content-Length: {len(content)}"
            connection.send(head("/upload", *fields).replace(b"POST", b"PUT") + content)
            assert connection.answer("PUT").body == b"500000 bytes, lines: 100000"
            lines = connection.send(request("GET", "/numbers")).answer().body.split()
            assert lines == [b"%d" % number for number in range(1, 1_000_001)]
            answer = connection.send(request("PUT", "/upload", "Content-Length: 1000000000")).answer("PUT")
            assert answer.status == 401 and answer.get("WWW-Authenticate") == "Bearer"
        with Connection((host, int(port))) as connection:
            assert connection.send(head("/else", "Content-Length: 1001")).answer("POST").status == 413
        process.stdin.close()
        assert process.wait(timeout=WITHIN_S) == 0
    finally:
        process.kill()
        process.wait()
