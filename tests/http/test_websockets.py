# SPDX-License-Identifier: Apache-2.0
"""WebSocket connections of the server in appserver/ada: handshake, sessions, limits, hostile clients, and the end of the
server. test_autobahn.py tests the protocol."""

import asyncio
import json
import random
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import websockets
from websockets.asyncio.client import connect

from client import TIMEOUT_S, Connection, request
from databases import eventually
from test_services import Program
from websocket import (ACCEPT, BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Frame, WebSocket, close_frame, frame,
                       handshake)

Run = Callable[..., Program]


@pytest.fixture
def run() -> Iterator[Run]:
    """Returns a function that starts a server. At the end, servers must stop without an error."""
    started: list[Program] = []

    def start(**settings: object) -> Program:
        started.append(Program("channel_server", *(f"{name}={value}" for name, value in settings.items())))
        return started[-1]

    yield start
    for program in started:
        status = program.end() if program.process.poll() is None else program.process.returncode
        program.close()
        assert status == 0


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    program = Program("channel_server")
    yield program
    status = program.end()
    program.close()
    assert status == 0


def stop(program: Program) -> int:
    """Stops a server. Returns the time that it took, in milliseconds."""
    program.process.stdin.close()
    took_ms = int(program.process.stdout.read())
    assert program.process.wait(TIMEOUT_S) == 0
    return took_ms


def state(program: Program) -> list[str]:
    """Returns the numbers of opened, closed and released sessions, the latest code and reason, and the result of a flood."""
    return program.get("/state").body.decode().split()


def resident(program: Program) -> int:
    """Returns the private memory of a program in bytes."""
    text = Path(f"/proc/{program.process.pid}/smaps_rollup").read_text()
    return 1024 * sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+)", text, re.M))


# The handshake

def answer(program: Program, data: bytes, method: str = "GET"):
    with program.connect() as connection:
        return connection.send(data).answer(method)


def test_the_example_of_the_rfc(program: Program) -> None:
    """RFC 6455, 1.2 and 1.3."""
    with program.connect() as connection:
        connection.send(handshake("/socket", "Origin: http://example.com", "Sec-WebSocket-Protocol: chat, superchat")
                        .replace(b"Host: localhost", b"Host: example.com"))
        assert connection.interim() == 101
    with WebSocket(program.addresses[0], "/socket", "Sec-WebSocket-Protocol: chat, superchat") as opened:
        assert opened.fields["sec-websocket-protocol"] == "superchat"
    with socket.create_connection(program.addresses[0], TIMEOUT_S) as client:
        client.sendall(handshake())
        assert f"Sec-WebSocket-Accept: {ACCEPT}\r\n".encode() in client.recv(65_536)


