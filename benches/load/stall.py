#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares generators' reports of a server that stalls for one second in ten, at a constant rate, with the true values.

    benches/load/stall.py [--rate 5000] [--every 10] [--stall 1] [--periods 2] [--rounds 3] [--output FILE]

The true values are computed, and also measured by the spinning client with a connection for every request that can be
waiting. A server is started for each run, and the run lasts for whole periods, so that it contains whole stalls.
"""

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import bench
import generators
from bench import Failure
from generators import Bare, Generator, Load, Said

NAMES = ["benchlab", "ab", "wrk", "h2load", "oha", "oha with `--latency-correction`", "hey", "k6"]
LIMIT = 0.03


def truth(rate: float, every: float, stall: float, capacity: float) -> list[float]:
    """Returns the response times of the requests of one period, in seconds, in the order in which they are due.

    Request k is due at k / rate. The server processes a queue in order, each request in 1 / capacity, and none while
    it stalls. So a request is finished 1 / capacity after the latest of three times: when it was due, when the
    request before it was finished, and when the stall ended. (This is Lindley's recursion for a server with a
    vacation.) The stall lies in the middle of the period, and all requests that it delays are finished before the
    period ends.

    Approximately, a request that is due t after the stall's beginning waits stall - t (1 - rate / capacity), until
    this is 0. Therefore the waiting times are distributed evenly between 0 and the stall's length, and the fraction
    of all requests that wait longer than w is (stall - w) / (1 - rate / capacity) / every. With 5,000 requests per
    second and a capacity of 100,000, a stall of 1 s in 10 s and a fraction of 1 %, w is 1 s - 0.01 * 10 s * 0.95 =
    0.905 s."""
    begin = (every - stall) / 2
    end, done, times = begin + stall, 0.0, []
    for k in range(round(rate * every)):
        due = k / rate
        starts = max(due, done)
        if begin <= starts < end:
            starts = end
        done = starts + 1 / capacity
        times.append(done - due)
    return times


def capacity(cores: list[int], seconds: float, folder: Path) -> float:
    """Returns the requests per second that the server answers when they queue, driven by the bare client."""
    bare = Bare()
    with bench.server(cores[1]) as server:
        load = Load(server.port, 64, seconds, None, folder)
        done = bench.measure(bare.command(load), cores[0], limit_s=seconds + 30)
        return server.told()["answered"] / seconds if bare.said(done, load).served else 0.0


def asked(generator: Generator, args: argparse.Namespace, connections: int, folder: Path) -> tuple[Said, int]:
    """Returns a generator's report of a stalling server, and the number of requests that the server answered."""
    generator_core, server_core = args.cores
    seconds = args.every * args.periods
    with bench.server(server_core, "--stall-every", args.every, "--stall", args.stall) as server:
        load = Load(server.port, connections, seconds, args.rate if generator.paced else None, folder, latencies=True)
        done = bench.measure(generator.command(load), generator_core, limit_s=seconds + 60)
        return generator.said(done, load), server.told()["answered"]


def measure(args: argparse.Namespace, found: list[Generator], folder: Path) -> tuple[dict, dict]:
    """Returns all generators' reports in each round, including the spinning client's, and the failures."""
    words: dict[str, list[tuple[Said, int]]] = defaultdict(list)
    failures: dict[str, str] = {}
    waiting = round(args.rate * args.stall * 1.5)
    turns = [(Bare(), waiting), *((generator, args.connections) for generator in found)]
    for number in range(args.rounds):
        for generator, connections in turns if number % 2 == 0 else turns[::-1]:
            print(f"\rround {number + 1} of {args.rounds}: {generator.name:<35}", end="", file=sys.stderr, flush=True)
            try:
                words[generator.name].append(asked(generator, args, connections, folder))
            except Failure as failure:
                failures[generator.name] = str(failure)
    print(file=sys.stderr)
    return words, failures


