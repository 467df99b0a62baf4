# SPDX-License-Identifier: Apache-2.0
"""`close` under load: earlier requests are answered, connections end cleanly, and the port is free."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from client import Connection, NoAnswer, Reset, request
from servers import Server, open_case

LIMIT_S = 60
"""The time limit for the reply to `close`. The experiment allows 5 s, but other programs may keep the cores busy."""


@dataclass
class Load:
    """Clients that send requests without a pause, each over one connection or a new one for every request."""

    server: Server
    keep_alive: bool
    count: int
    closing_at: float = float("inf")
    answered: int = 0
    lost: list[str] = field(default_factory=list)
    """Requests that were sent before the close and not answered."""
    resets: int = 0
    """Connections that ended without FIN, no matter when their request was sent."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> "Load":
        self._threads = [threading.Thread(target=self._ask_until_closed, args=(i,)) for i in range(self.count)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            thread.join()

    def wait_until_busy(self) -> None:
        """Waits until the clients have received some responses each, on average."""
        deadline = time.monotonic() + LIMIT_S
        while self.answered < 4 * self.count:
            assert time.monotonic() < deadline, f"only {self.answered} responses"
            time.sleep(0.01)

    def _ask_until_closed(self, number: int) -> None:
        connection, i = None, 0
        while True:
            try:
                connection = connection or self.server.connect()
            except OSError:  # refused: the server no longer listens
                return
            i += 1
            name = f"N{number} {i}"
            connection.send(request("GET", f"/api/hello/{name.replace(' ', '%20')}",
                                    *([] if self.keep_alive else ["Connection: close"])))
            sent_at = time.monotonic()
            try:
                answer = connection.answer()
                assert answer.json == {"greeting": f"Hello {name}!"}
                with self._lock:
                    self.answered += 1
            except NoAnswer as error:
                connection.socket.close()
                with self._lock:
                    self.resets += isinstance(error, Reset)
                    if sent_at < self.closing_at:
                        self.lost.append(f"{name}: {error}")
                return
            if answer.closes:
                connection.socket.close()
                connection = None


def close(server: Server) -> float:
    """Closes the server and returns the duration."""
    begun = time.monotonic()
    assert server.subject.ask_for("closed", "close").arguments == {}
    return time.monotonic() - begun


def must_be_free(server: Server) -> None:
    """Checks that no process listens on the port, and that another process can."""
    with pytest.raises(ConnectionRefusedError):
        server.connect()
    if not server.promises:
        return  # connections in TIME_WAIT may block the port, if the server did not allow its reuse
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(server.address)
        other.listen()


@pytest.mark.parametrize("keep_alive", [True, False], ids=["kept connections", "a connection per request"])
def test_none_is_lost_under_load(start: Callable[..., Server], folder: Path, keep_alive: bool) -> None:
    """Clients cannot know when a server closes. A request that they send at this moment may be too late, but never gets
    an incomplete response."""
    server = start()
    for _ in range(2):
        with Load(server, keep_alive, count=24) as load:
            load.wait_until_busy()
            load.closing_at = time.monotonic()
            took = close(server)
        assert load.lost == []
        if server.promises:
            assert load.resets == 0
        assert took < LIMIT_S
        must_be_free(server)
        server = Server(server.target, open_case(server.subject, folder), server.subject)
    assert server.subject.quit() == 0


def test_what_was_asked_is_answered(start: Callable[..., Server]) -> None:
    """Tests requests in the server's buffers, and on connections that it has not accepted yet. The server is stopped in
    the meantime, so that it sees them and the end at the same time."""
    server = start()
    open_connections = [server.connect() for _ in range(50)]
    for connection in open_connections:
        assert connection.send(request()).answer().status == 200
    new = []
    os.kill(server.subject.pid, signal.SIGSTOP)
    for connection in open_connections:
        connection.send(request() * 10 + request("GET", "/files/64k.bin"))
        new.append(server.connect().send(request("GET", "/api/hello/New")))
    threading.Timer(0.1, os.kill, (server.subject.pid, signal.SIGCONT)).start()
    assert close(server) < LIMIT_S
    for connection in open_connections:
        answers = []
        while len(answers) < 11:
            answers.append(connection.answer())
            assert answers[-1].status == 200
            assert not answers[-1].closes or len(answers) == 11, f"the server closed the connection after {len(answers)} of 11 responses"
        connection.must_end()
    for connection in new:
        assert connection.answer().json == {"greeting": "Hello New!"}
        connection.must_end()


def test_idle_connections_are_closed(start: Callable[..., Server]) -> None:
    """Idle connections are closed immediately and cleanly."""
    server = start()
    idle = [server.connect() for _ in range(300)]
    for connection in idle[::2]:
        assert connection.send(request()).answer().status == 200
    assert close(server) < LIMIT_S
    for connection in idle:
        connection.must_end()
    must_be_free(server)


STUCK = [request()[:-1], request("POST", "/api/echo", "Content-Length: 1024") + b"{", request("GET", "/files/64k.bin") * 400]
"""Requests that stop in the header, in the body, or while the response is read."""


def test_clients_that_are_stuck_do_not_hold_it_up(start: Callable[..., Server]) -> None:
    """Tests some clients in each stage."""
    server = start()
    stuck: list[Connection] = [server.connect(receive_buffer=4096).send(sent) for sent in STUCK * 10]
    time.sleep(0.2)
    assert close(server) < LIMIT_S
    with pytest.raises(ConnectionRefusedError):
        server.connect()
    for connection in stuck:
        connection.socket.close()
    assert server.subject.quit() == 0


def test_a_body_under_way_is_finished(start: Callable[..., Server]) -> None:
    """The rest of a request that has begun arrives a moment later. The server sends a complete response, or none."""
    server = start()
    sent = request("POST", "/api/echo", body=b'{"a":1}')
    with server.connect() as connection:
        connection.send(sent[:-3])
        time.sleep(0.1)
        thread = threading.Timer(0.3, connection.send, [sent[-3:]])
        thread.start()
        assert close(server) < LIMIT_S
        thread.join()
        try:
            assert connection.answer("POST").status in (200, 400, 408, 503)
        except NoAnswer:
            pass


def test_the_end_of_the_input_ends_it(start: Callable[..., Server]) -> None:
    server = start()
    with server.connect() as connection:
        assert connection.send(request()).answer().status == 200
        assert server.subject.end_input() == 0
        connection.must_end()
    must_be_free(server)


def test_quit_ends_it(start: Callable[..., Server]) -> None:
    server = start()
    with server.connect() as connection:
        assert connection.send(request()).answer().status == 200
        assert server.subject.quit() == 0
        connection.must_end()
    must_be_free(server)
