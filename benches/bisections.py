#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries `benchlab bisect` on repositories whose answer is known.

    benches/bisections.py [--tries 8] [--commits 32] [--metric cpu] [--output docs/results/bisect.md]

Each try makes a repository in which one or two random commits let a program do more counted work, bisects it, and
compares the commits that benchlab names with the true ones. Every commit is built from its source.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "target/local/benchlab"
WORK = ROOT / "benches/work.c"
AMOUNT = 5_000_000
KINDS = [("one step of 3 %", [0.03]), ("one step of 5 %", [0.05]), ("steps of 6 % and 5 %", [0.06, 0.05])]


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def history(folder: Path, steps: dict[int, float], commits: int) -> list[str]:
    """Creates a repository with a good commit, followed by this many commits, and returns their hashes."""
    shutil.copy(WORK, folder)
    git(folder, "init", "-q", "-b", "main")
    amount, hashes = float(AMOUNT), []
    for number in range(commits + 1):
        amount *= 1 + steps.get(number, 0)
        (folder / "run.sh").write_text(f"exec ./work {int(amount)} # {number}\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"change {number}")
        hashes.append(git(folder, "rev-parse", "HEAD"))
    return hashes


def one(sizes: list[float], seed: int, options: argparse.Namespace) -> dict:
    """Bisects one repository. Returns whether benchlab named exactly the true commits, and the duration in s."""
    places = random.Random(seed).sample(range(1, options.commits + 1), len(sizes))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hashes = history(folder, dict(zip(places, sizes)), options.commits)
        page = folder / "page.json"
        began = time.monotonic()
        subprocess.run([options.lab, "bisect", "--good", hashes[0], "--bad", "main", "--setup", "cc -O1 -o work work.c",
                        "--metric", options.metric, "--seed", str(seed), "--runs", folder / "runs", "--export", page,
                        "--", "sh", "run.sh"], cwd=folder, check=True, capture_output=True)
        took = time.monotonic() - began
        text = page.read_text()
        named = {row["subject"] for row in json.loads(text)["rows"] if row["case"] == "change"}
        true = {git(folder, "rev-parse", "--short", hashes[place]) for place in places}
        return {"right": named == true, "took": took}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=8)
    parser.add_argument("--commits", type=int, default=32)
    parser.add_argument("--metric", default="cpu")
    parser.add_argument("--lab", type=Path, default=LAB)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lines = ["| history | right | seconds, median (range) |", "|---|--:|--:|"]
    for kind, (title, sizes) in enumerate(KINDS):
        tries = [one(sizes, 1000 * kind + seed, options) for seed in range(options.tries)]
        right = sum(t["right"] for t in tries)
        took = [t["took"] for t in tries]
        lines.append(f"| {title} | {right} of {len(tries)} | "
                     f"{statistics.median(took):.0f} ({min(took):.0f} to {max(took):.0f}) |")
        print(lines[-1], flush=True)
    table = "\n".join(lines)
    if options.output:
        page = options.output.read_text()
        before, _, rest = page.partition("<!-- begin tries -->\n")
        _, _, after = rest.partition("<!-- end tries -->")
        options.output.write_text(f"{before}<!-- begin tries -->\n{table}\n<!-- end tries -->{after}")


if __name__ == "__main__":
    main()
