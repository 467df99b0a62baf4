#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a generator on the server's own core with a generator on a separate core. It must be run as root.

    cargo build --release -p benchlab --bin benchlab
    benches/load/apart.py [--rates 10000] [--rounds 5] [--output FILE]

The server and the generator are in separate network namespaces that are connected by a virtual Ethernet pair (veth(4)),
so that both placements use the same network. The server always has one core. In each round both placements take a turn
in random order, and then another turn in the reverse order.
"""

import argparse
import math
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bench
from bench import Failure, Interval
from generators import LAB, figures

SERVER, GENERATOR = "benchlab-server", "benchlab-load"
SERVER_ADDRESS, GENERATOR_ADDRESS = "10.199.71.1", "10.199.71.2"
PLACES = ["a core of its own", "the server's core"]


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"ip {' '.join(words)}: {done.stderr.strip()}")


@contextmanager
def line() -> Iterator[None]:
    """Creates two namespaces that are connected by a line, and deletes them afterwards."""
    try:
        for name in SERVER, GENERATOR:
            ip("netns", "add", name)
        ip("link", "add", "line", "netns", SERVER, "type", "veth", "peer", "name", "line", "netns", GENERATOR)
        for name, address in (SERVER, SERVER_ADDRESS), (GENERATOR, GENERATOR_ADDRESS):
            ip("-n", name, "address", "add", f"{address}/30", "dev", "line")
            ip("-n", name, "link", "set", "line", "up")
        yield
    finally:
        for name in SERVER, GENERATOR:
            # A namespace that was not created cannot be deleted.
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@dataclass
class Turn:
    """The result of a load: requests served per second, percentiles, and the server's CPU time per request in
    microseconds."""

    served: float
    p50_us: float
    p99_us: float
    server_cpu_us: float


def take_turn(args: argparse.Namespace, rate: float | None, core: int) -> Turn:
    options = ["--address", SERVER_ADDRESS, "--work", args.work]
    within = ["ip", "netns", "exec", SERVER]
    with tempfile.TemporaryDirectory() as name, bench.server(args.cores[1], *options, through=within) as server:
        folder = Path(name)
        paced = [] if rate is None else ["--rate", f"{rate:g}", "--even"]
        words = [LAB, "load", f"http://{SERVER_ADDRESS}:{server.port}/", "--on", f"netns:{GENERATOR}",
                 "--server-host", "local:1", "--server-pid", server.process.pid, "--threads", 1,
                 "--connections", args.connections, "--for", f"{args.seconds:g}s", *paced, "--redo", 0, "--runs", folder,
                 "--export", folder / "load.json"]
        bench.measure(words, core, limit_s=args.seconds + 60)
        found = figures(folder / "load.json")
        if found["errors"]:
            raise Failure(f"{found['errors']:.0f} requests failed")
        # A server that is offered more than it can serve has no percentiles: its queue grows for as long as the load
        # lasts.
        us = (found.get(metric, math.inf) / 1e3 for metric in ("p50", "p99", "server_cpu"))
        return Turn(found["served"] / args.seconds, *us)


def measure(args: argparse.Namespace) -> dict[tuple[float | None, str], list[list[Turn]]]:
    """Returns the turns of each round, by load and placement."""
    turns: dict[tuple[float | None, str], list[list[Turn]]] = defaultdict(list)
    dice = random.Random(args.seed)
    core = dict(zip(PLACES, args.cores))
    for number in range(args.rounds):
        for rate in [*args.rates, None]:
            order = dice.sample(PLACES, 2)
            pair: dict[str, list[Turn]] = defaultdict(list)
            for place in order + order[::-1]:
                print(f"\rround {number + 1} of {args.rounds}: {place:<20}", end="", file=sys.stderr, flush=True)
                pair[place].append(take_turn(args, rate, core[place]))
            for place, taken in pair.items():
                turns[rate, place].append(taken)
    print(file=sys.stderr)
    return turns


def section(args: argparse.Namespace, turns: dict) -> str:
    """Returns the section of docs/results/agents.md."""
    def medians(rate: float | None, place: str, of: Callable[[Turn], float]) -> list[float]:
        return [statistics.fmean(of(turn) for turn in pair) for pair in turns[rate, place]]

    columns: list[tuple[Callable[[Turn], float], int]] = [
        (lambda t: t.served, 0), (lambda t: t.p50_us, 0), (lambda t: t.p99_us, 0), (lambda t: t.server_cpu_us, 1)]
    rows = []
    for rate in [*args.rates, None]:
        load = "as many as it can" if rate is None else f"{rate:,.0f}/s"
        for place in PLACES:
            rows.append([load, place, *(bench.median(medians(rate, place, of)).text(digits) for of, digits in columns)])
        both = [bench.median(own / apart for apart, own in zip(*(medians(rate, place, of) for place in PLACES)))
                for of, _ in columns]
        rows.append(["", "*ratio*", *(f"*{ratio.text(2)}*" for ratio in both)])
    table = bench.table(["requests", "the generator has", "served/s", "p50, µs", "p99, µs", "server's CPU per request, µs"], rows)
    level: Interval = bench.median(range(args.rounds))
    text = bench.paragraph(f"""Measured by `benches/load/{command(args)}` on {bench.machine()}. Server and generator are in two
        linked network namespaces. The server has core {args.cores[1]} and works {args.work:g} µs per response.
        {args.connections} connections; in each of {args.rounds} rounds both placements had two turns of {args.seconds:g} s in
        mirrored order. Medians over rounds with order-statistic intervals ({100 * level.level:.1f} %).""")
    return f"## A generator on the server's core\n\n{text}\n\n{table}\n"


def command(args: argparse.Namespace) -> str:
    rates = ",".join(f"{rate:g}" for rate in args.rates)
    return f"apart.py --rates {rates} --work {args.work:g} --seconds {args.seconds:g} --rounds {args.rounds}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=lambda text: [float(rate) for rate in text.split(",")], default=[10_000.0],
                        help="requests per second; a closed loop is always measured last")
    parser.add_argument("--work", type=float, default=20, help="microseconds of CPU time per response")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=2, help="seconds of a turn")
    parser.add_argument("--connections", type=int, default=64)
    bench.add_options(parser)
    args = bench.parse(parser, quick={"rounds": 1, "seconds": 1.0})
    busy = bench.busy()
    with line():
        turns = measure(args)
    bench.publish(args, busy + section(args, turns))


if __name__ == "__main__":
    bench.run(main)
