#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast `benchlab logs` reads a combined log, compared with wc, awk, angle-grinder and GoAccess on the
same file; how much memory it needs; and whether its values equal those of an exact reference.

    cargo build --profile local -p benchlab && cargo build --profile local -p lab-logs --example log_lines
    benches/logs/bench.py [--lines 10000000] [--rounds 5] [--agrind PATH] [--folder DIR]

The programs take turns: each round runs all of them once, in a new random order. A value is the median of the rounds,
with the smallest and the largest. A program that is not installed is skipped and reported. GoAccess reads a tenth of
the file; this tenth is also the part that is read from memory.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCHLAB = ROOT / "target/local/benchlab"
LINES = ROOT / "target/local/examples/log_lines"
# Prints the route, the requests, and the sum of the durations by path.
AWK = r'{ split($7, p, "?"); n[p[1]]++; t[p[1]] += $NF } END { for (k in n) print k, n[k], t[k] }'
AGRIND = r'* | parse "* - - [*] \"* * *\" * * \"*\" \"*\" *" as ip, time, method, path, proto, status, bytes, ref, agent, us | count, sum(us), p95(us) by path'


def run(command: list[str], **options) -> tuple[float, float, int]:
    """Returns wall and CPU time in s, and the peak of resident memory in KiB."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} exited with status {status}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def generate(path: Path, lines: int, pages: int) -> None:
    with path.open("wb") as out:
        subprocess.run([LINES, "generate", str(lines), str(pages), "7"], stdout=out, check=True)


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def read(log: Path) -> list[str]:
    return [str(BENCHLAB), "logs", "--no-keep", "--format", "json", str(log)]


def equality(lines: int) -> None:
    """Checks that counts and sums are equal, and percentiles differ by at most 1.6 %."""
    print("equality:", subprocess.run([LINES, "check", str(lines), "200", "7"], capture_output=True, text=True, check=True).stdout.strip())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--agrind", default=shutil.which("agrind"))
    parser.add_argument("--folder", help="directory for the logs [default: a temporary one]")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        log, part, many = Path(folder, "access.log"), Path(folder, "part.log"), Path(folder, "many.log")
        generate(log, args.lines, 200)
        generate(part, args.lines // 10, 200)
        size = log.stat().st_size
        print(f"{args.lines} lines of {size / args.lines:.0f} bytes, {args.rounds} rounds in turns")
        equality(args.lines)
        commands = {"benchlab logs": (read(log), args.lines), "wc -l": (["wc", "-l", str(log)], args.lines), "awk": (["awk", AWK, str(log)], args.lines)}
        if args.agrind:
            commands["angle-grinder"] = ([args.agrind, "--file", str(log), AGRIND], args.lines)
        else:
            print("angle-grinder is not installed: cargo install ag --root DIR, --agrind DIR/bin/agrind")
        if shutil.which("goaccess"):
            goaccess = ["goaccess", str(part), "--log-format", '%h %^[%d:%t %^] "%r" %s %b "%R" "%u" %D', "--date-format=%d/%b/%Y", "--time-format=%T", "--no-global-config", "-o", str(Path(folder, "g.json"))]
            commands["goaccess"] = (goaccess, args.lines // 10)
        else:
            print("GoAccess is not installed: apt-get install goaccess")
        rates: dict[str, list[float]] = {name: [] for name in commands}
        memory: dict[str, int] = {}
        in_memory: list[float] = []
        for _ in range(args.rounds):
            for name in random.sample(list(commands), len(commands)):
                command, lines = commands[name]
                wall, cpu, peak = run(command)
                # CPU time is used, because other processes may use the cores.
                rates[name].append(lines / cpu / 1e6)
                memory[name] = max(peak, memory.get(name, 0))
            out = subprocess.run([LINES, "memory", str(part), "1"], capture_output=True, text=True, check=True).stdout
            in_memory.append(float(out.split()[1]) / 1e6)
        print("million lines for each second of CPU time: median (least to greatest); peak memory")
        for name, values in rates.items():
            print(f"  {name:16} {spread(values):28} {memory[name] / 1024:8.0f} MiB")
        print(f"  {'lines in memory':16} {spread(in_memory):28}")
        ours = rates["benchlab logs"]
        for name in rates:
            if name != "benchlab logs":
                print(f"  benchlab / {name}: {spread([a / b for a, b in zip(ours, rates[name])])} times as many lines")
        generate(many, args.lines, 100_000)
        _, cpu, peak = run(read(many))
        print(f"100,000 pages: {args.lines / cpu / 1e6:.2f} million lines/s, {peak / 1024:.0f} MiB at the peak")


main()
