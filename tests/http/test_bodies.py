# SPDX-License-Identifier: Apache-2.0
"""Bodies with a length and in chunks: the echo equals the sent body, and the end of a body is never ambiguous."""

import json
from collections.abc import Iterator

import pytest

from client import NoAnswer, request
from exchange import BAD, OK, SECOND, Exchange, table
from experiments import EXPERIMENTS, ROOT
from servers import Server

_ORDER_FILE = EXPERIMENTS / "rest" / "order.json"
ORDER = (_ORDER_FILE if _ORDER_FILE.exists() else ROOT / "experiments" / "rest" / "order.json").read_bytes()
DOCUMENT = json.loads(ORDER)
TOO_LARGE = frozenset({413})
MAX_BODY = 65_536
"""Bytes that the experiment requires to be accepted."""


def post(*fields: bytes, body: bytes = ORDER, version: bytes = b"1.1", target: bytes = b"/api/echo") -> bytes:
    """Returns a request with a body. Its fields need not describe the body correctly."""
    return b"\r\n".join([b"POST " + target + b" HTTP/" + version, b"Host: localhost", *fields, b"", b""]) + body


def chunks(*parts: bytes) -> bytes:
    """Returns all chunks except the last one."""
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


LENGTH = b"Content-Length: %d" % len(ORDER)
CHUNKED = b"Transfer-Encoding: chunked"
END = b"0\r\n\r\n"


def good(name: str, rfc: str, request: bytes, *allowed: int) -> Exchange:
    return Exchange(name, rfc, request, OK, frozenset(allowed), DOCUMENT, method="POST")


def bad(name: str, rfc: str, request: bytes, *allowed: int, promised: frozenset[int] = BAD, **more: object) -> Exchange:
    return Exchange(name, rfc, request, promised, frozenset(allowed), closes=True, method="POST", **more)


