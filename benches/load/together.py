#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the joint report of multiple local agents on a server whose behavior is known, and the CPU time of
coordination.

    cargo build --release -p benchlab --bin benchlab
    benches/load/together.py [--agents 1,2,4] [--rounds 3] [--output FILE]

The agents share one core, and the server has another. In turns, in random order and then in the reverse order, they
generate as much load as they can, which shows the cost of coordination, and a load at a constant rate. The constant
rate goes to a server that responds after a fixed delay, and to a server that stalls, whose true percentiles stall.py
computes. The spinning client is measured, too.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import bench
import stall
from bench import Failure
from generators import Bare, Benchlab, Generator, Load, Said

RESOLUTION = 0.001
"""The resolution of a histogram with three significant digits."""
MAX_COORDINATION = 0.01
MIDDLE = 0.5
"""The fraction of a closed loop's duration in which CPU time is measured."""


class Agents(Benchlab):
    """Multiple local agents with one thread each."""

    def __init__(self, number: int):
        self.number = number
        self.name = f"{number} agent{'s' * (number > 1)}"

    def command(self, load: Load) -> list[object]:
        return [*super().command(load), "--on", f"local:{self.number}", "--threads", 1, "--redo", 0]


@dataclass(frozen=True)
class Known:
    """A server whose behavior is known: its options, the load, and the percentiles of its response times in
    seconds."""

    name: str
    options: tuple[object, ...]
    rate: float
    seconds: float
    connections: int
    p50_s: float
    p99_s: float

    @property
    def waiting(self) -> int:
        """Returns the number of connections that the spinning client needs, because it does not queue."""
        return round(self.rate * self.p99_s * 1.5)


@dataclass
class Cost:
    """CPU time that agents used under full load, and the responses in this time."""

    agents_s: float
    coordination_s: float
    """CPU time of the coordinator, and of the agents' threads that generate no load."""
    answered_per_s: float

    @property
    def part(self) -> float:
        return self.coordination_s / self.agents_s


def servers(args: argparse.Namespace, able: float) -> list[Known]:
    """Returns the servers to measure. The true values of the stalling server are those of requests that queue."""
    times = stall.truth(args.rate, args.every, args.stall, able)
    return [
        Known(f"answers after {args.delay * 1e3:g} ms", ("--delay", args.delay * 1e6), args.rate, args.seconds,
              round(args.rate * args.delay * 1.5), args.delay, args.delay),
        Known(f"stalls for {args.stall:g} s in {args.every:g} s", ("--stall-every", args.every, "--stall", args.stall), args.rate,
              args.every, args.connections, bench.quantile(times, 0.5), bench.quantile(times, 0.99)),
    ]


def ask(generator: Generator, known: Known, cores: list[int], folder: Path) -> tuple[Said, int]:
    """Returns a generator's report of a server, and the number of requests that the server answered."""
    connections = known.waiting if isinstance(generator, Bare) else known.connections
    with bench.server(cores[1], *known.options) as server:
        load = Load(server.port, connections, known.seconds, known.rate, folder)
        done = bench.measure(generator.command(load), cores[0], limit_s=known.seconds + 60)
        return generator.said(done, load), server.told()["answered"]


def cpu_of(pid: int) -> list[float]:
    """Returns the CPU seconds of each of a process's threads, in the order of their numbers (proc(5),
    schedstat)."""
    tasks = sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda task: int(task.name))
    return [int((task / "schedstat").read_text().split()[0]) / 1e9 for task in tasks]


def children(pid: int) -> list[int]:
    """Returns the child processes of all threads of a process."""
    lists = (task / "children" for task in Path(f"/proc/{pid}/task").iterdir())
    return [int(word) for children in lists for word in children.read_text().split()]


def used(before: list[float], after: list[float]) -> list[float]:
    """Returns the CPU time of each thread; the same threads must have run all the time."""
    if len(before) != len(after):
        raise Failure("a thread of the generator began or ended under load")
    return [now - then for then, now in zip(before, after)]


