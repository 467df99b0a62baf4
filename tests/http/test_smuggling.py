# SPDX-License-Identifier: Apache-2.0
"""Requests in which two programs can see two different ends: they are rejected, the connection is ended, and
the requests hidden in them are never answered. RFC 9112 11.2."""

import pytest

from client import NoAnswer
from exchange import SECOND
from servers import Server

HIDDEN = b"GET /api/hello/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"

CODINGS = {
    "as it is": b"Transfer-Encoding: chunked",
    "in upper case": b"TRANSFER-ENCODING: CHUNKED",
    "a tab": b"Transfer-Encoding:\tchunked",
    "no blank": b"Transfer-Encoding:chunked",
    "blanks behind": b"Transfer-Encoding: chunked \t",
    "a space before the colon": b"Transfer-Encoding : chunked",
    "a tab before the colon": b"Transfer-Encoding\t: chunked",
    "a line break before the colon": b"Transfer-Encoding\r\n: chunked",
    "LF before the colon": b"Transfer-Encoding\n: chunked",
    "CR before the colon": b"Transfer-Encoding\r: chunked",
    "a blank before the name": b" Transfer-Encoding: chunked",
    "a tab before the name": b"\tTransfer-Encoding: chunked",
    "CR before the name": b"X: x\rTransfer-Encoding: chunked",
    "folded": b"Transfer-Encoding:\r\n chunked",
    "folded with a tab": b"Transfer-Encoding:\r\n\tchunked",
    "NUL in the name": b"Transfer-Encoding\0: chunked",
    "NUL before the value": b"Transfer-Encoding: \0chunked",
    "NUL behind the value": b"Transfer-Encoding: chunked\0",
    "VT before the value": b"Transfer-Encoding: \x0bchunked",
    "VT behind the value": b"Transfer-Encoding: chunked\x0b",
    "FF before the value": b"Transfer-Encoding: \x0cchunked",
    "CR before the value": b"Transfer-Encoding: \rchunked",
    "CR behind the value": b"Transfer-Encoding: chunked\r",
    "a no-break space": b"Transfer-Encoding: chunked\xa0",
    "a letter more": b"Transfer-Encoding: xchunked",
    "a letter less": b"Transfer-Encoding: chunke",
    "quoted": b'Transfer-Encoding: "chunked"',
    "quoted singly": b"Transfer-Encoding: 'chunked'",
    "a parameter": b"Transfer-Encoding: chunked;x=y",
    "a comma behind": b"Transfer-Encoding: chunked,",
    "a comma before": b"Transfer-Encoding: ,chunked",
    "twice in a list": b"Transfer-Encoding: chunked, chunked",
    "not the last": b"Transfer-Encoding: chunked, identity",
    "identity": b"Transfer-Encoding: identity",
    "identity before": b"Transfer-Encoding: identity, chunked",
    "nothing": b"Transfer-Encoding:",
    "two lines": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "two lines, the other unknown": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
    "two lines, the first unknown": b"Transfer-Encoding: x\r\nTransfer-Encoding: chunked",
    "two lines, the first empty": b"Transfer-Encoding:\r\nTransfer-Encoding: chunked",
    "two lines, one folded away": b"Transfer-Encoding: x\r\nX: x\r\n Transfer-Encoding: chunked",
    "no name before it": b": x\r\nTransfer-Encoding: chunked",
    "a name that is no token before it": b"X(: x\r\nTransfer-Encoding: chunked",
}


def must_be_refused(server: Server, sent: bytes) -> None:
    """Checks that there is one response, 400 or 501, which ends the connection."""
    with server.connect() as connection:
        answer = connection.send(sent + SECOND).answer("POST")
        assert answer.status in (400, 501), answer
        assert answer.closes or not server.promises
        connection.must_end()


def post(*lines: bytes, version: bytes = b"1.1") -> bytes:
    return b"\r\n".join([b"POST /api/echo HTTP/" + version, b"Host: localhost", *lines, b"", b""])


@pytest.mark.parametrize("length_first", [True, False], ids=["length first", "coding first"])
@pytest.mark.parametrize("coding", CODINGS)
def test_a_length_and_a_coding(server: Server, coding: str, length_first: bool) -> None:
    """The hidden part is a request for a program that uses the coding, and a body for a program that uses the length
    (CL.TE); an obfuscated coding is seen by only one of two programs (TE.TE)."""
    body = b"0\r\n\r\n" + HIDDEN
    lines = [b"Content-Length: %d" % len(body), CODINGS[coding]]
    must_be_refused(server, post(*(lines if length_first else lines[::-1])) + body)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_and_a_short_length(server: Server, coding: str) -> None:
    """The hidden part is in a chunk for a program that uses the coding, and a request for a program that uses the
    length (TE.CL)."""
    size = b"%x\r\n" % len(HIDDEN)
    must_be_refused(server, post(b"Content-Length: %d" % len(size), CODINGS[coding]) + size + HIDDEN + b"\r\n0\r\n\r\n")


@pytest.mark.parametrize("coding", sorted(
    CODINGS.keys() - {"as it is", "in upper case", "a tab", "no blank", "blanks behind", "a comma behind", "a comma before",
                      "two lines, the first empty"}))
def test_an_obfuscated_coding_without_a_length(server: Server, coding: str) -> None:
    """The request is rejected. Otherwise its body would be the next request (TE.0)."""
    if "folded" in coding and not server.promises:
        pytest.skip("RFC 9112 5.2 lets a server unfold the field")
    must_be_refused(server, post(CODINGS[coding]) + b"0\r\n\r\n" + HIDDEN)


