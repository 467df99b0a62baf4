# SPDX-License-Identifier: Apache-2.0
"""gzip for text in the servers of appserver/ada, as a filter: for which clients and content, and the resulting
fields."""

import gzip
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from client import Answer, request
from test_services import Program

GZIP = "Accept-Encoding: gzip"
WITHIN_S = 60


@pytest.fixture(scope="module", params=["server", "embedded"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    program = Program("streams_server", request.param, "60")
    yield program
    program.end()
    program.close()


def text(length: int) -> bytes:
    return bytes(10 if at % 10 == 9 else 97 + at // 10 % 26 for at in range(length))


def is_coded(answer: Answer) -> bool:
    return answer.get("Content-Encoding") == "gzip"


def body(answer: Answer) -> bytes:
    return gzip.decompress(answer.body) if is_coded(answer) else answer.body


@pytest.mark.parametrize("length", [0, 1, 1_023, 1_024, 5_000, 16_384])
def test_of_what_length(program: Program, length: int) -> None:
    answer = program.get(f"/text?size={length}", GZIP)
    assert body(answer) == text(length)
    assert is_coded(answer) == (length >= 1_024)
    assert ("accept-encoding" in answer.words("Vary")) == (length >= 1_024)
    assert len(answer.body) <= length


@pytest.mark.parametrize("accepted, coded", [
    ("gzip", True), ("GZIP", True), ("br, gzip", True), ("gzip;q=0.1", True), ("*", True), ("gzip;q=1, identity;q=0.5", True),
    ("gzip, identity", True), ("identity;q=0, gzip;q=0.2", True), ("*;q=0, gzip;q=0.3", True),
    ("", False), ("br", False), ("gzip;q=0", False), ("*;q=0", False), ("gzip;q=0, *", False), ("identity", False),
    ("gzip;q=0.5, identity", False), ("gzipped", False), ("gzip;q=x", False)])
def test_for_whom(program: Program, accepted: str, coded: bool) -> None:
    for path in ("/text?size=5000", "/text?fixed"):
        answer = program.get(path, f"Accept-Encoding: {accepted}")
        assert (is_coded(answer), body(answer)) == (coded, text(5_000))
        assert answer.get("Vary") == "Accept-Encoding"
    assert not is_coded(program.get("/text?size=5000"))


@pytest.mark.parametrize("query, coded", [("type=text/html", True), ("type=application/problem%2Bjson", True),
                                          ("type=image/png", False)])
def test_of_what_type(program: Program, query: str, coded: bool) -> None:
    answer = program.get(f"/text?size=5000&{query}", GZIP)
    assert (is_coded(answer), body(answer)) == (coded, text(5_000))
    assert (answer.get("Vary") is not None) == coded


@pytest.mark.parametrize("query", ["Content-Encoding=br", "Cache-Control=public,%20No-Transform"])
def test_what_is_to_be_left_as_it_is(program: Program, query: str) -> None:
    answer = program.get(f"/text?size=5000&{query}", GZIP)
    assert answer.body == text(5_000) and not is_coded(answer)


def test_tags_and_vary(program: Program) -> None:
    """Compressed content has other bytes than a strong tag describes, so the tag becomes weak. A weak tag is kept, and
    so is a Vary that already contains the field."""
    for tag, expected in (('%22a%22', 'W/"a"'), ('W/%22a%22', 'W/"a"')):
        answer = program.get(f"/text?size=5000&ETag={tag}&Cache-Control=no-cache", GZIP)
        assert is_coded(answer) and answer.get("ETag") == expected
        assert answer.get("Cache-Control") == "no-cache"
    assert program.get("/text?size=5000&ETag=%22a%22").get("ETag") == '"a"'
    assert program.get("/text?size=5000&Vary=Origin,%20accept-encoding", GZIP).get("Vary") == "Origin, accept-encoding"
    assert program.get("/text?size=5000&Vary=Origin", GZIP).get("Vary") == "Origin, Accept-Encoding"


def test_head_is_as_get(program: Program) -> None:
    with program.connect() as connection:
        answer = connection.send(request("GET", "/text?size=5000&ETag=%22a%22", GZIP)).answer()
        head = connection.send(request("HEAD", "/text?size=5000&ETag=%22a%22", GZIP)).answer("HEAD")
        assert [field for field in head.headers if field[0] != b"date"] == [
            field for field in answer.headers if field[0] != b"date"]


def test_many_at_a_time(program: Program) -> None:
    """There are two compressors: a client that finds none free gets plain text, and no client gets another's
    content."""
    def ask(number: int) -> bool:
        length = 2_000 + number % 97 * 100
        with program.connect() as connection:
            for _ in range(5):
                answer = connection.send(request("GET", f"/text?size={length}", GZIP)).answer()
                assert body(answer) == text(length)
        return is_coded(answer)

    with ThreadPoolExecutor(16) as clients:
        assert any(clients.map(ask, range(200)))
    limit = time.monotonic() + WITHIN_S
    while not is_coded(program.get("/text?size=5000", GZIP)):
        assert time.monotonic() < limit, "the server lost a compressor"