def cost(agents: Agents, args: argparse.Namespace, folder: Path) -> Cost:
    """Measures the CPU time of agents in the middle of a closed loop."""
    with bench.server(args.cores[1]) as server:
        load = Load(server.port, args.connections, args.full, None, folder)
        lab = bench.start(agents.command(load), args.cores[0], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            while server.told()["answered"] < args.connections * 10:
                if lab.poll() is not None:
                    raise Failure(f"benchlab: {lab.communicate()[1]}")
                time.sleep(0.05)
            time.sleep(args.full * 0.2)
            own = children(lab.pid)
            looks = []
            for pause in args.full * MIDDLE, 0:
                looks.append(([cpu_of(pid) for pid in own], sum(cpu_of(lab.pid)), server.told()["answered"], time.monotonic()))
                time.sleep(pause)
            _, said = lab.communicate(timeout=60)
        finally:
            lab.kill()
            lab.wait()
    if lab.returncode != 0 or len(own) != agents.number:
        raise Failure(f"benchlab exited with status {lab.returncode}, {len(own)} agents: {said}")
    (threads, lab_s, answered, began), (later, lab_later_s, answered_later, ended) = looks
    each = [used(before, after) for before, after in zip(threads, later)]
    total = sum(map(sum, each))
    coordination_s = total - sum(map(max, each)) + lab_later_s - lab_s
    return Cost(total, coordination_s, (answered_later - answered) / (ended - began))


def measure(args: argparse.Namespace, known: list[Known]) -> tuple[dict, dict]:
    """Returns the reports of each generator on each server in each round, and the CPU time of the agents."""
    said: dict[tuple[Generator, Known], list[tuple[Said, int]]] = defaultdict(list)
    costs: dict[str, list[Cost]] = defaultdict(list)
    dice = random.Random(args.seed)
    groups = [Agents(number) for number in args.agents]
    turns = [(generator, server) for server in known for generator in (Bare(), *groups)] + [(group, None) for group in groups]
    for number in range(args.rounds):
        for generator, server in dice.sample(turns, len(turns)):
            print(f"\rround {number + 1} of {args.rounds}: {generator.name:<20}", end="", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                if server is None:
                    costs[generator.name].append(cost(generator, args, Path(folder)))
                else:
                    said[generator, server].append(ask(generator, server, args.cores, Path(folder)))
    print(file=sys.stderr)
    return said, costs


def spread(values: Iterable[float], digits: int) -> str:
    """Returns the median and the range."""
    values = list(values)
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def rows_of(server: Known, said: dict) -> list[list[str]]:
    due = server.rate * server.seconds
    rows = [[server.name, "**computed**", f"{due:,.0f}", f"{server.p50_s * 1e3:.2f}", f"{server.p99_s * 1e3:.2f}", ""]]
    for (generator, asked), words in said.items():
        if asked == server:
            own = [own for own, _ in words]
            off = spread(((w.p99_s / server.p99_s - 1) * 100 for w in own), 2)
            rows.append(["", "spinning client" if isinstance(generator, Bare) else generator.name, spread((w.served for w in own), 0),
                         spread((w.p50_s * 1e3 for w in own), 2), spread((w.p99_s * 1e3 for w in own), 2), f"{off} %"])
    return [rows[0], *sorted(rows[1:], key=lambda row: row[1])]


def section(args: argparse.Namespace, known: list[Known], able: float, said: dict, costs: dict) -> str:
    """Returns the section of docs/results/agents.md."""
    text = bench.paragraph(f"""Measured by `benches/load/together.py --agents {','.join(map(str, args.agents))} --rounds
        {args.rounds}` on {bench.machine()}, at {args.rate:,.0f} requests per second. The agents have one thread each
        and share core {args.cores[0]} with the coordinator; the server has core {args.cores[1]}. Medians over rounds in random
        order (lowest to highest). The computed value for stalls assumes a queue worked off at {able:,.0f} requests per second,
        as measured before. The spinning client is one process without histograms and agents.""")
    answers = bench.table(["the server", "generator", "served", "p50, ms", "p99, ms", "p99 off the truth"],
                          [row for server in known for row in rows_of(server, said)])
    full = bench.table(["a closed loop", "requests/s", "CPU time of the agents, cores", "coordination, % of it"],
                       [[name, spread((c.answered_per_s for c in all_), 0),
                         spread((c.agents_s / (args.full * MIDDLE) for c in all_), 2), spread((c.part * 100 for c in all_), 2)]
                        for name, all_ in sorted(costs.items())])
    return f"## Agents on one machine\n\n{text}\n\n{answers}\n\n{full}\n\n{aims(known, said, costs)}"


def aims(known: list[Known], said: dict, costs: dict) -> str:
    """Returns whether each aim was reached."""
    agents = {asked: words for asked, words in said.items() if isinstance(asked[0], Agents)}
    # Each agent has sent one request to check that there is a server.
    unheard = max(abs(answered - own.served - group.number) for (group, _), words in agents.items() for own, answered in words)
    undue = max(abs(own.offered - server.rate * server.seconds) for (_, server), words in agents.items() for own, _ in words)

    def off(server: Known, percentile: str, truth_s: float) -> float:
        """Returns the largest error of all groups."""
        medians = (statistics.median(getattr(own, percentile) for own, _ in words)
                   for (_, asked), words in agents.items() if asked == server)
        return max(abs(said / truth_s - 1) for said in medians) * 100

    fixed, stalls = known
    exact_p99_s = statistics.median(own.p99_s for (by, asked), words in said.items() if isinstance(by, Bare) and asked == stalls
                                    for own, _ in words)

    coordination = max(statistics.median(c.part for c in all_) for all_ in costs.values())
    return "\n".join([
        bench.verdict("deviation of p50 from the fixed delay", off(fixed, "p50_s", fixed.p50_s), RESOLUTION * 100, " %"),
        bench.verdict("deviation of the stalls' p99 from the computed one", off(stalls, "p99_s", stalls.p99_s), RESOLUTION * 100, " %"),
        bench.verdict("deviation of the stalls' p99 from the spinning client's", off(stalls, "p99_s", exact_p99_s), RESOLUTION * 100, " %"),
        bench.verdict("offered, difference from the due requests", undue, 1, digits=0),
        bench.verdict("served, difference from the server's count", unheard, 0, digits=0),
        bench.verdict("coordination, of the agents' CPU time", coordination * 100, MAX_COORDINATION * 100, " %")]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=2000, help="requests per second")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds until a response is sent")
    parser.add_argument("--every", type=float, default=10, help="seconds from one stall to the next, and of such a run")
    parser.add_argument("--stall", type=float, default=1, help="seconds of a stall")
    parser.add_argument("--seconds", type=float, default=5, help="seconds of a run on the server with a delay")
    parser.add_argument("--full", type=float, default=10, help="seconds of a closed loop")
    parser.add_argument("--connections", type=int, default=64)
    bench.add_options(parser)
    args = bench.parse(parser, quick={"rounds": 1, "seconds": 3.0, "full": 3.0, "every": 4.0, "stall": 0.4})
    busy = bench.busy()
    with tempfile.TemporaryDirectory() as folder:
        able = stall.capacity(args.cores, 2.0, Path(folder))
    known = servers(args, able)
    said, costs = measure(args, known)
    bench.publish(args, busy + section(args, known, able, said, costs))


if __name__ == "__main__":
    bench.run(main)
