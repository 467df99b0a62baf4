# SPDX-License-Identifier: Apache-2.0
"""A subject whose case echo shows what the kit gave it, and prints what it should not; its case crew
does its operations in threads, and its case greet serves."""

import os
import socketserver
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from lab_kit import (Latencies, Opening, Perform, Share, UnsupportedError, Work, crew,
                     serve)


@contextmanager
def echo(opening: Opening) -> Iterator[Perform]:
    if opening.text("text") == "unsupported":
        raise UnsupportedError("this text is not supported")
    opening.settings["text"] = opening.text("text")
    fail_at = opening.integer("fail_at", 0, 1000)

    def perform(operations: int) -> Work:
        print("@lab torn", end="")
        os.write(1, b"@lab torn")
        if 0 < fail_at <= operations:
            raise ValueError(f"operation {fail_at} failed")
        return Work(sum(opening.inputs[k % 4096] for k in range(operations)), 2 * operations)

    yield perform
    print("echo was closed", file=sys.stderr, flush=True)


@contextmanager
def crew_of(opening: Opening) -> Iterator[Perform]:
    fail_at = opening.integer("fail_at", 0, 1000)

    def share(operations: range, latencies: Latencies) -> Work:
        check = units = 0
        for k in operations:
            if k + 1 == fail_at:
                raise ValueError(f"operation {fail_at} failed")
            check += k
            units += 1
            latencies.lap()
        return Work(check, units)

    shares: list[Share] = [share] * opening.integer("threads", 1, 64)
    with crew(shares) as perform:
        yield perform
    print("crew was closed", file=sys.stderr, flush=True)


class Greeter(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"hello")


@contextmanager
def greet(opening: Opening) -> Iterator[None]:
    with socketserver.TCPServer(("127.0.0.1", 0), Greeter) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        opening.settings["port"] = server.server_address[1]
        yield
        server.shutdown()
        thread.join()


serve("echo", "no library 1.0", {"echo": echo, "crew": crew_of, "greet": greet},
      one_thread="threads" not in sys.argv)
