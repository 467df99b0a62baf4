# SPDX-License-Identifier: Apache-2.0
"""Server-sent events and WebSocket connections over TLS, of the server in appserver/ada. A TLS library buffers input and
retries output, so these tests vary where records and messages end, and which side is slow."""

import asyncio
import json
import random
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import websockets
from websockets.asyncio.client import connect

import certificates
from client import TIMEOUT_S, request
from databases import eventually
from test_events import Event, Stream, broadcast, streams
from test_services import Program
from test_tls import VERSIONS, trusting
from test_websockets import state, stop
from websocket import BINARY, PING, PONG, TEXT, Frame, WebSocket, close_frame, frame

LIMIT = 1 << 20
"""The maximum length of messages."""

RECORD = 16_384
"""The maximum length of the content of a TLS record (RFC 8446, 5.1)."""


class Channels(Program):
    """A running channel_server, whose second listener has TLS."""

    def __init__(self, folder: Path, **settings: object) -> None:
        settings = {"content": LIMIT, "queue": 4 * LIMIT, **settings}
        super().__init__("channel_server", f"tls={folder}", *(f"{name}={value}" for name, value in settings.items()), ports=2)
        self.certificate = folder / "first.pem"

    def socket(self, path: str = "/socket", *fields: str, version: ssl.TLSVersion | None = None,
               receive_buffer: int | None = None, early: bytes = b"") -> WebSocket:
        return WebSocket(self.addresses[1], path, *fields, context=trusting(version), receive_buffer=receive_buffer, early=early)

    def stream(self, path: str = "/events", *fields: str, version: str = "1.1", receive_buffer: int | None = None) -> Stream:
        return Stream(self.addresses[1], path, *fields, version=version, context=trusting(), receive_buffer=receive_buffer)

    def members(self) -> int:
        """Returns the number of sockets in the room."""
        return int(self.get("/counts").body.split()[1])


Run = Callable[..., Channels]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    certificates.make_own(folder, "first", "first.example", "localhost")
    return folder


@pytest.fixture
def run(folder: Path) -> Iterator[Run]:
    """Returns a function that starts a server. At the end, servers must stop without an error."""
    started: list[Channels] = []

    def start(**settings: object) -> Channels:
        started.append(Channels(folder, **settings))
        return started[-1]

    yield start
    for program in started:
        status = program.end() if program.process.poll() is None else program.process.returncode
        program.close()
        assert status == 0


@pytest.fixture(scope="module", params=[1, 4], ids=["one worker", "four workers"])
def program(request: pytest.FixtureRequest, folder: Path) -> Iterator[Channels]:
    program = Channels(folder, workers=request.param)
    yield program
    status = program.end()
    program.close()
    assert status == 0


def content(size: int) -> bytes:
    return random.Random(size).randbytes(size)


# WebSocket

@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [0, 1, 125, 126, 4_096, RECORD - 8, RECORD - 1, RECORD, RECORD + 1, 65_536, 300_000, LIMIT])
def test_echo(program: Channels, version: ssl.TLSVersion, size: int) -> None:
    with program.socket(version=version) as client:
        assert client.socket.version() == version.name.replace("_", ".")
        for _ in range(3):
            client.send(frame(BINARY, content(size)))
            assert client.receive() == Frame(BINARY, content(size))
        client.close()


@pytest.mark.parametrize("chop", [1, 7, 1_000, RECORD - 1])
def test_frames_end_anywhere_in_records(program: Channels, chop: int) -> None:
    """Every piece is a record."""
    size = 300 if chop < 10 else 100_000
    with program.socket() as client:
        client.send(*(frame(BINARY, content(size + index)) for index in range(3)), chop=chop)
        assert [client.receive().payload for _ in range(3)] == [content(size + index) for index in range(3)]
        client.close()


@pytest.mark.parametrize("path", ["/socket", "/socket/slow", "/socket/own"])
def test_messages_in_one_record(program: Channels, path: str) -> None:
    """The socket has no event for messages that the TLS library has already read."""
    with program.socket(path) as client:
        texts = [f"message {index}".encode() for index in range(40)]
        client.send(b"".join(frame(TEXT, text) for text in texts))
        assert [client.receive() for _ in texts] == [Frame(TEXT, text) for text in texts]
        client.close()


