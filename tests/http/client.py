# SPDX-License-Identifier: Apache-2.0
"""An HTTP/1.1 client that sends exactly the given bytes, and reads responses with h11. It checks for every
response what the RFCs require of all responses."""

import json
import re
import select
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

import h11

TIMEOUT_S = 60
"""The time within which a server must respond. It is only reached if a server hangs."""

CLOCK_S = 2
"""The time by which Date may follow the response on the clock of this machine."""

LATE_S = 60
"""The time by which Date may precede the request. Date has whole seconds, and a server may update it once per second,
which is late on a busy machine."""

_DATE = re.compile(
    rb"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} "
    rb"\d\d:\d\d:\d\d GMT")


class NoAnswer(AssertionError):
    """Raised if the server closed the connection before the end of a response."""


class Reset(NoAnswer):
    """Raised if the server reset the connection."""


class Malformed(AssertionError):
    """Raised if a response violates the RFCs."""


@dataclass
class Answer:
    status: int
    headers: list[tuple[bytes, bytes]]
    """The fields: each name, in lower case, and its value."""
    body: bytes
    interim: list[int] = field(default_factory=list)
    """The status of each 1xx response before this one."""

    def all(self, name: str) -> list[str]:
        return [value.decode("latin-1") for key, value in self.headers if key == name.lower().encode()]

    def get(self, name: str) -> str | None:
        """Returns the values of a field, combined."""
        return ", ".join(self.all(name)) if self.all(name) else None

    def words(self, name: str) -> set[str]:
        """Returns the elements of a field that is a list, in lower case."""
        return {word.strip().lower() for word in (self.get(name) or "").split(",")} - {""}

    @property
    def closes(self) -> bool:
        """Returns True if the connection ends after this response."""
        return "close" in self.words("Connection")

    @property
    def json(self) -> Any:
        assert self.get("Content-Type") in ("application/json", "application/json; charset=utf-8",
                                            "application/json;charset=utf-8"), self
        return json.loads(self.body)


