# SPDX-License-Identifier: Apache-2.0
"""The cost of a byte that arrives alone does not depend on the amount of data before it. The server's CPU times in both
situations are measured alternately, and the least are compared: other programs on a busy machine only add to them."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from client import Connection, request
from test_services import Program

ROUNDS = 15
BYTES = 60
"""Bytes in each round."""
MAX_RATIO = 2
"""The maximum ratio: it was 4 when a header of 15,000 bytes was parsed again for each byte."""

FORM = "Content-Type: application/x-www-form-urlencoded"
HEADERS = {"server": 15_000, "embedded": 7_000}


@pytest.fixture(scope="module", params=list(HEADERS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def program(kind: str) -> Iterator[Program]:
    program = Program("services_server", kind, ports=2 if kind == "server" else 1)
    yield program
    program.close()


def cpu_ns(program: Program) -> int:
    """Returns the CPU time of all threads of the program, from the clock of clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~program.process.pid << 3) | 2)


def wait_until_all_sleep(program: Program) -> None:
    """Waits until no thread of the program has work. A thread is awake as soon as data for it was sent."""
    while any(state(task) != "S" for task in Path(f"/proc/{program.process.pid}/task").iterdir()):
        time.sleep(0)


def state(task: Path) -> str:
    """Returns the state of a thread: the first word behind its name, which is in parentheses (proc(5))."""
    return (task / "stat").read_text().rpartition(")")[2].split()[0]


def cost_ns(program: Program, connection: Connection, piece: bytes) -> float:
    """Returns the CPU time per byte of the piece, when its bytes are sent alone: the server reads each before the next one
    is sent."""
    before = cpu_ns(program)
    for at in range(len(piece)):
        connection.send(piece[at:at + 1])
        wait_until_all_sleep(program)
    return (cpu_ns(program) - before) / len(piece)


def compare(program: Program, beginnings: list[bytes], dribbled: bytes, end: bytes = b"") -> float:
    """Returns the least cost after the first beginning, divided by the least cost after the second beginning."""
    with ExitStack() as stack:
        connections = [stack.enter_context(program.connect()) for _ in beginnings]
        for connection, beginning in zip(connections, beginnings, strict=True):
            connection.send(beginning)
        wait_until_all_sleep(program)
        costs = [[cost_ns(program, connection, dribbled) for connection in connections] for _ in range(ROUNDS)]
        for connection in connections:
            assert connection.send(end).answer().status == 200
    return min(long for long, _ in costs) / min(short for _, short in costs)


def padded(text: bytes, size: int) -> bytes:
    """Returns the request with fields of 500 bytes after its first line."""
    line = b"X-Padding: " + 487 * b"a" + b"\r\n"
    head, _, rest = text.partition(b"\r\n")
    return head + b"\r\n" + size // len(line) * line + rest


def test_a_header_behind_a_long_line(program: Program) -> None:
    begun = [b"GET /count?%b HTTP/1.1\r\nHost: h\r\nX: " % (size * b"a") for size in (7_000, 1)]
    assert compare(program, begun, BYTES * b"a", b"\r\n\r\n") < MAX_RATIO


def long_and_short(kind: str, text: bytes) -> list[bytes]:
    return [padded(text, HEADERS[kind]), text]


def test_a_header(program: Program, kind: str) -> None:
    begun = b"GET /count HTTP/1.1\r\nHost: h\r\nX: "
    assert compare(program, long_and_short(kind, begun), BYTES * b"a", b"\r\n\r\n") < MAX_RATIO


def test_content(program: Program, kind: str) -> None:
    begun = request("POST", "/form", FORM, f"Content-Length: {ROUNDS * BYTES + 10}") + b"a=1234567"
    assert compare(program, long_and_short(kind, begun), BYTES * b"x", b"y") < MAX_RATIO


@pytest.mark.parametrize("size", [1, BYTES])
def test_chunks(program: Program, kind: str, size: int) -> None:
    begun = request("POST", "/form", FORM, "Transfer-Encoding: chunked") + b"2\r\na=\r\n"
    dribbled = BYTES // size * (b"%x\r\n%b\r\n" % (size, size * b"x"))
    assert compare(program, long_and_short(kind, begun), dribbled, b"0\r\n\r\n") < MAX_RATIO
