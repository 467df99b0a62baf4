# SPDX-License-Identifier: Apache-2.0
"""A client of HTTP/1.1 that sends any bytes, and accepts only responses that follow the standard exactly."""

import json
import re
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

TIMEOUT_S = 120
"""The time within which a server must respond. It is only reached if a server hangs."""

HEAD_MAX = 65_536


class HttpError(AssertionError):
    """Raised if the server violated HTTP/1.1 (RFC 9112)."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: tuple[tuple[str, str], ...]
    """The fields: each name, in lower case, and its value."""
    body: bytes

    def header(self, name: str) -> str | None:
        """Returns the value of the only header with this name."""
        values = [value for key, value in self.headers if key == name]
        if len(values) > 1:
            raise HttpError(f"the header has {name} {len(values)} times: {values}")
        return values[0] if values else None

    @property
    def words(self) -> set[str]:
        """Returns the options of the field Connection, in lower case."""
        return _words(self.header("connection"))

    def json(self) -> Any:
        """Returns the body, which must be JSON and have this content type."""
        kind = self.header("content-type")
        if kind is None or not re.fullmatch(r"application/json(; ?charset=utf-8)?", kind.lower()):
            raise HttpError(f"the content type of a JSON body is {kind}")
        return json.loads(self.body)


class Connection:
    """A TCP connection to the server."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._read = self._socket.makefile("rb")

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._read.close()
        self._socket.close()

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._socket.sendall(piece)

    def ask(self, method: str, path: str, body: bytes | None = None,
            headers: Mapping[str, str] = {}) -> Answer:
        """Sends a whole request and reads its response."""
        self.send(request(method, path, body, headers))
        return self.answer(method)

    def answer(self, method: str = "GET") -> Answer:
        """Reads the next response, to a request with this method."""
        while True:
            status, headers = self._head()
            if status >= 200:
                break
        answer = Answer(status, headers, b"")
        if method == "HEAD" or status in (204, 304):
            return answer
        return Answer(status, headers, self._body(answer))

    def end(self) -> None:
        """Tells the server that nothing more will be sent, unless it has closed the connection."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def read_all(self) -> bytes:
        """Returns everything that arrives until the server closes the connection."""
        received = b""
        with suppress(ConnectionResetError):
            while more := self._read.read1():
                received += more
        return received

    def has_more(self) -> bool:
        """Waits for the next byte, or for the connection's end."""
        try:
            return self._read.peek(1) != b""
        except ConnectionError:
            return False

    def at_end(self) -> bool:
        """Returns True if the server closed the connection and nothing more can be read."""
        return self.read_all() == b""

    def _head(self) -> tuple[int, tuple[tuple[str, str], ...]]:
        line = self._line()
        match = re.fullmatch(r"HTTP/1\.1 ([1-5][0-9]{2}) [^\r\n]*", line)
        if match is None:
            raise HttpError(f"not a status line: {line!r}")
        headers = []
        while line := self._line():
            match_header = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", line)
            if match_header is None:
                raise HttpError(f"not a header field: {line!r}")
            headers.append((match_header[1].lower(), match_header[2]))
        return int(match[1]), tuple(headers)

    def _body(self, head: Answer) -> bytes:
        length, coding = head.header("content-length"), head.header("transfer-encoding")
        if length is None and coding is None and "close" in head.words:
            return self._read.read()
        if (length is None) == (coding is None):
            raise HttpError(f"Content-Length is {length}, Transfer-Encoding {coding}")
        if length is not None:
            return self._exactly(int(length))
        if coding.lower() != "chunked":
            raise HttpError(f"Transfer-Encoding is {coding}")
        body = b""
        while size := int(self._line().partition(";")[0], 16):
            body += self._exactly(size)
            if self._line():
                raise HttpError("a chunk is longer than its declared size")
        while self._line():
            pass  # trailers
        return body

    def _line(self) -> str:
        line = self._read.readline(HEAD_MAX)
        if not line.endswith(b"\r\n"):
            raise HttpError(f"the connection ended within a line: {line!r}")
        return line[:-2].decode("latin-1")

    def _exactly(self, size: int) -> bytes:
        body = self._read.read(size)
        if len(body) != size:
            raise HttpError(f"the connection ended after {len(body)} of {size} bytes of the body")
        return body


def request(method: str, path: str, body: bytes | None = None,
            headers: Mapping[str, str] = {}) -> bytes:
    """Returns a request, with its Content-Length if it has a body."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1",
             *(f"{name}: {value}" for name, value in headers.items())]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def chunked(method: str, path: str, chunks: Iterable[bytes]) -> bytes:
    """Returns a request with a chunked body."""
    head = request(method, path, headers={
        "Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def _words(value: str | None) -> set[str]:
    return {word.strip().lower() for word in (value or "").split(",")} - {""}
