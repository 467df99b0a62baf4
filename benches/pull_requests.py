#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the GitHub action on pull requests whose answer is known, next to a process that keeps a core half busy.

    benches/pull_requests.py [--slower 20] [--empty 40] [--languages rust,go,python] [--output PAGE]

For each language a small repository is made whose program takes about 70 ms. A pull request makes the program do 5 %
more work, or changes a comment only. The steps of action.yml run as a runner runs them: in a clone, with GitHub's
environment variables, with benchlab in the action's cache. A slower pull request must fail, and an empty one must not.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "target/local/benchlab"
WANTED_S = 0.070
MORE = 1.05

WORKFLOW = """\
on: pull_request
jobs:
  benchlab:
    runs-on: ubuntu-latest
    steps: [{uses: actions/checkout@v4, with: {fetch-depth: 0}}, {uses: benchlab/benchlab@main}]
"""

CONFIG = """\
[compare.work]
setup = {setup}
command = {command}
ci = true
fail-if = ["{condition}"]
inconclusive = "warn"
for = "{time}"
"""

RUST = """\
// {note}
fn main() {{
    let mut x: u64 = std::env::args().count() as u64;
    for _ in 0..{rounds}u64 {{
        x = x.wrapping_mul(6364136223846793005).rotate_left(7) ^ 99;
    }}
    println!("{{x}}");
}}
"""

GO = """\
// {note}
package main

import (
\t"fmt"
\t"math/bits"
\t"os"
)

func main() {{
\tx := uint64(len(os.Args))
\tfor i := uint64(0); i < {rounds}; i++ {{
\t\tx = bits.RotateLeft64(x*6364136223846793005, 7) ^ 99
\t}}
\tfmt.Println(x)
}}
"""

PYTHON = """\
# {note}
x = 1
for _ in range({rounds}):
    x = x * 1103515245 + 12345 & 0xFFFFFFFF
print(x)
"""


@dataclass
class Language:
    name: str
    source: str
    text: str
    rounds: int
    command: list[str]
    setup: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


LANGUAGES = [
    Language("rust", "src/main.rs", RUST, 30_000_000, ["target/release/work"],
             ["cargo", "build", "--release", "--offline", "--quiet"],
             {"Cargo.toml": '[package]\nname = "work"\nversion = "0.1.0"\nedition = "2021"\n',
              "Cargo.lock": 'version = 3\n\n[[package]]\nname = "work"\nversion = "0.1.0"\n',
              ".gitignore": "target/\n"}),
    Language("go", "main.go", GO, 30_000_000, ["./work"], ["go", "build", "-o", "work", "."],
             {"go.mod": "module example.org/work\n\ngo 1.22\n", ".gitignore": "/work\n"}),
    Language("python", "work.py", PYTHON, 600_000, [sys.executable, "work.py"]),
]


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def write(folder: Path, language: Language, rounds: int, note: str) -> None:
    for name, text in language.files.items() | {language.source: language.text.format(note=note, rounds=rounds)}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def seconds(language: Language, rounds: int) -> float:
    """Returns the median time of the program over 15 runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, language, rounds, "calibration")
        if language.setup:
            subprocess.run(language.setup, cwd=folder, check=True, capture_output=True)
        took = []
        for _ in range(15):
            began = time.perf_counter()
            subprocess.run(language.command, cwd=folder, check=True, capture_output=True)
            took.append(time.perf_counter() - began)
        return statistics.median(took)


def calibrated(language: Language) -> tuple[int, int]:
    """Returns the rounds of the program at the base, and the rounds with which it takes 5 % more time."""
    start, whole = seconds(language, 0), seconds(language, language.rounds)
    per_round = (whole - start) / language.rounds
    rounds = round((WANTED_S - start) / per_round)
    return rounds, rounds + round((MORE - 1) * WANTED_S / per_round)


def steps() -> list[str]:
    """Returns the scripts of the action's steps, in order."""
    text = (ROOT / "action.yml").read_text()
    blocks = re.findall(r"^      run: \|\n((?:        .*\n|\n)+)", text, re.MULTILINE)
    return [re.sub(r"^ {8}", "", block, flags=re.MULTILINE) for block in blocks]


class Runner:
    """A directory with the files and variables that a runner provides, and with benchlab in the action's cache."""

    def __init__(self, folder: Path, lab: Path) -> None:
        self.folder = folder
        cache = folder / "home/.cache/benchlab/program/bin"
        cache.mkdir(parents=True)
        shutil.copy(lab, cache / "benchlab")
        (folder / "temp").mkdir()

    def read(self, name: str) -> str:
        file = self.folder / name
        return file.read_text() if file.exists() else ""

    def run(self, clone: Path, arguments: str) -> int:
        """Runs the steps in a clone, and returns the exit code of the last one."""
        for name in ("output", "path", "summary"):
            (self.folder / name).unlink(missing_ok=True)
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("BENCHLAB_")},
            # The toolchains' own directories stay where they are.
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
            "GOPATH": os.environ.get("GOPATH", str(Path.home() / "go")),
            "GOCACHE": os.environ.get("GOCACHE", str(Path.home() / ".cache/go-build")),
            "HOME": str(self.folder / "home"), "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_BASE_REF": "main",
            "GITHUB_OUTPUT": str(self.folder / "output"), "GITHUB_PATH": str(self.folder / "path"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "RUNNER_TEMP": str(self.folder / "temp"),
            "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "BENCHLAB_SOURCE": str(ROOT), "BENCHLAB_ARGUMENTS": arguments,
        }
        code = 0
        for script in steps():
            file = self.folder / "step.sh"
            file.write_text(script)
            added = ":".join(reversed(self.read("path").split()))
            with (self.folder / "log").open("w") as log:
                code = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", file], cwd=clone, stdout=log,
                                      stderr=subprocess.STDOUT,
                                      env={**environment, "PATH": f"{added}:{os.environ['PATH']}"}).returncode
        return code


