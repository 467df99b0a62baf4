# SPDX-License-Identifier: Apache-2.0
"""The fixture of experiments/cookies: links with a rate and a delay, simulated by the fixture itself or by the kernel.
No network remains, no matter how the fixture ends."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from databases import eventually
from experiments import read_experiments
from fixture_process import FixtureProcess

DECLARED = read_experiments().get("cookies", {}).get("fixture", [])
FAST = "up_kbit_s=100000 down_kbit_s=100000"
HEADERS = 52


@pytest.fixture
def fixture() -> Iterator[FixtureProcess]:
    if not DECLARED:
        pytest.skip("the experiments in BENCHLAB_TEST_EXPERIMENTS do not declare this fixture")
    fixture = FixtureProcess(DECLARED[0])
    assert fixture.ask("open seed=7") == {"verb": "opened"}
    yield fixture
    fixture.end_input()


class Echo:
    """A server on a Unix socket that returns what it receives."""

    def __init__(self, path: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self._echo, args=(client,), daemon=True).start()

    def _echo(self, client: socket.socket) -> None:
        while data := client.recv(65536):
            client.sendall(data)
        client.close()


def connect(entered: dict[str, str]) -> socket.socket:
    host, port = entered["address"].split(":")
    return socket.create_connection((host, int(port)))


def exchange(client: socket.socket, length: int) -> float:
    """Returns the seconds until the bytes are back."""
    began = time.monotonic()
    client.sendall(bytes(length))
    missing = length
    while missing:
        received = len(client.recv(missing))
        assert received, "the link closed the connection"
        missing -= received
    return time.monotonic() - began


def devices(fixture: FixtureProcess) -> list[str]:
    return [name for name in os.listdir("/sys/class/net") if name.startswith(f"lab{fixture.pid}n")]


def netem_or_skip(fixture: FixtureProcess, state: str) -> None:
    reply = fixture.ask(f"check {state}")
    if reply["verb"] == "error":
        assert reply["code"] == "unsupported"
        reasons = "requires root", "does not support netem", "not installed"
        assert any(reason in reply["message"] for reason in reasons), reply
        pytest.skip(reply["message"])
    assert reply == {"verb": "checked", "current": "no"}


def test_each_visit_has_its_own_link_whose_bytes_are_counted(fixture: FixtureProcess) -> None:
    state = f"state=fast {FAST} round_trip_ms=1 mtu=600"
    assert fixture.ask(f"check {state}") == {"verb": "checked", "current": "no"}
    first, second = (fixture.ask(f"enter visit={visit} {state}") for visit in (1, 2))
    assert first["verb"] == "entered" and first["packet"] == str(600 - HEADERS)
    assert first["address"] != second["address"] and first["socket"] != second["socket"]
    for entered in (first, second):
        Echo(entered["socket"])
    one, other = connect(first), connect(second)
    exchange(one, 10)
    fixture.ask("begin visit=1")
    fixture.ask("begin visit=2")
    exchange(one, 5000)
    exchange(other, 7)
    assert fixture.ask("end visit=1 operations=2") == {"verb": "ended", "link_bytes": "2500"}
    assert fixture.ask("end visit=2 operations=2") == {"verb": "ended", "link_bytes": "3.5"}
    assert fixture.ask("leave visit=1") == {"verb": "left"}
    assert one.recv(1) == b"", "the end of a visit must close its connections"
    assert not Path(first["socket"]).exists()
    exchange(other, 1)
    assert fixture.ask("close") == {"verb": "closed"}
    assert not Path(second["socket"]).exists()


@pytest.mark.parametrize("by", ["", " by=netem"])
def test_nothing_arrives_before_its_time(fixture: FixtureProcess, by: str) -> None:
    state = f"state=slow up_kbit_s=1000 down_kbit_s=100000 round_trip_ms=40{by}"
    if by:
        netem_or_skip(fixture, state)
    entered = fixture.ask(f"enter visit=1 {state}")
    Echo(entered["socket"])
    began = time.monotonic()
    client = connect(entered)
    exchange(client, 1)
    assert time.monotonic() - began >= 0.080, "a connection and a request take two round trips"
    # 12,500 bytes at 1 Mbit/s take 100 ms. Any further delay depends on the machine.
    assert exchange(client, 12_500) >= 0.140


def test_networks_of_the_kernel_end_with_the_fixture(fixture: FixtureProcess) -> None:
    state = f"state=real {FAST} round_trip_ms=1 by=netem"
    netem_or_skip(fixture, state)
    assert devices(fixture), "the run must use the network that the check created"
    fixture.ask("close")
    assert not devices(fixture)
    killed = FixtureProcess(DECLARED[0])
    killed.ask("open")
    entered = killed.ask(f"enter visit=1 {state}")
    assert entered["verb"] == "entered" and devices(killed)
    killed.kill()
    assert eventually(lambda: not devices(killed)), devices(killed)


@pytest.mark.parametrize(("arguments", "message"), [
    ("up_kbit_s=1 down_kbit_s=8 round_trip_ms=1", "up_kbit_s is not a whole number from 8 to 10000000"),
    ("up_kbit_s=8 round_trip_ms=1", "the argument down_kbit_s is missing"),
    (f"{FAST} round_trip_ms=-1", "round_trip_ms is not a number from 0 to 10000"),
    (f"{FAST} round_trip_ms=nan", "round_trip_ms is not a number from 0 to 10000"),
    (f"{FAST} round_trip_ms=1 mtu=60", "mtu is not a whole number from 576 to 9000"),
    (f"{FAST} round_trip_ms=1 by=magic", "expected by=netem, got magic"),
])
def test_links_that_cannot_be(fixture: FixtureProcess, arguments: str, message: str) -> None:
    for command in ("check", "enter visit=1"):
        assert fixture.ask(f"{command} state=x {arguments}") == {"verb": "error", "code": "usage", "message": message}
    assert fixture.ask(f"check state=x {FAST} round_trip_ms=1 loss=1") == {
        "verb": "error", "code": "usage", "message": "expected up_kbit_s, down_kbit_s, round_trip_ms, mtu, by, got loss"}
