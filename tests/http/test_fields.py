# SPDX-License-Identifier: Apache-2.0
"""Malformed field lines are rejected, because a proxy could read them differently."""

from exchange import BAD, OK, Exchange, table
from servers import Server

HELLO = {"greeting": "Hello World!"}


def fields(*lines: bytes, first: bytes = b"Host: localhost") -> bytes:
    return b"\r\n".join([b"GET /api HTTP/1.1", first, *lines, b"", b""])


def bad(name: str, rfc: str, request: bytes, *allowed: int) -> Exchange:
    return Exchange(name, rfc, request, BAD, frozenset(allowed), closes=True)


def good(name: str, rfc: str, request: bytes, *allowed: int) -> Exchange:
    return Exchange(name, rfc, request, OK, frozenset(allowed), HELLO)


@table(
    bad("a space before the colon", "9112 5.1", fields(b"X-Field : x")),
    bad("a tab before the colon", "9112 5.1", fields(b"X-Field\t: x")),
    bad("a space before the colon of Host", "9112 5.1", fields(first=b"Host : localhost")),
    bad("a folded line", "9112 5.2", fields(b"X-Field: x", b" y"), 200),
    bad("a line folded with a tab", "9112 5.2", fields(b"X-Field: x", b"\ty"), 200),
    bad("a folded line that is empty", "9112 5.2", fields(b"X-Field: x", b" "), 200),
    bad("a fold before the value", "9112 5.2", fields(b"X-Field:", b" y"), 200),
    bad("a blank before the first field", "9112 2.2", fields(first=b" Host: localhost")),
    bad("a blank line before the first field", "9112 2.2", fields(b"Host: localhost", first=b" "), 200),
    bad("no colon", "9112 5", fields(b"X-Field")),
    bad("no name", "9112 5", fields(b": x")),
    bad("a space in the name", "9110 5.1", fields(b"X Field: x")),
    *(bad(f"{chr(byte)!r} in the name", "9110 5.1", fields(b"X" + bytes([byte]) + b"Field: x"))
      for byte in b"()<>@,;\\\"/[]?={}\0\x01\x0b\x0c\x1f\x7f\x80\xe9\xff"),
    bad("NUL in the value", "9110 5.5", fields(b"X-Field: a\0b"), 200),
    bad("NUL ends the value", "9110 5.5", fields(b"X-Field: a\0"), 200),
    bad("CR in the value", "9112 2.2", fields(b"X-Field: a\rb"), 200),
    bad("CR ends the value", "9112 2.2", fields(b"X-Field: a\r"), 200),
    bad("CR ends lines", "9112 2.2", b"GET /api HTTP/1.1\rHost: localhost\r\r" + fields()),
    bad("CR for a line in the middle", "9112 2.2", fields(b"X-Field: a\rX-Other: b"), 200),
    bad("LF, CR in the wrong order", "9112 2.2", b"GET /api HTTP/1.1\n\rHost: localhost\n\r\n\r"),
    Exchange("LF ends a line", "9112 2.2", b"GET /api HTTP/1.1\r\nHost: localhost\nX-Field: x\r\n\r\n", OK | BAD),
    Exchange("LF ends all lines", "9112 2.2", b"GET /api HTTP/1.1\nHost: localhost\n\n", OK | BAD),
    Exchange("LF ends the header", "9112 2.2", b"GET /api HTTP/1.1\r\nHost: localhost\r\n\n", OK | BAD),
    *(Exchange(f"byte {byte:02x} in the value", "9110 5.5", fields(b"X-Field: a" + bytes([byte]) + b"b"), OK | BAD)
      for byte in b"\x01\x0b\x1f\x7f"),
    good("bytes beyond ASCII in the value", "9110 5.5", fields(b"X-Field: \xe9\xff\x80")),
    good("tabs in the value", "9110 5.5", fields(b"X-Field: a\tb")),
    good("all characters of a token in the name", "9110 5.6.2", fields(b"!#$%&'*+-.^_`|~09AZaz: x")),
    good("no value", "9110 5.5", fields(b"X-Field:")),
    good("a value of blanks", "9110 5.5", fields(b"X-Field: \t ")),
    good("no blank before the value", "9112 5", fields(b"X-Field:x")),
    good("blanks around the value", "9112 5", fields(b"X-Field: \t x \t ")),
    good("a colon in the value", "9112 5", fields(b"X-Field: a:b: c")),
    good("a field twice", "9110 5.3", fields(b"X-Field: a", b"X-Field: b")),
)
def test_field_line(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)