@pytest.mark.parametrize("change, status", [
    ((b"GET ", b"POST "), 405), ((b"GET ", b"PUT "), 405), ((b"GET ", b"HEAD "), 405),
    ((b"HTTP/1.1", b"HTTP/1.0"), 426),
    ((b"Version: 13", b"Version: 8"), 426), ((b"Version: 13", b"Version: 14"), 426), ((b"Version: 13", b"Version: 013"), 426),
    ((b"Sec-WebSocket-Version: 13\r\n", b""), 426), ((b"Version: 13", b"Version: 13\r\nSec-WebSocket-Version: 13"), 426),
    ((b"Upgrade: websocket\r\n", b""), 426), ((b"Upgrade: websocket", b"Upgrade: h2c"), 426),
    ((b"Upgrade: websocket", b"Upgrade: websockets"), 426), ((b"Connection: Upgrade\r\n", b""), 426),
    ((b"Connection: Upgrade", b"Connection: keep-alive"), 426), ((b"Connection: Upgrade", b"Connection: Upgraded"), 426),
    ((b"dGhlIHNhbXBsZSBub25jZQ==", b""), 400), ((b"dGhlIHNhbXBsZSBub25jZQ==", b"dGhlIHNhbXBsZSBub25jZQ="), 400),
    ((b"dGhlIHNhbXBsZSBub25jZQ==", b"dGhlIHNhbXBsZSBub25jZSE="), 400),
    ((b"dGhlIHNhbXBsZSBub25jZQ==", b"dGhlIHNhbXBsZSBub25j"), 400),
    ((b"dGhlIHNhbXBsZSBub25jZQ==", b"dGhlIHNhbXBsZSBub25jZR=="), 400),
    ((b"dGhlIHNhbXBsZSBub25jZQ==", b"dGhlIHNhbXBsZSBub25j-Q=="), 400),
    ((b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", b""), 400),
    ((b"Sec-WebSocket-Version", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version"), 400),
    ((b"\r\n\r\n", b"\r\nContent-Length: 1\r\n\r\nx"), 400)])
def test_invalid_handshakes(program: Program, change: tuple[bytes, bytes], status: int) -> None:
    before = state(program)
    data = handshake().replace(*change)
    method = data.split()[0].decode()
    version = "1.0" if b"HTTP/1.0" in data else "1.1"
    with program.connect() as connection:
        response = connection.send(data).answer(method, version)
        assert response.status == status
        if status == 426:
            assert response.get("Sec-WebSocket-Version") == "13"
            assert response.words("Upgrade") == {"websocket"} and "upgrade" in response.words("Connection")
        if status == 405:
            assert response.words("Allow") == {"get"}
    after = state(program)
    # The session is released, but never called.
    assert after[:2] == before[:2] and int(after[2]) == int(before[2]) + 1


@pytest.mark.parametrize("change", [
    (b"Upgrade: websocket", b"upgrade: WebSocket"), (b"Upgrade: websocket", b"Upgrade: h2c, websocket"),
    (b"Connection: Upgrade", b"Connection: keep-alive, upgrade"), (b"Connection: Upgrade", b"connection: UPGRADE , x")])
def test_tokens_are_lists_in_any_case(program: Program, change: tuple[bytes, bytes]) -> None:
    with program.connect() as connection:
        assert connection.send(handshake().replace(*change)).interim() == 101


@pytest.mark.parametrize("origin, allowed", [
    (None, True), ("http://localhost", True), ("https://localhost", True), ("HTTPS://LOCALHOST", True),
    ("https://friend.example", True), ("https://evil.example", False), ("http://friend.example", False),
    ("https://friend.example.evil.example", False), ("https://localhost.evil.example", False), ("null", False), ("", False),
    ("https://localhost:8080", False), ("http://evil.example\r\nOrigin: http://localhost", False), ("localhost", False),
    ("https://evil.example/://localhost", False)])
def test_pages_of_other_sites(program: Program, origin: str | None, allowed: bool) -> None:
    fields = [] if origin is None else [f"Origin: {origin}"]
    with program.connect() as connection:
        connection.send(handshake("/socket", *fields))
        if allowed:
            assert connection.interim() == 101
        else:
            assert connection.answer().status == 403


@pytest.mark.parametrize("offered, chosen", [
    ("chat", "chat"), ("chat, superchat", "superchat"), ("superchat", "superchat"), ("Chat", None), ("other", None),
    ("chat\r\nSec-WebSocket-Protocol: superchat", "superchat")])
def test_subprotocols(program: Program, offered: str, chosen: str | None) -> None:
    with WebSocket(program.addresses[0], "/socket", f"Sec-WebSocket-Protocol: {offered}") as opened:
        assert opened.fields.get("sec-websocket-protocol") == chosen


def test_extensions_are_not_accepted(program: Program) -> None:
    with WebSocket(program.addresses[0], "/socket", "Sec-WebSocket-Extensions: permessage-deflate") as opened:
        assert "sec-websocket-extensions" not in opened.fields
        opened.send(frame(TEXT, b"\xf2\x48\xcd\xc9\xc9\x07\x00", rsv=4)).must_fail(1002)


def test_filters_see_the_response(program: Program) -> None:
    with WebSocket(program.addresses[0]) as opened:
        assert opened.fields["x-filtered"] == "yes"


def test_requests_before_and_frames_behind_the_handshake(program: Program) -> None:
    """Requests may precede the handshake in one segment, and frames may follow it."""
    with socket.create_connection(program.addresses[0], TIMEOUT_S) as client:
        client.sendall(request("GET", "/") * 3 + handshake() + frame(TEXT, b"early") + frame(TEXT, b"bird", fin=False)[:5])
        time.sleep(0.05)
        client.sendall(frame(TEXT, b"bird", fin=False)[5:] + frame(CONTINUATION, b"s"))
        received = b""
        while not received.endswith(b"\x81\x05early\x81\x05birds"):
            received += (read := client.recv(65_536))
            assert read, received
        assert received.count(b"HTTP/1.1 200 OK") == 3 and received.count(b"HTTP/1.1 101 ") == 1


def test_an_embedded_server_opens_no_channel() -> None:
    program = Program("channel_server", "embedded=yes")
    try:
        before = int(state(program)[2])
        assert answer(program, handshake()).status == 500
        assert answer(program, request("GET", "/events")).status == 500
        assert int(state(program)[2]) == before + 1
        assert program.end() == 0
    finally:
        program.close()


# Sessions

def test_the_calls_of_a_session(run: Run) -> None:
    program = run()
    with WebSocket(program.addresses[0], "/socket/hello") as opened:
        assert opened.receive() == Frame(TEXT, b"hello")
        assert state(program)[:3] == ["1", "0", "0"]
        opened.text("a")
        assert opened.receive() == Frame(TEXT, b"a")
        opened.close(4001, "bye äöü".encode())
    assert eventually(lambda: state(program)[:3] == ["1", "1", "1"])
    assert state(program)[3:] == ["4001", "bye", "äöü"]


@pytest.mark.parametrize("end, code", [
    (lambda opened: opened.close(None), 1005), (lambda opened: opened.reset(), 1006),
    (lambda opened: opened.socket.close(), 1006), (lambda opened: opened.socket.shutdown(socket.SHUT_WR), 1006),
    (lambda opened: opened.send(frame(TEXT, b"\xff")).must_fail(1007), 1007),
    (lambda opened: opened.send(frame(3)).must_fail(1002), 1002)])
def test_every_end_is_reported(run: Run, end: Callable[[WebSocket], None], code: int) -> None:
    program = run()
    opened = WebSocket(program.addresses[0])
    end(opened)
    assert eventually(lambda: state(program)[:3] == ["1", "1", "1"])
    assert state(program)[3] == str(code)
    opened.socket.close()


def test_a_program_closes(run: Run) -> None:
    program = run()
    with WebSocket(program.addresses[0], "/socket/close") as opened:
        opened.text("4321 enough").text("ignored")
        assert opened.receive() == Frame(CLOSE, b"\x10\xe1enough")
        opened.send(close_frame(4321)).must_end()
    assert eventually(lambda: state(program)[:3] == ["1", "1", "1"])
    assert state(program)[3] == "4321"
    # A client that does not confirm is disconnected.
    with WebSocket(program.addresses[0], "/socket/close") as opened:
        began = time.monotonic()
        opened.text("1000 ")
        assert opened.receive().code == 1000
        opened.must_end()
        assert 1 < time.monotonic() - began < 10


@pytest.mark.parametrize("sent_before", [0, 20])
def test_input_after_the_servers_close_does_not_extend_the_time(run: Run, sent_before: int) -> None:
    """A client that sends a large message, but no close frame, is disconnected."""
    program = run()
    data = frame(TEXT, b"*" * 60_000)
    with WebSocket(program.addresses[0], "/socket/close") as opened:
        opened.send(frame(TEXT, b"1000 ") + data[:sent_before])
        assert opened.receive().code == 1000
        began = time.monotonic()
        opened.send(data[sent_before:], chop=500, pause_s=0.5)
        assert time.monotonic() - began < 30, "the whole message takes a minute"
    assert eventually(lambda: state(program)[:3] == ["1", "1", "1"])


def test_an_exception_ends_the_session(run: Run) -> None:
    program = run()
    with WebSocket(program.addresses[0], "/socket/raise") as opened:
        opened.text("a")
        assert opened.receive() == Frame(TEXT, b"a")
        opened.text("!").text("b")
        assert opened.receive().code == 1011
        opened.send(close_frame(1011)).must_end()
    assert eventually(lambda: state(program)[:3] == ["1", "1", "1"])


def test_calls_are_in_order_and_not_concurrent(run: Run) -> None:
    program = run(workers=4)
    with ExitStack() as stack:
        clients = [stack.enter_context(WebSocket(program.addresses[0], "/socket/own")) for _ in range(20)]
        for number in range(50):
            for client in clients:
                client.text(str(number))
        for client in clients:
            assert [int(client.receive().payload) for _ in range(50)] == list(range(50))
            client.close()
    assert eventually(lambda: state(program)[:3] == ["20", "20", "20"])


def test_slow_sessions_do_not_delay_others(run: Run) -> None:
    program = run(workers=4)
    with WebSocket(program.addresses[0], "/socket/slow") as slow, WebSocket(program.addresses[0]) as quick:
        for number in range(50):
            slow.text(str(number))
        began = time.monotonic()
        for _ in range(10):
            quick.text("a")
            assert quick.receive().payload == b"a"
        assert time.monotonic() - began < 0.9, "50 messages of the other session take a second"
        assert [int(slow.receive().payload) for _ in range(50)] == list(range(50))


def test_other_tasks_send(run: Run) -> None:
    """A handler of another connection sends to all sockets, whether they are idle or not."""
    program = run(workers=4)
    with ExitStack() as stack:
        clients = [stack.enter_context(WebSocket(program.addresses[0], "/socket/room")) for _ in range(50)]
        assert eventually(lambda: program.get("/counts").body.split() == [b"0", b"50"])
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda number: program.connect().send(
                request("POST", "/tell", body=b"%d" % number)).answer("POST"), range(100)))
        received = [[int(client.receive().payload) for _ in range(100)] for client in clients]
        assert sorted(received[0]) == list(range(100))
        assert all(each == received[0] for each in received), "all get broadcasts in the same order"
        clients[0].text("from a client")
        assert all(client.receive() == Frame(TEXT, b"from a client") for client in clients)
        for client in clients[:25]:
            client.close()
        assert eventually(lambda: program.get("/counts").body.split() == [b"0", b"25"])


# Limits

def test_keep_alive_pings(run: Run) -> None:
    program = run(keep_alive=0.5, silence=1.5)
    with WebSocket(program.addresses[0]) as answering, WebSocket(program.addresses[0]) as silent:
        began = time.monotonic()
        while time.monotonic() - began < 5:
            assert answering.receive() == Frame(PING, b"")
            answering.send(frame(PONG))
        assert silent.receive().opcode == PING
        with pytest.raises((EOFError, ConnectionResetError)):
            silent.receive()
        answering.close()
    assert eventually(lambda: state(program)[:3] == ["2", "2", "2"])


def test_idle_connections(run: Run) -> None:
    program = run(idle=1.0)
    with WebSocket(program.addresses[0]) as opened:
        began = time.monotonic()
        assert opened.receive().code == 1001
        assert 0.9 < time.monotonic() - began < 10
        opened.send(close_frame(1001)).must_end()


def test_a_message_that_never_ends(run: Run) -> None:
    """500 bytes per second extend the time; a client that sends less is disconnected."""
    program = run(arriving=1.0)
    with WebSocket(program.addresses[0]) as slow, WebSocket(program.addresses[0]) as fast:
        slow.send(frame(TEXT, b"*" * 1_000)[:20])
        data = frame(TEXT, b"*" * 6_000)
        for at in range(0, 6_000, 300):
            fast.send(data[at:at + 300])
            time.sleep(0.2)
        fast.send(data[6_000:])
        assert fast.receive().payload == b"*" * 6_000
        assert slow.receive().code == 1008
        slow.send(close_frame(1008))


def test_endless_fragments(program: Program) -> None:
    with WebSocket(program.addresses[0]) as opened:
        opened.send(frame(TEXT, b"", fin=False))
        # Empty fragments need no memory
        opened.send(frame(CONTINUATION, b"", fin=False) * 10_000)
        for _ in range(65):
            opened.send(frame(CONTINUATION, b"*" * 1_024, fin=False))
        opened.must_fail(1009)


def test_a_flood_of_pings(run: Run) -> None:
    """The client does not read until the end. The server stops reading from it, in constant memory."""
    program = run()
    with WebSocket(program.addresses[0], receive_buffer=4_096) as opened:
        before = resident(program)
        opened.socket.settimeout(2)
        ping = frame(PING, b"p" * 125) * 500
        with pytest.raises(TimeoutError):
            for _ in range(1_000):
                opened.socket.sendall(ping)
        assert resident(program) - before < 4 * 2**20
        program.get("/")
        opened.socket.settimeout(TIMEOUT_S)
        for _ in range(1_000):
            assert opened.receive() == Frame(PONG, b"p" * 125)


def test_an_echo_is_slowed_down(run: Run) -> None:
    """A client that sends without reading is slowed down. When it reads, it gets all replies."""
    program = run()
    with WebSocket(program.addresses[0], receive_buffer=4_096) as opened:
        before = resident(program)
        opened.socket.settimeout(1)
        sent = 0
        data = frame(BINARY, b"e" * 10_000)
        rest = b""
        try:
            for _ in range(5_000):
                rest = data
                while rest:
                    rest = rest[opened.socket.send(rest):]
                sent += 1
        except TimeoutError:
            pass
        assert sent < 5_000 and resident(program) - before < 4 * 2**20
        opened.socket.settimeout(TIMEOUT_S)
        for _ in range(sent - 1):
            assert opened.receive() == Frame(BINARY, b"e" * 10_000)


@pytest.mark.parametrize("policy, result", [("no", "FULL"), ("yes", "CLOSED")])
def test_a_full_queue(run: Run, policy: str, result: str) -> None:
    program = run(queue=20_000, disconnect=policy)
    with WebSocket(program.addresses[0], "/socket/flood") as opened:
        assert eventually(lambda: state(program)[-2:] == ["19", result])
        if policy == "no":
            assert all(opened.receive() == Frame(TEXT, b"x" * 1_000) for _ in range(19))
            opened.text("still open")
            assert opened.receive() == Frame(TEXT, b"still open")
        else:
            with pytest.raises((EOFError, ConnectionResetError)):
                while True:
                    opened.receive()
            assert eventually(lambda: state(program)[:3] == ["1", "1", "1"])
            assert "1006" in state(program)


def test_a_client_that_never_reads(run: Run) -> None:
    """Broadcasts pass it by when its queue is full. It is disconnected after the time for sending."""
    program = run(sending=2.0)
    with WebSocket(program.addresses[0], "/socket/room", receive_buffer=4_096), \
            WebSocket(program.addresses[0], "/socket/room") as good:
        before = resident(program)
        for _ in range(400):
            good.text("*" * 20_000)
            assert len(good.receive().payload) == 20_000
        assert resident(program) - before < 4 * 2**20
        assert eventually(lambda: program.get("/counts").body.split() == [b"0", b"1"])
        good.close()


def test_partial_messages_and_the_waiting_memory(run: Run) -> None:
    """Many clients send a part of a message. The server keeps them, and others are served."""
    program = run()
    with ExitStack() as stack:
        clients = [stack.enter_context(WebSocket(program.addresses[0])) for _ in range(200)]
        data = frame(BINARY, b"m" * 60_000)
        for client in clients:
            client.send(data[:50_000])
        assert program.get("/").status == 200
        for client in clients:
            client.send(data[50_000:])
        for client in clients:
            assert client.receive() == Frame(BINARY, b"m" * 60_000)


def test_the_number_of_channels_is_limited(run: Run) -> None:
    """An eighth of the connections is for requests."""
    program = run(connections=64, workers=1)
    with ExitStack() as stack:
        for _ in range(56):
            stack.enter_context(WebSocket(program.addresses[0]))
        assert answer(program, handshake()).status == 503
        assert answer(program, request("GET", "/events")).status == 503
        assert program.get("/").status == 200
    assert eventually(lambda: int(state(program)[1]) == 56)
    WebSocket(program.addresses[0]).close()


def test_clients_that_vanish_in_any_place(run: Run) -> None:
    program = run()
    data = handshake() + frame(TEXT, b"Hello") + frame(PING, b"x") + frame(TEXT, b"*" * 300, fin=False) + close_frame()
    WebSocket(program.addresses[0]).close()
    assert eventually(lambda: state(program)[:3] == ["1", "1", "1"])
    files = len(list(Path(f"/proc/{program.process.pid}/fd").iterdir()))
    for at in range(1, len(data), 3):
        with socket.create_connection(program.addresses[0], TIMEOUT_S) as client:
            client.sendall(data[:at])
            if at % 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    assert eventually(lambda: len(list(Path(f"/proc/{program.process.pid}/fd").iterdir())) == files)
    # A session whose client was reset before the response is only released.
    assert eventually(lambda: state(program)[0] == state(program)[1])
    opened, _, released = map(int, state(program)[:3])
    assert 1 < opened <= released, state(program)
    WebSocket(program.addresses[0]).close()


def test_random_bytes(run: Run) -> None:
    program = run()
    chance = random.Random(7)
    for _ in range(300):
        with WebSocket(program.addresses[0]) as opened:
            opened.send(b"".join(
                frame(chance.randrange(16), chance.randbytes(chance.choice([0, 1, 2, 5, 125, 126, 300])),
                      fin=chance.random() < 0.7, rsv=int(chance.random() < 0.05)) if chance.random() < 0.9
                else chance.randbytes(chance.randrange(40)) for _ in range(chance.randrange(12))))
            opened.send(close_frame())
    assert eventually(lambda: len(set(state(program)[:3])) == 1)
    with WebSocket(program.addresses[0]) as opened:
        opened.text("still here")
        assert opened.receive().payload == b"still here"


# The end of the server

def test_stop_tells_clients(run: Run) -> None:
    program = run()
    with WebSocket(program.addresses[0]) as opened, WebSocket(program.addresses[0], "/socket/hello") as deaf:
        program.process.stdin.close()
        assert opened.receive().code == 1001
        opened.send(close_frame(1001)).must_end()
        assert deaf.receive().payload == b"hello"
        assert deaf.receive().code == 1001
        assert int(program.process.stdout.read()) < 5_000
        assert program.process.wait(TIMEOUT_S) == 0


def test_stop_under_broadcast(run: Run) -> None:
    """5,000 channels, while messages are sent to them. One client does not confirm the end."""
    count = 5_000
    program = run(connections=8_000, workers=4)
    with ExitStack() as stack:
        clients = [stack.enter_context(WebSocket(program.addresses[0], "/socket/room", source=f"127.0.0.{2 + index % 50}"))
                   for index in range(count)]
        teller = stack.enter_context(WebSocket(program.addresses[0], "/socket/room"))
        for _ in range(5):
            teller.text("x" * 1_000)
        program.process.stdin.close()
        for _ in range(5):
            teller.text("x" * 1_000)
        for client in clients:
            frames = list(client.frames())
            assert all(each == Frame(TEXT, b"x" * 1_000) for each in frames[:-1])
            assert frames[-1].code == 1001
            if client is not clients[0]:
                client.send(close_frame(1001))
        took_ms = int(program.process.stdout.read())
        assert program.process.wait(TIMEOUT_S) == 0
        assert took_ms < 6_000


# Logs and independent clients

def test_one_line_in_the_log(run: Run, tmp_path: Path) -> None:
    program = run(log=tmp_path / "log")
    with WebSocket(program.addresses[0], "/socket?a=b", "User-Agent: test") as opened:
        opened.text("12345")
        opened.receive()
        time.sleep(0.3)
        opened.close()
    stop(program)
    entry, = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert (entry["path"], entry["query"], entry["status"], entry["user_agent"]) == ("/socket", "a=b", 101, "test")
    assert entry["bytes"] == 5 + 2 and 300_000 <= entry["microseconds"] < 60_000_000


def test_the_package_websockets(program: Program) -> None:
    """The client of https://websockets.readthedocs.io, which offers permessage-deflate."""
    async def main() -> None:
        async with connect(f"ws://127.0.0.1:{program.addresses[0][1]}/socket", subprotocols=["chat"]) as client:
            assert client.subprotocol == "chat"
            for message in ("", "a", "äöü" * 10_000, b"", b"\x00\xff" * 30_000):
                await client.send(message)
                assert await client.recv() == message
            await client.send(["fragment" * 100, "ed", ""])
            assert await client.recv() == "fragment" * 100 + "ed"
            await asyncio.wait_for(await client.ping(b"data"), TIMEOUT_S)
            await client.send("*" * 65_537)
            with pytest.raises(websockets.ConnectionClosedError):
                await client.recv()
            assert client.close_code == 1009
        with pytest.raises(websockets.InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{program.addresses[0][1]}/socket", origin="https://evil.example")
        assert refused.value.response.status_code == 403

    asyncio.run(main())
