#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of a server: at its start, with 512 busy connections, with 512 idle connections, and after these
connections were closed.

    benches/rest/memory.py [--subjects ada-embedded,ada-server,ada-rest] [--connections 512] [--output FILE]
"""

import argparse
import socket
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass

import profiles
from profiles import PROFILES, Failure, Served, bench

MAX_MB = {"ada-embedded": 1, "ada-server": 4, "ada-rest": 4}
REQUEST = b"GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n"
PATHS = ("/api", "/api/built?number=17", "/api/hello/Ada", "/files/64k.bin")


@dataclass
class Taken:
    """The resident memory of a server, in bytes."""

    start: int
    busy: int
    """The peak memory under load."""
    idle: int
    left: int
    own: int
    """Memory at the end that is not backed by files."""
    threads: int
    errors: int


def resident(server: Served) -> int:
    return bench.memory_of(server.pid)[0]


def take(server: Served, args: argparse.Namespace) -> Taken:
    start = resident(server)
    errors, most = 0, 0
    for path in PATHS:
        said, seen = loaded(server, args, path)
        errors, most = errors + said.errors, max(most, seen)
    with ExitStack() as stack:
        for _ in range(args.connections):
            client = stack.enter_context(socket.create_connection(server.address))
            client.sendall(REQUEST)
            if not client.recv(4096).startswith(b"HTTP/1.1 200"):
                raise Failure("a request did not get status 200")
        idle, threads = resident(server), server.threads
    time.sleep(0.5)
    left, _, own = bench.memory_of(server.pid)
    return Taken(start, most, idle, left, own, threads, errors)


def loaded(server: Served, args: argparse.Namespace, path: str) -> tuple[profiles.Said, int]:
    """Returns the report of the load, and the highest memory seen during it."""
    seen = [resident(server)]
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.02):
            seen.append(resident(server))

    watching = threading.Thread(target=look)
    watching.start()
    try:
        return profiles.load(server, args.cores[0], args.connections, args.seconds, path), max(seen)
    finally:
        ended.set()
        watching.join()


def section(args: argparse.Namespace, taken: dict[str, Taken]) -> str:
    def mb(size: int) -> str:
        return f"{size / 1e6:.2f}"

    table = bench.table(
        ["subject", "at its start", f"{args.connections} busy", f"{args.connections} idle", "after they closed", "of the peak, not backed by files", "threads",
         "errors"],
        [[name, mb(t.start), mb(t.busy), mb(t.idle), mb(t.left), mb(t.own), str(t.threads), f"{t.errors:,}"]
         for name, t in taken.items()])
    text = bench.paragraph(f"""Measured by `benches/rest/memory.py --connections {args.connections}` on {bench.machine()}. Resident memory
        in MB of a server with {args.workers} workers: after the start; at most, while {args.connections} connections loaded
        {', '.join(f'`{path}`' for path in PATHS)} for {args.seconds:g} s each; with {args.connections} idle connections; and after
        these were closed, in total and without mapped files.""")
    aims = [bench.verdict(f"{name}, resident at most", max(t.start, t.busy, t.idle) / 1e6, MAX_MB[name], " MB")
            for name, t in taken.items() if name in MAX_MB]
    return "\n".join(["### Memory", "", text, "", table, "", *aims, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=lambda text: text.split(","), default=list(PROFILES))
    parser.add_argument("--connections", type=int, default=512)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3, help="seconds of load for each path")
    profiles.add_options(parser)
    args = profiles.parse(parser, quick={"seconds": 0.5})
    taken = {}
    for name in args.subjects:
        print(name, file=sys.stderr)
        with profiles.serving(name, args.cores[1], args.workers) as server:
            taken[name] = take(server, args)
    bench.publish(args, section(args, taken))


if __name__ == "__main__":
    bench.run(main)
