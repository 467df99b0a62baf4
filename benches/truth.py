#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeatedly measures programs and servers whose true values are known: does the interval contain the true value?

    benches/truth.py [--runs 20] [--only work,delay,tail,stall] [--output docs/results/truth.md]

work   a program that does 2 % more steps than another (`benchlab compare A B`)
delay  a server whose responses take 20 µs longer than another's, at 500 requests/s (`benchlab load URL URL`): p50
tail   a server whose slowest seventh takes 5 % longer than another's, at 100 requests/s: p90
stall  a server that stalls for one second in ten, at 500 requests/s (`benchlab load URL`): p99

The machine must have no other load. The table shows how many intervals there are, how many contain the truth, and the
scatter of the estimates compared with the scatter that the intervals imply. The page's section on other tools is kept.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "load"
SERVER = BUILD / "server"
MARK = 20e3
"""The extra time of one server's responses, in ns."""
STEPS = 20_000_000
NORMAL = statistics.NormalDist().inv_cdf(0.975)


def rows(lab: Path, folder: Path, *words: object) -> list[dict]:
    """Returns the results of a run of benchlab, by subject and metric."""
    file = folder / "said.json"
    command = [lab, *words, "--runs", folder, "--export", file]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.loads(file.read_text())["rows"]


def of(found: list[dict], subject: str, metric: str) -> dict:
    """Returns the row of a subject's metric."""
    return next(r for r in found if (r["subject"], r["metric"]["id"]) == (subject, metric))


@contextmanager
def server(*options: object):
    """Runs a server, and returns its URL."""
    command = [str(SERVER), *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}/"
    finally:
        process.kill()
        process.wait()


