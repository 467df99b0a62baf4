# SPDX-License-Identifier: Apache-2.0
"""Server-sent events of the server in appserver/ada (WHATWG HTML, 9.2), read with a parser that follows the standard."""

import json
import os
import re
import resource
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from client import TIMEOUT_S, Connection, request
from databases import eventually
from test_services import Program
from test_websockets import Run, resident, run, stop  # noqa: F401

HIGHLY_LOADED = 10_000


@dataclass
class Event:
    type: str
    data: str
    last_id: str


class Parser:
    """The interpretation of a stream by a browser (9.2.6)."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.comments: list[str] = []
        self.last_id = ""
        self.retry_ms: int | None = None
        self._rest = ""
        self._data: list[str] = []
        self._type = ""

    def feed(self, text: str) -> None:
        *lines, self._rest = re.split("\r\n|\n|\r", self._rest + text)
        for line in lines:
            self._line(line)

    def _line(self, line: str) -> None:
        if not line:
            if self._data:
                self.events.append(Event(self._type or "message", "\n".join(self._data), self.last_id))
            self._data, self._type = [], ""
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "":
                self.comments.append(value)
            case "event":
                self._type = value
            case "data":
                self._data.append(value)
            case "id":
                assert "\0" not in value
                self.last_id = value
            case "retry":
                assert value.isdigit()
                self.retry_ms = int(value)
            case _:
                raise AssertionError(f"unknown field: {line!r}")


class Stream:
    """An open stream over HTTP/1.1 or 1.0."""

    def __init__(self, address: tuple[str, int], path: str = "/events", *fields: str, version: str = "1.1",
                 receive_buffer: int | None = None, context: ssl.SSLContext | None = None) -> None:
        self.connection = Connection(address, receive_buffer=receive_buffer)
        if context is not None:
            self.connection.socket = context.wrap_socket(
                self.connection.socket, server_hostname="first.example", suppress_ragged_eofs=False)
        self.socket = self.connection.socket
        self.connection.send(request("GET", path, "Accept: text/event-stream", *fields, version=version))
        self._bytes = b""
        while b"\r\n\r\n" not in self._bytes:
            self._bytes += (read := self.socket.recv(65_536))
            assert read, self._bytes
        head, _, self._bytes = self._bytes.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        assert status == "HTTP/1.1 200 OK", head
        self.fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        assert self.fields["content-type"] == "text/event-stream"
        assert self.fields["cache-control"] == "no-store" and self.fields["x-accel-buffering"] == "no"
        assert self.fields["connection"] == "close"
        assert "content-encoding" not in self.fields and "content-length" not in self.fields
        self.is_chunked = self.fields.get("transfer-encoding") == "chunked"
        assert self.is_chunked == (version == "1.1")
        self.parser = Parser()
        self.at_end = False
        self._interpret()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def _interpret(self) -> None:
        if not self.is_chunked:
            self.parser.feed(self._bytes.decode())
            self._bytes = b""
            return
        while match := re.match(rb"([0-9A-F]+)\r\n", self._bytes):
            size = int(match[1], 16)
            if len(self._bytes) < match.end() + size + 2:
                return
            content = self._bytes[match.end():match.end() + size]
            assert self._bytes[match.end() + size:match.end() + size + 2] == b"\r\n"
            self._bytes = self._bytes[match.end() + size + 2:]
            self.parser.feed(content.decode())
            if size == 0:
                assert not self._bytes
                self.at_end = True

    def more(self) -> bool:
        """Reads more. Returns False at the end of the connection."""
        read = self.socket.recv(1 << 20)
        self._bytes += read
        self._interpret()
        return bool(read)

    def events(self, count: int) -> list[Event]:
        """Returns the next events, and waits for them."""
        limit = time.monotonic() + TIMEOUT_S
        while len(self.parser.events) < count:
            assert time.monotonic() < limit, f"only comments after {self.parser.events}"
            assert self.more(), f"the stream ended after {self.parser.events}"
        found, self.parser.events = self.parser.events[:count], self.parser.events[count:]
        return found

    def to_the_end(self) -> list[Event]:
        """Returns the remaining events. The stream must end in the way of HTTP, without a reset."""
        while self.more():
            pass
        assert self.at_end or not self.is_chunked, "there was no last chunk"
        return self.parser.events


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    program = Program("channel_server")
    yield program
    status = program.end()
    program.close()
    assert status == 0


def broadcast(program: Program, text: str, query: str = "") -> None:
    with program.connect() as connection:
        assert connection.send(request("POST", f"/broadcast{query}", body=text.encode())).answer("POST").status == 204


def streams(program: Program) -> int:
    return int(program.get("/counts").body.split()[0])


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_stream_that_ends(program: Program, version: str) -> None:
    """Data with any line ends, IDs, types, comments and the time for reconnecting."""
    with Stream(program.addresses[0], "/events/three", version=version) as stream:
        assert stream.to_the_end() == [
            Event("first", "one\ntwo", "1"), Event("message", "a\nb\nc\n", "1"), Event("message", "", "1")]
        assert stream.parser.retry_ms == 500 and stream.parser.comments == ["no event"]


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_stream_that_goes_on(program: Program, version: str) -> None:
    with Stream(program.addresses[0], "/events", "Last-Event-ID: 7", version=version) as stream:
        assert stream.fields["x-filtered"] == "yes", "filters see the response"
        assert stream.events(1)[0].type == "hello"
        broadcast(program, "Grüße\r\nan alle", "?name=greeting&id=42")
        assert stream.events(1) == [Event("greeting", "Grüße\nan alle", "42")]
        for number in range(100):
            broadcast(program, f"{number}")
        assert [int(event.data) for event in stream.events(100)] == list(range(100))
        assert stream.parser.last_id == "42"
    assert eventually(lambda: streams(program) == 0)


def test_the_last_event_id(program: Program) -> None:
    with Stream(program.addresses[0], "/events", "Last-Event-ID: 7;x") as stream:
        assert stream.events(1) == [Event("hello", "last=7;x", "")]


def test_head_and_other_responses(program: Program) -> None:
    with program.connect() as connection:
        response = connection.send(request("HEAD", "/events")).answer("HEAD")
        assert response.status == 200 and response.get("Content-Type") == "text/event-stream"
        assert response.get("Cache-Control") == "no-store"
        # The connection stays usable, and the streams that were not sent are closed.
        assert connection.send(request("GET", "/events/lost")).answer().status == 404
        assert connection.send(request("GET", "/")).answer().status == 200
    assert eventually(lambda: streams(program) == 0)


def test_requests_before_a_stream(program: Program) -> None:
    with socket.create_connection(program.addresses[0], TIMEOUT_S) as client:
        client.sendall(request("GET", "/") * 3 + request("GET", "/events/three") + request("GET", "/"))
        received = b"".join(iter(lambda: client.recv(65_536), b""))
    assert received.count(b"HTTP/1.1 200 OK") == 4 and received.endswith(b"0\r\n\r\n")


def test_streams_are_not_compressed(program: Program) -> None:
    with Stream(program.addresses[0], "/events/three", "Accept-Encoding: gzip") as stream:
        assert len(stream.to_the_end()) == 3


def test_keep_alive_comments(run: Run) -> None:  # noqa: F811
    program = run(keep_alive=0.5)
    with Stream(program.addresses[0]) as stream:
        began = time.monotonic()
        while len(stream.parser.comments) < 3:
            assert stream.more()
        assert 1 < time.monotonic() - began < 20
        assert stream.parser.comments == ["", "", ""] and len(stream.parser.events) == 1


def test_idle_streams_end(run: Run) -> None:  # noqa: F811
    program = run(idle=1.0, keep_alive=0.4)
    with Stream(program.addresses[0]) as stream:
        began = time.monotonic()
        stream.to_the_end()
        assert 0.9 < time.monotonic() - began < 15


@pytest.mark.parametrize("end", [
    lambda stream: stream.socket.close(), lambda stream: stream.connection.reset(),
    lambda stream: stream.socket.shutdown(socket.SHUT_WR), lambda stream: stream.connection.send(b"x" * 200_000)])
def test_clients_end_streams(program: Program, end: Callable[[Stream], None]) -> None:
    """A client that sends to a stream is ignored for a while, and then disconnected."""
    assert eventually(lambda: streams(program) == 0)
    stream = Stream(program.addresses[0])
    stream.connection.send(b"ignored")
    assert streams(program) == 1
    end(stream)
    assert eventually(lambda: streams(program) == 0)
    stream.socket.close()


@pytest.mark.parametrize("policy, result", [("no", "FULL"), ("yes", "CLOSED")])
def test_a_full_queue(run: Run, policy: str, result: str) -> None:  # noqa: F811
    program = run(queue=20_000, disconnect=policy)
    with Connection(program.addresses[0]) as connection:
        connection.send(request("GET", "/events/flood"))
        assert eventually(lambda: program.get("/state").body.decode().split()[-2:] == ["19", result])
        if policy == "no":
            received = b""
            while received.count(b"data: x") < 19:
                received += (read := connection.socket.recv(65_536))
                assert read
        else:
            with pytest.raises(ConnectionResetError):
                while connection.socket.recv(65_536):
                    pass


def test_a_slow_client_misses_events(run: Run) -> None:  # noqa: F811
    """Memory is limited, other clients get everything, and the slow one is disconnected in the end."""
    program = run(sending=3.0, queue=100_000)
    with Stream(program.addresses[0], receive_buffer=4_096) as slow, Stream(program.addresses[0]) as good:
        good.events(1)
        before = resident(program)
        for _ in range(300):
            broadcast(program, "*" * 30_000)
            good.events(1)
        assert resident(program) - before < 4 * 2**20
        assert eventually(lambda: streams(program) == 1)
        slow.socket.close()


def test_one_line_in_the_log(run: Run, tmp_path: Path) -> None:  # noqa: F811
    program = run(log=tmp_path / "log")
    with Stream(program.addresses[0], "/events?a=b"), Stream(program.addresses[0], "/events/three") as three:
        three.to_the_end()
        time.sleep(0.3)
        assert [json.loads(line)["path"] for line in (tmp_path / "log").read_text().splitlines()] == ["/events/three"]
    with program.connect() as connection:
        connection.send(request("HEAD", "/events")).answer("HEAD")
    assert eventually(lambda: streams(program) == 0)
    stop(program)
    entries = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    by_path = {(entry["method"], entry["path"]): entry for entry in entries}
    stream = by_path["GET", "/events"]
    assert stream["status"] == 200 and stream["bytes"] == len("event: hello\ndata: last=\n\n")
    assert stream["microseconds"] >= 300_000 and stream["query"] == "a=b"
    assert by_path["HEAD", "/events"]["bytes"] == 0
    assert sum(entry["path"].startswith("/events") for entry in entries) == 3


def test_stop_ends_streams(run: Run) -> None:  # noqa: F811
    program = run()
    with Stream(program.addresses[0]) as new, Stream(program.addresses[0], version="1.0") as old:
        program.process.stdin.close()
        assert len(new.to_the_end()) == 1 and len(old.to_the_end()) == 1
        assert int(program.process.stdout.read()) < 3_000
        assert program.process.wait(TIMEOUT_S) == 0


def test_ten_thousand_streams(run: Run) -> None:  # noqa: F811
    """With four workers. An open stream takes some hundred bytes more than an idle connection."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < HIGHLY_LOADED + 200:
        pytest.skip(f"this process may open only {soft} files")
    program = run(connections=12_000, workers=4, keep_alive=600)
    clients: list[socket.socket] = []

    def open_all(path: str) -> int:
        """Opens connections, each with one request. Returns the memory that they use."""
        before = resident(program)
        for index in range(HIGHLY_LOADED):
            client = socket.socket()
            client.settimeout(TIMEOUT_S)
            client.bind((f"127.0.0.{2 + index % 50}", 0))
            client.connect(program.addresses[0])
            client.sendall(request("GET", path))
            clients.append(client)
        for client in clients:
            assert client.recv(65_536).startswith(b"HTTP/1.1 200 OK")
        return resident(program) - before

    try:
        idle = open_all("/")
        for client in clients:
            client.close()
        clients.clear()
        # The second time, the memory of connections is resident already
        assert eventually(lambda: len(os.listdir(f"/proc/{program.process.pid}/fd")) < 100)
        streaming = open_all("/events")
        assert streams(program) == HIGHLY_LOADED
        print(f"{idle / HIGHLY_LOADED:.0f} bytes per idle connection, {streaming / HIGHLY_LOADED:.0f} more per stream")
        assert idle / HIGHLY_LOADED < 1_000 and streaming / HIGHLY_LOADED < 1_000
        assert program.get("/").status == 200
        broadcast(program, "to all")
        for client in clients:
            received = b""
            while b"data: to all\n" not in received:
                received += (read := client.recv(65_536))
                assert read
        assert stop(program) < 5_000
        for client in clients:
            assert client.recv(65_536).endswith(b"0\r\n\r\n")
    finally:
        for client in clients:
            client.close()


