# SPDX-License-Identifier: Apache-2.0
"""appserver/ada/tests/http/graceful_server.adb, which ends on SIGTERM, and reopens its log on SIGHUP."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from client import TIMEOUT_S, Connection, request
from test_services import BUILD, PROGRAMS


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    program = PROGRAMS / "graceful_server"
    if not program.exists():
        raise FileNotFoundError(f"{program.name} is missing; build it with\n{BUILD}")
    with subprocess.Popen([program, "0"], stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def address(process: subprocess.Popen[str]) -> tuple[str, int]:
    host, _, port = process.stdout.readline().strip().removeprefix("http://").rpartition(":")
    return host, int(port)


def test_it_ends(process: subprocess.Popen[str]) -> None:
    address(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(TIMEOUT_S) == 0


def test_what_was_sent_is_answered(process: subprocess.Popen[str]) -> None:
    """Requests on connections that are kept open, and on new connections, are answered. Then the program exits."""
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
    assert process.wait(TIMEOUT_S) == 0


def test_a_second_signal_changes_nothing(process: subprocess.Popen[str]) -> None:
    place = address(process)
    with Connection(place) as connection:
        connection.send(request("GET", "/"))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        assert connection.answer().status == 200
    assert process.wait(TIMEOUT_S) == 0


def wait_until(condition: Callable[[], bool], event: str) -> None:
    limit = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < limit, event
        time.sleep(0.01)


def test_its_log_is_opened_anew(tmp_path: Path) -> None:
    """As with logrotate: the log is renamed and a signal is sent; no line is lost or cut."""
    log, expected = tmp_path / "log", 0
    with subprocess.Popen([PROGRAMS / "graceful_server", "0", log], stdout=subprocess.PIPE, text=True) as process:
        try:
            with Connection(address(process)) as connection:
                def ask() -> None:
                    nonlocal expected
                    for _ in range(50):
                        connection.send(request("GET", f"/hello?name={expected}")).answer()
                        expected += 1

                ask()
                for number in range(5):
                    log.rename(tmp_path / f"log.{number}")
                    process.send_signal(signal.SIGHUP)
                    ask()
                    wait_until(log.exists, "the program creates no new log")
                    ask()
                wait_until(lambda: str(expected - 1) in log.read_text(), "the program does not write to the new log")
                # As long as no new file can be created, lines are written to the open one.
                log.rename(tmp_path / "log.5")
                log.mkdir()
                process.send_signal(signal.SIGHUP)
                ask()
                wait_until(lambda: f"name={expected - 1} " in (tmp_path / "log.5").read_text(), "lines are lost")
                log.rmdir()
                wait_until(log.exists, "the program does not try again to create the log")
                ask()
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()
    text = "".join((tmp_path / name).read_text() for name in [*(f"log.{number}" for number in range(6)), "log"])
    assert [line.split(" HTTP/1.1")[0].split("name=")[1] for line in text.splitlines()] == [
        str(number) for number in range(expected)]
