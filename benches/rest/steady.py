#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures servers in their steady state with another generator, and checks the intervals of `benchlab run rest`.

    benches/rest/steady.py [--subjects ada-server,node,…] [--runs quick,default,thorough] [--truths FILE] [--output FILE]

Every server is warmed up over 64 connections for 60 s, as is the baseline's. Then both are loaded in turns of 10 s,
60 s each (--warm-up, --turn, --turns); the cost of a request is their CPU time from /proc, including compilers and
garbage collectors. The ratio to the baseline's turns removes changes in the machine's speed. Two generators take
turns as well: `wrk` (Debian's package), and the bare client of `benches/load`, which needs less CPU time. A server
that waits for its clients costs more per request, because it sleeps and wakes up more often. The script therefore
shows how busy each generator kept the servers, and its ratio is that of the generator that kept them busier. Then
benchlab measures the same servers at the same point, in a quick, a default and a thorough run. Each of its intervals
must overlap the independent one, or the run must have no verdict; otherwise the script exits with 1. It takes about
five minutes per server, plus the runs; the machine must have no other load. `--truths FILE` keeps the independent figures
in a file, and takes those of servers that the file already has from there; `--runs none` measures nothing else.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import profiles
from profiles import LAB, Failure, Served, bench

BASELINE = "ada-server"
PATH = "/api"
CONNECTIONS = 64
HEADER = ("User-Agent: benchlab/0.1.0", "Accept: */*")
"""The header fields that benchlab sends in addition to Host: parsing them is part of the cost of a request."""
POINT = ["--cases", "json", "--set", f"connections={CONNECTIONS}", "--set", "keep_alive=yes", "--set", "load=closed"]
RUNS = {"quick": ["--quick"], "default": [], "thorough": ["--thorough", "--budget", "20m"]}
SERVERS = ("c", "ada-embedded", "ada-server", "ada-rest", "rust", "go", "node", "python",
           "java-jdk", "java-undertow", "java-jetty", "java-tomcat", "java-grizzly")


def cpu_s(pid: int) -> float:
    """Returns the CPU time of a process and its descendants, including those that ended and were waited for."""
    children: dict[int, list[int]] = {}
    times: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue  # the process has just ended
        fields = text[text.rindex(")") + 2:].split()
        number = int(stat.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        times[number] = sum(int(field) for field in fields[11:15]) / 100
    total, waiting = 0.0, [pid]
    while waiting:
        one = waiting.pop()
        total += times.get(one, 0.0)
        waiting += children.get(one, [])
    return total


@dataclass
class Load:
    """The result of a load."""

    requests: int
    cpu_us: float
    """The server's CPU time per request; infinite if it served none."""
    busy: float
    """The server's CPU time as a fraction of the elapsed time."""


def load(generator: str, server: Served, core: int, seconds: int) -> Load:
    """Runs a closed loop against a server."""
    before, began = cpu_s(server.pid), time.monotonic()
    requests = GENERATORS[generator](server, core, seconds)
    used, took = cpu_s(server.pid) - before, time.monotonic() - began
    return Load(requests, used / requests * 1e6 if requests else math.inf, used / took)


def output(server: Served, core: int, command: list[str], seconds: int) -> str:
    done = subprocess.run(["taskset", "-c", str(core), *command], capture_output=True, text=True, check=False, timeout=seconds + 60)
    if done.returncode or done.stderr:
        raise Failure(f"{command[0]} on {server.name}: {done.stdout.strip()} {done.stderr.strip()}")
    return done.stdout


def wrk(server: Served, core: int, seconds: int) -> int:
    fields = [word for field in HEADER for word in ("-H", field)]
    said = output(server, core, ["wrk", "-t1", "--timeout", "30s", f"-c{CONNECTIONS}", f"-d{seconds}s", *fields, server.url.rstrip("/") + PATH], seconds)
    counted = re.search(r"(\d+) requests in", said)
    if not counted or "Non-2xx" in said or "Socket errors" in said:
        raise Failure(f"wrk on {server.name}: {said.strip()}")
    return int(counted.group(1))


def bare(server: Served, core: int, seconds: int) -> int:
    fields = [word for field in HEADER for word in ("--header", field)]
    command = [str(bench.BUILD / "bare"), "--connections", str(CONNECTIONS), "--for", str(seconds), "--path", PATH, *fields]
    return int(json.loads(output(server, core, [*command, str(server.address[1])], seconds))["requests"])


GENERATORS: dict[str, Callable[[Served, int, int], int]] = {"wrk": wrk, "bare client": bare}


@dataclass
class Steady:
    """A server under one generator."""

    cost_us: bench.Interval
    ratio: bench.Interval
    busy: float
    """The utilization, as a fraction, of the less busy of this server and the baseline's server."""


@dataclass
class Truth:
    """An independent measurement."""

    by_generator: dict[str, Steady]
    first_us: float
    """The CPU time per request in the first two seconds of load."""

    @property
    def ratio(self) -> bench.Interval:
        return max(self.by_generator.values(), key=lambda steady: steady.busy).ratio


def truth(name: str, args: argparse.Namespace) -> Truth:
    client, core = args.cores
    with profiles.serving(BASELINE, core) as baseline, profiles.serving(name, core) as server:
        first = load("wrk", server, client, 2)
        load("wrk", server, client, args.warm_up)
        load("wrk", baseline, client, 5)
        turns: dict[str, list[tuple[Load, Load]]] = {generator: [] for generator in GENERATORS}
        for _ in range(args.turns):
            for generator, done in turns.items():
                own, base = (load(generator, one, client, args.turn) for one in (server, baseline))
                done.append((own, base))
    return Truth({generator: steady(done) for generator, done in turns.items()}, first.cpu_us)


def stored(file: Path | None) -> dict[str, Truth]:
    """Returns the independent figures in a file, by server."""
    if not file or not file.exists():
        return {}
    found = {}
    for name, one in json.loads(file.read_text()).items():
        by_generator = {
            generator: Steady(bench.Interval(**part["cost_us"]), bench.Interval(**part["ratio"]), part["busy"])
            for generator, part in one["by_generator"].items()
        }
        found[name] = Truth(by_generator, one["first_us"])
    return found


def steady(turns: list[tuple[Load, Load]]) -> Steady:
    busy = (bench.median(turn[i].busy for turn in turns).estimate for i in (0, 1))
    return Steady(bench.median(own.cpu_us for own, _ in turns), bench.median(own.cpu_us / base.cpu_us for own, base in turns), min(busy))


def intervals(lab: Path, run: str, names: list[str]) -> dict[str, tuple[str, tuple[float, float] | None]]:
    """Returns for each server a run's verdict and its interval, if it has one."""
    with tempfile.TemporaryDirectory() as folder:
        command = [lab, "run", "rest", "--subjects", ",".join(names), *POINT, *RUNS[run], "--runs", folder]
        subprocess.run([str(word) for word in command], cwd=profiles.ROOT, check=True, stdout=subprocess.DEVNULL)
        (file,) = Path(folder).glob("*.lab")
        report = [str(lab), "report", str(file), "--format", "json"]
        said = subprocess.run(report, cwd=profiles.ROOT, check=True, capture_output=True, text=True)
        rows = json.loads(said.stdout)["rows"]
    found = {}
    for row in rows:
        if row["metric"]["id"] == "server_cpu" and row["params"] and row["subject"] in names:
            ratio = row["ratio"] if row["verdict"] else None
            bounds = (ratio["low"], ratio["high"]) if ratio and "low" in ratio else None
            found[row["subject"]] = (row["verdict"] or "no verdict", bounds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=lambda text: text.split(","), default=list(SERVERS), help="[default: all of rest]")
    parser.add_argument("--runs", type=lambda text: [] if text == "none" else text.split(","), default=list(RUNS),
                        help="[default: quick,default,thorough]")
    parser.add_argument("--truths", type=Path, metavar="FILE", help="keep the independent figures here, and reuse those that are there")
    parser.add_argument("--lab", type=Path, default=LAB, help="the program [default: the release build]")
    profiles.add_options(parser)
    parser.add_argument("--warm-up", type=int, default=60, metavar="S", help="seconds of load before the turns [default: 60]")
    parser.add_argument("--turn", type=int, default=10, metavar="S", help="seconds of a turn [default: 10]")
    parser.add_argument("--turns", type=int, default=6, help="turns of each server under each generator [default: 6]")
    args = profiles.parse(parser, {"warm_up": 3, "turn": 1, "turns": 3, "runs": ["quick"]})
    names = [name for name in args.subjects if name != BASELINE]
    bench.build()
    truths = stored(args.truths)
    for name in names:
        if name in truths:
            continue
        print(f"{name} under wrk", file=sys.stderr, flush=True)
        truths[name] = truth(name, args)
        print(f"{name}: {truths[name]}", file=sys.stderr, flush=True)
        if args.truths:
            args.truths.write_text(json.dumps({one: asdict(known) for one, known in truths.items()}, indent=1) + "\n")
    said = {}
    for run in args.runs:
        print(f"benchlab, {run}", file=sys.stderr, flush=True)
        said[run] = intervals(args.lab, run, [BASELINE, *names])
    rows, wrong = [], []
    for name in names:
        known = truths[name]
        row = [name, f"{known.first_us:.1f}" if math.isfinite(known.first_us) else "no response"]
        for one in known.by_generator.values():
            row += [one.cost_us.text(1), one.ratio.text(2), f"{one.busy:.0%}"]
        for run in args.runs:
            verdict, bounds = said[run].get(name, ("no verdict", None))
            holds = bounds is None or bounds[0] <= known.ratio.high and known.ratio.low <= bounds[1]
            row.append(verdict if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}{'' if holds else ' **misses**'}")
            wrong += [] if holds else [f"{name}, {run}"]
        rows.append(row)
    columns = [column for generator in GENERATORS for column in (f"{generator}, µs", f"of {BASELINE}'s", "busy")]
    head = ["server", "first 2 s, µs", *columns, *args.runs]
    made = bench.paragraph(f"""Measured by `benches/rest/steady.py` on {bench.machine()}: CPU time per `GET {PATH}` over {CONNECTIONS} connections,
        server and generator on a core each. wrk loaded each server for {args.warm_up} s, and then each generator in {args.turns} turns of
        {args.turn} s next to {BASELINE}; busy is the servers' CPU time as a fraction of the time. The last columns are benchlab's
        intervals, as multiples of {BASELINE}'s CPU time.""")
    bench.publish(args, f"{made}\n\n{bench.table(head, rows)}\n")
    if wrong:
        raise Failure(f"intervals that do not contain the independent ratio: {'; '.join(wrong)}")


if __name__ == "__main__":
    bench.run(main)
