# SPDX-License-Identifier: Apache-2.0
"""A subject for tests. Its case echo replies with the input from the kit, and writes to standard output, which it
should not do; its case count does its operations in threads; its case measure reports metrics; operations of its
case fallible fail; and its case greet is a server."""

import os
import socketserver
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from lab_kit import (Latencies, Opening, Perform, Share, UnsupportedError, Work, serve,
                     workers)


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
def count(opening: Opening) -> Iterator[Perform]:
    fail_at = opening.integer("fail_at", 0, 1000)
    has_laps = opening.integer("laps", 0, 1) == 1

    def share(operations: range, latencies: Latencies) -> Work:
        check = units = 0
        for k in operations:
            if k + 1 == fail_at:
                raise ValueError(f"operation {fail_at} failed")
            check += k
            units += 1
            if has_laps:
                latencies.lap()
        return Work(check, units)

    shares: list[Share] = [share] * opening.integer("threads", 1, 64)
    with workers(shares) as perform:
        yield perform
    print("the workers were ended", file=sys.stderr, flush=True)


@contextmanager
def measure(_: Opening) -> Iterator[Perform]:
    yield lambda operations: Work(operations, operations, metrics={
        "lost": 100 / 3, "none": 0, "small": -1.2e-5, "large": 9.8765432109876544e16})


@contextmanager
def fallible(opening: Opening) -> Iterator[Perform]:
    """Does ten operations. An operation fails if its number ends with a digit of `digits`."""
    digits = {int(digit) for digit in opening.text("digits")}

    def share(operations: range, latencies: Latencies) -> Work:
        failed = [k for k in operations if k % 10 in digits]
        return Work(len(operations), len(operations), failed=failed)

    with workers([share] * opening.integer("threads", 1, 64)) as perform:
        yield lambda operations: perform(operations)._replace(metrics={"lost": 0.5})


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


serve("echo", "no library 1.0", {
    "echo": echo, "count": count, "measure": measure, "fallible": fallible, "greet": greet,
}, one_thread="threads" not in sys.argv)