@pytest.mark.parametrize("size", [10, RECORD, 200_000])
def test_frames_behind_the_handshake(program: Channels, size: int) -> None:
    """The first frames arrive with the request that opens the channel."""
    sent = [content(size), b"second", b""]
    with program.socket("/socket/hello", early=b"".join(frame(BINARY, each) for each in sent)) as client:
        assert client.receive() == Frame(TEXT, b"hello")
        assert [client.receive().payload for _ in sent] == sent
        client.close()


def test_pings(program: Channels) -> None:
    with program.socket() as client:
        client.send(b"".join(frame(PING, b"%d" % index) for index in range(100)))
        assert [client.receive() for _ in range(100)] == [Frame(PONG, b"%d" % index) for index in range(100)]
        client.close()


def test_keep_alive_pings(run: Run) -> None:
    program = run(keep_alive=0.5, silence=3)
    with program.socket() as client, program.socket() as deaf:
        for _ in range(3):
            ping = client.receive()
            assert ping.opcode == PING
            client.send(frame(PONG, ping.payload))
        client.text("still here")
        while (received := client.receive()).opcode == PING:
            client.send(frame(PONG, received.payload))
        assert received == Frame(TEXT, b"still here")
        # The connection of a client that does not respond is reset.
        assert deaf.receive().opcode == PING
        with pytest.raises((ConnectionResetError, ssl.SSLEOFError)):
            deaf.socket.recv(100)


@pytest.mark.parametrize("path, message", [("/socket/flood", b"x" * 1_000), ("/events/flood", b"data: " + b"x" * 1_000)])
def test_a_slow_client_receives_everything(run: Run, path: str, message: bytes) -> None:
    """Output for which the socket has no room is retried with the same bytes."""
    program = run(queue=3_000_000)
    with ExitStack() as stack:
        if path == "/socket/flood":
            client = stack.enter_context(program.socket(path, receive_buffer=4_096))
            assert eventually(lambda: state(program)[-1] == "FULL")
            count = int(state(program)[-2])
            time.sleep(0.2)
            assert all(client.receive() == Frame(TEXT, message) for _ in range(count))
            client.text("the end")
            assert client.receive() == Frame(TEXT, b"the end")
            client.close()
        else:
            stream = stack.enter_context(program.stream(path, receive_buffer=4_096))
            assert eventually(lambda: state(program)[-1] == "FULL")
            count = int(state(program)[-2])
            time.sleep(0.2)
            assert stream.events(count) == [Event("message", "x" * 1_000, "")] * count
        assert count > 2_000


@pytest.mark.parametrize("version", VERSIONS)
def test_messages_that_arrive_while_others_are_retried(run: Run, version: ssl.TLSVersion) -> None:
    """Other tasks lengthen the queue of a client that reads slowly, in small pieces and in large ones. The client begins to
    read when the socket has been full for long."""
    program = run(workers=4, queue=16 * LIMIT)
    chance = random.Random(7)
    texts = [f"{index} ".encode() + chance.randbytes(chance.choice([1, 100, 10_000])).hex().encode() for index in range(1_200)]
    is_full = threading.Event()

    def tell() -> None:
        with program.connect() as connection:
            for index, text in enumerate(texts):
                assert connection.send(request("POST", "/tell", body=text)).answer("POST").status == 204
                if index == 900:
                    is_full.set()

    with program.socket("/socket/room", version=version, receive_buffer=4_096) as slow, ThreadPoolExecutor(1) as pool:
        assert eventually(lambda: program.members() == 1)
        telling = pool.submit(tell)
        assert is_full.wait(TIMEOUT_S)
        assert all(slow.receive() == Frame(TEXT, text) for text in texts)
        telling.result()
        slow.close()