class Connection:
    """A TCP connection."""

    def __init__(self, address: tuple[str, int], timeout_s: float = TIMEOUT_S,
                 receive_buffer: int | None = None, forgiving: bool = False) -> None:
        """Connects. A forgiving connection accepts errors without Date, which many servers omit when they could not
        read the request."""
        self.socket = socket.socket()
        self.socket.settimeout(timeout_s)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.connect(address)
        self._unread = b""
        self._at_end = False
        self._forgiving = forgiving
        self._requested_at = time.time()
        self._answered = False

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> "Connection":
        """Sends data. A server that has responded and closed the connection need not accept all data. Its response is
        checked instead."""
        if self._answered:
            self._requested_at, self._answered = time.time(), False
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return self

    def send_in_pieces(self, pieces: Iterable[bytes], pause_s: float = 0.001) -> "Connection":
        """Sends each piece after a pause in which the server reads the previous one."""
        for piece in pieces:
            self.send(piece)
            time.sleep(pause_s)
        return self

    def end_sending(self) -> None:
        """Ends the client's direction of the connection; the client can still read."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:  # the server has already reset the connection, which reading will show
            pass

    def reset(self) -> None:
        """Disconnects like a client that crashes."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def interim(self) -> int:
        """Reads exactly one 1xx response. Returns its status."""
        while b"\r\n\r\n" not in self._unread:
            if not (read := self._receive()):
                raise NoAnswer(f"the server closed the connection after {self._unread!r}")
            self._unread += read
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        if not (status := re.match(rb"HTTP/1\.1 (1\d\d) [^\r\n]*(\r\n|$)", head)):
            raise Malformed(f"not an interim response: {head!r}")
        return int(status[1])

    def is_interim(self) -> bool:
        """Returns True if the next response is a 1xx."""
        while len(self._unread) < len("HTTP/1.1 1") and (read := self._receive()):
            self._unread += read
        return self._unread.startswith(b"HTTP/1.1 1")

    def answer(self, method: str = "GET", version: str = "1.1") -> Answer:
        """Reads the response to a request with this method and version, and no further bytes."""
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        parser.send(h11.Request(method=method, target="/", headers=[("Host", "any")]))
        parser.send(h11.EndOfMessage())
        read = self._unread
        if read:
            parser.receive_data(read)
        try:
            answer, at_message_end = None, False
            interim, body = [], bytearray()
            while not at_message_end:
                match parser.next_event():
                    case h11.NEED_DATA:
                        more = self._receive()
                        if not more and answer is None and not parser.trailing_data[0]:
                            raise NoAnswer("the server closed the connection without a response")
                        read += more
                        parser.receive_data(more)
                    case h11.InformationalResponse(status_code=status):
                        interim.append(status)
                    case h11.Response() as head:
                        answer = Answer(head.status_code, list(head.headers), b"", interim)
                        http_version = head.http_version
                    case h11.Data(data=data):
                        body += data
                    case h11.EndOfMessage():
                        at_message_end = True
                    case h11.ConnectionClosed():
                        raise NoAnswer("the server closed the connection without a response")
        except h11.RemoteProtocolError as error:
            if self._at_end:
                raise NoAnswer(f"the server closed the connection within a response: {error}: {read[:2000]!r}") from error
            raise Malformed(f"{error}: {read[:2000]!r}") from error
        self._unread = parser.trailing_data[0]
        answer.body = bytes(body)
        _hold(answer, http_version, read, method, version)
        if answer.status < (400 if self._forgiving else 500):
            _hold_date(answer, self._requested_at)
        self._answered = True
        return answer

    def must_end(self) -> None:
        """Checks that the server closes the connection, without a further byte and without a reset."""
        unread = self._unread
        while not self._at_end:
            unread += self._receive()
        assert not unread, f"the server sent more data before it closed the connection: {unread[:500]!r}"

    def is_open(self, within_s: float = 0.1) -> bool:
        """Returns True if the server neither sends nor closes within this time."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return not self._unread and not poll.poll(within_s * 1000)

    def everything(self) -> bytes:
        """Returns all bytes until the server closes the connection."""
        while not self._at_end:
            self._unread += self._receive()
        everything, self._unread = self._unread, b""
        return everything

    def _receive(self) -> bytes:
        """Returns the next bytes, or nothing at the end."""
        if self._at_end:
            return b""
        try:
            data = self.socket.recv(65_536)
        except ConnectionResetError as error:
            raise Reset("the server reset the connection") from error
        except TimeoutError as error:
            raise AssertionError(
                f"the server neither sent a byte nor closed the connection within {self.socket.gettimeout()} s") from error
        self._at_end = not data
        return data


def _hold(answer: Answer, http_version: bytes, read: bytes, method: str, version: str) -> None:
    """Checks what RFC 9110 and 9112 require of every response."""
    must = _Must(answer)
    head = _final_head(read)
    must(http_version == b"1.1" or version == "1.0", "9110 2.5: the version of a response is the version of the server")
    must(re.fullmatch(rb"[^\r\n]*(\r\n[^\r\n]+)*", head) is not None,
         "9112 2.2: lines end with CRLF")
    must(re.match(rb"HTTP/1\.[01] \d{3} ", head) is not None, "9112 4: the status line has two spaces")
    lengths, codings = answer.all("Content-Length"), answer.all("Transfer-Encoding")
    must(len(re.findall(rb"(?i)\ncontent-length:", head)) <= 1, "9110 8.6: one Content-Length")
    must(not (lengths and codings), "9112 6.2: either Content-Length or Transfer-Encoding")
    must(version == "1.1" or not codings, "9112 6.1: Transfer-Encoding is for HTTP/1.1")
    if answer.status in (204, 304) or method == "HEAD":
        must(not answer.body, "9110 6.4.1: no body")
        must(answer.status != 204 or not lengths, "9110 8.6: no Content-Length in a 204")
    elif version == "1.1":
        must(bool(lengths or codings or answer.closes), "9112 6.3: the end of a response is defined")
    must(answer.status != 405 or bool(answer.all("Allow")), "9110 15.5.6: 405 has Allow")
    must(answer.status != 206 or answer.get("Content-Range") is not None
         or (answer.get("Content-Type") or "").startswith("multipart/byteranges"),
         "9110 15.3.7: 206 has Content-Range or is multipart/byteranges")


def _hold_date(answer: Answer, requested_at: float) -> None:
    must = _Must(answer)
    dates = [value for name, value in answer.headers if name == b"date"]
    must(len(dates) == 1, "9110 6.6.1: one Date")
    must(_DATE.fullmatch(dates[0]) is not None, "9110 5.6.7: Date is an IMF-fixdate")
    date = parsedate_to_datetime(dates[0].decode())
    must(requested_at - LATE_S < date.timestamp() < time.time() + CLOCK_S, "9110 6.6.1: Date is the current time")
    must(f"{date:%a, %d %b %Y %H:%M:%S} GMT".encode() == dates[0], "9110 5.6.7: the weekday matches the date")


@dataclass
class _Must:
    answer: Answer

    def __call__(self, condition: bool, rule: str) -> None:
        if not condition:
            raise Malformed(f"{rule}: {self.answer.status} {self.answer.headers}")


def _final_head(read: bytes) -> bytes:
    """Returns the head of the first response that is not a 1xx, without its empty line."""
    while re.match(rb"HTTP/1\.1 1\d\d", read):
        read = read.partition(b"\r\n\r\n")[2]
    return read.partition(b"\r\n\r\n")[0]


def request(method: str = "GET", target: str = "/api", *headers: str, body: bytes | None = None,
            version: str = "1.1") -> bytes:
    """Returns a well-formed request, with the length of its body."""
    lines = [f"{method} {target} HTTP/{version}", "Host: localhost", *headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")
