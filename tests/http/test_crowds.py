# SPDX-License-Identifier: Apache-2.0
"""Hostile clients with one address that use up the resources of a server in appserver/ada: with idle connections,
requests that do not end, or responses that are not read. A well-behaved client with the same address is still
served; and a slow client, as in a mobile network, can finish its downloads and uploads."""

import re
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from client import Connection, request
from databases import eventually
from servers import Server
from test_bodies import ORDER
from test_services import Program

HOSTILE = 500
CONNECTIONS = 64
"""The maximum number of connections of crowded_server."""

WITHIN_S = 60
"""The timeout of quick responses. The guarantee is one second; the rest allows for a busy machine. No other time limit of
crowded_server is reached before."""

LATE_S = 0.2
"""The time in seconds by which clients may be late during a trial. The server's times for clients in a crowd are 0.05 s
and more."""

TRIALS = 30
"""The maximum number of trials until no client was late."""

FILE_SIZE = 2**23
MOBILE_RATE = 8_000
"""The rate of a mobile network, in bytes per second."""

Address = tuple[str, int]
Crowd = list[socket.socket]


class Heartbeat:
    """A thread that notices how much the machine delays the threads of this process."""

    def __init__(self) -> None:
        self.late_s = 0.0
        self._stops = threading.Event()

    def __enter__(self) -> "Heartbeat":
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stops.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stops.is_set():
            begun = time.monotonic()
            time.sleep(0.01)
            late_s = time.monotonic() - begun - 0.01
            self.late_s += late_s if late_s > 0.005 else 0


def until_in_time(trial: Callable[[], None]) -> None:
    """Runs a trial. If it failed while the machine delayed the tests, it shows nothing: the server may close the connection
    of a client that is too slow. Then the trial is run again."""
    for _ in range(TRIALS):
        with Heartbeat() as heartbeat:
            try:
                trial()
                return
            except (AssertionError, OSError):
                if heartbeat.late_s < LATE_S:
                    raise
    raise AssertionError("the machine delayed the tests in each trial")


class Hostile:
    """Clients that connect one after another, and stay connected as long as the server permits."""

    def __init__(self, address: Address, sent: bytes, then: bytes = b"", is_slow_reader: bool = False) -> None:
        """Starts the clients. Each sends some data at first, and one byte of the rest every second. A slow reader reads
        at most 100 bytes per second."""
        self._address, self._sent, self._then, self._is_slow_reader = address, sent, then, is_slow_reader
        self._stops = threading.Event()
        self._clients: Crowd = []

    def __enter__(self) -> "Hostile":
        for _ in range(HOSTILE):
            self._clients.append(self._connected())
        self._thread = threading.Thread(target=self._dribble)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stops.set()
        self._thread.join()
        for client in self._clients:
            client.close()

    def _connected(self) -> socket.socket:
        client = socket.socket()
        client.settimeout(WITHIN_S)
        if self._is_slow_reader:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 88)
        client.connect(self._address)
        client.setblocking(False)
        try:
            client.send(self._sent)
        except OSError:
            pass  # the connection was already closed
        return client

    def _dribble(self) -> None:
        for at in range(1, 1 << 30):
            if self._stops.wait(1):
                return
            for client in self._clients:
                try:
                    client.recv(100) if self._is_slow_reader else client.send(self._then[at:at + 1])
                except OSError:
                    pass  # the connection was closed, or nothing has arrived


HEADER = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 15000\r\n\r\n"
LARGE = b"GET /file?first=0&length=%d HTTP/1.1\r\nHost: a\r\n\r\n" % FILE_SIZE

CROWDS = {
    "idle": {"sent": b""},
    "served once": {"sent": b"GET /fixed HTTP/1.1\r\nHost: a\r\n\r\n"},
    "slow headers": {"sent": b"GET / HTTP/1.1\r\nHost: a\r\nX: ", "then": b"x" * 100},
    "slow posts": {"sent": HEADER + b"x" * 14_000, "then": b"x" * 900},
    "slow readers": {"sent": LARGE, "is_slow_reader": True},
}


