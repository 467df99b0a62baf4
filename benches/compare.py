#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `benchlab compare` and hyperfine on the same questions, in turns, on an otherwise idle machine.

    benches/compare.py [--repeats 40] [--seconds 6] [--output docs/results/compare.md]

Each repeat compares a command of about 20 ms with itself, and then with a command that does 2 % more work. Each
comparison is made with benchlab and with hyperfine, which does as many runs as fit into the time that benchlab took.
The true answer to the second question is known, because the program takes its amount of work as an argument and its
start time is measured.
"""

import argparse
import json
import math
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "target/local/benchlab"
PEERS = ROOT / "build/peers"
HYPERFINE = "1.20.0"
WANTED_S = 0.020
MORE = 1.02


def call(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    return done.stdout


def hyperfine() -> Path:
    """Returns the path of hyperfine, installed from crates.io."""
    program = PEERS / "bin/hyperfine"
    if not program.exists():
        subprocess.run(["cargo", "install", "hyperfine", "--version", HYPERFINE, "--locked", "--root", PEERS],
                       check=True)
    return program


def by_benchlab(commands: list[str], seconds: float, seed: int, folder: Path) -> dict:
    """Returns the ratio of the second command to the first with its interval and verdict, and the duration."""
    page = folder / "run.json"
    began = time.monotonic()
    call(LAB, "compare", *commands, "--for", f"{seconds}s", "--seed", seed, "--runs", folder, "--export", page)
    took = time.monotonic() - began
    document = json.loads(page.read_text())
    (found,) = document["analysis"]["comparisons"]
    return {**found["ratio"], "verdict": found["verdict"]["verdict"], "took": took,
            "redone": document["analysis"]["disturbed_blocks"]}


def by_hyperfine(program: Path, commands: list[str], runs: int, folder: Path) -> dict:
    """Returns the ratio of the second command's mean to the first's, as hyperfine prints it, and Welch's t-test of its
    times."""
    page = folder / "hyperfine.json"
    began = time.monotonic()
    call(program, "-N", "--style", "none", "--warmup", 3, "--runs", runs, "--export-json", page, *commands)
    took = time.monotonic() - began
    first, second = json.loads(page.read_text())["results"]
    (m1, s1), (m2, s2) = ((r["mean"], r["stddev"]) for r in (first, second))
    error = math.sqrt((s1 * s1 + s2 * s2) / runs)
    return {"estimate": m2 / m1, "t": (m2 - m1) / error, "took": took}


def level(command: str, folder: Path) -> float:
    """Returns the duration of a command in seconds: the median of 200 runs by benchlab."""
    page = folder / "level.json"
    call(LAB, "compare", command, "--blocks", 10, "--pairs", 10, "--runs", folder, "--export", page)
    (cell,) = [c for c in json.loads(page.read_text())["analysis"]["cells"] if c["subject"] == 0]
    return cell["wall_ns"]["estimate"] / 1e9


def part(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.0f} %)"


def in_runs(part_of_runs: str) -> str:
    return part_of_runs.replace(" (", " runs (")


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def outside(runs: list[dict]) -> str:
    return part(sum(abs(r["estimate"] - 1) > 0.02 for r in runs), len(runs))


EXCLUDES_1 = "interval (Welch's t-test) excludes 1"
FOUND = "interval (t-test) excludes 1 in the right direction"


def rows(questions: dict, truth: float) -> list[tuple[str, str, str]]:
    """Returns the rows of the table: a label, benchlab's value, hyperfine's value."""
    same, more = questions["same"], questions["more"]
    n = len(same["lab"])

    def excludes(runs: list[dict], value: float) -> int:
        return sum(r["low"] > value or r["high"] < value for r in runs)

    def claimed(runs: list[dict], *verdicts: str) -> int:
        return sum(r["verdict"] in verdicts for r in runs)

    # |t| > 1.97 is the level of 95 % with at least 200 degrees of freedom, as the runs have.
    significant = [sum(abs(r["t"]) > 1.97 for r in q["peer"]) for q in (same, more)]
    right = sum(r["t"] > 1.97 for r in more["peer"])
    found = sum(r["low"] > 1 and r["verdict"] != "inconclusive" for r in more["lab"])
    half = [(r["high"] - r["low"]) / 2 / r["estimate"] * 100 for q in (same, more) for r in q["lab"]]
    seconds = [[r["took"] for q in (same, more) for r in q[who]] for who in ("lab", "peer")]
    return [
        ("**Self-comparison**", "", ""),
        ("ratio, median (range)", *(spread([r["estimate"] for r in same[who]]) for who in ("lab", "peer"))),
        ("ratio outside 1 ± 2 %", *(outside(same[who]) for who in ("lab", "peer"))),
        ("verdict faster or slower", part(claimed(same["lab"], "faster", "slower"), n), "for every ratio"),
        (EXCLUDES_1, part(excludes(same["lab"], 1.0), n), part(significant[0], n)),
        (f"**{(truth - 1) * 100:.2f} % more time**", "", ""),
        ("ratio, median (range)", *(spread([r["estimate"] for r in more[who]]) for who in ("lab", "peer"))),
        (FOUND, part(found, n), part(right, n)),
        ("interval contains the true ratio", part(n - excludes(more["lab"], truth), n), "–"),
        ("**Both**", "", ""),
        ("half width of the interval, median (range)",
         f"{statistics.median(half):.2f} % ({min(half):.2f} to {max(half):.2f})", "–"),
        ("seconds for a comparison, median (range)",
         *(f"{statistics.median(s):.1f} ({min(s):.1f} to {max(s):.1f})" for s in seconds)),
    ]


PAGE = """# `benchlab compare` and hyperfine

