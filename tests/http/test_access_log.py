# SPDX-License-Identifier: Apache-2.0
"""The access log of the servers in appserver/ada: its formats and escapes, and that it drops lines instead of waiting.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from client import TIMEOUT_S, request
from test_services import Program

TIME = r"\[\d\d/(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/\d{4}:\d\d:\d\d:\d\d \+0000\]"
TEXT = r'"(?:[^"\\\x00-\x1f]|\\["\\]|\\x[0-9a-f]{2})*"'
COMMON = re.compile(rf"(?P<client>\S+) - - {TIME} (?P<line>{TEXT}) (?P<status>\d{{3}}) (?P<bytes>\d+|-)")
COMBINED = re.compile(COMMON.pattern + rf" (?P<referer>{TEXT}) (?P<agent>{TEXT})")

Run = Callable[[str], Program]


@pytest.fixture(params=["server", "embedded"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    """Returns a function that starts a program with its log in the file `log`."""
    started: list[Program] = []

    def start(form: str) -> Program:
        ports = 2 if request.param == "server" else 1
        started.append(Program("services_server", request.param, "127.0.0.1", str(tmp_path / "log"), form, ports=ports))
        return started[-1]

    yield start
    for program in started:
        program.close()


def lost(program: Program) -> int:
    """Returns the number of lost lines, at the end of the program."""
    program.process.stdin.close()
    count = int(program.process.stdout.read())
    assert program.process.wait(TIMEOUT_S) == 0
    return count


def lines(program: Program, tmp_path: Path) -> list[str]:
    """Returns all lines that the program has written; none may be lost."""
    assert lost(program) == 0
    text = (tmp_path / "log").read_bytes().decode("ascii")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def fields(pattern: re.Pattern[str], line: str) -> dict[str, str]:
    found = pattern.fullmatch(line)
    assert found, line
    return found.groupdict()


def test_common(run: Run, tmp_path: Path) -> None:
    program = run("common")
    program.get("/count?a=b")
    program.get("/none", "Referer: x")
    found = [fields(COMMON, line) for line in lines(program, tmp_path)]
    assert found == [{"client": "127.0.0.1", "line": '"GET /count?a=b HTTP/1.1"', "status": "200", "bytes": "1"},
                     {"client": "127.0.0.1", "line": '"GET /none HTTP/1.1"', "status": "404", "bytes": "-"}]


def test_combined(run: Run, tmp_path: Path) -> None:
    program = run("combined")
    program.get("/count", "Referer: http://e.org/", "User-Agent: curl/8", "X-Forwarded-For: 6.6.6.6, 192.0.2.7")
    with program.connect() as connection:
        assert connection.send(request("HEAD", "/count")).answer("HEAD").status == 200
        assert connection.send(request("OPTIONS", "*")).answer("OPTIONS").status == 204
        assert connection.send(b"GET / HTTP/1.1\r\nHost : x\r\n\r\n").answer().status == 400
    first, second, third, fourth = (fields(COMBINED, line) for line in lines(program, tmp_path))
    assert first == {"client": "192.0.2.7", "line": '"GET /count HTTP/1.1"', "status": "200", "bytes": "1",
                     "referer": '"http://e.org/"', "agent": '"curl/8"'}
    assert second["line"] == '"HEAD /count HTTP/1.1"' and second["bytes"] == "-" and second["agent"] == '"-"'
    assert third["line"] == '"OPTIONS * HTTP/1.1"' and third["status"] == "204"
    assert fourth == {"client": "127.0.0.1", "line": '"-"', "status": "400", "bytes": "-",
                      "referer": '"-"', "agent": '"-"'}


def test_json(run: Run, tmp_path: Path) -> None:
    program = run("json")
    program.get("/count?a=%22", 'User-Agent: a"b\\c')
    with program.connect() as connection:
        connection.send(b"GET / HTTP/3.0\r\n\r\n").answer()
    first, second = map(json.loads, lines(program, tmp_path))
    assert re.fullmatch(r"\d{4}-[01]\d-[0-3]\dT\d\d:\d\d:\d\dZ", first.pop("time")) and first.pop("microseconds") >= 0
    assert first == {"client": "127.0.0.1", "method": "GET", "path": "/count", "query": "a=%22", "version": "1.1",
                     "status": 200, "bytes": 1, "user_agent": 'a"b\\c'}
    second.pop("time")
    assert second == {"client": "127.0.0.1", "status": 505, "bytes": 0}


@pytest.mark.parametrize("form", ["common", "combined", "json"])
def test_nothing_breaks_out_of_a_line(run: Run, tmp_path: Path, form: str) -> None:
    """Sends all bytes that a server accepts in a query and in fields, and more of them than fit into a line."""
    program = run(form)
    logged_bytes = bytes(byte for byte in range(256) if byte >= 32 and byte != 127 or byte == 9)
    queries = [bytes(byte for byte in logged_bytes if byte not in b"\t #"), b'" 200 5 "'.replace(b" ", b"\x85"),
               b"a" * 3000, b'"' * 3000, b"\xff" * 3000, b"\\" * 3000, b"\xe2\x80\xa8" * 500]
    values = [logged_bytes, b'"}\t{"client":"1.1.1.1"', b"x" * 2000, b'"' * 2000, b"\xff" * 2000, b"\\" * 2000,
              b"\xe2\x80\xa8\xc2\x85"]
    for query, value in zip(queries, values):
        with program.connect() as connection:
            sent = b"GET /count?%b HTTP/1.1\r\nHost: h\r\nReferer: %b\r\nUser-Agent: %b\r\n\r\n" % (query, value, value)
            assert connection.send(sent).answer().status == 200
    written = lines(program, tmp_path)
    assert len(written) == len(queries)
    for line in written:
        assert len(line) < 2048
        if form == "json":
            assert json.loads(line)["client"] == "127.0.0.1" and json.loads(line)["status"] == 200
        else:
            assert fields(COMMON if form == "common" else COMBINED, line)["status"] == "200"


def test_a_cut_text_says_so(run: Run, tmp_path: Path) -> None:
    program = run("json")
    program.get("/count?" + "a" * 3000, "User-Agent: " + "é" * 300)
    line = json.loads(lines(program, tmp_path)[0])
    assert len(line["query"]) == 512 and line["query"].endswith("a...") and line["user_agent"].endswith("...")


def test_lines_of_many_workers(run: Run, tmp_path: Path) -> None:
    """Each response has a whole line, or is counted as lost."""
    program = run("combined")

    def ask(number: int) -> None:
        with program.connect() as connection:
            for turn in range(50):
                sent = request("GET", f"/count?{number}-{turn}", "User-Agent: " + "u" * 200)
                assert connection.send(sent).answer().status == 200

    with ThreadPoolExecutor(16) as clients:
        list(clients.map(ask, range(16)))
    missing = lost(program)
    written = (tmp_path / "log").read_text().splitlines()
    request_lines = {fields(COMBINED, line)["line"] for line in written}
    assert len(request_lines) == len(written), "the log contains a line twice"
    assert len(written) + missing == 16 * 50


def test_a_file_that_takes_nothing(run: Run, tmp_path: Path) -> None:
    """A pipe without a reader: all requests are answered, lines that do not fit are counted, and lines that fit are
    written."""
    os.mkfifo(tmp_path / "log")
    reader = os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK)
    program = run("combined")
    agent = "User-Agent: " + "u" * 250
    with program.connect() as connection:
        for _ in range(500):
            assert connection.send(request("GET", "/count?" + "q" * 400, agent)).answer().status == 200
    program.process.stdin.close()
    missing = int(program.process.stdout.read())
    assert program.process.wait(TIMEOUT_S) == 0
    received = b"".join(iter(lambda: os.read(reader, 65536), b""))
    os.close(reader)
    complete = [line for line in received.decode().split("\n") if COMBINED.fullmatch(line)]
    assert missing > 0 and complete
    assert len(complete) + missing == 500


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    program = Program("services_server", "server", "127.0.0.1", "/dev/full", "common", ports=2)
    try:
        for _ in range(5):
            assert program.get("/count").status == 200
        assert lost(program) == 5
    finally:
        program.close()
