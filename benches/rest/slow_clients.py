#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the effect of slow clients on other clients: a thousand connections that send one byte per second, together
with a load on the same server.

    benches/rest/slow_clients.py [--subject ada-server] [--slow 1000] [--rounds 10] [--output FILE]

In each round the load has two turns with the slow clients and two without, in the order without, with, with, without.
The slow clients share a core with the load generator, and the server has the other core.
"""

import argparse
import selectors
import socket
import sys
import threading
import time
from dataclasses import dataclass

import profiles
from profiles import Failure, Served, bench

MIN_RATIO = 0.9
REQUEST = b"GET /api HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 1000


class SlowClients:
    """Slow clients: each sends its request one byte per second, and reconnects when the server closes its
    connection."""

    def __init__(self, server: Served, count: int) -> None:
        self._address = server.address
        self._clients: list[tuple[socket.socket, int]] = []
        self._count = count
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._drip)
        self.sent = self.let_go = 0

    def __enter__(self) -> "SlowClients":
        self._clients = [(self._connected(), 0) for _ in range(self._count)]
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for client, _ in self._clients:
            client.close()

    def _connected(self) -> socket.socket:
        client = socket.create_connection(self._address)
        client.setblocking(False)
        return client

    def _drip(self) -> None:
        """Sends the clients' bytes, spread evenly over each second."""
        begun = time.monotonic()
        for number in range(2**63):
            due = begun + number / self._count
            if self._ended.wait(max(0.0, due - time.monotonic())):
                return
            self._send(number % self._count)

    def _send(self, i: int) -> None:
        client, at = self._clients[i]
        try:
            client.send(REQUEST[at:at + 1])
            self._clients[i] = client, at + 1
            self.sent += 1
        except OSError:  # the server has closed the connection
            client.close()
            self._clients[i] = self._connected(), 0
            self.let_go += 1

    def still_open(self) -> int:
        """Returns the number of clients that the server has neither disconnected nor answered."""
        with selectors.DefaultSelector() as selector:
            for client, _ in self._clients:
                selector.register(client, selectors.EVENT_READ)
            return self._count - len(selector.select(0))


@dataclass
class Turn:
    """The result of a load."""

    rate: float
    """Requests per second."""
    cpu_us: float
    """The server's CPU time per request."""


def turn(server: Served, args: argparse.Namespace, slow: bool, told: list[SlowClients]) -> Turn:
    def loaded() -> Turn:
        said = profiles.load(server, args.cores[0], args.connections, args.seconds)
        if said.errors:
            raise Failure(f"{said.errors} requests failed")
        return Turn(said.served / args.seconds, said.cpu_s / said.served * 1e6)

    if not slow:
        return loaded()
    with SlowClients(server, args.slow) as clients:
        done = loaded()
        told.append(clients)
        if (left := clients.still_open()) < args.slow * 0.9:
            raise Failure(f"only {left} of {args.slow} slow clients were connected at the end of a turn")
        return done


@dataclass
class Round:
    """The means of the two turns without the slow clients, and of the two turns with them."""

    without: Turn
    slow: Turn


def measure(server: Served, args: argparse.Namespace) -> tuple[list[Round], list[SlowClients]]:
    rounds, told = [], []
    for number in range(args.rounds):
        print(f"\rround {number + 1} of {args.rounds}", end="", file=sys.stderr, flush=True)
        a, b, c, d = (turn(server, args, slow, told) for slow in (False, True, True, False))
        rounds.append(Round(mean(a, d), mean(b, c)))
    print(file=sys.stderr)
    return rounds, told


def mean(a: Turn, b: Turn) -> Turn:
    return Turn((a.rate + b.rate) / 2, (a.cpu_us + b.cpu_us) / 2)


def section(args: argparse.Namespace, rounds: list[Round], told: list[SlowClients]) -> str:
    ratios = [r.slow.rate / r.without.rate for r in rounds]
    ratio = bench.median(ratios)
    table = bench.table(
        ["", "requests/s", "the server's CPU time per request, µs"],
        [[name, bench.median(t.rate for t in turns).text(0), bench.median(t.cpu_us for t in turns).text(2)]
         for name, turns in (("without slow clients", [r.without for r in rounds]), ("with them", [r.slow for r in rounds]))]
        + [["ratio", ratio.text(3), bench.median(r.slow.cpu_us / r.without.cpu_us for r in rounds).text(3)]])
    text = bench.paragraph(f"""Measured by `benches/rest/slow_clients.py --subject {args.subject} --slow {args.slow} --rounds {args.rounds}`
        on {bench.machine()}: {args.connections} connections load `/api` in a closed loop, in four turns of {args.seconds:g} s per
        round, two of them while {args.slow:,} other connections send a byte of a request each second. The server has its own core.
        The slow clients sent {sum(clients.sent for clients in told):,} bytes and were disconnected
        {sum(clients.let_go for clients in told):,} times. Medians over rounds with order-statistic intervals
        ({100 * ratio.level:.1f} %); the ratios of the rates lie between {min(ratios):.3f} and {max(ratios):.3f}.""")
    aim = bench.verdict("the rate with slow clients / without", ratio.estimate, MIN_RATIO, at_most=False, digits=3)
    return f"### Slow clients\n\n{text}\n\n{table}\n\n{aim}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subject", default="ada-server")
    parser.add_argument("--slow", type=int, default=1000, help="slow connections")
    parser.add_argument("--connections", type=int, default=64, help="connections of the load")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2, help="seconds of a turn")
    profiles.add_options(parser)
    args = profiles.parse(parser, quick={"rounds": 1, "seconds": 1.0})
    busy = bench.busy()
    with profiles.serving(args.subject, args.cores[1]) as server:
        rounds, told = measure(server, args)
    bench.publish(args, busy + section(args, rounds, told))


if __name__ == "__main__":
    bench.run(main)