def row(name: str, said: list[tuple[Said, int]], true_p99: float, due: float | None) -> list[str]:
    """Returns a row of the table: medians over the rounds, and for p99 also the range."""
    def middle(values: list[float]) -> float:
        return statistics.median(values)

    p99 = [s.p99_s for s, _ in said]
    served, errors = middle([s.served for s, _ in said]), middle([s.errors for s, _ in said])
    spread = f" ({min(p99) * 1e3:.1f} to {max(p99) * 1e3:.1f})" if len(p99) > 1 else ""
    lost = "" if due is None else f"{due - served - errors:,.0f}"
    return [name, "" if due is None else f"{due:,.0f}", f"{served:,.0f}", f"{errors:,.0f}", lost,
            f"{middle([s.p50_s for s, _ in said]) * 1e3:.2f}", f"{middle(p99) * 1e3:.1f}{spread}",
            f"{(middle(p99) / true_p99 - 1) * 100:+.1f} %"]


def section(args: argparse.Namespace, missing: str, able: float, words: dict, failures: dict, found: list) -> str:
    """Returns the section of docs/results/load.md."""
    p99 = bench.quantile(truth(args.rate, args.every, args.stall, able), 0.99)
    due = args.rate * args.every * args.periods
    rows = [["**computed**", f"{due:,.0f}", f"{due:,.0f}", "0", "0", "", f"{p99 * 1e3:.1f}", ""]]
    spinning = words.pop("bare client", [])
    if spinning:
        rows.append(row(f"spinning client, {round(args.rate * args.stall * 1.5):,} connections", spinning, p99, due))
    for generator in found:
        if generator.name in words:
            title = generator.name + ("" if generator.paced else ", a closed loop: it has no rate")
            rows.append(row(title, words[generator.name], p99, due if generator.paced else None))
    table = bench.table(["generator", "due", "served", "errors", "neither", "p50, ms", "p99, ms", "p99 off the truth"], rows)
    text = bench.paragraph(f"""Measured by `benches/load/{command(args)}` on {bench.machine()}: {args.rate:,.0f} requests
        are due per second, for {args.every * args.periods:g} s, over {args.connections} connections. The computed distribution
        assumes a queue worked off at {able:,.0f} requests per second, as measured before. The spinning client waits actively
        until each request is due. *Neither* counts due requests that the generator does not report. wrk has no rate; it adds the requests that it believes
        it missed, as if each connection had a constant rate.""")
    return (f"## A server that stalls\n\n{text}\n\n{missing}{table}\n\n{aims(words.get('benchlab', []), p99, due)}"
            + "".join(f"- {name} failed: {reason}\n" for name, reason in failures.items()))


def aims(lab: list[tuple[Said, int]], p99: float, due: float) -> str:
    """Returns whether each aim was reached."""
    if not lab:
        return ""
    worst = max(abs(s.p99_s / p99 - 1) for s, _ in lab) * 100
    lost = max(abs(s.offered - s.served - s.errors) for s, _ in lab)
    undue = max(abs(s.offered - due) for s, _ in lab)
    unheard = max(abs(answered - s.served) for s, answered in lab)
    return "\n".join([
        bench.verdict("deviation of benchlab's p99 from the truth, in its worst round", worst, LIMIT * 100, " %"),
        bench.verdict("offered, but neither served nor counted as errors", lost, 0, digits=0),
        bench.verdict("offered, difference from the due requests", undue, 1, digits=0),
        # The server has one more: benchlab sends a request to check that there is a server.
        bench.verdict("served, difference from the server's count", unheard, 1, digits=0)]) + "\n"


def command(args: argparse.Namespace) -> str:
    return (f"stall.py --rate {args.rate:g} --every {args.every:g} --stall {args.stall:g} --periods {args.periods}"
            f" --rounds {args.rounds}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=5000, help="requests per second")
    parser.add_argument("--every", type=float, default=10, help="seconds from one stall to the next")
    parser.add_argument("--stall", type=float, default=1, help="seconds of a stall")
    parser.add_argument("--periods", type=int, default=2, help="periods of a run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    bench.add_options(parser)
    args = bench.parse(parser, quick={"rounds": 1, "periods": 1, "every": 4.0, "stall": 0.4})
    found, missing = generators.chosen(args.only, NAMES)
    busy = bench.busy()
    with tempfile.TemporaryDirectory() as name:
        able = capacity(args.cores, min(2.0, args.every), Path(name))
        words, failures = measure(args, found, Path(name))
    bench.publish(args, busy + section(args, missing, able, words, failures, found))


if __name__ == "__main__":
    bench.run(main)
