# SPDX-License-Identifier: Apache-2.0
"""Services' requirements of the servers in appserver/ada: the client's address, trusted proxies, and their own
state."""

import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from client import TIMEOUT_S, Answer, Connection, request
from experiments import ROOT

PROGRAMS = ROOT / "build/appserver/ada/tests/http"
BUILD = "make -C appserver/ada http_programs"


class Program:
    """One of the tests' programs: it prints its ports, and ends when its input ends."""

    def __init__(self, name: str, *arguments: str, ports: int = 1) -> None:
        if not (PROGRAMS / name).exists():
            raise FileNotFoundError(f"{name} is missing; build it with\n{BUILD}")
        self.process = subprocess.Popen([PROGRAMS / name, *arguments], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addresses = [("127.0.0.1", int(self.process.stdout.readline())) for _ in range(ports)]

    def get(self, path: str, *headers: str, number: int = 0) -> Answer:
        with self.connect(number) as connection:
            return connection.send(request("GET", path, *headers)).answer("GET")

    def connect(self, number: int = 0) -> Connection:
        return Connection(self.addresses[number])

    def end(self) -> int:
        self.process.stdin.close()
        return self.process.wait(TIMEOUT_S)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture(scope="module", params=["server", "embedded"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    program = Program("services_server", request.param, ports=2 if request.param == "server" else 1)
    yield program
    status = program.end()
    program.close()
    assert status == 0


def ask_from(source: str, address: tuple[str, int], path: str, *headers: str) -> str:
    """Returns the content of a response to a client with another of this machine's addresses."""
    with socket.create_connection(address, TIMEOUT_S, source_address=(source, 0)) as client:
        client.sendall(request("GET", path, *headers, "Connection: close"))
        received = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, content = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), received
    return content.decode()


@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.2", "127.99.255.254"])
def test_the_clients_address(program: Program, source: str) -> None:
    assert ask_from(source, program.addresses[0], "/address") == source


def test_an_address_of_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    program = Program("services_server", "server", "::", ports=2)
    try:
        port = program.addresses[0][1]
        with socket.create_connection(("::1", port), TIMEOUT_S) as client:
            client.sendall(request("GET", "/address", "Connection: close"))
            assert b"".join(iter(lambda: client.recv(65536), b"")).endswith(b"\r\n\r\n::1")
        # The socket of "::" also accepts clients over IPv4: they have their own address, not
        # ::ffff:127.0.0.1.
        assert ask_from("127.0.0.1", ("127.0.0.1", port), "/address") == "127.0.0.1"
    finally:
        program.close()


def test_each_connection_has_its_own(program: Program) -> None:
    """Connections are kept open and used in turns; each has its own client address."""
    sources = [f"127.0.1.{number}" for number in range(1, 30)]
    clients = [socket.create_connection(program.addresses[0], TIMEOUT_S, source_address=(source, 0))
               for source in sources]
    try:
        for _ in range(3):
            for client in clients:
                client.sendall(request("GET", "/address"))
            for source, client in zip(sources, clients):
                received = b""
                while not received.endswith(f"\r\n\r\n{source}".encode()):
                    received += (read := client.recv(65536))
                    assert read, received
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize("path, field", [
    ("/forwarded", "Forwarded: for=192.0.2.1;proto=https;host=e.org"),
    ("/x-forwarded", "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: e.org")])
def test_only_a_trusted_proxy_is_believed(program: Program, path: str, field: str) -> None:
    """127.0.0.1 is a trusted proxy, 127.0.0.2 is not."""
    assert ask_from("127.0.0.1", program.addresses[0], path, field) == "192.0.2.1 https e.org"
    assert ask_from("127.0.0.2", program.addresses[0], path, field).startswith("127.0.0.2 http ")


@pytest.mark.parametrize("path, appended", [("/forwarded", "for=192.0.2.1"), ("/x-forwarded", "192.0.2.1")])
@pytest.mark.parametrize("invented", ["for=6.6.6.6;proto=https", "6.6.6.6", 'for="', '"', "for=6.6.6.6, for=127.0.0.1",
                                      "6.6.6.6, 127.0.0.1", ",", "\\"])
def test_what_a_client_invents_is_to_the_left(program: Program, path: str, appended: str, invented: str) -> None:
    name = "Forwarded" if path == "/forwarded" else "X-Forwarded-For"
    for field in (f"{name}: {invented}, {appended}", f"{name}: {invented}\r\n{name}: {appended}"):
        assert ask_from("127.0.0.1", program.addresses[0], path, field).startswith("192.0.2.1 http "), field


def test_a_service_has_its_state(program: Program) -> None:
    """All workers share the state; two servers of one program have separate states."""
    first = int(program.get("/count").body)
    with ThreadPoolExecutor(8) as clients:
        counts = list(clients.map(lambda _: int(program.get("/count").body), range(100)))
    assert sorted(counts) == list(range(first + 1, first + 101))
    if len(program.addresses) > 1:
        assert program.get("/count", number=1).body == b"1"