def start_ns(program: Path) -> float:
    """Returns the time to start the program without work."""
    times = []
    for _ in range(200):
        began = time.perf_counter_ns()
        child = os.posix_spawn(program, [str(program), "0"], {}, file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        os.waitpid(child, 0)
        times.append(time.perf_counter_ns() - began)
    return statistics.median(times)


def work(lab: Path, folder: Path, seconds: float, seed: int) -> tuple[dict, float]:
    """Returns the estimated ratio of two programs, and its true value, which takes the start of the programs
    into account."""
    program = BUILD / "work"
    commands = [f"{program} {STEPS}", f"{program} {STEPS * 102 // 100}"]
    found = rows(lab, folder, "compare", *commands, "--for", f"{seconds:g}s", "--seed", seed)
    whole = of(found, "A", "wall")["value"]["value"]
    return of(found, "B", "wall")["ratio"], 1 + 0.02 * (1 - start_ns(program) / whole)


def two_servers(lab: Path, folder: Path, seed: int, load: list, options: list[list], metric: str, more_ns: float):
    """Returns the estimated ratio of two servers' percentiles, and its true value if the second server's is
    higher by more_ns."""
    with server(*options[0]) as first, server(*options[1]) as second:
        found = rows(lab, folder, "load", first, second, *load, "--connections", 8, "--seed", seed, "-n", "A", "-n", "B")
    base = of(found, "A", metric)["value"]["value"]
    return of(found, "B", metric)["ratio"], 1 + more_ns / base


def delay(lab: Path, folder: Path, seconds: float, seed: int):
    """Returns the results for two servers, one of which responds 20 µs later."""
    load = ["--rate", 500, "--for", f"{seconds:g}s"]
    return two_servers(lab, folder, seed, load, [["--work", 200], ["--work", 220]], "p50", MARK)


def tail(lab: Path, folder: Path, seconds: float, seed: int):
    """Returns the results for two servers with slow responses. One response in seven takes 1.25 to 3.75 ms, and 5 %
    longer on the second server; seven in ten of these exceed 2 ms."""
    load = ["--rate", 100, "--for", f"{seconds:g}s"]
    slow = [["--work", 200, "--tail-every", 7, "--tail", us] for us in (2500, 2625)]
    return two_servers(lab, folder, seed, load, slow, "p90", 100e3)


def stall(lab: Path, folder: Path, seconds: float, seed: int):
    """Returns the measured and the true p99 of a server that stalls for 1 s in 10 s; docs/results/load.md derives
    the true value."""
    with server("--work", 20, "--stall-every", 10, "--stall", 1) as url:
        found = rows(lab, folder, "load", url, "--rate", 500, "--for", f"{seconds:g}s", "--connections", 1000,
                     "--seed", seed, "--name", "A")
    value = of(found, "A", "p99")["value"]
    in_ms = {key: value[key] / 1e6 for key in ("value", "low", "high") if key in value}
    return in_ms, 1e3 * (1 - 0.01 * 10 * (1 - 500 * 25e-6))


# For each case: the workload, its duration in s, and the number of concurrent runs. The p90 has an interval if there
# are at least 36 blocks. Ten such runs use half a core. A stall is too long to be affected by other runs.
CASES = {"work": (work, 10.0, 1), "delay": (delay, 10.0, 1), "tail": (tail, 120.0, 10), "stall": (stall, 300.0, 10)}


def with_interval(found: list[tuple[dict, float]]) -> list[tuple[dict, float]]:
    """Returns the estimates that have an interval, each with its true value."""
    return [(i, truth) for i, truth in found if i and "low" in i and i["high"] > i["low"]]


def containing(known: list[tuple[dict, float]]) -> int:
    """Returns the number of intervals that contain the true value."""
    return sum(i["low"] <= truth <= i["high"] for i, truth in known)


def row(name: str, found: list[tuple[dict, float]]) -> str:
    """Returns a row of the table."""
    known = with_interval(found)
    held = containing(known)
    if not known:
        return f"| {name} | {len(found)} | 0 | | | |"
    center = [math.log(i["value"] / truth) for i, truth in known]
    half = statistics.fmean(math.log(i["high"] / i["low"]) / 2 for i, _ in known)
    scatter = statistics.stdev(center) if len(center) > 1 else 0.0
    ratios = f"{statistics.median(i['value'] for i, _ in known):.6g}"
    truths = f"{statistics.median(truth for _, truth in known):.6g}"
    return (f"| {name} | {len(found)} | {len(known)} | {held} of {len(known)} | {ratios} ({truths}) "
            f"| {100 * scatter:.2f} % ({100 * half / NORMAL:.2f} %) |")


KEPT = "\n## Compared with other tools\n"
"""The heading of the part of the page that this script keeps."""

PAGE = """# Known differences

benchlab measured programs and servers that differ by a known amount: {held} of {known} intervals contained the true value.

{table}

- **work**: a program that does 2 % more steps, in processes of about 25 ms, of which the start takes the same time for both.
- **delay**: responses that take 20 µs longer, at 500 requests/s; p50.
- **tail**: the slowest seventh of the responses, 1.25 to 3.75 ms, takes 5 % longer, at 100 requests/s; p90.
- **stall**: a server that stalls for 1 s in every 10 s, at 500 requests/s; p99 in ms, as [derived here](load.md#a-server-that-stalls).

The intervals imply more scatter than there is, because they hold jointly over a run, and because the p99's interval allows for
stalls at random times. `benches/truth.py --output docs/results/truth.md` made {runs} runs of each on {host}, with no other load.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="a factor for all times")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--lab", type=Path, default=ROOT / "benchlab", help="the benchlab program [default: ./benchlab]")
    args = parser.parse_args()
    subprocess.run(["make", "-s", "-C", ROOT / "benches" / "load", "all", "../../build/load/work"], check=True)
    lines = ["| | runs | with an interval | contain the truth | estimate, median (truth) "
             "| scatter of estimates (implied by the intervals) |", "|---|--:|--:|--:|--:|--:|"]
    known: list[tuple[dict, float]] = []
    for name in args.only.split(","):
        measure, seconds, together = CASES[name]

        def once(number: int) -> tuple[dict, float]:
            with tempfile.TemporaryDirectory() as folder:
                found = measure(args.lab, Path(folder), seconds * args.scale, args.seed + number)
            print(f"\r{name} {number + 1}/{args.runs} ", end="", file=sys.stderr, flush=True)
            return found

        with ThreadPoolExecutor(together) as threads:
            found = list(threads.map(once, range(args.runs)))
        known += with_interval(found)
        lines.append(row(name, found))
        print("\n" + lines[-1], file=sys.stderr)
    table = "\n".join(lines)
    print(table)
    if args.output:
        said = subprocess.run([args.lab, "doctor"], check=True, capture_output=True, text=True).stdout.splitlines()
        facts = dict(line.strip().split(maxsplit=1) for line in said if line.startswith(("  cpu ", "  cores ", "  kernel ")))
        host = f"{facts['cores']} cores of {facts['cpu']}, {facts['kernel']}"
        _, heading, others = (args.output.read_text() if args.output.exists() else "").partition(KEPT)
        args.output.write_text(PAGE.format(held=containing(known), known=len(known), runs=args.runs, host=host, table=table)
                               + heading + others)


if __name__ == "__main__":
    main()
