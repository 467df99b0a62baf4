# SPDX-License-Identifier: Apache-2.0
"""The example of appserver/ada/HTTP.md that ends when it gets SIGTERM."""

import signal
import subprocess
from collections.abc import Iterator

import pytest

from client import Connection, request
from test_services import BUILD, PROGRAMS, possible  # noqa: F401


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    program = PROGRAMS / "graceful_server"
    if not program.exists():
        raise FileNotFoundError(f"{program.name} is not there; build it with\n{BUILD}")
    with subprocess.Popen([program, "0"], stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def address(process: subprocess.Popen[str]) -> tuple[str, int]:
    host, _, port = process.stdout.readline().strip().removeprefix("http://").rpartition(":")
    return host, int(port)


def test_it_ends(process: subprocess.Popen[str]) -> None:
    address(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0


def test_what_was_sent_is_answered(process: subprocess.Popen[str]) -> None:
    """On connections that are kept, and on new ones; then it ends by itself."""
    place = address(process)
    connections = [Connection(place) for _ in range(50)]
    for connection in connections[:25]:
        assert connection.send(request("GET", "/")).answer().status == 200
    for connection in connections:
        connection.send(request("GET", "/hello?name=Ada") * 3)
    process.send_signal(signal.SIGTERM)
    for connection in connections:
        answers = [connection.answer() for _ in range(3)]
        assert [answer.body for answer in answers] == [b"Hello Ada!"] * 3
        connection.must_end()
        connection.socket.close()
    assert process.wait(timeout=30) == 0


def test_a_second_signal_changes_nothing(process: subprocess.Popen[str]) -> None:
    place = address(process)
    with Connection(place) as connection:
        connection.send(request("GET", "/"))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        assert connection.answer().status == 200
    assert process.wait(timeout=30) == 0
