# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client that sends exactly the given bytes (RFC 6455)."""

import base64
import hashlib
import os
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

from client import TIMEOUT_S

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
"""The key of the example in RFC 6455, 1.3."""

ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def accept_value(key: str) -> str:
    return base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()


def handshake(path: str = "/socket", *fields: str, key: str = KEY) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *fields]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def masked(payload: bytes, mask: bytes) -> bytes:
    key = int.from_bytes((mask * (len(payload) // 4 + 1))[:len(payload)], "big")
    return (int.from_bytes(payload, "big") ^ key).to_bytes(len(payload), "big")


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True, rsv: int = 0, mask: bytes | None = b"\x12\xfe\x80\x01",
          length: bytes | None = None) -> bytes:
    """Returns a frame. The length can be given as it stands in the header, without the mask bit; without a mask,
    the frame is one that no client may send."""
    if length is None:
        size = len(payload)
        length = (bytes([size]) if size < 126 else b"\x7e" + struct.pack("!H", size) if size < 65_536
                  else b"\x7f" + struct.pack("!Q", size))
    first = bytes([(128 if fin else 0) | rsv << 4 | opcode])
    if mask is None:
        return first + length + payload
    return first + bytes([length[0] | 128]) + length[1:] + mask + masked(payload, mask)


def close_frame(code: int | None = 1000, reason: bytes = b"") -> bytes:
    return frame(CLOSE, b"" if code is None else struct.pack("!H", code) + reason)


def fragments(opcode: int, *payloads: bytes) -> list[bytes]:
    """Returns the frames of a fragmented message."""
    last = len(payloads) - 1
    return [frame(opcode if index == 0 else CONTINUATION, payload, fin=index == last)
            for index, payload in enumerate(payloads)]


@dataclass(frozen=True)
class Frame:
    opcode: int
    payload: bytes
    fin: bool = True

    @property
    def code(self) -> int | None:
        assert self.opcode == CLOSE, self
        return struct.unpack("!H", self.payload[:2])[0] if self.payload else None


class WebSocket:
    """An open connection."""

    def __init__(self, address: tuple[str, int], path: str = "/socket", *fields: str,
                 receive_buffer: int | None = None, timeout_s: float = TIMEOUT_S, source: str = "127.0.0.1",
                 context: ssl.SSLContext | None = None, early: bytes = b"") -> None:
        """Opens a connection, with TLS if there is a context. Sends `early` together with the handshake."""
        self.socket = socket.socket()
        self.socket.settimeout(timeout_s)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.bind((source, 0))
        self.socket.connect(address)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_hostname="first.example", suppress_ragged_eofs=False)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(handshake(path, *fields, key=key) + early)
        self._unread = b""
        while b"\r\n\r\n" not in self._unread:
            self._more()
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        assert lines[0] == "HTTP/1.1 101 Switching Protocols", head
        self.fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        assert self.fields["sec-websocket-accept"] == accept_value(key)
        assert self.fields["upgrade"] == "websocket" and self.fields["connection"] == "Upgrade"
        assert not {"content-length", "transfer-encoding"} & set(self.fields)

    def __enter__(self) -> "WebSocket":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *data: bytes, chop: int | None = None, pause_s: float = 0) -> "WebSocket":
        """Sends data in pieces of the given size. The server may have closed the connection."""
        for each in data:
            pieces = [each] if chop is None else [each[at:at + chop] for at in range(0, len(each), chop)]
            try:
                for piece in pieces:
                    self.socket.sendall(piece)
                    time.sleep(pause_s)
            except (BrokenPipeError, ConnectionResetError):
                return self
        return self

    def text(self, text: str) -> "WebSocket":
        return self.send(frame(TEXT, text.encode()))

    def receive(self) -> Frame:
        """Returns the next frame, which must be one that a server may send."""
        first, length = self._take(2)
        assert first & 0x70 == 0, f"reserved bits: {first:02x}"
        assert length < 128, "a server does not mask"
        size = length
        if length == 126:
            size, = struct.unpack("!H", self._take(2))
            assert size > 125
        elif length == 127:
            size, = struct.unpack("!Q", self._take(8))
            assert size > 65_535
        opcode = first & 15
        assert opcode in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG)
        assert opcode < 8 or (first & 128 and size <= 125)
        return Frame(opcode, self._take(size), bool(first & 128))

    def frames(self) -> Iterator[Frame]:
        """Returns all frames up to the close frame."""
        while True:
            yield (received := self.receive())
            if received.opcode == CLOSE:
                return

    def must_end(self) -> None:
        """The server closes the connection, without a further byte and without a reset."""
        assert not self._unread, self._unread[:100]
        assert self.socket.recv(100) == b""

    def must_fail(self, code: int) -> None:
        """The server sends this code, and closes the connection."""
        received = self.receive()
        assert received.opcode == CLOSE and received.code == code, received
        self.must_end()

    def close(self, code: int | None = 1000, reason: bytes = b"") -> None:
        """Closes the connection in the way of the RFC."""
        self.send(close_frame(code, reason))
        received = self.receive()
        assert received.opcode == CLOSE and received.code == code, received
        self.must_end()
        self.socket.close()

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _take(self, size: int) -> bytes:
        parts, held = [self._unread], len(self._unread)
        while held < size:
            parts.append(read := self._receive())
            held += len(read)
        everything = b"".join(parts)
        self._unread = everything[size:]
        return everything[:size]

    def _more(self) -> None:
        self._unread += self._receive()

    def _receive(self) -> bytes:
        read = self.socket.recv(1 << 20)
        if not read:
            raise EOFError(f"the server closed the connection after {self._unread!r}")
        return read
