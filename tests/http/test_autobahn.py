# SPDX-License-Identifier: Apache-2.0
"""The cases of the Autobahn TestSuite for WebSocket servers, under its numbers, with an independent client. Cases
that send megabytes send less here; performance cases that repeat others are left out, and so are the cases of
permessage-deflate (12 and 13), which the library does not support."""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pytest

import certificates
from test_services import Program
from test_tls import trusting
from websocket import (BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Frame, WebSocket, close_frame, fragments,
                       frame)

LIMIT = 1 << 20
"""The maximum length of messages."""


Connect = Callable[[], WebSocket]


@pytest.fixture(scope="module", params=[(1, False), (4, False), (4, True)],
                ids=["one worker", "four workers", "four workers with TLS"])
def connect(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """Returns a function that opens a connection to the server."""
    workers, is_secure = request.param
    settings = [f"workers={workers}", f"content={LIMIT}", f"queue={4 * LIMIT}"]
    if is_secure:
        folder = tmp_path_factory.mktemp("tls")
        certificates.make_own(folder, "first", "first.example")
        settings.append(f"tls={folder}")
    program = Program("channel_server", *settings, ports=2 if is_secure else 1)
    yield partial(WebSocket, program.addresses[-1], context=trusting() if is_secure else None)
    status = program.end()
    program.close()
    assert status == 0


@dataclass(frozen=True)
class Case:
    number: str
    sent: Sequence[bytes]
    expected: Sequence[Frame] = ()
    """The frames before the end."""
    fails: int | None = None
    """The code with which the server fails the connection; without one, the client closes it."""
    chop: int | None = None
    """The size of the pieces in which everything is sent."""
    pause_s: float = 0
    is_split: bool = False
    """Every frame is sent separately. If not, all are sent at once."""
    closes: bool = False
    """The client has already sent a close frame, which the server confirms with `code`."""
    code: int | None = 1000


def text(payload: bytes | str) -> Frame:
    return Frame(TEXT, payload.encode() if isinstance(payload, str) else payload)


def binary(payload: bytes) -> Frame:
    return Frame(BINARY, payload)


def pong(payload: bytes = b"") -> Frame:
    return Frame(PONG, payload)


def sections_1_and_2() -> Iterator[Case]:
    sizes = [(1, 0, None), (2, 125, None), (3, 126, None), (4, 127, None), (5, 128, None), (6, 65_535, None),
             (7, 65_536, None), (8, 65_536, 997)]
    for number, size, chop in sizes:
        yield Case(f"1.1.{number}", [frame(TEXT, b"*" * size)], [text(b"*" * size)], chop=chop)
        yield Case(f"1.2.{number}", [frame(BINARY, b"\xfe" * size)], [binary(b"\xfe" * size)], chop=chop)
    yield Case("2.1", [frame(PING)], [pong()])
    yield Case("2.2", [frame(PING, b"Hello, world!")], [pong(b"Hello, world!")])
    yield Case("2.3", [frame(PING, b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff")], [pong(b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff")])
    yield Case("2.4", [frame(PING, b"\xfe" * 125)], [pong(b"\xfe" * 125)])
    yield Case("2.5", [frame(PING, b"\xfe" * 126)], fails=1002)
    yield Case("2.6", [frame(PING, b"\xfe" * 125)], [pong(b"\xfe" * 125)], chop=1)
    yield Case("2.7", [frame(PONG)])
    yield Case("2.8", [frame(PONG, b"unsolicited pong payload")])
    yield Case("2.9", [frame(PONG, b"unsolicited pong payload"), frame(PING, b"ping payload")], [pong(b"ping payload")])
    pings = [f"payload-{index}".encode() for index in range(10)]
    yield Case("2.10", [frame(PING, each) for each in pings], [pong(each) for each in pings])
    yield Case("2.11", [frame(PING, each) for each in pings], [pong(each) for each in pings], chop=1)


HELLO = frame(TEXT, b"Hello, world!")


def sections_3_and_4() -> Iterator[Case]:
    yield Case("3.1", [frame(TEXT, b"Hello, world!", rsv=1)], fails=1002)
    for number, rsv, more in (("3.2", 2, {}), ("3.3", 3, {"is_split": True}), ("3.4", 4, {"chop": 1})):
        yield Case(number, [HELLO, frame(TEXT, b"Hello, world!", rsv=rsv), frame(PING)], [text("Hello, world!")],
                   fails=1002, **more)
    yield Case("3.5", [frame(BINARY, b"\x00\xff" * 4, rsv=5)], fails=1002)
    yield Case("3.6", [frame(PING, b"Hello, world!", rsv=6)], fails=1002)
    yield Case("3.7", [frame(CLOSE, rsv=7)], fails=1002)
    for section, opcodes in (("4.1", range(3, 8)), ("4.2", range(11, 16))):
        first, second, third, fourth, fifth = opcodes
        yield Case(f"{section}.1", [frame(first)], fails=1002)
        yield Case(f"{section}.2", [frame(second, b"reserved opcode payload")], fails=1002)
        yield Case(f"{section}.3", [HELLO, frame(third), frame(PING)], [text("Hello, world!")], fails=1002)
        yield Case(f"{section}.4", [HELLO, frame(fourth, b"reserved opcode payload"), frame(PING)],
                   [text("Hello, world!")], fails=1002, is_split=True)
        yield Case(f"{section}.5", [HELLO, frame(fifth, b"reserved opcode payload"), frame(PING)],
                   [text("Hello, world!")], fails=1002, chop=1)


def section_5() -> Iterator[Case]:
    two = fragments(TEXT, b"fragment1", b"fragment2")
    both = text("fragment1fragment2")
    stray = frame(CONTINUATION, b"non-continuation payload")
    open_stray = frame(CONTINUATION, b"non-continuation payload", fin=False)
    yield Case("5.1", fragments(PING, b"fragment1", b"fragment2"), fails=1002)
    yield Case("5.2", fragments(PONG, b"fragment1", b"fragment2"), fails=1002)
    yield Case("5.3", two, [both])
    yield Case("5.4", two, [both], is_split=True)
    yield Case("5.5", two, [both], chop=1)
    between = [two[0], frame(PING, b"ping payload"), two[1]]
    yield Case("5.6", between, [pong(b"ping payload"), both])
    yield Case("5.7", between, [pong(b"ping payload"), both], is_split=True)
    yield Case("5.8", between, [pong(b"ping payload"), both], chop=1)
    for number, first in ((9, stray), (12, open_stray)):
        yield Case(f"5.{number}", [first, HELLO], fails=1002)
        yield Case(f"5.{number + 1}", [first, HELLO], fails=1002, is_split=True)
        yield Case(f"5.{number + 2}", [first, HELLO], fails=1002, chop=1)
    yield Case("5.15", [*two, open_stray, frame(TEXT, b"fragment4")], [both], fails=1002)
    yield Case("5.16", [frame(CONTINUATION, b"fragment1", fin=False), frame(TEXT, b"fragment2", fin=False),
                        frame(CONTINUATION, b"fragment3")] * 2, fails=1002)
    yield Case("5.17", [frame(CONTINUATION, b"fragment1"), frame(TEXT, b"fragment2", fin=False),
                        frame(CONTINUATION, b"fragment3")] * 2, fails=1002)
    yield Case("5.18", [frame(TEXT, b"fragment1", fin=False), frame(TEXT, b"fragment2")], fails=1002)
    five = fragments(TEXT, *(f"fragment{index}".encode() for index in range(1, 6)))
    whole = text("fragment1fragment2fragment3fragment4fragment5")
    pinged = [*five[:2], frame(PING, b"pongme 1!"), *five[2:4], frame(PING, b"pongme 2!"), five[4]]
    yield Case("5.19", pinged, [pong(b"pongme 1!"), pong(b"pongme 2!"), whole], is_split=True)
    yield Case("5.20", pinged, [pong(b"pongme 1!"), pong(b"pongme 2!"), whole], chop=1)


GREEK = "κόσμε".encode()
VALID = "Hello-µ@ßöäüàá-UTF-8!!".encode()
INVALID = bytes.fromhex("cebae1bdb9cf83cebcceb5eda080656469746564")
"""With a surrogate."""

GOOD_UTF_8 = {
    "6.6.2": "ceba", "6.6.5": "cebae1bdb9", "6.6.7": "cebae1bdb9cf83", "6.6.9": "cebae1bdb9cf83cebc",
    "6.6.11": "cebae1bdb9cf83cebcceb5", "6.7.1": "00", "6.7.2": "c280", "6.7.3": "e0a080", "6.7.4": "f0908080",
    "6.9.1": "7f", "6.9.2": "dfbf", "6.9.3": "efbfbf", "6.9.4": "f48fbfbf", "6.11.1": "ed9fbf", "6.11.2": "ee8080",
    "6.11.3": "efbfbd", "6.11.4": "f48fbfbf", "6.22.1": "efbfbe", "6.22.2": "efbfbf", "6.23.1": "efbfb9",
    "6.23.7": "efbfbf"}

BAD_UTF_8 = {
    "6.6.1": "ce", "6.6.3": "cebae1", "6.6.4": "cebae1bd", "6.6.6": "cebae1bdb9cf", "6.6.8": "cebae1bdb9cf83ce",
    "6.6.10": "cebae1bdb9cf83cebcce", "6.8.1": "f888808080", "6.8.2": "fc8480808080", "6.10.1": "f7bfbfbf",
    "6.10.2": "fbbfbfbfbf", "6.10.3": "fdbfbfbfbfbf", "6.11.5": "f4908080", "6.12.1": "80", "6.12.2": "bf",
    "6.12.3": "80bf", "6.12.4": "80bf80", "6.12.5": "80bf80bf", "6.12.6": "80bf80bf80", "6.12.7": "80bf80bf80bf",
    "6.12.8": "8081828384858687bebf", "6.13.1": "c020c120c220df20", "6.13.2": "e020e120ee20ef20",
    "6.13.3": "f020f120f620f720", "6.13.4": "f820f920fa20fb20", "6.13.5": "fc20fd20", "6.14.1": "c0",
    "6.14.2": "e080", "6.14.3": "f08080", "6.14.4": "f8808080", "6.14.5": "fc80808080", "6.14.6": "df",
    "6.14.7": "efbf", "6.14.8": "f7bfbf", "6.14.9": "fbbfbfbf", "6.14.10": "fdbfbfbfbf",
    "6.15.1": "c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf", "6.16.1": "fe", "6.16.2": "ff",
    "6.16.3": "fefeffff", "6.17.1": "c0af", "6.17.2": "e080af", "6.17.3": "f08080af", "6.17.4": "f8808080af",
    "6.17.5": "fc80808080af", "6.18.1": "c1bf", "6.18.2": "e09fbf", "6.18.3": "f08fbfbf", "6.18.4": "f887bfbfbf",
    "6.18.5": "fc83bfbfbfbf", "6.19.1": "c080", "6.19.2": "e08080", "6.19.3": "f0808080", "6.19.4": "f880808080",
    "6.19.5": "fc8080808080", "6.20.1": "eda080", "6.20.2": "edadbf", "6.20.3": "edae80", "6.20.4": "edafbf",
    "6.20.5": "edb080", "6.20.6": "edbe80", "6.20.7": "edbfbf", "6.21.1": "eda080edb080", "6.21.2": "eda080edbfbf",
    "6.21.3": "edadbfedb080", "6.21.4": "edadbfedbfbf", "6.21.5": "edae80edb080", "6.21.6": "edae80edbfbf",
    "6.21.7": "edafbfedb080", "6.21.8": "edafbfedbfbf"}


def section_6() -> Iterator[Case]:
    yield Case("6.1.1", [frame(TEXT)], [text("")])
    yield Case("6.1.2", fragments(TEXT, b"", b"", b""), [text("")])
    yield Case("6.1.3", fragments(TEXT, b"", b"middle frame payload", b""), [text("middle frame payload")])
    yield Case("6.2.1", [frame(TEXT, VALID)], [text(VALID)])
    yield Case("6.2.2", fragments(TEXT, VALID[:13], VALID[13:]), [text(VALID)])
    yield Case("6.2.3", fragments(TEXT, *(VALID[at:at + 1] for at in range(len(VALID)))), [text(VALID)])
    yield Case("6.2.4", fragments(TEXT, *(GREEK[at:at + 1] for at in range(len(GREEK)))), [text(GREEK)])
    yield Case("6.3.1", [frame(TEXT, INVALID)], fails=1007)
    yield Case("6.3.2", fragments(TEXT, *(INVALID[at:at + 1] for at in range(len(INVALID)))), fails=1007)
    for number, payload in GOOD_UTF_8.items():
        yield Case(number, [frame(TEXT, bytes.fromhex(payload))], [text(bytes.fromhex(payload))])
        yield Case(f"{number} in octets", [frame(TEXT, bytes.fromhex(payload))], [text(bytes.fromhex(payload))], chop=1)
    for number, payload in BAD_UTF_8.items():
        yield Case(number, [frame(TEXT, bytes.fromhex(payload))], fails=1007)
        # Longer text is checked eight bytes at a time
        yield Case(f"{number} in text", [frame(TEXT, b"12345678" * 2 + bytes.fromhex(payload) + b"12345678" * 2)],
                   fails=1007)


def section_7() -> Iterator[Case]:
    ended = {"closes": True}
    yield Case("7.1.1", [HELLO], [text("Hello, world!")])
    yield Case("7.1.2", [close_frame(), close_frame()], **ended)
    yield Case("7.1.3", [close_frame(), frame(PING)], **ended)
    yield Case("7.1.4", [close_frame(), HELLO], **ended)
    yield Case("7.1.5", [frame(TEXT, b"fragment1", fin=False), close_frame(), frame(CONTINUATION, b"fragment2")], **ended)
    yield Case("7.1.6", [frame(TEXT, b"BAsd7&jh23" * 26_215), HELLO, close_frame(), frame(PING)],
               [text(b"BAsd7&jh23" * 26_215), text("Hello, world!")], **ended)
    yield Case("7.3.1", [frame(CLOSE)], code=None, **ended)
    yield Case("7.3.2", [frame(CLOSE, b"a")], fails=1002)
    yield Case("7.3.3", [close_frame()], **ended)
    yield Case("7.3.4", [close_frame(1000, b"Hello World!")], **ended)
    yield Case("7.3.5", [close_frame(1000, b"*" * 123)], **ended)
    yield Case("7.3.6", [close_frame(1000, b"*" * 124)], fails=1002)
    yield Case("7.5.1", [close_frame(1000, INVALID)], fails=1007)
    good = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
    for index, code in enumerate(good, start=1):
        yield Case(f"7.7.{index}", [close_frame(code)], code=code, **ended)
    bad = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]
    for index, code in enumerate(bad, start=1):
        yield Case(f"7.9.{index}", [close_frame(code)], fails=1002)
    for index, code in enumerate([5000, 65_535], start=1):
        yield Case(f"7.13.{index}", [close_frame(code)], fails=1002)