Comparing a command with itself, benchlab's interval excluded the true ratio of 1 in {false_ours}, a t-test of hyperfine's
times in {false_theirs}. With {more:.2f} % more time, benchlab found the difference in {found_ours}, the t-test in {found_theirs}.

| | benchlab | hyperfine |
|---|---|---|
{table}

hyperfine prints the ratio of two means and names the faster command without a test; its documentation recommends the
t-test in `scripts/welch_ttest.py`.

To start a process, benchlab takes {added} µs longer than a bare `posix_spawn` and `waitid`, in mirrored turns on the same
core (medians of 400 turns on each core).

```sh
cargo build --profile local && {command}
cargo run --profile local -p lab-bench --example start_cost -- true
```

{host}, no other load; the tools took turns, {repeats} times per question. The command,
`work {work}`, takes {level:.1f} ms, {start:.2f} ms of which are process start. hyperfine {version} ran with `-N --warmup 3`, for as many
runs as fit into the time that `benchlab compare --for {seconds}s` had just taken. benchlab repeated {redone} blocks that the host had disturbed.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    peer = hyperfine()
    start_cost = call("cargo", "run", "--profile", "local", "-q", "-p", "lab-bench", "--example", "start_cost", "--", "true")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "work"
        call("cc", "-O2", ROOT / "benches/work.c", "-o", program)
        trial = 10_000_000
        start = level(f"{program} 0", folder)
        work = round(trial * (WANTED_S - start) / (level(f"{program} {trial}", folder) - start))
        whole = level(f"{program} {work}", folder)
        truth = 1 + (MORE - 1) * (whole - start) / whole
        commands = {"same": [f"{program} {work}"] * 2,
                    "more": [f"{program} {work}", f"{program} {round(work * MORE)}"]}
        questions: dict = {q: {"lab": [], "peer": []} for q in commands}
        for seed in range(args.repeats):
            for question, pair in commands.items():
                lab = by_benchlab(pair, args.seconds, seed, folder)
                runs = max(10, round(lab["took"] / (2 * whole)) - 3)
                other = by_hyperfine(peer, pair, runs, folder)
                questions[question]["lab"].append(lab)
                questions[question]["peer"].append(other)
                print(f"{seed:3} {question}: benchlab {lab['estimate']:.4f} [{lab['low']:.4f}, {lab['high']:.4f}]"
                      f" {lab['verdict']}, {lab['took']:.1f} s; hyperfine {other['estimate']:.4f}"
                      f" t={other['t']:.1f}, {other['took']:.1f} s", flush=True)
    found = rows(questions, truth)
    figures = {label: (ours, theirs) for label, ours, theirs in found}
    table = "\n".join(f"| {' | '.join(row)} |" for row in found)
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    page = PAGE.format(command=f"benches/compare.py --repeats {args.repeats} --seconds {args.seconds:g}"
                               f" --output docs/results/compare.md",
                       host=f"A virtual machine with {len(start_cost.splitlines()) - 1} cores ({cpu})",
                       more=(truth - 1) * 100,
                       false_ours=in_runs(figures[EXCLUDES_1][0]), false_theirs=in_runs(figures[EXCLUDES_1][1]),
                       found_ours=in_runs(figures[FOUND][0]), found_theirs=in_runs(figures[FOUND][1]),
                       work=work, level=whole * 1000, start=start * 1000, version=HYPERFINE,
                       seconds=f"{args.seconds:g}", repeats=args.repeats, table=table,
                       redone=sum(r["redone"] for q in questions.values() for r in q["lab"]),
                       added=" and ".join(line.split()[4] for line in start_cost.splitlines()[1:]))
    if args.output:
        args.output.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