@table(
    good("right", "9112 6.2", post(LENGTH)),
    good("the name in upper case", "9110 5.1", post(LENGTH.upper())),
    good("blanks around it", "9112 5", post(b"Content-Length: \t%d \t" % len(ORDER))),
    good("leading zeros", "9110 8.6", post(b"Content-Length: 0000%d" % len(ORDER)), 400),
    Exchange("twice the same", "9110 8.6", post(LENGTH, LENGTH), OK | BAD, json=DOCUMENT, method="POST"),
    Exchange("a list of the same", "9110 8.6", post(LENGTH + b", %d" % len(ORDER)), OK | BAD, json=DOCUMENT, method="POST"),
    bad("two that differ", "9110 8.6", post(LENGTH, b"Content-Length: 10")),
    bad("two that differ, the other first", "9110 8.6", post(b"Content-Length: 10", LENGTH)),
    bad("a list that differs", "9110 8.6", post(LENGTH + b", 10")),
    *(bad(f"{value!r}", "9110 8.6", post(b"Content-Length: " + value))
      for value in (b"", b"abc", b"-1", b"-0", b"+1024", b"0x400", b"1e3", b"1024.0", b"1024,", b",1024", b"10 24", b"1_024",
                    b"1024;q=1", b'"1024"', b"1024\x0b", b"1024\x00", b"\xd9\xa1\xd9\xa0\xd9\xa2\xd9\xa4", b"\xb2", b"1024a",
                    b"NaN", b"infinity")),
    *(bad(f"{value}, which is more than a number holds", "9110 8.6", post(b"Content-Length: %d" % value),
          promised=BAD | TOO_LARGE, only_library=value < 2**64)
      for value in (2**31 + 1024, 2**32 + 1024, 2**63 - 1, 2**63, 2**63 + 1024, 2**64 - 1, 2**64, 2**64 + 1024, 2**65 + 1024,
                    2**128 + 1024, 10**100)),
    Exchange("none", "9112 6.3", post(body=b""), BAD, frozenset({411}), method="POST"),
    Exchange("nothing", "9112 6.3", post(b"Content-Length: 0", body=b""), BAD, method="POST"),
)
def test_content_length(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    good("one chunk", "9112 7.1", post(CHUNKED, body=chunks(ORDER) + END)),
    good("two chunks", "9112 7.1", post(CHUNKED, body=chunks(ORDER[:500], ORDER[500:]) + END)),
    good("chunks of a byte", "9112 7.1", post(CHUNKED, body=chunks(*(ORDER[i:i + 1] for i in range(len(ORDER)))) + END)),
    good("digits in lower case", "9112 7.1", post(CHUNKED, body=b"ff\r\n%s\r\n301\r\n%s\r\n" % (ORDER[:255], ORDER[255:]) + END)),
    good("digits in upper case", "9112 7.1", post(CHUNKED, body=b"FF\r\n%s\r\n301\r\n%s\r\n" % (ORDER[:255], ORDER[255:]) + END)),
    good("leading zeros", "9112 7.1", post(CHUNKED, body=b"0000400\r\n%s\r\n000\r\n\r\n" % ORDER)),
    good("the coding in upper case", "9112 7", post(CHUNKED.upper(), body=chunks(ORDER) + END)),
    good("a tab before the coding", "9112 5", post(b"Transfer-Encoding:\tchunked", body=chunks(ORDER) + END)),
    good("an extension", "9112 7.1.1", post(CHUNKED, body=b"400;a=b\r\n%s\r\n0;c\r\n\r\n" % ORDER)),
    good("a quoted extension", "9112 7.1.1", post(CHUNKED, body=b'400;a="b;c"\r\n%s\r\n' % ORDER + END)),
    good("a blank before an extension", "9112 7.1.1", post(CHUNKED, body=b"400 ; a = b\r\n%s\r\n" % ORDER + END), 400),
    good("trailers", "9112 7.1.2", post(CHUNKED, b"Trailer: X-Sum", body=chunks(ORDER) + b"0\r\nX-Sum: 1\r\nX-Other:\r\n\r\n")),
    good("trailers that must not frame", "9110 6.5.1",
         post(CHUNKED, body=chunks(ORDER) + b"0\r\nX-Field: x\r\nContent-Length: 5\r\nHost: elsewhere\r\n\r\n"), 400),
    Exchange("an empty list element", "9110 5.6.1", post(b"Transfer-Encoding: , chunked", body=chunks(ORDER) + END),
             OK | {400, 501}, json=DOCUMENT, method="POST"),
    *(bad(f"a size of {size!r}", "9112 7.1", post(CHUNKED, body=size + b"\r\n" + ORDER + b"\r\n" + END))
      for size in (b"", b"g", b"-400", b"+400", b"0x400", b" 400", b"40 0", b"400,", b"400\0", b"4_00", b"400g", b"400\xff",
                   b"\xd9\xa4\xd9\xa0\xd9\xa0", b"'400'", b";400", b"=400", b"\t400", b"0400h")),
    *(bad(f"a size of {size.decode()}, which is more than a number holds", "9112 7.1",
          post(CHUNKED, body=size + b"\r\n" + ORDER + b"\r\n" + END), promised=BAD | TOO_LARGE, only_library=len(size) <= 16)
      for size in (b"80000400", b"100000400", b"7FFFFFFFFFFFFFFF", b"8000000000000000", b"8000000000000400", b"FFFFFFFFFFFFFFFF",
                   b"10000000000000400", b"FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", b"1" + b"0" * 100)),
    bad("a size of many zeros", "9112 7.1", post(CHUNKED, body=b"0" * 10_000 + b"400\r\n" + ORDER + b"\r\n" + END), 200, 413, 431),
    bad("more than the size", "9112 7.1", post(CHUNKED, body=b"3ff\r\n" + ORDER + b"\r\n" + END)),
    bad("less than the size", "9112 7.1", post(CHUNKED, body=b"401\r\n" + ORDER + b"\r\n" + END)),
    bad("LF ends the size", "9112 7.1", post(CHUNKED, body=b"400\n" + ORDER + b"\r\n" + END), 200),
    bad("LF ends the chunk", "9112 7.1", post(CHUNKED, body=b"400\r\n" + ORDER + b"\n" + END), 200),
    bad("CR ends the size", "9112 7.1", post(CHUNKED, body=b"400\r" + ORDER + b"\r\n" + END)),
    bad("CR in an extension", "9112 7.1.1", post(CHUNKED, body=b"400;a\rb\r\n" + ORDER + b"\r\n" + END)),
    bad("LF in an extension", "9112 7.1.1", post(CHUNKED, body=b"400;a\nb\r\n" + ORDER + b"\r\n" + END)),
    bad("NUL in an extension", "9112 7.1.1", post(CHUNKED, body=b"400;a\0b\r\n" + ORDER + b"\r\n" + END), 200),
    bad("two other bytes end the chunk", "9112 7.1", post(CHUNKED, body=b"400\r\n" + ORDER + b"xx" + END)),
    bad("LF ends the last chunk", "9112 7.1", post(CHUNKED, body=chunks(ORDER) + b"0\n\r\n"), 200),
    bad("a trailer without a colon", "9112 5", post(CHUNKED, body=chunks(ORDER) + b"0\r\nX-Field\r\n\r\n"), 200),
    bad("a trailer with a blank before its colon", "9112 5.1", post(CHUNKED, body=chunks(ORDER) + b"0\r\nX : x\r\n\r\n"), 200),
    bad("a trailer that is folded", "9112 5.2", post(CHUNKED, body=chunks(ORDER) + b"0\r\nX: x\r\n y\r\n\r\n"), 200),
    bad("NUL in a trailer", "9110 5.5", post(CHUNKED, body=chunks(ORDER) + b"0\r\nX: \0\r\n\r\n"), 200),
    bad("an endless extension", "9112 7.1.1", post(CHUNKED, body=b"400;" + b"x" * 100_000),
        promised=BAD | {413, 431}, only_library=True),
    bad("endless trailers", "9112 7.1.2", post(CHUNKED, body=chunks(ORDER) + b"0\r\n" + b"X-Field: x\r\n" * 20_000),
        promised=BAD | {413, 431}, only_library=True),
    bad("extensions in every chunk", "9112 7.1.1", post(CHUNKED, body=(b"1;" + b"x" * 200 + b"\r\n \r\n") * 5000),
        promised=BAD | {413, 431}, only_library=True),
)
def test_chunks(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


@table(
    *(bad(f"{coding!r}", "9112 6.1", post(b"Transfer-Encoding: " + coding, body=chunks(ORDER) + END),
          promised=frozenset({400, 501}))
      for coding in (b"gzip, chunked", b"gzip", b"x", b"identity", b"chunked, identity", b"chunked, gzip", b"chunked, chunked", b"",
                     b"chunked;q=1", b'"chunked"', b"chunked chunked", b"chunkedx", b"xchunked", b"c\0hunked", b"chunked\x0b",
                     b"\x0bchunked", b"chunked\xa0", b"chunked;", b"chunked,gzip")),
    bad("twice", "9112 6.1", post(CHUNKED, CHUNKED, body=chunks(ORDER) + END), 501),
    bad("in HTTP/1.0", "9112 6.1", post(CHUNKED, body=chunks(ORDER) + END, version=b"1.0"), 200, 501, version="1.0"),
    bad("in HTTP/1.0, with keep-alive", "9112 6.1",
        post(CHUNKED, b"Connection: keep-alive", body=chunks(ORDER) + END, version=b"1.0"), 501, version="1.0"),
)
def test_transfer_encoding(server: Server, exchange: Exchange) -> None:
    exchange.must_hold(server)


def splits(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    for at in range(1, len(data)):
        yield data[:at], data[at:]


SMALL = b'{"a":1}'


@pytest.mark.parametrize("sent", [
    b"POST /api HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7;a=b\r\n{\"a\":1}\r\n00\r\nX: y\r\n\r\n",
    b"POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\n{\"a\":1}"], ids=["chunks", "length"])
def test_split_anywhere(server: Server, sent: bytes) -> None:
    """Sends a request in two pieces, for every position between two bytes. The path supports only another method. The
    next response shows that the server read the body to its end."""
    with server.connect() as connection:
        for pieces in splits(sent):
            answer = connection.send_in_pieces(pieces).answer("POST")
            assert answer.status == 405
            if answer.closes:
                pytest.skip("the server closes the connection after this error")
        assert connection.send(request()).answer().status == 200


@pytest.mark.parametrize("body", [chunks(ORDER[:500], ORDER[500:]) + END, ORDER], ids=["chunks", "length"])
def test_a_byte_at_a_time(server: Server, body: bytes) -> None:
    field = LENGTH if body is ORDER else CHUNKED
    with server.connect() as connection:
        sent = post(field, body=body)
        pieces = (sent[i:i + 1] for i in range(len(sent)))
        assert connection.send_in_pieces(pieces, pause_s=0).answer("POST").json == DOCUMENT
        assert connection.is_open()


def filled(length: int) -> bytes:
    """Returns the order as a document of this length."""
    return ORDER.rstrip()[:-1] + b" " * (length - len(ORDER.rstrip())) + b"}"


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
def test_the_largest_body_is_taken(server: Server, chunked: bool) -> None:
    body = filled(MAX_BODY)
    assert len(body) == MAX_BODY
    with server.connect() as connection:
        sent = post(CHUNKED, body=chunks(body[:50_000], body[50_000:]) + END) if chunked else request(
            "POST", "/api/echo", body=body)
        assert connection.send(sent).answer("POST").json == DOCUMENT
        assert connection.send(request()).answer().status == 200


@pytest.mark.promised
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
@pytest.mark.parametrize("length", [MAX_BODY * 4, 3_000_000])
def test_a_body_that_is_too_large(server: Server, length: int, chunked: bool) -> None:
    """RFC 9110 15.5.14. The response arrives, no matter how much the client still sends."""
    body = filled(length)
    with server.connect() as connection:
        answer = connection.send(
            post(CHUNKED, body=chunks(body) + END) if chunked else request("POST", "/api/echo", body=body)).answer("POST")
        assert answer.status == 413
        if answer.closes:
            connection.must_end()
        else:
            assert connection.send(request()).answer().status == 200


@pytest.mark.promised
def test_a_length_that_is_too_large_is_refused_at_once(server: Server) -> None:
    """The server does not wait for the body."""
    with server.connect() as connection:
        connection.send(post(b"Content-Length: 100000000", body=b""))
        assert connection.answer("POST").status == 413


@pytest.mark.parametrize("sent", [post(LENGTH, body=ORDER[:-1]), post(CHUNKED, body=chunks(ORDER)),
                                  post(CHUNKED, body=chunks(ORDER) + b"0\r\n"), post(CHUNKED, body=chunks(ORDER)[:-10])],
                         ids=["length", "no last chunk", "no empty line", "part of a chunk"])
def test_a_body_that_ends_early_is_not_complete(server: Server, sent: bytes) -> None:
    """RFC 9112 8: the server does not respond as if the body were complete."""
    with server.connect() as connection:
        connection.send(sent).end_sending()
        try:
            answer = connection.answer("POST")
            assert answer.status in (400, 408)
        except NoAnswer:
            pass
        connection.must_end()


@pytest.mark.parametrize("path, statuses", [("/api", {200}), ("/api/hello/Ada", {200}), ("/files/64k.bin", {200}),
                                             ("/nothing", {404})])
@pytest.mark.files
def test_the_body_of_a_get_is_no_request(server: Server, path: str, statuses: set[int]) -> None:
    """RFC 9110 9.3.1, 9112 6.3."""
    inside = request("GET", "/api/hello/smuggled")
    for framed in (request("GET", path, body=inside),
                   request("GET", path, "Transfer-Encoding: chunked") + chunks(inside) + END):
        with server.connect() as connection:
            answer = connection.send(framed + SECOND).answer()
            assert answer.status in statuses | ({400, 413} if not server.promises else set())
            if not answer.closes:
                assert connection.answer().json == {"greeting": "Hello Second!"}
            connection.must_end()


@pytest.mark.parametrize("method, path", [("DELETE", "/api"), ("PUT", "/nothing"), ("POST", "/files/64k.bin"), ("BREW", "/api"),
                                            ("POST", "/api/built?number=x")])
def test_the_body_of_a_refused_request_is_no_request(server: Server, method: str, path: str) -> None:
    inside = request("GET", "/api/hello/smuggled")
    for framed in (request(method, path, body=inside),
                   request(method, path, "Transfer-Encoding: chunked") + chunks(inside) + END):
        with server.connect() as connection:
            answer = connection.send(framed + SECOND).answer(method)
            assert answer.status in (404, 405, 501)
            if not answer.closes:
                assert connection.answer().json == {"greeting": "Hello Second!"}
            connection.must_end()
