#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time that a generator needs per request: CPU seconds per million requests, in turns with the
peers, on an otherwise idle machine.

    benches/load/cost.py [--rounds 10] [--seconds 5] [--connections 64] [--only wrk,oha] [--output FILE]

Generator and server have a core each. In each round the generators take turns in random order and in the reverse order,
so that changes of the machine affect all of them; a round yields one value for each generator, and its ratio to
benchlab's. The CPU time covers the whole process from its start to its end (wait4(2)), and the server counts the
requests. A generator is shown as wrong if its own count differs from the server's count by more than its connections
plus one in a thousand.
"""

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import bench
import generators
from bench import Failure, median
from generators import Generator, Load, Said

NAMES = ["benchlab", "bare client", "ab", "wrk", "h2load", "oha", "hey", "siege", "k6"]
OWN = "benchlab, its threads that generate the load"
AIMS = [("wrk", 1.4), ("oha", 1.7)]


@dataclass
class Turn:
    """The result of one turn of a generator."""

    answered: int
    cpu_s: float
    own_cpu_s: float | None
    wall_s: float
    peak_bytes: int
    own_bytes: int
    wrong: bool


def take_turn(generator: Generator, server: bench.Server, load: Load, core: int) -> Turn:
    before = server.told()["answered"]
    done = bench.measure(generator.command(load), core, limit_s=load.seconds + 30)
    answered = server.told()["answered"] - before
    said: Said = generator.said(done, load)
    wrong = abs(said.served - answered) > load.connections + answered / 1000 or said.errors > load.connections or not answered
    return Turn(answered, done.cpu_s, said.own_cpu_s, done.wall_s, done.peak_bytes, done.own_bytes, wrong)


def rounds(args: argparse.Namespace, found: list[Generator], folder: Path) -> tuple[dict[str, list[list[Turn]]], dict]:
    """Returns the turns of each generator in each round, and the failures with their reasons. A generator that
    fails gets no more turns."""
    turns: dict[str, list[list[Turn]]] = defaultdict(list)
    failures: dict[str, str] = {}
    dice = random.Random(args.seed)
    generator_core, server_core = args.cores
    with bench.server(server_core) as server:
        load = Load(server.port, args.connections, args.seconds, None, folder)
        for number in range(args.rounds):
            order = dice.sample(found, len(found))
            this: dict[str, list[Turn]] = defaultdict(list)
            for generator in order + order[::-1]:
                print(f"\rround {number + 1} of {args.rounds}: {generator.name:<20}", end="", file=sys.stderr, flush=True)
                if generator.name in failures:
                    continue
                try:
                    this[generator.name].append(take_turn(generator, server, load, generator_core))
                except Failure as failure:
                    failures[generator.name] = str(failure)
            for name, pair in this.items():
                if name not in failures:
                    turns[name].append(pair)
    print(file=sys.stderr)
    return {name: pairs for name, pairs in turns.items() if name not in failures}, failures


def costs(turns: dict[str, list[list[Turn]]]) -> dict[str, list[float]]:
    """Returns the CPU seconds per million requests of each generator in each round."""
    found = {name: [sum(t.cpu_s for t in pair) / max(1, sum(t.answered for t in pair)) * 1e6 for pair in pairs]
             for name, pairs in turns.items()}
    lab = turns.get("benchlab", [])
    if lab and all(t.own_cpu_s is not None for pair in lab for t in pair):
        found[OWN] = [sum(t.own_cpu_s for t in pair) / sum(t.answered for t in pair) * 1e6 for pair in lab]
    return found


def section(args: argparse.Namespace, found: list[Generator], missing: str, turns: dict, failures: dict) -> str:
    """Returns the section of docs/results/load.md."""
    cost = costs(turns)
    base = "benchlab" if "benchlab" in cost else "bare client"
    ratio = {name: median(own / other for own, other in zip(values, cost[base])) for name, values in cost.items()}
    versions = {g.name: g.version() for g in found}
    rows = []
    for name in sorted(cost, key=lambda name: median(cost[name]).estimate):
        pairs = turns.get(name, [])
        flat = [t for pair in pairs for t in pair]
        rate = median(sum(t.answered for t in p) / sum(t.wall_s for t in p) for p in pairs).estimate if pairs else None
        rows.append([
            name + (" (its count is **wrong**)" if any(t.wrong for t in flat) else ""), versions.get(name, ""),
            median(cost[name]).text(2), "1" if name == base else ratio[name].text(2),
            "" if rate is None else f"{rate / 1000:.0f}",
            f"{max(t.peak_bytes for t in flat) / 1e6:.1f}" if flat else "",
            f"{max(t.own_bytes for t in flat) / 1e6:.1f}" if flat else ""])
    rows += [[name, versions[name], "failed", "", "", "", ""] for name in failures]
    table = bench.table(["generator", "version", "CPU s per million requests", f"ratio to {base}'s", "thousand requests/s",
                         "peak memory, MB", "of the peak, not backed by files, MB"], rows)
    level = median(cost[base]).level
    text = bench.paragraph(f"""Measured by `benches/load/{command(args)}` on {bench.machine()}, over kept connections on
        loopback. The generator has core {args.cores[0]} and the server (`benches/load/server.c`) core {args.cores[1]}. In each
        round every generator had two turns of {args.seconds:g} s, in random order and its reverse. CPU time of the whole
        process; medians over rounds with order-statistic intervals ({100 * level:.1f} %).""")
    return (f"## What a request costs\n\n{text}\n\n{missing}{table}\n\n{aims(ratio, cost)}"
            + "".join(f"- {name} failed: {reason}\n" for name, reason in failures.items()))


def aims(ratio: dict, cost: dict) -> str:
    """Returns whether each aim was reached."""
    if "benchlab" not in cost:
        return ""
    lines = [bench.verdict(f"{peer}'s cost / benchlab's", ratio[peer].estimate, aim, at_most=False)
             for peer, aim in AIMS if peer in ratio]
    if "bare client" in ratio:
        lines.append(bench.verdict("benchlab's cost / the bare client's", 1 / ratio["bare client"].estimate, 1.10))
    return "\n".join(lines) + "\n"


def command(args: argparse.Namespace) -> str:
    return f"cost.py --rounds {args.rounds} --seconds {args.seconds:g} --connections {args.connections}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=5, help="seconds of a turn")
    parser.add_argument("--connections", type=int, default=64)
    bench.add_options(parser)
    args = bench.parse(parser, quick={"rounds": 1, "seconds": 1.0})
    found, missing = generators.chosen(args.only, NAMES)
    busy = bench.busy()
    with tempfile.TemporaryDirectory() as folder:
        turns, failures = rounds(args, found, Path(folder))
    bench.publish(args, busy + section(args, found, missing, turns, failures))


if __name__ == "__main__":
    bench.run(main)