def pull_request(origin: Path, language: Language, rounds: tuple[int, int], options: argparse.Namespace) -> None:
    """Makes a repository with a base on main, and the pull request on the branch change."""
    write(origin, language, rounds[0], "base")
    workflow = origin / ".github/workflows/benchlab.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(WORKFLOW)
    line = " ".join
    (origin / "benchlab.toml").write_text(CONFIG.format(setup=json.dumps(line(language.setup) or "true"),
                                                        command=json.dumps(line(language.command)),
                                                        condition=options.condition, time=options.time))
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "Begin")
    git(origin, "checkout", "-q", "-b", "change")
    write(origin, language, rounds[1], "changed")
    git(origin, "commit", "-q", "-a", "-m", "Change it")


def one(language: Language, rounds: tuple[int, int], options: argparse.Namespace) -> dict:
    """Runs the action on one pull request."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "origin").mkdir()
        pull_request(folder / "origin", language, rounds, options)
        git(folder, "clone", "-q", "--branch", "change", str(folder / "origin"), "clone")
        runner = Runner(folder, options.lab)
        began = time.monotonic()
        page = folder / "page.json"
        code = runner.run(folder / "clone", f"ci --export {page}")
        took = time.monotonic() - began
        if code not in (0, 3):
            raise SystemExit(f"{language.name}: exit code {code}\n{runner.read('log')}")
        document = json.loads(page.read_text())
        (gate,) = document["gates"]
        summary = runner.read("summary")
        header = [cell.strip() for row in summary.splitlines() if row.startswith("| entry") for cell in row.split("|")]
        assert {"base", "head", "ratio", "verdict"} <= set(header), summary
        return {"failed": code == 3, "decision": gate["decision"], "ratio": gate["value"]["value"],
                "low": gate["value"].get("low"), "high": gate["value"].get("high"), "took": took}


@contextmanager
def half_busy_core() -> Iterator[None]:
    """Runs a process that computes for 10 ms and sleeps for 10 ms, in turns."""
    text = "import time\nwhile True:\n end = time.monotonic() + 0.01\n while time.monotonic() < end: pass\n time.sleep(0.01)\n"
    process = subprocess.Popen([sys.executable, "-c", text])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def row(language: Language, change: str, tries: list[dict]) -> str:
    count = {decision: sum(t["decision"] == decision for t in tries) for decision in ("failed", "inconclusive", "passed")}
    ratios, took = [t["ratio"] for t in tries], [t["took"] for t in tries]
    width = [(t["high"] - t["low"]) / 2 * 100 for t in tries if t["low"] is not None]
    return (f"| {language.name} | {change} | {sum(t['failed'] for t in tries)} of {len(tries)} | {count['inconclusive']} | "
            f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}) | "
            f"±{statistics.median(width):.1f} % | {statistics.median(took):.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slower", type=int, default=20, help="tries of a pull request that is 5 %% slower")
    parser.add_argument("--empty", type=int, default=40, help="tries of a pull request without an effect")
    parser.add_argument("--languages", default="rust,go,python")
    parser.add_argument("--condition", default="time>+3%")
    parser.add_argument("--time", default="60s", help="the maximum time of a comparison")
    parser.add_argument("--lab", type=Path, default=LAB)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    names = options.languages.split(",")
    lines = ["| language | pull request | failed | inconclusive | ratio, median (range) | half width, median | seconds, median |",
             "|---|---|--:|--:|--:|--:|--:|"]
    print("\n".join(lines), flush=True)
    for language in [language for language in LANGUAGES if language.name in names]:
        rounds = calibrated(language)
        with half_busy_core():
            for change, head, tries in (("5 % slower", rounds[1], options.slower), ("empty", rounds[0], options.empty)):
                results = [one(language, (rounds[0], head), options) for _ in range(tries)]
                if results:
                    lines.append(row(language, change, results))
                    print(lines[-1], flush=True)
    if options.output:
        page = options.output.read_text()
        before, _, rest = page.partition("<!-- begin tries -->\n")
        _, _, after = rest.partition("<!-- end tries -->")
        table = "\n".join(lines)
        options.output.write_text(f"{before}<!-- begin tries -->\n{table}\n<!-- end tries -->{after}")


if __name__ == "__main__":
    main()