def test_curl(program: Program) -> None:
    completed = subprocess.run(["curl", "-sN", f"http://127.0.0.1:{program.addresses[0][1]}/events/three"],
                               capture_output=True, timeout=TIMEOUT_S, check=True, text=True)
    assert completed.stdout.startswith("event: first\nid: 1\nretry: 500\ndata: one\ndata: two\n\n")


# Chromium

@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path("/usr/bin/chromium").exists():
        pytest.skip("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync"])
        yield browser
        browser.close()


def test_event_source_in_chromium(browser: Browser, program: Program) -> None:
    """The page connects again after the end of the stream, with the last event ID."""
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{program.addresses[0][1]}/page")
    events = page.evaluate("""() => new Promise((resolve, reject) => {
        const source = new EventSource("/events/three"), events = [];
        let opened = 0;
        const note = event => events.push([event.type, event.data, event.lastEventId]);
        source.addEventListener("first", note);
        source.addEventListener("message", note);
        source.onopen = () => { if (++opened === 2) { source.close(); resolve(events); } };
    })""")
    assert events[:3] == [["first", "one\ntwo", "1"], ["message", "a\nb\nc\n", "1"], ["message", "", "1"]]
    page.evaluate("""() => new Promise(resolve => {
        window.seen = [];
        window.source = new EventSource("/events");
        source.addEventListener("hello", event => { seen.push(event.data); resolve(); });
        source.addEventListener("news", event => seen.push(event.data));
    })""")
    broadcast(program, "a\nb", "?name=news")
    page.wait_for_function("seen.length === 2")
    assert page.evaluate("seen") == ["last=", "a\nb"]
    page.close()
    assert eventually(lambda: streams(program) == 0)


def test_websocket_in_chromium(browser: Browser, program: Program) -> None:
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{program.addresses[0][1]}/page")
    assert page.evaluate("""() => new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://${location.host}/socket`, ["chat"]), seen = [];
        socket.binaryType = "arraybuffer";
        socket.onopen = () => { socket.send("äöü"); socket.send(new Uint8Array(50000).fill(7)); };
        socket.onerror = reject;
        socket.onmessage = event => {
            seen.push(typeof event.data === "string" ? event.data : new Uint8Array(event.data).every(each => each === 7));
            if (seen.length === 2) socket.close(3000, "done");
        };
        socket.onclose = event => resolve([socket.protocol, ...seen, event.code, event.reason, event.wasClean]);
    })""") == ["chat", "äöü", True, 3000, "", True]
    # A page of another host may not connect.
    page.goto(f"http://localhost:{program.addresses[0][1]}/page")
    assert page.evaluate("""(port) => new Promise(resolve => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`);
        socket.onopen = () => resolve("open");
        socket.onclose = event => resolve(event.code);
    })""", program.addresses[0][1]) == 1006
    page.close()
