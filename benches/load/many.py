#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests whether the generators keep many connections and send many requests, and how much memory they need.

    benches/load/many.py [--connections 10000] [--requests 10000000] [--output FILE]

First each generator opens this many connections and keeps them busy; the server reports how many were open at the
same time, and the generator's peak memory, minus its memory with one connection, is divided by their number. Then
benchlab, a peer with constant memory and a peer without it run for long enough to send this many requests, and their
resident memory is read every second.
"""

import argparse
import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bench
import generators
from bench import Done, Failure
from generators import Generator, Load, Said

NAMES = ["benchlab", "bare client", "ab", "wrk", "h2load", "oha", "hey"]
LONG = ["benchlab", "wrk", "oha"]
MAX_PER_CONNECTION = 50_000
MAX_MEMORY = 10_000_000
MAX_GROWTH = 1_000_000
"""The maximum growth in bytes. One byte per request would be ten times as much."""
BETWEEN_LOOKS_S = 1.0


@dataclass
class Kept:
    """The result of a run with many connections."""

    most_open: int
    said: Said
    peak_bytes: int
    per_connection: float


def run(generator: Generator, args: argparse.Namespace, connections: int, seconds: float, folder: Path,
        look_s: float = 0.05) -> tuple[Done, Said, dict[str, int]]:
    """Runs a generator against a server of its own. Returns its usage, its report and the server's counts."""
    with bench.server(args.cores[1]) as server:
        load = Load(server.port, connections, seconds, None, folder)
        done = bench.measure(generator.command(load), args.cores[0], seconds + 60, look_s)
        return done, generator.said(done, load), server.told()


def keep(generator: Generator, args: argparse.Namespace, folder: Path) -> Kept:
    one, _, _ = run(generator, args, 1, args.seconds, folder)
    done, said, told = run(generator, args, args.connections, args.seconds, folder)
    return Kept(told["most_open"], said, done.peak_bytes, (done.peak_bytes - one.peak_bytes) / args.connections)


def connections_section(args: argparse.Namespace, missing: str, kept: dict[str, Kept], failures: dict) -> str:
    rows = [[name, f"{k.most_open:,}", f"{k.said.served:,}", f"{k.said.errors:,}", f"{k.peak_bytes / 1e6:.1f}",
             f"{k.per_connection / 1000:.1f}"] for name, k in kept.items()]
    rows += [[name, "failed", "", "", "", ""] for name in failures]
    table = bench.table(["generator", "most open at once", "served", "errors", "peak memory, MB",
                         "memory per connection, kB"], rows)
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    text = bench.paragraph(f"""Measured by `benches/load/many.py --connections {args.connections}` on {bench.machine()}: {args.seconds:g} s
        on loopback, with at most {most:,} open files per process. Memory per connection is the peak minus that of a run with one
        connection, without the kernel's sockets.""")
    lines = ""
    if "benchlab" in kept:
        lab = kept["benchlab"]
        lines = "\n".join([
            bench.verdict("connections that benchlab had open at once", lab.most_open, args.connections, at_most=False,
                          digits=0),
            bench.verdict("errors", lab.said.errors, 0, digits=0),
            bench.verdict("memory per connection", lab.per_connection / 1000, MAX_PER_CONNECTION / 1000, " kB")]) + "\n"
    return (f"## Many connections\n\n{text}\n\n{missing}{table}\n\n{lines}"
            + "".join(f"- {name} failed: {reason}\n" for name, reason in failures.items()))


def long_enough(generator: Generator, args: argparse.Namespace, folder: Path) -> float:
    """Returns the seconds in which a generator sends slightly more than the requested number of requests."""
    trial = 2.0
    _, said, _ = run(generator, args, 64, trial, folder)
    if not said.served:
        raise Failure(f"{generator.name} got no response in a trial of {trial:g} s")
    return max(trial, round(args.requests / (said.served / trial) * 1.15))


def requests_section(args: argparse.Namespace, ran: list[tuple[Generator, Done, Said]]) -> str:
    head = ["generator", "requests", "seconds", "resident memory, MB: at 10 % of the time", "at 50 %", "at the end",
            "first minute's highest", "last minute's highest", "peak", "of the peak, not backed by files"]
    rows, lines = [], []
    for generator, done, said in ran:
        length = done.memory[-1][0]
        minute = min(60.0, length / 3)

        def at(part: float) -> int:
            return min(done.memory, key=lambda look: abs(look[0] - part * length))[1]

        first = max(bytes for time, bytes in done.memory if time <= minute)
        last = max(bytes for time, bytes in done.memory if time >= length - minute)
        rows.append([generator.name, f"{said.served:,}", f"{done.wall_s:.0f}",
                     *(f"{bytes / 1e6:.2f}" for bytes in (at(0.1), at(0.5), at(1), first, last, done.peak_bytes, done.own_bytes))])
        if generator.name == "benchlab":
            lines = [bench.verdict("requests in one run of benchlab", said.served, args.requests, at_most=False, digits=0),
                     bench.verdict("its memory's growth from the first minute to the last", (last - first) / 1e6,
                                   MAX_GROWTH / 1e6, " MB"),
                     bench.verdict("its peak memory, without the mapped program and its libraries", done.own_bytes / 1e6,
                                   MAX_MEMORY / 1e6, " MB")]
    text = bench.paragraph(f"""Measured by `benches/load/many.py --requests {args.requests}` on {bench.machine()}: a closed loop over 64
        connections, resident memory read every second. In runs of less than three minutes, a third of the run
        stands for a minute.""")
    return f"## Many requests\n\n{text}\n\n{bench.table(head, rows)}\n\n" + "".join(line + "\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=5, help="seconds of a run with many connections")
    bench.add_options(parser)
    args = bench.parse(parser, quick={"requests": 200_000, "seconds": 2.0})
    found, missing = generators.chosen(args.only, NAMES)
    busy = bench.busy()
    kept: dict[str, Kept] = {}
    failures: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for generator in found:
            print(f"\r{generator.name:<20}", end="", file=sys.stderr, flush=True)
            try:
                kept[generator.name] = keep(generator, args, folder)
            except Failure as failure:
                failures[generator.name] = str(failure)
        ran = []
        for generator in [g for g in found if g.name in LONG]:
            print(f"\r{generator.name:<20}, {args.requests:,} requests", end="", file=sys.stderr, flush=True)
            seconds = long_enough(generator, args, folder)
            done, said, _ = run(generator, args, 64, seconds, folder, min(BETWEEN_LOOKS_S, seconds / 20))
            ran.append((generator, done, said))
        print(file=sys.stderr)
    section = connections_section(args, missing, kept, failures)
    bench.publish(args, busy + section + ("\n" + requests_section(args, ran) if ran else ""))


if __name__ == "__main__":
    bench.run(main)
