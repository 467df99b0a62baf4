# SPDX-License-Identifier: Apache-2.0
"""The server responds to any data with complete responses, and continues to serve. The same data is sent in every run,
unless BENCHLAB_FUZZ_SEED or BENCHLAB_FUZZ_CASES is set."""

import os
import random

import h11

from client import Connection, Reset, request
from servers import Server
from test_bodies import CHUNKED, END, LENGTH, ORDER, chunks, post
from test_connections import must_fall_to, resident
from test_smuggling import CHUNKED_BODIES, CODINGS, HIDDEN

SEED = int(os.environ.get("BENCHLAB_FUZZ_SEED", 1))
CASES = int(os.environ.get("BENCHLAB_FUZZ_CASES", 5000))
CONNECTIONS = 8
"""Connections whose pieces are sent in turns."""

REQUESTS = [
    request(), request("HEAD", "/files/64k.bin"), request("GET", "/api/built?number=17"), request("GET", "/api/hello/A%20B"),
    request("GET", "/files/one.bin", "Range: bytes=0-0", 'If-None-Match: "x"'), request("OPTIONS", "*"),
    request("GET", "/api", "Connection: close"), request(version="1.0"), request("POST", "/api/echo", body=ORDER),
    request("GET", "/api", "Accept: application/xml;q=0.5, application/json;q=0.1, */*;q=0"),
    request("GET", "/files/one.bin", "If-Modified-Since: Wed, 06 Nov 2019 08:49:37 GMT"),
    request("GET", "http://localhost/api"), request("POST", "/api/echo", "Expect: 100-continue", body=ORDER),
    post(CHUNKED, body=chunks(ORDER[:500], ORDER[500:]) + END), post(CHUNKED, body=b"400;a=b\r\n%s\r\n0\r\nX: y\r\n\r\n" % ORDER),
    request("POST", "/api/echo", body=b'{"a":[1,2.5e-3,"\\u00e9\\ud83d\\ude00",null,true]}'),
]
TOKENS = [b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\0", b" ", b"\t", b":", b",", b";", b"/", b"..", b"%", b"%00", b"%2e", b"?", b"#", b"*",
          b"0\r\n\r\n", b"HTTP/1.1", b"Host: x\r\n", LENGTH + b"\r\n", CHUNKED + b"\r\n", b"Content-Length: 5\r\n", b"Expect: 100-continue\r\n",
          b"Connection: close\r\n", b"18446744073709551616", b"-1", b"{", b"[" * 2000, b'"', b"\\u", b"\xff\xfe", b"\xc0\xaf", HIDDEN]


def mutated(data: bytes, dice: random.Random) -> bytes:
    """Returns the data with one to six changes: of bytes, pieces, tokens and order."""
    data = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(data) + 1)
        to = min(len(data), at + dice.choice((1, 1, 2, 5, 20, 100)))
        match dice.randrange(8):
            case 0:
                data[at:at + 1] = dice.randbytes(1)
            case 1:
                del data[at:to]
            case 2:
                data[at:at] = data[at:to]
            case 3:
                data[at:at] = dice.choice(TOKENS)
            case 4:
                data[at:to] = dice.choice(TOKENS)
            case 5:
                data[at:at] = data[at:at + 1] * dice.choice((10, 300, 9000))
            case 6:
                del data[at:]
            case 7:
                other = dice.choice(REQUESTS)
                data[at:] = other[dice.randrange(len(other)):]
    return bytes(data)


def case(dice: random.Random) -> bytes:
    """Returns the bytes that one connection sends: requests, most of which are invalid."""
    kind = dice.random()
    if kind < 0.06:
        return dice.randbytes(dice.choice((1, 20, 500, 5000)))
    if kind < 0.12:
        size = {b"size": len(HIDDEN), b"hidden": HIDDEN}
        sent = (post(CHUNKED) + dice.choice(list(CHUNKED_BODIES.values())) % size)
        return mutated(sent, dice)
    if kind < 0.2:
        return mutated(post(*dice.sample([LENGTH, *CODINGS.values()], 2)), dice)
    return b"".join(mutated(dice.choice(REQUESTS), dice) if dice.random() < 0.6 else dice.choice(REQUESTS)
                    for _ in range(dice.choice((1, 1, 2, 3))))


def pieces(data: bytes, dice: random.Random) -> list[bytes]:
    """Returns the data in one piece, or cut in a few places."""
    cuts = sorted(dice.sample(range(len(data) + 1), min(len(data), dice.choice((0, 0, 1, 3)))))
    return [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)])]


def exchange(server: Server, sent: list[bytes], dice: random.Random) -> list[bytes]:
    """Sends each item over a separate connection, with the pieces of all items in turns. Returns the data that each
    connection received until its end."""
    waiting = [pieces(data, dice) for data in sent]
    turns = [i for i, some in enumerate(waiting) for _ in some]
    dice.shuffle(turns)
    connections = [server.connect() for _ in sent]
    for i in turns:
        connections[i].send(waiting[i].pop(0))
    for connection in connections:
        connection.end_sending()
    return [received(server, connection) for connection in connections]


def received(server: Server, connection: Connection) -> bytes:
    """A reset is only accepted from servers that do not guarantee that the client can read the response."""
    try:
        with connection:
            return connection.everything()
    except Reset:
        assert not server.promises, "the server reset the connection"
        return b""


def must_be_answers(received: bytes, sent: bytes) -> None:
    """Checks that the data consists of complete responses. If a HEAD was sent, it is unknown which response has no
    body."""
    unread = received
    while unread:
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        parser.send(h11.Request(method="GET", target="/", headers=[("Host", "any")]))
        parser.send(h11.EndOfMessage())
        parser.receive_data(unread)
        parser.receive_data(b"")
        try:
            while not isinstance(event := parser.next_event(), (h11.EndOfMessage, h11.ConnectionClosed)):
                assert not isinstance(event, h11.Response) or event.status_code not in (500, 502, 503, 504), event
        except h11.RemoteProtocolError as error:
            assert b"HEAD" in sent, f"{error}: {received[:3000]!r}"
            return
        unread = parser.trailing_data[0]


def test_it_lives_on(server: Server) -> None:
    dice = random.Random(SEED)
    server.must_serve()
    before, memory = server.open_files if server.subject else 0, 0
    for number in range(CASES // CONNECTIONS):
        sent = [case(dice) for _ in range(CONNECTIONS)]
        try:
            for message, received in zip(sent, exchange(server, sent, dice)):
                must_be_answers(received, message)
            server.must_serve()
            if number == CASES // CONNECTIONS // 2:
                memory = resident(server)
        except (AssertionError, OSError) as error:
            raise AssertionError(f"after batch {number} of seed {SEED}: {error}; the connections sent\n"
                                 + "\n".join(repr(message[:3000]) for message in sent)) from error
    if server.subject:
        assert server.is_usable
        must_fall_to(server, before)
        if server.promises:
            assert resident(server) < memory + 500_000, "half of the cases increased the memory of the server"