@pytest.fixture(params=["embedded", "server"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Program]:
    """Starts a program with 64 connections, and with time limits that no client reaches."""
    program = Program("crowded_server", request.param, str(tmp_path / "file.bin"))
    yield program
    program.close()


def must_be_quick(address: Address, path: str = "/fixed", echo: str = "/echo", content: bytes = b"x" * 4000) -> None:
    """Checks that a request, and one whose content arrives in two packets, are served quickly on separate connections."""
    with Connection(address, timeout_s=WITHIN_S) as connection:
        assert connection.send(request("GET", path)).answer().status == 200
    sent = request("POST", echo, body=content)
    with Connection(address, timeout_s=WITHIN_S) as connection:
        connection.send(sent[:-3000])
        time.sleep(0.3)
        answer = connection.send(sent[-3000:]).answer("POST")
    assert answer.status == 200


@pytest.mark.parametrize("crowd", CROWDS)
def test_a_crowd_of_one_address(program: Program, crowd: str) -> None:

    def trial() -> None:
        with Hostile(program.addresses[0], **CROWDS[crowd]):
            for _ in range(2):
                must_be_quick(program.addresses[0])
                time.sleep(0.5)

    until_in_time(trial)


@contextmanager
def in_background(act: Callable[[], None]) -> Iterator[None]:
    """Runs a function concurrently; an exception in it is raised here."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if errors:
        raise errors[0]


def upload_slowly(address: Address) -> None:
    content = bytes(range(32, 127)) * 150
    sent = request("POST", "/echo", body=content)
    with Connection(address) as connection:
        for at in range(0, len(sent), MOBILE_RATE // 5):
            connection.send(sent[at:at + MOBILE_RATE // 5])
            time.sleep(0.2)
        answer = connection.answer("POST")
        assert answer.status == 200 and answer.body == content


def download_slowly(address: Address) -> None:
    """Downloads at the rate of a mobile network for some seconds, and then the rest."""
    with Connection(address, receive_buffer=4096) as connection:
        connection.send(LARGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        received = 0
        for _ in range(30):
            received += len(connection.socket.recv(MOBILE_RATE // 5))
            time.sleep(0.2)
        assert received < 100_000
        while piece := connection.socket.recv(1 << 16):
            received += len(piece)
        assert received > FILE_SIZE


def download_in_bursts(address: Address, delay: float) -> None:
    """Downloads as much as the system's buffers can hold, so that the server has sent everything, and the connection is
    about to end. With a small receive buffer, the system announces room only when the buffer is empty: every half
    second."""
    time.sleep(delay)
    length = 100_000
    with Connection(address, receive_buffer=4096) as connection:
        connection.send(b"GET /file?first=0&length=%d HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % length)
        begun, received = time.monotonic(), 0
        while time.monotonic() - begun < 4:
            allowed = int((time.monotonic() - begun) * MOBILE_RATE) - received
            if allowed < MOBILE_RATE // 10:
                time.sleep(0.1)
            else:
                received += len(connection.socket.recv(min(allowed, MOBILE_RATE // 5)))
        while piece := connection.socket.recv(1 << 16):
            received += len(piece)
        assert received > length


@pytest.mark.parametrize("crowd", CROWDS)
def test_bursts_in_a_crowd(program: Program, crowd: str) -> None:
    """Clients that are a burst behind when the crowd arrives keep their connections."""
    address = program.addresses[0]

    def trial() -> None:
        with ExitStack() as stack:
            for number in range(10):
                stack.enter_context(in_background(partial(download_in_bursts, address, number / 20)))
            time.sleep(1.5)
            with Hostile(address, **CROWDS[crowd]):
                must_be_quick(address)

    until_in_time(trial)


@pytest.mark.parametrize("crowd", CROWDS)
def test_slow_but_honest_in_a_crowd(program: Program, crowd: str) -> None:
    address = program.addresses[0]

    def trial() -> None:
        with in_background(lambda: upload_slowly(address)), in_background(lambda: download_slowly(address)):
            time.sleep(1)
            with Hostile(address, **CROWDS[crowd]):
                for _ in range(6):
                    must_be_quick(address)
                    time.sleep(0.5)

    until_in_time(trial)


@pytest.mark.files
@pytest.mark.parametrize("crowd", ["idle", "slow headers", "slow posts", "slow readers"])
def test_a_crowd_with_defaults(server: Server, crowd: str) -> None:
    """Tests the subjects of benchlab with their default settings."""
    if not server.promises:
        pytest.skip("other servers do not guarantee this behavior")
    form = dict(CROWDS[crowd])
    form["sent"] = {"slow posts": request("POST", "/api/echo", "Content-Length: 65536") + b" " * 65_000,
                    "slow readers": request("GET", "/files/64k.bin") * 200}.get(crowd, form["sent"])
    with Hostile(server.address, **form):
        for _ in range(3):
            must_be_quick(server.address, "/api", "/api/echo", ORDER.ljust(4000))
            time.sleep(0.5)


class Asker:
    """Sends one request after another, as fast as they are answered; after a response that ends the
    connection it opens a new one."""

    def __init__(self, address: Address, selector: selectors.BaseSelector) -> None:
        self._address, self._selector = address, selector
        self.answered = 0
        self._connect()

    def _connect(self) -> None:
        self.socket = socket.create_connection(self._address, WITHIN_S)
        self._selector.register(self.socket, selectors.EVENT_READ, self)
        self.socket.sendall(request("GET", "/fixed"))

    def go_on(self) -> None:
        answer = self.socket.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"always the same"), answer
        self.answered += 1
        if b"\r\nConnection: close\r\n" in answer:
            self._selector.unregister(self.socket)
            self.socket.close()
            self._connect()
        else:
            self.socket.sendall(request("GET", "/fixed"))


def test_clients_take_turns_when_all_are_busy(program: Program) -> None:
    """Twice as many clients as connections, all sending one request after another: no client waits for long,
    because responses end their connection while others wait, and no connection is closed without such a
    response."""

    def trial() -> None:
        with selectors.DefaultSelector() as selector:
            askers = [Asker(program.addresses[0], selector) for _ in range(128)]
            begun = time.monotonic()
            while time.monotonic() < begun + 3 or not all(asker.answered for asker in askers):
                assert time.monotonic() < begun + WITHIN_S, "a client has not received a response"
                for key, _ in selector.select(1):
                    key.data.go_on()
            for asker in askers:
                asker.socket.close()

    until_in_time(trial)


@pytest.mark.parametrize("sent", [b"", HEADER + b"x" * 14_000], ids=["idle", "slow posts"])
def test_who_has_most_makes_room_first(program: Program, sent: bytes) -> None:
    """Clients with another address keep their connections, although these are idle, or have an incomplete request, for
    longer."""
    begun = request("POST", "/echo", body=b"x" * 100)

    def trial() -> None:
        with ExitStack() as stack:
            others = [stack.enter_context(socket.create_connection(program.addresses[0], WITHIN_S, source_address=("127.0.0.2", 0)))
                      for _ in range(12)]
            for other in others[::2]:
                other.sendall(begun[:-50])
            time.sleep(1)
            with Hostile(program.addresses[0], sent):
                must_be_quick(program.addresses[0])
                for number, other in enumerate(others):
                    other.sendall(begun[-50:] if number % 2 == 0 else begun)
                    assert other.recv(1 << 16).startswith(b"HTTP/1.1 200 ")

    until_in_time(trial)


def test_a_full_server_keeps_its_clients(program: Program) -> None:
    """As long as no other client waits, a client that one loop of the server passes to another closes no connection."""
    with ExitStack() as stack:
        clients = [stack.enter_context(program.connect()) for _ in range(CONNECTIONS)]
        for _ in range(2):
            for client in clients:
                assert client.send(request("GET", "/fixed")).answer().status == 200


def test_the_last_answer_is_whole(program: Program) -> None:
    """The last response is complete, although its client sends more data while it reads, and reads slowly."""
    with Connection(program.addresses[0], receive_buffer=65_536) as connection:
        connection.send(LARGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        received = 0
        for _ in range(10):
            received += len(connection.socket.recv(30_000))
            connection.send(b"\r\n")
            time.sleep(0.05)
        while piece := connection.socket.recv(1 << 16):
            received += len(piece)
            if received % 5 == 0:
                connection.send(b"\r\n")
    assert received > FILE_SIZE


def test_keep_alive_is_on(program: Program) -> None:
    """The system probes idle clients (timer 2 in proc(5), /proc/net/tcp)."""
    port = program.addresses[0][1]
    with program.connect() as connection:
        assert connection.send(request("GET", "/fixed")).answer().status == 200
        own = connection.socket.getsockname()[1]

        def is_probed() -> bool:
            """A segment that is not acknowledged yet has a timer, too."""
            [timer] = [line.split()[5] for line in Path("/proc/net/tcp").read_text().splitlines()
                       if re.match(rf"\s*\d+: 0100007F:{port:04X} 0100007F:{own:04X} 01 ", line)]
            return timer.startswith("02:")

        assert eventually(is_probed)
