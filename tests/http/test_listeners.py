# SPDX-License-Identifier: Apache-2.0
"""The listeners of the server profile in appserver/ada: multiple TCP ports, Unix sockets, and sockets that the service
manager passes."""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from client import TIMEOUT_S, request
from test_services import PROGRAMS

PROGRAM = PROGRAMS / "listeners_server"
FIRST_PASSED = 3


class Listening:
    """A running listeners_server."""

    def __init__(self, *arguments: str, count: int, **options: object) -> None:
        self.process = subprocess.Popen([PROGRAM, *arguments], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        lines = [self.process.stdout.readline() for _ in range(count)]
        assert all(line.strip().isdigit() for line in lines), lines
        self.ports = [int(line) for line in lines]

    def stop(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(TIMEOUT_S) == 0
        assert self.process.stderr.read() == ""

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


Start = Callable[..., Listening]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Listening] = []

    def run(*arguments: str, count: int = 1, **options: object) -> Listening:
        started.append(Listening(*arguments, count=count, **options))
        return started[-1]

    yield run
    for server in started:
        server.kill()


def failure(*arguments: str, **options: object) -> str:
    """Returns the message of a server that cannot start."""
    process = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=TIMEOUT_S, **options)
    assert process.returncode == 1, process
    return process.stdout.strip()


def ask(address: object, path: str = "/connection", *headers: str) -> str:
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    with socket.socket(family) as client:
        client.settimeout(TIMEOUT_S)
        client.connect(address)
        client.sendall(request("GET", path, *headers, "Connection: close"))
        received = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, content = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), received
    return content.decode()


def ask_port(port: int, *headers: str) -> str:
    return ask(("127.0.0.1", port), "/connection", *headers)


def test_all_kinds_at_once(start: Start, tmp_path: Path) -> None:
    server = start("tcp", f"unix={tmp_path}/a", "tcp", f"unix={tmp_path}/b", count=4)
    assert server.ports[1] == server.ports[3] == 0
    assert len({server.ports[0], server.ports[2], 0}) == 3
    for _ in range(3):
        for port in (server.ports[0], server.ports[2]):
            assert ask_port(port) == "plain 127.0.0.1 127.0.0.1 http"
        for name in "ab":
            assert ask(f"{tmp_path}/{name}") == "plain :: :: http"
    server.stop()


def test_many_listeners(start: Start, tmp_path: Path) -> None:
    """The maximum is 16; all are served under load."""
    server = start(*[f"unix={tmp_path}/{number}" for number in range(16)], count=16)
    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda number: ask(f"{tmp_path}/{number % 16}"), range(800)))
    assert set(answers) == {"plain :: :: http"}
    server.stop()
    assert list(tmp_path.iterdir()) == []


def test_too_many_listeners(tmp_path: Path) -> None:
    process = subprocess.run([PROGRAM, *["tcp"] * 17], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=TIMEOUT_S)
    assert process.returncode != 0 and "no listener or too many" in process.stderr