@pytest.mark.parametrize("name", ["Transfer_Encoding", "TransferEncoding", "X-Transfer-Encoding", "Transfer-Encodings",
                                  "Content_Length", "ContentLength", "X-Content-Length"])
def test_another_field_frames_nothing(server: Server, name: str) -> None:
    """A field with a similar name does not frame the body."""
    body = b"0\r\n\r\n" + HIDDEN
    field = f"{name}: {'chunked' if 'oding' in name else 0}".encode()
    with server.connect() as connection:
        connection.send(post(field, b"Content-Length: %d" % len(body)) + body + SECOND)
        first = connection.answer("POST")
        assert first.status == 400  # not JSON
        if not first.closes:
            assert connection.answer().json == {"greeting": "Hello Second!"}
        connection.must_end()


LENGTHS = {
    "two": b"Content-Length: 0\r\nContent-Length: %d",
    "two, the longer first": b"Content-Length: %d\r\nContent-Length: 0",
    "a list": b"Content-Length: 0, %d",
    "a list, the longer first": b"Content-Length: %d, 0",
    "a space before the colon": b"Content-Length : %d",
    "NUL in the name": b"Content-Length\0: %d",
    "folded": b"Content-Length:\r\n %d",
    "folded behind": b"Content-Length: 0\r\n %d",
    "a sign": b"Content-Length: +%d",
    "VT": b"Content-Length: \x0b%d",
    "CR": b"Content-Length: 0\rX: %d",
    "a no-break space": b"Content-Length: \xa0%d",
    "a blank before the name": b" Content-Length: %d",
    "wrapped around 64 bits": b"Content-Length: 1844674407370955161600000%d",
    "a comma behind": b"Content-Length: %d,",
    "hexadecimal": b"Content-Length: 0x%d",
    "nothing else": b"Content-Length:\r\nContent-Length: %d",
}


@pytest.mark.parametrize("length", LENGTHS)
def test_a_length_that_is_obfuscated(server: Server, length: str) -> None:
    with server.connect() as connection:
        connection.send(post(LENGTHS[length] % len(HIDDEN)) + HIDDEN + SECOND)
        answer = connection.answer("POST")
        assert answer.status in (400, 413), answer
        assert answer.closes or not server.promises
        connection.must_end()


CHUNKED_BODIES = {
    # A line break that only one program accepts, in an extension or in the data (TERM.EXT, EXT.TERM, TERM.SPILL).
    "LF ends an extension": b"2;\nxx\r\n%(size)x\r\n0\r\n\r\n%(hidden)s\r\n0\r\n\r\n",
    "LF in an extension": b"2;a\nxx\r\n%(size)x\r\n%(hidden)s\r\n0\r\n\r\n",
    "CR ends an extension": b"2;\rxx\r\n%(size)x\r\n%(hidden)s\r\n0\r\n\r\n",
    "CR, CR, LF": b"2\r\r\nxx\r\n0\r\n\r\n%(hidden)s",
    "LF behind the data": b"2\r\nxx\n%(size)x\r\n%(hidden)s\r\n0\r\n\r\n",
    "CR behind the data": b"2\r\nxx\r%(size)x\r\n%(hidden)s\r\n0\r\n\r\n",
    "nothing behind the data": b"2\r\nxx0\r\n\r\n%(hidden)s",
    "two bytes behind the data": b"2\r\nxxyy0\r\n\r\n%(hidden)s",
    "LF ends the last size": b"2\r\nxx\r\n0\n\r\n%(hidden)s",
    "a size that wraps": b"10000000000000002\r\nxx\r\n0\r\n\r\n%(hidden)s",
    "a size with a sign": b"-0\r\n\r\n%(hidden)s",
    "a size with a prefix": b"0x0\r\n\r\n%(hidden)s",
    "a size with a blank before it": b" 0\r\n\r\n%(hidden)s",
    "no size": b"\r\n\r\n%(hidden)s",
    "a size with NUL": b"0\0\r\n\r\n%(hidden)s",
    "a trailer without a colon": b"0\r\nx\r\n\r\n%(hidden)s",
}


@pytest.mark.parametrize("body", CHUNKED_BODIES)
def test_chunks_that_are_ambiguous(server: Server, body: str) -> None:
    sent = CHUNKED_BODIES[body] % {b"size": len(HIDDEN), b"hidden": HIDDEN}
    with server.connect() as connection:
        connection.send(post(b"Transfer-Encoding: chunked") + sent + SECOND)
        answer = connection.answer("POST")
        assert answer.status in (400, 413), answer
        assert answer.closes or not server.promises
        connection.must_end()


def test_a_request_line_in_a_field(server: Server) -> None:
    """Response splitting is impossible: an escape is never a line break in a response's header."""
    for target in ("/api/hello/%0d%0aX-Split:%20yes", "/nothing/%0d%0aX-Split:%20yes", "/files/%0d%0aX-Split:%20yes"):
        assert server.get(target).get("X-Split") is None


def test_a_refused_request_is_refused_in_pieces_too(server: Server) -> None:
    """The response is the same when the parser sees the request byte by byte."""
    sent = post(b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"0\r\n\r\n"
    with server.connect() as connection:
        for i in range(len(sent)):
            connection.send(sent[i:i + 1])
        try:
            assert connection.answer("POST").status == 400
        except NoAnswer as error:
            raise AssertionError("the close of the connection lost the response") from error
        connection.must_end()