def sections_9_and_10() -> Iterator[Case]:
    sizes = [65_536, 262_144, LIMIT]
    for index, size in enumerate(sizes, start=1):
        yield Case(f"9.1.{index}", [frame(TEXT, b"BAsd7&jh" * (size // 8))], [text(b"BAsd7&jh" * (size // 8))])
        yield Case(f"9.2.{index}", [frame(BINARY, b"\x00\xfe" * (size // 2))], [binary(b"\x00\xfe" * (size // 2))])
    whole = bytes(range(128)) * (LIMIT // 128)
    for index, size in enumerate([64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, LIMIT], start=1):
        parts = [whole[at:at + size] for at in range(0, LIMIT, size)]
        yield Case(f"9.3.{index}", fragments(TEXT, *parts), [text(whole)])
        yield Case(f"9.4.{index}", fragments(BINARY, *parts), [binary(whole)])
    for index, chop in enumerate([64, 128, 256, 512, 1_024, 2_048], start=1):
        yield Case(f"9.5.{index}", [frame(TEXT, whole[:LIMIT // 4])], [text(whole[:LIMIT // 4])], chop=chop)
        yield Case(f"9.6.{index}", [frame(BINARY, whole[:LIMIT // 4])], [binary(whole[:LIMIT // 4])], chop=chop)
    for index, size in enumerate([0, 16, 64, 256, 1_024, 4_096], start=1):
        yield Case(f"9.7.{index}", [frame(TEXT, b"*" * size)] * 200, [text(b"*" * size)] * 200)
        yield Case(f"9.8.{index}", [frame(BINARY, b"\xfe" * size)] * 200, [binary(b"\xfe" * size)] * 200)
    parts = [b"*" * min(1_300, 65_536 - at) for at in range(0, 65_536, 1_300)]
    yield Case("10.1.1", fragments(TEXT, *parts), [text(b"*" * 65_536)])


CASES = [*sections_1_and_2(), *sections_3_and_4(), *section_5(), *section_6(), *section_7(), *sections_9_and_10()]


@pytest.mark.parametrize("case", CASES, ids=[case.number for case in CASES])
def test_case(connect: Connect, case: Case) -> None:
    with connect() as socket:
        pieces = case.sent if case.is_split else [b"".join(case.sent)]
        socket.send(*pieces, chop=case.chop, pause_s=0.002 if case.is_split else case.pause_s)
        for expected in case.expected:
            assert socket.receive() == expected
        if case.fails is not None:
            socket.must_fail(case.fails)
        elif case.closes:
            received = socket.receive()
            assert received.opcode == CLOSE and received.code == case.code, received
            socket.must_end()
        else:
            socket.close()


def must_fail_early(socket: WebSocket) -> None:
    socket.socket.settimeout(10)
    socket.must_fail(1007)


def test_6_4_1(connect: Connect) -> None:
    """Invalid UTF-8 fails before the message ends: in the second frame."""
    with connect() as socket:
        parts = fragments(TEXT, GREEK, b"\xf4\x90\x80\x80", b"edited")
        socket.send(parts[0], parts[1])
        must_fail_early(socket)


def test_6_4_2(connect: Connect) -> None:
    """At the first byte that no code point can continue with."""
    with connect() as socket:
        parts = fragments(TEXT, GREEK + b"\xf4", b"\x90", b"\x80\x80edited")
        socket.send(parts[0], parts[1])
        must_fail_early(socket)


@pytest.mark.parametrize("number, at", [("6.4.3", 4), ("6.4.4", 2)])
def test_within_a_frame(connect: Connect, number: str, at: int) -> None:
    """Within a frame whose rest never arrives."""
    payload = GREEK + b"\xf4\x90\x80\x80" + b"edited"
    with connect() as socket:
        data = frame(TEXT, payload)
        end = len(data) - len(payload) + len(GREEK) + at
        socket.send(data[:end], chop=3, pause_s=0.002)
        must_fail_early(socket)


@pytest.mark.parametrize("name, length", [
    ("16 bits for 125", b"\x7e" + struct.pack("!H", 125)), ("64 bits for 65535", b"\x7f" + struct.pack("!Q", 65_535)),
    ("64 bits for 5", b"\x7f" + struct.pack("!Q", 5)), ("the highest bit", b"\x7f" + struct.pack("!Q", 1 << 63))])
def test_lengths_are_minimal(connect: Connect, name: str, length: bytes) -> None:
    """RFC 6455, 5.2: not among the cases of Autobahn."""
    with connect() as socket:
        socket.send(frame(TEXT, b"*" * 5, length=length))
        socket.must_fail(1002)


@pytest.mark.parametrize("opcode", [TEXT, BINARY, PING, PONG, CLOSE])
def test_clients_must_mask(connect: Connect, opcode: int) -> None:
    with connect() as socket:
        socket.send(frame(opcode, b"", mask=None))
        socket.must_fail(1002)


@pytest.mark.parametrize("mask", [b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x00\x80\x7f\x01"])
@pytest.mark.parametrize("size", [*range(20), 125, 126, 1_000, 65_536])
def test_masks(connect: Connect, mask: bytes, size: int) -> None:
    payload = bytes(index * 7 % 251 for index in range(size))
    with connect() as socket:
        socket.send(frame(BINARY, payload, mask=mask))
        assert socket.receive() == binary(payload)
        socket.send(*fragments(TEXT, b"a" * size, b"\xc3", b"\xa9" + b"b" * size))
        assert socket.receive() == text("a" * size + "é" + "b" * size)


@pytest.mark.parametrize("name, sent", [
    ("a frame", frame(TEXT, b"", length=b"\x7f" + struct.pack("!Q", LIMIT + 1))),
    ("a huge frame", frame(BINARY, b"", length=b"\x7f" + struct.pack("!Q", (1 << 63) - 1))),
    ("fragments", b"".join(fragments(TEXT, b"*" * LIMIT, b"*"))),
    ("the second fragment", frame(TEXT, b"*", fin=False)
     + frame(CONTINUATION, b"", fin=False, length=b"\x7f" + struct.pack("!Q", LIMIT)))])
def test_messages_above_the_limit(connect: Connect, name: str, sent: bytes) -> None:
    with connect() as socket:
        socket.send(sent)
        socket.must_fail(1009)
