# SPDX-License-Identifier: Apache-2.0
"""Forms with files in the servers of appserver/ada: multipart/form-data as a stream."""

import random
import zlib
from collections.abc import Iterator

import pytest

from attack import Size
from test_services import Program
from test_streams import CHUNKS, WITHIN_S, chunked, head, none_is_open, resident, some

BOUNDARY = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
TYPE = f"Content-Type: multipart/form-data; boundary={BOUNDARY}"

Part = tuple[str, str, str, bytes]
"""Name, file name, type, content."""


@pytest.fixture(scope="module", params=["server", "embedded"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    program = Program("streams_server", request.param, "60")
    yield program
    none_is_open(program)
    program.end()
    program.close()


def begun(part: Part) -> bytes:
    name, file, kind, _ = part
    return (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"' + (f'; filename="{file}"' if file else "")
            + "\r\n" + (f"Content-Type: {kind}\r\n" if kind else "") + "\r\n").encode()


def form(parts: list[Part]) -> bytes:
    return b"".join(begun(part) + part[3] + b"\r\n" for part in parts) + f"--{BOUNDARY}--\r\n".encode()


def expected_text(parts: list[Part]) -> bytes:
    return "".join(f"{name}|{file}|{kind or 'text/plain'}|{len(content)}|{zlib.crc32(content)}\n"
                   for name, file, kind, content in parts).encode()


def post(content: bytes, *fields: str) -> bytes:
    return head("/upload/form", TYPE, f"Content-Length: {len(content)}", *fields) + content


def almost(chance: random.Random) -> bytes:
    """Returns content that is full of sequences that could begin a boundary."""
    pieces = [b"\r\n", b"\r", b"\n", b"-", b"--", f"--{BOUNDARY[:9]}".encode(), f"\r\n--{BOUNDARY[:-1]}".encode(), b"x", b"\0"]
    return b"".join(chance.choice(pieces) for _ in range(chance.randrange(60)))


def test_forms(program: Program) -> None:
    chance = random.Random(1)
    with program.connect() as connection:
        for _ in range(100):
            parts = [(f"n{number}", chance.choice(["", "a b.txt", "\u00fc.png"]), chance.choice(["", "image/png"]),
                      chance.choice([b"", almost(chance), some(chance.randrange(70_000))]))
                     for number in range(chance.randrange(1, 6))]
            content = form(parts)
            sent = (post(content) if chance.random() < 0.5
                    else head("/upload/form", TYPE, CHUNKS) + chunked(content, chance.randrange(100, 3_000)))
            assert connection.send(sent).answer("POST").body == expected_text(parts)


def test_a_large_file_in_constant_memory(program: Program, size: Size) -> None:
    piece, check, least = some(10**6), 0, 0
    file = ("file", "large.bin", "application/octet-stream", b"")
    end = f"\r\n--{BOUNDARY}--\r\n".encode()
    with program.connect() as connection:
        connection.socket.settimeout(WITHIN_S)
        length = len(begun(file)) + size.streamed + len(end)
        connection.send(head("/upload/form", TYPE, f"Content-Length: {length}") + begun(file))
        for number in range(size.streamed // len(piece)):
            connection.send(piece)
            check = zlib.crc32(piece, check)
            if number == 10:
                least = resident(program, "VmHWM")
        answer = connection.send(end).answer("POST")
    assert answer.body == f"file|large.bin|application/octet-stream|{size.streamed}|{check}\n".encode()
    assert resident(program, "VmHWM") - least < 2**20


@pytest.mark.parametrize("content, status", [
    (b"no form", 400), (f"--{BOUNDARY}--\r\n".encode(), 400), (form([("a", "", "", b"")])[:-8], 400),
    (form([("a", "", "", b"")] * 21), 413), (form([("x" * 500, "", "", b"")]), 413), (form([("a\0", "", "", b"")]), 400),
    (f"--{BOUNDARY}x\r\n".encode(), 400)])
def test_what_is_no_form(program: Program, content: bytes, status: int) -> None:
    with program.connect() as connection:
        assert connection.send(post(content)).answer("POST").status == status


def test_another_type(program: Program) -> None:
    for kind in ("text/plain", "multipart/form-data", "multipart/mixed; boundary=a"):
        with program.connect() as connection:
            connection.send(head("/upload/form", f"Content-Type: {kind}", "Content-Length: 1000000000") + b"x")
            answer = connection.answer("POST")
            assert answer.status == 415 and answer.closes


def test_an_error_ends_the_upload(program: Program) -> None:
    """After an error, the server does not wait for the rest of the upload."""
    with program.connect() as connection:
        connection.send(head("/upload/form", TYPE, "Content-Length: 1000000000") + f"--{BOUNDARY}\r\nnonsense\r\n".encode())
        answer = connection.answer("POST")
        assert answer.status == 400 and answer.closes
        connection.must_end()
    assert program.get("/open").body == b"0"
