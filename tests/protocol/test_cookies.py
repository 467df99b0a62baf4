# SPDX-License-Identifier: Apache-2.0
"""The subjects of experiments/cookies at the two ends of the test's own link, which counts the bytes: the
server receives every cookie over either protocol, and the bytes are those of the case's description."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments import Declared, declared_subjects, points, read_experiments
from subject import Subject

CASES: list[dict[str, Any]] = read_experiments()["cookies"]["case"]
SUBJECTS = [declared for declared in declared_subjects() if declared.experiment == "cookies"]
PACKET = 1448

both_subjects = pytest.mark.parametrize("declared", SUBJECTS, ids=str)
http1 = pytest.mark.parametrize("declared", [s for s in SUBJECTS if s.name == "http1"], ids=str)
http2 = pytest.mark.parametrize("declared", [s for s in SUBJECTS if s.name == "http2"], ids=str)


class Link:
    """Accepts connections, and forwards their data to the Unix socket at `server`, and back."""

    def __init__(self, server: Path) -> None:
        self.server, self.sent, self.connections = server, 0, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def ends(self) -> str:
        return f"address=127.0.0.1:{self._listener.getsockname()[1]} socket={self.server}"

    def close(self) -> None:
        with contextlib.suppress(OSError):  # It may already be closed.
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.server))
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._hand_on, args=ends, daemon=True).start()

    def _hand_on(self, sender: socket.socket, receiver: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := sender.recv(65536):
                if receiver.family == socket.AF_UNIX:
                    self.sent += len(piece)
                receiver.sendall(piece)
            receiver.shutdown(socket.SHUT_WR)


@pytest.fixture
def link(folder: Path) -> Iterator[Link]:
    link = Link(folder / "server")
    yield link
    link.close()


def seeded(seed: int) -> list[int]:
    """Computes the sequence in docs/protocol.md, "The seeded sequence"."""
    mask, values = (1 << 64) - 1, []
    for k in range(1, 4097):
        z = (seed + k * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        values.append(z ^ z >> 31)
    return values


INPUTS = seeded(7)
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def in_base_36(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = DIGITS[digit] + text
    return text


def field(hundreds: int) -> str:
    values = ["".join(in_base_36(INPUTS[(8 * i + j) % 4096]) for j in range(9))[:94] for i in range(hundreds)]
    return "; ".join(f"c{i:02}={value}" for i, value in enumerate(values))


def fnv(text: str) -> int:
    """Computes FNV-1a with 64 bits."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


def opening(case: str, link: Link, **point: object) -> str:
    arguments = "".join(f" {key}={value}" for key, value in point.items())
    return f"open case={case}{arguments} link=cable packet={PACKET} {link.ends} seed=7"


def bytes_of(subject: Subject, link: Link, operations: int = 4) -> float:
    """Returns the bytes that a request sends, without the bytes of the first requests."""
    subject.ask_for("verified", "verify operations=2")
    before = link.sent
    subject.ask_for("ran", f"run operations={operations}")
    return (link.sent - before) / operations


@both_subjects
def test_the_server_gets_all_cookies_at_every_point(declared: Declared, subject: Subject, link: Link) -> None:
    for case in CASES:
        for point in points(case, None):
            if not declared.can_do(point) or point["link"] != "cable":
                continue
            further = {key: value for key, value in point.items() if key != "link"}
            opened = subject.ask_for("opened", opening(case["name"], link, **further))
            for operations in (1, 3):
                verified = subject.ask_for("verified", f"verify operations={operations}")
                assert verified.number("units") == operations * int(str(point.get("hundreds", 1)))
                if "hundreds" in point:
                    expected = operations * fnv(field(int(str(point["hundreds"])))) % (1 << 64)
                    assert verified.number("check") == expected, (case["name"], point)
            ran = subject.ask_for("ran", "run operations=2").arguments
            assert set(ran) == {"start", "end", "operations", "units", "check"}
            if case["name"] != "new":
                assert opened.arguments["spoken"] == {"http1": "HTTP/1.1", "http2": "HTTP/2.0"}[declared.name]
            subject.ask_for("closed", "close")
            assert not link.server.exists(), "the server must remove its socket"


@http1
def test_a_hundred_bytes_are_a_hundred_bytes(declared: Declared, subject: Subject, link: Link) -> None:
    sizes = []
    for hundreds in (0, 1, 10, 40):
        subject.ask_for("opened", opening("kept", link, hundreds=hundreds))
        sizes.append(bytes_of(subject, link))
        subject.ask_for("closed", "close")
    # The field's name, what follows it and the end of its line are 10 bytes; no separator follows the last
    # cookie.
    assert [size - sizes[0] for size in sizes[1:]] == [100 * n + 8 for n in (1, 10, 40)]
    assert sizes[0] == 397, "the size of a request without cookies, as in README.md"


@http1
def test_a_request_fills_one_packet_or_begins_a_second(declared: Declared, subject: Subject, link: Link) -> None:
    for packets, expected in (("one", PACKET), ("two", PACKET + 1)):
        subject.ask_for("opened", opening("packet", link, packets=packets))
        assert bytes_of(subject, link) == expected
        subject.ask_for("closed", "close")
    command = opening("packet", link, packets="one").replace(f"packet={PACKET}", "packet=300")
    assert subject.ask_for_error(command) == "unsupported"


@http2
def test_the_table_of_http2_holds_cookies_until_it_is_full(
        declared: Declared, subject: Subject, link: Link) -> None:
    sizes = []
    for hundreds in (0, 20, 40):
        subject.ask_for("opened", opening("kept", link, hundreds=hundreds))
        sizes.append(bytes_of(subject, link))
        subject.ask_for("closed", "close")
    # One or two bytes for each cookie, as long as all cookies fit into the table of 4,096 bytes.
    assert sizes[0] < sizes[1] <= sizes[0] + 2 * 20
    assert sizes[2] > 2000


@both_subjects
def test_connections_are_kept_or_new(declared: Declared, subject: Subject, link: Link) -> None:
    subject.ask_for("opened", opening("kept", link, hundreds=5))
    subject.ask_for("ran", "run operations=5")
    subject.ask_for("closed", "close")
    assert link.connections == 1
    subject.ask_for("opened", opening("new", link, hundreds=5))
    subject.ask_for("ran", "run operations=5")
    subject.ask_for("closed", "close")
    assert link.connections == 1 + 5


@both_subjects
def test_what_a_case_cannot_be_opened_with(declared: Declared, subject: Subject, link: Link) -> None:
    for command in (opening("kept", link, hundreds=61), opening("new", link, hundreds="many"),
                    "open case=kept hundreds=1 seed=7", "open case=kept hundreds=1 address=127.0.0.1:1 seed=7",
                    opening("packet", link)):
        assert subject.ask_for_error(command) == "usage", command
    assert subject.ask_for_error(opening("packet", link, packets="three")) == "unsupported"
    if declared.name == "http2":
        assert subject.ask_for_error(opening("packet", link, packets="one")) == "unsupported"
    command = opening("kept", link, hundreds=1).replace(str(link.server), "/nonexistent/folder/socket")
    assert subject.ask_for_error(command) == "failed", command


@both_subjects
def test_a_link_that_is_cut_is_a_failure(declared: Declared, subject: Subject, link: Link) -> None:
    subject.ask_for("opened", opening("new", link, hundreds=1))
    link.close()
    assert subject.ask_for_error("run operations=1") == "failed"
