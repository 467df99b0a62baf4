#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A/A: repeatedly compares two copies of one subject, on an otherwise idle machine.

    benches/aa.py [--repeats 40] [--blocks 12] [--output docs/results/aa.md] c ada python java

Each repeat is a separate run with its own seed; the ratio of the copies is the run's control. The table shows
how often an interval excluded the true ratio, which is 1, and how wide the intervals were.
"""

import argparse
import json
import math
import shlex
import sqlite3
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "benchlab"
CASES = {
    "point": ["--cases", "point"],
    "select": ["--cases", "select", "--set", "limit=100", "--set", "statement=prepared"],
    "point,select": ["--cases", "point,select", "--set", "limit=100", "--set", "statement=prepared"],
}
AIM = {"c": 1.0, "ada": 1.0, "java": 2.0, "python": 2.0}


def controls(lab: Path, subject: str, cases: str, seed: int, blocks: int, folder: Path) -> list[dict]:
    """Returns the control at each point of one run, and the number of repeated blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.glob("*.lab"))
    command = [lab, "run", "sql", "--subjects", subject, "--baseline", subject, *CASES[cases],
               "--blocks", str(blocks), "--seed", str(seed), "--runs", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (file,) = set(folder.glob("*.lab")) - before
    report = subprocess.run([lab, "report", file, "--format", "json"], check=True, capture_output=True)
    document = json.loads(report.stdout)
    plan, analysis = document["plan"], document["analysis"]
    labels = [plan["cases"][p["case"]]["name"] for p in plan["points"]]
    scatter = block_scatter(file)
    return [
        {"point": labels[c["point"]], **c["ratio"], "scatter": scatter[c["point"]],
         "redone": analysis["disturbed_blocks"]}
        for c in analysis["controls"]
    ]


def block_scatter(file: Path) -> dict[int, float]:
    """Returns the standard deviation over blocks of the copies' log ratio, by point, in percent."""
    rows = sqlite3.connect(file).execute(
        "SELECT b.number, m.point, m.pass / 2, m.subject, m.wall_ns * 1.0 / m.operations"
        " FROM sample m JOIN block b ON b.id = m.block WHERE b.state = 'complete'")
    pairs: dict = defaultdict(lambda: defaultdict(list))
    for block, point, pair, subject, time in rows:
        pairs[point, block][pair, subject].append(math.log(time))
    ratios: dict = defaultdict(list)
    for (point, _), times in pairs.items():
        logs = sorted(statistics.fmean(times[pair, 1]) - statistics.fmean(times[pair, 0])
                      for pair in {pair for pair, _ in times})
        cut = len(logs) // 4
        ratios[point].append(statistics.fmean(logs[cut:len(logs) - cut]))
    return {point: statistics.stdev(d) * 100 for point, d in ratios.items()}


PAGE = """# Self-comparison (A/A)

In {runs} comparisons of two copies of the same program, {excluded} intervals ({percent:.1f} %) excluded the true ratio of 1. At a
level of 95 %, up to 5 % may. {winners} of the intervals lay entirely outside 1 ± 2 %.

{table}

The scatter is the standard deviation over blocks of the log ratio of the two copies.

```sh
{command}
```

{host}, no other load. Each run of `benchlab run sql` has its own seed and {blocks}
blocks of 40 mirrored pairs. Intervals are exact signed-rank intervals at 95 %, or the next higher level that {blocks} blocks allow.
"""


def host() -> str:
    """Returns a description of the machine."""
    facts = dict(line.strip().split(maxsplit=1) for line in
                 subprocess.run([LAB, "doctor"], check=True, capture_output=True, text=True).stdout.splitlines()
                 if line.startswith(("  cpu ", "  cores ", "  kernel ")))
    return f"{facts['cores']} cores of {facts['cpu']}, {facts['kernel']}"


def excludes_1(control: dict) -> bool:
    return not control["low"] <= 1 <= control["high"]


def is_outside_margin(control: dict) -> bool:
    """Returns True if the whole interval differs from 1 by more than 2 %."""
    return control["low"] > 1.02 or control["high"] < 0.98


def row(subject: str, point: str, found: list[dict]) -> str:
    """Returns a row of the table."""
    halves = sorted((c["high"] - c["low"]) / 2 * 100 for c in found)
    excluded, winners = sum(map(excludes_1, found)), sum(map(is_outside_margin, found))
    aim = AIM.get(subject, 1.0)
    within = sum(half <= aim for half in halves)
    return (f"| {subject} | {point} | {len(found)} | {excluded} ({100 * excluded / len(found):.1f} %) | {winners} "
            f"| {statistics.median(halves):.2f} % ({halves[0]:.2f} to {halves[-1]:.2f}) "
            f"| {within} of {len(found)} within ±{aim:.0f} % "
            f"| {statistics.median(c['scatter'] for c in found):.2f} % | {sum(c['redone'] for c in found)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="+")
    parser.add_argument("--cases", choices=CASES, default="point,select")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "aa")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--lab", type=Path, default=LAB, help="the benchlab program [default: ./benchlab]")
    args = parser.parse_args()
    lines = [
        "| subject | point | runs | intervals that exclude 1 | entirely outside 1 ± 2 % | half width: median (range) "
        "| goal reached | block scatter: median | blocks repeated |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    everything: list[dict] = []
    for subject in args.subjects:
        by_point: dict[str, list[dict]] = {}
        for repeat in range(args.repeats):
            for control in controls(args.lab, subject, args.cases, args.seed + repeat, args.blocks,
                                    args.folder / subject):
                by_point.setdefault(control["point"], []).append(control)
            print(f"\r{subject} {repeat + 1}/{args.repeats} ", end="", file=sys.stderr, flush=True)
        lines += [row(subject, point, found) for point, found in by_point.items()]
        everything += [control for found in by_point.values() for control in found]
        print("\n" + lines[-1], file=sys.stderr)
    table = "\n".join(lines)
    print(table)
    if args.output:
        excluded = sum(map(excludes_1, everything))
        args.output.write_text(PAGE.format(
            runs=len(everything), excluded=excluded, percent=100 * excluded / len(everything),
            winners=sum(map(is_outside_margin, everything)) or "None", table=table,
            command=shlex.join(["benches/aa.py", *sys.argv[1:]]), host=host(), blocks=args.blocks))


if __name__ == "__main__":
    main()