def test_a_failure_closes_the_others(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)):
        assert "not a socket" in failure(f"unix={tmp_path}/a", f"unix={tmp_path}/file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    start(f"unix={tmp_path}/a").stop()


@pytest.mark.parametrize("mode, expected", [(None, 0o600), ("660", 0o660), ("666", 0o666), ("0", 0)])
def test_mode_of_a_socket(start: Start, tmp_path: Path, mode: str | None, expected: int) -> None:
    """The mode does not depend on the umask."""
    for mask in (0, 0o077):
        server = start(f"unix={tmp_path}/s" + (f",{mode}" if mode else ""), umask=mask)
        found = (tmp_path / "s").lstat().st_mode
        assert stat.S_ISSOCK(found) and stat.S_IMODE(found) == expected
        server.stop()


def test_stop_removes_the_socket(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s", "twice")
    assert ask(f"{tmp_path}/s") == "plain :: :: http"
    server.stop()
    assert list(tmp_path.iterdir()) == []


def test_stop_keeps_another_file(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s")
    (tmp_path / "s").unlink()
    (tmp_path / "s").write_text("another")
    server.stop()
    assert (tmp_path / "s").read_text() == "another"
    (tmp_path / "s").unlink()
    server = start(f"unix={tmp_path}/s")
    (tmp_path / "s").unlink()
    other = start(f"unix={tmp_path}/s")
    server.stop()
    assert ask(f"{tmp_path}/s") == "plain :: :: http"
    other.stop()


def test_a_stale_socket_is_replaced(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s")
    server.kill()
    assert stat.S_ISSOCK((tmp_path / "s").lstat().st_mode)
    server = start(f"unix={tmp_path}/s")
    assert ask(f"{tmp_path}/s") == "plain :: :: http"
    server.stop()


def test_a_live_socket_is_kept(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s")
    assert failure(f"unix={tmp_path}/s") == f"another server listens on {tmp_path}/s"
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        assert failure(f"unix={tmp_path}/s") == f"another server listens on {tmp_path}/s"
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    assert ask(f"{tmp_path}/s") == "plain :: :: http"
    server.stop()


def test_a_live_socket_with_a_full_queue_is_kept(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{tmp_path}/s")
        other.listen(0)
        clients = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for client in clients:
            client.setblocking(False)
            try:
                client.connect(f"{tmp_path}/s")
            except BlockingIOError:
                break
        else:
            raise AssertionError("the queue is not full")
        assert failure(f"unix={tmp_path}/s") == f"another server listens on {tmp_path}/s"
        for client in clients:
            client.close()


@pytest.mark.parametrize("make", [
    lambda path: path.write_text("kept"), lambda path: path.mkdir(), os.mkfifo,
    lambda path: path.symlink_to(path.with_name("elsewhere")), lambda path: path.symlink_to(path.with_name("live"))])
def test_another_file_is_kept(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A symbolic link is not followed either, even to a stale socket."""
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(f"{tmp_path}/live")
    make(tmp_path / "s")
    before = (tmp_path / "s").lstat()
    assert failure(f"unix={tmp_path}/s") == f"{tmp_path}/s exists and is not a socket"
    after = (tmp_path / "s").lstat()
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert (tmp_path / "live").exists()


def test_servers_that_start_at_the_same_time(tmp_path: Path) -> None:
    """Exactly one of them gets the socket, and clients reach it."""
    for _ in range(5):
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(f"{tmp_path}/s")
        started = [subprocess.Popen([PROGRAM, f"unix={tmp_path}/s"], text=True, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE) for _ in range(8)]
        lines = [process.stdout.readline().strip() for process in started]
        winners = [process for process, line in zip(started, lines) if line == "0"]
        assert len(winners) == 1 and set(lines) == {"0", f"another server listens on {tmp_path}/s"}, lines
        assert ask(f"{tmp_path}/s") == "plain :: :: http"
        for process in started:
            process.stdin.close()
            process.wait(TIMEOUT_S)
            process.stdout.close()
        assert not (tmp_path / "s").exists()


def test_a_missing_directory(tmp_path: Path) -> None:
    assert failure(f"unix={tmp_path}/none/s") == f"cannot listen on {tmp_path}/none/s: No such file or directory"


def test_proxies_on_a_unix_socket_are_trusted(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s")
    fields = ("X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https")
    assert ask(f"{tmp_path}/s", "/connection", *fields) == "plain :: 192.0.2.7 https"
    server.stop()


def test_log_of_unix_clients(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s", "tcp", f"log={tmp_path}/log", count=2)
    with socket.socket(socket.AF_UNIX) as client:
        client.bind(f"{tmp_path}/client-with-a-path")
        client.connect(f"{tmp_path}/s")
        client.sendall(request("GET", "/connection", "Connection: close"))
        assert b"".join(iter(lambda: client.recv(65536), b"")).endswith(b"plain :: :: http")
    ask_port(server.ports[1])
    server.stop()
    lines = (tmp_path / "log").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["unix:", "127.0.0.1"]


def test_large_bodies_over_a_unix_socket(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s")
    with ThreadPoolExecutor(4) as clients:
        for answer in clients.map(lambda _: ask(f"{tmp_path}/s", "/large"), range(8)):
            assert answer == "L" * 2**20
    server.stop()


def test_stop_serves_waiting_clients(start: Start, tmp_path: Path) -> None:
    server = start(f"unix={tmp_path}/s")
    os.kill(server.process.pid, signal.SIGSTOP)
    clients = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    for client in clients:
        client.settimeout(TIMEOUT_S)
        client.connect(f"{tmp_path}/s")
        client.sendall(request("GET", "/connection"))
    server.process.stdin.close()
    os.kill(server.process.pid, signal.SIGCONT)
    for client in clients:
        received = b"".join(iter(lambda: client.recv(65536), b""))
        assert received.endswith(b"plain :: :: http")
        client.close()
    assert server.process.wait(TIMEOUT_S) == 0


# Socket activation


LAUNCHER = """
import os, sys
sockets = [int(number) for number in sys.argv[1].split(",") if number]
copies = [os.dup2(number, 100 + at) for at, number in enumerate(sockets)]
for number in sockets:
    os.close(number)
for at, copy in enumerate(copies):
    os.dup2(copy, 3 + at, inheritable=True)
    os.close(copy)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


def activation(*passed: object, names: str | None = None, pid: str | None = None,
               count: str | None = None) -> tuple[list[str], dict[str, object]]:
    """Returns the command and the options that start a program as systemd does, with the sockets as the descriptors 3, 4 and so on."""
    files = [each.fileno() for each in passed]
    variables = os.environ | {"LISTEN_FDS": count or str(len(files))}
    if names is not None:
        variables["LISTEN_FDNAMES"] = names
    if pid is not None:
        variables["LISTEN_PID"] = pid
    return [sys.executable, "-c", LAUNCHER, ",".join(map(str, files))], {"pass_fds": files, "env": variables}


class Activated(Listening):
    def __init__(self, command: list[str], *arguments: str, count: int = 1, **options: object) -> None:
        self.process = subprocess.Popen([*command, str(PROGRAM), *arguments], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.lines = [self.process.stdout.readline().strip() for _ in range(count)]
        self.ports = [int(line) for line in self.lines if line.isdigit()]


def socket_flags(process: int) -> dict[int, int]:
    """The flags of the process's sockets by number, without those that it closes meanwhile."""
    flags = {}
    for path in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(path).startswith("socket:"):
                lines = Path(f"/proc/{process}/fdinfo/{path.name}").read_text().splitlines()
                flags[int(path.name)] = next(int(line.split()[1], 8) for line in lines if line.startswith("flags"))
    return flags


def test_passed_sockets(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as web, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"{tmp_path}/s")
        local.listen()
        command, options = activation(web, local, names="web:local")
        port = web.getsockname()[1]
        for arguments in (("passed=1", "passed=2"), ("named=web", "named=local"), ("twice", "named=web", "passed=2")):
            server = Activated(command, *arguments, count=2, **options)
            assert server.ports == [port, 0], server.lines
            for _ in range(3):
                assert ask_port(port) == "plain 127.0.0.1 127.0.0.1 http"
                assert ask(f"{tmp_path}/s") == "plain :: :: http"
            flags = socket_flags(server.process.pid)
            assert {3, 4} <= flags.keys()
            assert all(value & os.O_CLOEXEC for value in flags.values()), flags
            server.stop()
        assert (tmp_path / "s").exists(), "the file belongs to the service manager"


def test_clients_wait_for_the_next_process() -> None:
    """The server leaves the clients of a passed socket that it has not accepted to the next one."""
    with socket.create_server(("127.0.0.1", 0)) as web:
        command, options = activation(web)
        port = web.getsockname()[1]
        server = Activated(command, "passed=1", **options)
        assert ask_port(port) == "plain 127.0.0.1 127.0.0.1 http"
        server.stop()
        with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as client:
            client.sendall(request("GET", "/connection", "Connection: close"))
            server = Activated(command, "passed=1", **options)
            assert b"".join(iter(lambda: client.recv(65536), b"")).endswith(b"plain 127.0.0.1 127.0.0.1 http")
            server.stop()


def test_restarts_lose_no_client() -> None:
    with socket.create_server(("127.0.0.1", 0)) as web:
        command, options = activation(web)
        port = web.getsockname()[1]
        until = time.monotonic() + 3

        def keep_asking(_: int) -> int:
            count = 0
            while time.monotonic() < until:
                assert ask_port(port) == "plain 127.0.0.1 127.0.0.1 http"
                count += 1
            return count

        with ThreadPoolExecutor(4) as clients:
            asked = clients.map(keep_asking, range(4))
            while time.monotonic() < until:
                server = Activated(command, "passed=1", **options)
                time.sleep(0.2)
                server.stop()
            server = Activated(command, "passed=1", **options)
            assert min(asked) > 3
        server.stop()


def test_invalid_activation(tmp_path: Path) -> None:
    with socket.socket() as closed, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, \
            socket.create_server(("127.0.0.1", 0)) as web, (tmp_path / "f").open("w") as file:
        closed.bind(("127.0.0.1", 0))
        for passed, message in ((closed, "does not listen"), (datagrams, "is not a stream socket"),
                                (file, "is not a stream socket")):
            command, options = activation(passed)
            server = Activated(command, "passed=1", **options)
            assert server.lines == [f"the passed file descriptor 3 {message}"]
            assert server.process.wait(TIMEOUT_S) == 1
        for pid, count, argument, message in (
                ("1", "1", "passed=1", "there is no passed socket 1; the number of passed sockets is 0"),
                (None, "1", "passed=2", "there is no passed socket 2; the number of passed sockets is 1"),
                (None, "-1", "passed=1", "there is no passed socket 1; the number of passed sockets is 0"),
                (None, "1x", "passed=1", "there is no passed socket 1; the number of passed sockets is 0"),
                (None, "99999999999", "passed=1", "there is no passed socket 1; the number of passed sockets is 0"),
                (None, "1", "named=b", "there is no passed socket with the name b; the number of passed sockets is 1")):
            command, options = activation(web, names="a:b", pid=pid, count=count)
            server = Activated(command, argument, **options)
            assert server.lines == [message], message
            assert server.process.wait(TIMEOUT_S) == 1
