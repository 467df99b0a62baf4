# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Checks that the embedded server allocates no heap memory: python3 counted_heap.py PROGRAM

The program counts its allocations. This script sends it requests for all handlers, and requests that the library rejects. One
further request allocates memory, to check that the program counts allocations."""

import contextlib
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = bytes(range(256)) * 2**14
"""4 MiB, more than a socket accepts at once."""


class Device:
    """The running program, which serves one file and has a time limit for headers."""

    def __init__(self, program, folder, header_s=600):
        self.process = subprocess.Popen([program, folder, str(header_s)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        host, port = self.process.stdout.readline().strip().removeprefix("http://").split(":")
        self.address = (host, int(port))

    def connect(self):
        return socket.create_connection(self.address, timeout=120)

    def calls(self):
        """Ends the program, and returns the number of its allocations."""
        self.process.stdin.close()
        calls = int(self.process.stdout.read())
        assert self.process.wait(timeout=120) == 0
        return calls

    def statuses(self, *pieces):
        """Returns the statuses of all responses to requests sent in pieces. The last request closes the connection."""
        with self.connect() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in pieces:
                connection.sendall(piece)
            answers = b"".join(iter(lambda: connection.recv(65_536), b""))
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})", answers)]


def request(method, path, *fields, body=b"", close=True):
    lines = [f"{method} {path} HTTP/1.1", "Host: device", *fields, *(["Connection: close"] if close else [])]
    return "\r\n".join([*lines, "", ""]).encode() + body


def posted(body, *fields):
    return request("POST", "/sum", f"Content-Length: {len(body)}", *fields, body=body)


def bytewise(message):
    return [message[at : at + 1] for at in range(len(message))]


def chunked(body, path="/sum"):
    coded = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in bytewise(body)) + b"0\r\n\r\n"
    return request("POST", path, "Transfer-Encoding: chunked", body=coded)


def uploaded(path, length):
    return request("POST", path, f"Content-Length: {length}", body=bytes(length))


def posted_form(content):
    body = b'--x\r\nContent-Disposition: form-data; name=a; filename="b"\r\n\r\n' + content + b"\r\n--x--\r\n"
    return request("POST", "/upload/form", "Content-Type: multipart/form-data; boundary=x", f"Content-Length: {len(body)}",
                   body=body)


FORM = "Content-Type: application/x-www-form-urlencoded"

ANSWERED = [
    ([200], [request("GET", "/")]),
    ([200], [request("HEAD", "/")]),
    ([200], [request("GET", "/hello?name=Ada%20Lovelace")]),
    ([200], bytewise(request("GET", "/hello?name=Ada"))),
    ([200] * 101, [request("GET", "/hello", close=False) * 100 + request("GET", "/")]),
    ([405], [request("POST", "/", "Content-Length: 0")]),
    ([200], [request("GET", "/calculate/6/7?operation=times")]),
    ([200], [request("GET", "/calculate/6/7", "Accept: application/xml")]),
    ([406], [request("GET", "/calculate/6/7", "Accept: image/png")]),
    ([400], [request("GET", "/calculate/6/1001")]),
    ([404], [request("GET", "/nowhere")]),
    ([204], [request("OPTIONS", "/sum")]),
    ([204], [request("OPTIONS", "*")]),
    ([200], [posted(b"[1, 2.5, 1e300]")]),
    ([200], bytewise(posted(b"[1, 2.5]"))),
    ([200], [chunked(b"[1, 2.5]")]),
    ([400], [posted(b"[1, true]")]),
    ([413], [posted(b"[" + b"1," * 1_000)]),
    ([200], [request("GET", "/files/file.bin")]),
    ([206], [request("GET", "/files/file.bin", "Range: bytes=5-4000000")]),
    ([416], [request("GET", "/files/file.bin", "Range: bytes=5000000-")]),
    ([304], [request("GET", "/files/file.bin", "If-None-Match: *")]),
    ([200], [request("GET", "/files/file.bin", "Accept-Encoding: gzip;q=0.5, br")]),
    ([200], [request("GET", "/files/packed", "Accept-Encoding: br, gzip")]),
    ([404], [request("GET", "/files/../secret")]),
    ([414], [request("GET", "/" + "x" * 9_000)]),
    ([431], [request("GET", "/", "X: " + "x" * 9_000)]),
    ([400], [b"GET / HTTP/1.1\r\n\r\n"]),
    ([400], [request("GET", "/%zz")]),
    ([501], [request("POST", "/sum", "Transfer-Encoding: gzip, chunked")]),
    ([200], [request("GET", "/forwarded", 'Forwarded: for="[2001:db8::1]:1";host=h;proto=https, for=10.0.0.1')]),
    ([200], [request("GET", "/cookies", "Cookie: a=b; c=" + "d" * 300)]),
    ([200], [request("POST", "/form", FORM, "Content-Length: 10", body=b"a=%41&b=+x")]),
    ([404], [request("GET", "/nowhere", 'User-Agent: "' + "\\" * 1_000)]),
    ([200], [uploaded("/upload/count", 1_000_000)]),
    ([200], bytewise(chunked(b"12345", "/upload/count"))),
    ([413], [uploaded("/upload/short", 1_001)]),
    ([200], [uploaded("/upload/enough", 1_000)]),
    ([401], [uploaded("/upload/refused", 1_000)]),
    ([413], [uploaded("/upload/buffered", 101)]),
    ([200], [posted_form(b"")]),
    ([200], [posted_form(bytes(100_000))]),
    ([200], [request("GET", "/text?size=5000", "Accept-Encoding: gzip")]),
    ([200], [request("GET", "/text?fixed", "Accept-Encoding: gzip")]),
    ([200], [request("GET", "/stream?size=1000000")]),
    ([200], [request("GET", "/stream?size=1000000&counted=1000000")]),
    ([200], [request("HEAD", "/stream?size=1000000")]),
    # Values of the maximum length in a header
    ([200], [request("GET", "/hello?name=" + "a" * 7_500)]),
    ([200], [request("GET", "/hello?name=" + "%61" * 2_500)]),
    ([200], [request("GET", "/files/file.bin", "Accept-Encoding: gzip;q=0." + "0" * 7_500)]),
    ([200], [request("GET", "/files/file.bin", *["Accept-Encoding: " + "x," * 1_800 + "x"] * 2)]),
    ([200], [request("GET", "/calculate/6/7", *["Accept: " + "*/*," * 900 + "*/*"] * 2)]),
    ([200], [request("GET", "/cookies", "Cookie: " + "; ".join(f"c{n}=1" for n in range(900)))]),
    ([505], [b"GET / HTTP/3.0\r\nHost: device\r\n\r\n"]),
]


def wait_for_room(device):
    """Connects more clients than the server has room for. The server serves the last client when an earlier client has disconnected,
    or has not sent its request yet: on a busy machine, the server closes such connections to make room."""
    waiting = [device.connect() for _ in range(200)]
    answers = []
    for connection in waiting:
        with contextlib.suppress(ConnectionError):
            connection.sendall(request("GET", "/"))
    for connection in waiting:
        answers.append(b"")
        with contextlib.suppress(ConnectionError):
            answers[-1] = connection.recv(65_536)
        connection.close()
    assert all(not answer or answer.startswith(b"HTTP/1.1 200") for answer in answers) and answers[-1], answers


def dribble(device):
    """Sends incomplete headers, and expects a timeout for each of them."""
    waiting = [device.connect() for _ in range(10)]
    for connection in waiting:
        connection.sendall(b"GET / HT")
    for connection in waiting:
        assert connection.recv(65_536).startswith(b"HTTP/1.1 408")
        connection.close()


def expect(device):
    """Sends content after 100 (Continue)."""
    with device.connect() as connection:
        connection.sendall(posted(b"[1]", "Expect: 100-continue").removesuffix(b"[1]"))
        assert connection.recv(65_536).startswith(b"HTTP/1.1 100")
        connection.sendall(b"[1]")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")


def leave(device):
    """Disconnects before the response."""
    for _ in range(10):
        with device.connect() as connection:
            connection.sendall(request("GET", "/files/file.bin") * 3)
            connection.recv(1)


def cut_off(device):
    """Requests a source that produces fewer bytes than its Content-Length states."""
    for _ in range(10):
        try:
            device.statuses(request("GET", "/stream?size=1000&counted=1001"))
        except ConnectionResetError:
            continue
        raise AssertionError("it was not cut off")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "file.bin").write_bytes(FILE)
        Path(folder, "packed.gz").write_bytes(b"packed")
        device = Device(program, folder)
        for expected, pieces in ANSWERED:
            statuses = device.statuses(*pieces)
            assert statuses == expected, f"{statuses} in place of {expected} for {pieces[0][:200]}"
        expect(device)
        wait_for_room(device)
        leave(device)
        cut_off(device)
        calls = device.calls()
        lines = Path(folder, "access.log").read_text().splitlines()
        assert len(lines) >= len(ANSWERED), "its log lacks lines"
        assert calls == 0, f"{calls} heap allocations"

        device = Device(program, folder, header_s=1)
        dribble(device)
        calls = device.calls()
        assert calls == 0, f"{calls} heap allocations after a timeout"

        for path, expected in ("/new", 200), ("/raise", 500):
            device = Device(program, folder)
            assert device.statuses(request("GET", path)) == [expected], path
            assert device.calls() > 0, f"the allocation of {path} was not counted"
    print(f"the embedded server processes {len(ANSWERED)} kinds of requests without heap allocations")


if __name__ == "__main__":
    main(*sys.argv[1:])