def test_broadcast_with_and_without_tls(run: Run) -> None:
    program = run(workers=4)
    with ExitStack() as stack:
        clients = [stack.enter_context(program.socket("/socket/room", version=VERSIONS[index % 2])) for index in range(50)]
        clients += [stack.enter_context(WebSocket(program.addresses[0], "/socket/room")) for _ in range(50)]
        assert eventually(lambda: program.members() == 100)
        for size in (1, 1_000, 40_000):
            clients[0].text("x" * size)
            assert all(client.receive() == Frame(TEXT, b"x" * size) for client in clients)
            clients[-1].text("y" * size)
            assert all(client.receive() == Frame(TEXT, b"y" * size) for client in clients)
        for client in clients:
            client.close()
        assert eventually(lambda: program.members() == 0)


def test_clients_that_exchange_much(run: Run) -> None:
    """Every client sends and receives at the same time."""
    program = run(workers=4)

    def exchange(number: int) -> None:
        chance = random.Random(number)
        sent = [chance.randbytes(chance.choice([0, 10, 1_000, 20_000, 150_000])) for _ in range(40)]
        with program.socket(version=VERSIONS[number % 2]) as client:
            for first in range(0, len(sent), 4):
                client.send(b"".join(frame(BINARY, each) for each in sent[first:first + 4]), chop=chance.choice([None, 999]))
                assert [client.receive().payload for _ in range(4)] == sent[first:first + 4]
            client.close()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(exchange, range(32)))


# The end of a connection. WebSocket.must_end and Stream.to_the_end read until close_notify; without it, an SSLEOFError is raised.

@pytest.mark.parametrize("version", VERSIONS)
def test_the_client_closes(run: Run, version: ssl.TLSVersion) -> None:
    program = run()
    with program.socket(version=version) as client:
        client.close(4000, b"enough")
    assert eventually(lambda: state(program) == ["1", "1", "1", "4000", "enough"])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_server_closes(run: Run, version: ssl.TLSVersion) -> None:
    program = run()
    with program.socket("/socket/close", version=version) as client:
        client.text("4001 over")
        closing = client.receive()
        assert closing.code == 4001 and closing.payload[2:] == b"over"
        client.send(close_frame(4001)).must_end()
    assert eventually(lambda: state(program)[:4] == ["1", "1", "1", "4001"])


def close_tls(client: WebSocket) -> None:
    """Ends TLS in an orderly way, but without a close frame. Returns when the server has closed the connection."""
    client.socket.unwrap().close()


def disconnect(client: WebSocket) -> None:
    """Ends the connection without close_notify."""
    client.socket.shutdown(socket.SHUT_RDWR)


def corrupt(client: WebSocket) -> None:
    """Sends a record whose authentication fails."""
    with socket.socket(fileno=client.socket.detach()) as plain:
        plain.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
        plain.settimeout(TIMEOUT_S)
        while plain.recv(1_000):
            pass


@pytest.mark.parametrize("end", [WebSocket.reset, close_tls, disconnect, corrupt])
@pytest.mark.parametrize("begun", [b"", frame(TEXT, b"begun")[:-2]], ids=["idle", "within a frame"])
def test_other_ends_are_reported(run: Run, end: Callable[[WebSocket], None], begun: bytes) -> None:
    program = run()
    client = program.socket()
    client.text("x")
    assert client.receive().payload == b"x"
    client.send(begun)
    end(client)
    client.socket.close()
    assert eventually(lambda: state(program)[:4] == ["1", "1", "1", "1006"])
    with program.socket() as other:
        other.text("still here")
        assert other.receive() == Frame(TEXT, b"still here")


def test_a_client_that_never_reads(run: Run) -> None:
    """It is disconnected after the time for sending, and long before it fails to answer a ping."""
    program = run(sending=1, queue=16 * LIMIT)
    with program.socket("/socket/flood", receive_buffer=4_096):
        began = time.monotonic()
        assert eventually(lambda: state(program)[1] == "1")
        assert time.monotonic() - began < 15
    assert stop(program) < 3_000


def test_stop(run: Run) -> None:
    """Sockets and streams end in the way of their protocols, and of TLS."""
    program = run(workers=4)
    with ExitStack() as stack:
        sockets = [stack.enter_context(program.socket(version=VERSIONS[index % 2])) for index in range(20)]
        new, old = stack.enter_context(program.stream()), stack.enter_context(program.stream(version="1.0"))
        assert eventually(lambda: streams(program) == 2)
        program.process.stdin.close()
        for client in sockets:
            assert client.receive().code == 1001
            client.send(close_frame(1001)).must_end()
        assert len(new.to_the_end()) == 1 and len(old.to_the_end()) == 1
        assert int(program.process.stdout.read()) < 5_000
        assert program.process.wait(TIMEOUT_S) == 0


