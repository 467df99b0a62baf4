#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time of pacing and its effect on latency: a constant rate, compared with a client that spins.

    benches/load/pace.py [--rate 10000] [--seconds 5] [--rounds 10] [--output FILE]

In each round all generators take a turn in random order, and then another turn in the reverse order. The spinning
client sends each request within a microsecond of its due time. The pacing of another generator therefore adds the
difference between its median latency and the spinning client's.
"""

import argparse
import random
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import bench
import generators
from bench import Failure, median
from generators import Generator, Load, Said

NAMES = ["benchlab", "bare client", "h2load", "oha", "hey", "k6"]
MAX_CPU_S = 20
MAX_ADDED_US = 200


def take_turn(generator: Generator, server: bench.Server, load: Load, core: int) -> tuple[Said, float]:
    """Returns a generator's report, and its CPU seconds per million answered requests."""
    before = server.told()["answered"]
    done = bench.measure(generator.command(load), core, limit_s=load.seconds + 30)
    answered = server.told()["answered"] - before
    return generator.said(done, load), done.cpu_s / max(1, answered) * 1e6


def measure(args: argparse.Namespace, found: list[Generator], folder: Path) -> tuple[dict, dict]:
    """Returns each generator's pairs of turns, and the failures. A generator that fails gets no more turns."""
    turns: dict[str, list[list[tuple[Said, float]]]] = defaultdict(list)
    failures: dict[str, str] = {}
    dice = random.Random(args.seed)
    with bench.server(args.cores[1]) as server:
        load = Load(server.port, args.connections, args.seconds, args.rate, folder)
        for number in range(args.rounds):
            order = dice.sample(found, len(found))
            this: dict[str, list[tuple[Said, float]]] = defaultdict(list)
            for generator in order + order[::-1]:
                print(f"\rround {number + 1} of {args.rounds}: {generator.name:<20}", end="", file=sys.stderr, flush=True)
                try:
                    if generator.name not in failures:
                        this[generator.name].append(take_turn(generator, server, load, args.cores[0]))
                except Failure as failure:
                    failures[generator.name] = str(failure)
            for name, pair in this.items():
                turns[name].append(pair)
    print(file=sys.stderr)
    return {name: pairs for name, pairs in turns.items() if name not in failures}, failures


def p50_us(pair: list[tuple[Said, float]]) -> float | None:
    """Returns the mean of the two medians."""
    times = [said.p50_s for said, _ in pair]
    return None if None in times else statistics.fmean(times) * 1e6


def section(args: argparse.Namespace, missing: str, turns: dict, failures: dict) -> str:
    """Returns the section of docs/results/load.md."""
    cost = {name: median(statistics.fmean(cpu for _, cpu in pair) for pair in pairs) for name, pairs in turns.items()}
    latency = {name: [p50_us(pair) for pair in pairs] for name, pairs in turns.items()}
    spinning = latency.get("bare client", [])
    added = {name: median(own - least for own, least in zip(times, spinning))
             for name, times in latency.items() if name != "bare client" and spinning and None not in times}
    rows = []
    for name in sorted(turns, key=lambda name: cost[name].estimate):
        said = [s for pair in turns[name] for s, _ in pair]
        p99 = [s.p99_s for s in said if s.p99_s is not None]
        rows.append([
            "spinning client" if name == "bare client" else name, cost[name].text(1),
            f"{statistics.median(s.served for s in said) / args.seconds:,.0f}",
            "" if None in latency[name] else median(latency[name]).text(0),
            added[name].text(0) if name in added else "",
            f"{statistics.median(p99) * 1e6:,.0f}" if p99 else ""])
    table = bench.table(["generator", "CPU s per million requests", "served/s", "median response time, µs",
                         "more than the spinning client's, µs", "p99, µs"], rows)
    level = next(iter(cost.values())).level
    text = bench.paragraph(f"""Measured by `benches/load/{command(args)}` on {bench.machine()}: {args.rate:,.0f} requests
        per second over {args.connections} connections; generator and server have a core each. In each round every generator had
        two turns. Medians over rounds with order-statistic intervals ({100 * level:.1f} %). h2load does not report its median,
        and hey rounds to 100 µs.""")
    return (f"## A constant rate\n\n{text}\n\n{missing}{table}\n\n{aims(cost, added)}"
            + "".join(f"- {name} failed: {reason}\n" for name, reason in failures.items()))


def aims(cost: dict, added: dict) -> str:
    """Returns whether each aim was reached."""
    lines = []
    if "benchlab" in cost:
        lines.append(bench.verdict("benchlab's CPU s per million requests", cost["benchlab"].estimate, MAX_CPU_S, digits=1))
    if "benchlab" in added:
        # A lower median is not better: it means that something kept the spinning client from spinning.
        lines.append(bench.verdict("deviation of its median from the spinning client's", abs(added["benchlab"].estimate),
                                   MAX_ADDED_US, " µs", digits=0))
    return "".join(line + "\n" for line in lines)


def command(args: argparse.Namespace) -> str:
    return f"pace.py --rate {args.rate:g} --seconds {args.seconds:g} --rounds {args.rounds}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=10000, help="requests per second")
    parser.add_argument("--seconds", type=float, default=5, help="seconds of a turn")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=64)
    bench.add_options(parser)
    args = bench.parse(parser, quick={"rounds": 1, "seconds": 1.0})
    found, missing = generators.chosen(args.only, NAMES)
    busy = bench.busy()
    with tempfile.TemporaryDirectory() as folder:
        turns, failures = measure(args, found, Path(folder))
    bench.publish(args, busy + section(args, missing, turns, failures))


if __name__ == "__main__":
    bench.run(main)
