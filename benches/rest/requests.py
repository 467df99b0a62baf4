#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a subject of the experiment rest, sends it many requests over one connection, a hundred at a time, and ends
it: a command for `benchlab compare`, whose time is nearly all the server's.

    benchlab compare --rev c10eaa1 --rev . --setup 'make -s -C experiments/rest/ada' \\
        "python3 $PWD/benches/rest/requests.py build/rest/ada/server/subject /api 200000"
"""

import argparse
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote, urlsplit

AT_ONCE = 100
FILE = bytes(range(250)) * 4
WITHIN_S = 60


def receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(1 << 20)
        if not piece:
            sys.exit(f"the server closed the connection after {len(received)} of {size} bytes")
        received += piece
    return bytes(received)


def ask(address: tuple[str, int], path: str, count: int) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with socket.create_connection(address, timeout=WITHIN_S) as connection:
        connection.sendall(request)
        first = connection.recv(1 << 20)
        head, _, content = first.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 ") or f"Content-Length: {len(content)}\r\n".encode() not in head + b"\r\n":
            sys.exit(f"the first response is not complete: {first[:200]!r}")
        for _ in range(count // AT_ONCE):
            connection.sendall(request * AT_ONCE)
            answers = receive(connection, len(first) * AT_ONCE)
            if not answers.endswith(content) or answers.count(b"HTTP/1.1 200 ") != AT_ONCE:
                sys.exit("a response differs from the first one")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the subject's program")
    parser.add_argument("path", help="the path, such as /api, or /files/a.bin, which has 1,000 bytes")
    parser.add_argument("count", type=int, help="the number of requests, a multiple of 100")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
            [arguments.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as subject:
        (Path(folder) / "a.bin").write_bytes(FILE)

        def say(line: str) -> str:
            print(line, file=subject.stdin, flush=True)
            return subject.stdout.readline()

        subject.stdout.readline()
        opened = say(f"open case=serve workers=8 files={quote(folder)} seed=7")
        fields = dict(word.split("=", 1) for word in opened.split()[2:])
        url = urlsplit(fields["url"])
        ask((url.hostname, url.port), arguments.path, arguments.count)
        say("close")
        print("quit", file=subject.stdin, flush=True)


if __name__ == "__main__":
    main()