def test_stop_under_broadcast(run: Run) -> None:
    """One client does not confirm the end."""
    program = run(workers=4)
    with ExitStack() as stack:
        clients = [stack.enter_context(program.socket("/socket/room")) for _ in range(200)]
        assert eventually(lambda: program.members() == 200)
        for _ in range(5):
            clients[0].text("x" * 20_000)
        program.process.stdin.close()
        for client in clients:
            *messages, last = client.frames()
            assert all(each == Frame(TEXT, b"x" * 20_000) for each in messages) and last.code == 1001
            if client is not clients[1]:
                client.send(close_frame(1001)).must_end()
        assert int(program.process.stdout.read()) < 6_000
        assert program.process.wait(TIMEOUT_S) == 0


# Server-sent events

@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_stream_that_ends(program: Channels, version: str) -> None:
    with program.stream("/events/three", version=version) as stream:
        assert stream.to_the_end() == [
            Event("first", "one\ntwo", "1"), Event("message", "a\nb\nc\n", "1"), Event("message", "", "1")]


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_stream_that_goes_on(program: Channels, version: str) -> None:
    with program.stream(version=version) as secure, Stream(program.addresses[0], version=version) as plain:
        assert secure.events(1)[0].type == plain.events(1)[0].type == "hello"
        texts = [str(index) * size for index, size in enumerate([1, 1_000, RECORD, 100_000, 1])]
        for text in texts:
            broadcast(program, text)
        for stream in (secure, plain):
            assert [event.data for event in stream.events(len(texts))] == texts
    assert eventually(lambda: streams(program) == 0)


def test_a_client_ends_a_stream(program: Channels) -> None:
    stream = program.stream()
    assert stream.events(1)[0].type == "hello" and streams(program) == 1
    # Fails if the server does not respond with close_notify
    stream.socket.unwrap().close()
    assert eventually(lambda: streams(program) == 0)


def test_keep_alive_comments(run: Run) -> None:
    program = run(keep_alive=0.3)
    with program.stream() as stream:
        while len(stream.parser.comments) < 3:
            assert stream.more()
        assert stop(program) < 3_000
        stream.to_the_end()


# Logs and independent clients

def test_one_line_in_the_log(run: Run, tmp_path: Path) -> None:
    program = run(log=tmp_path / "log")
    with program.socket("/socket?a=b") as client:
        client.text("12345")
        client.receive()
        client.close()
    with program.stream("/events/three") as stream:
        stream.to_the_end()
    stop(program)
    opened, streamed = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert (opened["path"], opened["status"], opened["bytes"]) == ("/socket", 101, 5 + 2)
    assert (streamed["path"], streamed["status"]) == ("/events/three", 200)


def test_the_package_websockets(program: Channels) -> None:
    """The client of https://websockets.readthedocs.io, which verifies the certificate."""
    async def main() -> None:
        context = ssl.create_default_context(cafile=str(program.certificate))
        async with connect(f"wss://localhost:{program.addresses[1][1]}/socket", ssl=context, max_size=None) as client:
            for message in ("", "a", "äöü" * 100_000, b"", b"\x00\xff" * 500_000):
                await client.send(message)
                assert await client.recv() == message
            await asyncio.wait_for(await client.ping(b"data"), TIMEOUT_S)
            await client.send("*" * (LIMIT + 1))
            with pytest.raises(websockets.ConnectionClosedError):
                await client.recv()
            assert client.close_code == 1009
        assert context.cert_store_stats()["x509"] > 0

    asyncio.run(main())


def test_curl(program: Channels) -> None:
    completed = subprocess.run(
        ["curl", "-sSN", "--cacert", program.certificate, f"https://localhost:{program.addresses[1][1]}/events/three"],
        capture_output=True, timeout=TIMEOUT_S, text=True)
    assert completed.stderr == ""
    assert completed.stdout.startswith("event: first\nid: 1\nretry: 500\ndata: one\ndata: two\n\n")
