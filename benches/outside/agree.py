#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares benchlab with the usual tool of each language on operations of subjects in Java, Python, Go and Rust: JMH,
pyperf, `testing.B`, Criterion. It checks whether their results agree within 5 %.

    benches/outside/agree.py [--short | --thorough] [--languages java,…] [--cases counter,…] [--output FILE]

counter  one increment of the atomic counter of the experiment `counter`
cache    one read of the concurrent map of the experiment `cache`, with keys distributed by Zipf's law
pool     one lease and its release, of the experiment `pool`
counter2 as `counter`, by 2 threads on 2 cores, each of which does half (not by default, and not in Python)

Both tools open the same case of the same subject and call its loop with a number of operations, on the same core, in
turns: benchlab, the tool, the tool, benchlab and so on. A result of benchlab is its typical wall time of an
operation; a result of the other tool is the median of what it calls its samples: JMH's iterations, pyperf's values,
the counts of `go test`, Criterion's samples. The script exits with 1 if any two results disagree. The machine must
have no other load. By default it takes about 6 minutes, with --thorough about 14, in addition to the builds.
"""

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "outside"
sys.path.insert(1, str(HERE.parent / "load"))

import bench  # noqa: E402
from bench import Failure  # noqa: E402

WITHIN = 0.05


@dataclass(frozen=True)
class Case:
    """A case of an experiment, and how it is selected."""

    experiment: str
    name: str
    settings: tuple[str, ...] = ()
    threads: int = 1
    languages: tuple[str, ...] = ("java", "python", "go", "rust")


CASES = {
    "counter": Case("counter", "increment", ("threads=1", "scheme=atomic")),
    "cache": Case("cache", "read_only", ("threads=1", "scheme=concurrent")),
    "pool": Case("pool", "uncontended"),
    "counter2": Case("counter", "increment", ("threads=2", "scheme=atomic"), 2, ("java", "go", "rust")),
}


@dataclass(frozen=True)
class Effort:
    """The amount of work in each round."""

    rounds: int
    budget_s: int
    """The budget of a run of benchlab."""
    jmh: tuple[str, ...]
    pyperf: tuple[str, ...]
    go: tuple[str, ...]
    criterion: tuple[str, ...]


SHORT = Effort(1, 3, ("-f", "1", "-wi", "2", "-w", "300ms", "-i", "3", "-r", "300ms"),
               ("--processes", "2", "--values", "2", "--warmups", "1"),
               ("-test.count", "2", "-test.benchtime", "0.2s"),
               ("--warm-up-time", "0.3", "--measurement-time", "0.5", "--sample-size", "10"))
# A round is one fork of JMH. It warms up for 2 s; the loops are compiled within half a second.
DEFAULT = Effort(2, 8, ("-f", "1", "-wi", "4", "-w", "500ms", "-i", "10", "-r", "300ms"),
               ("--processes", "6"),
               ("-test.count", "6", "-test.benchtime", "0.5s"),
               ("--warm-up-time", "1", "--measurement-time", "3"))
# pyperf and Criterion with their defaults: 20 processes with 3 values each; 3 s to warm up, 100 samples in 5 s.
THOROUGH = Effort(4, 8, DEFAULT.jmh, (), DEFAULT.go, ())


def run(command: list[object], cores: set[int] | None = None, **options) -> str:
    """Returns the output of a program on these cores, or raises a Failure with its last lines if it fails."""
    pin = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    done = subprocess.run([str(word) for word in command], cwd=ROOT, preexec_fn=pin, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, **options)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise Failure(f"{command[0]} exited with status {done.returncode}:\n{last}")
    return done.stdout


def declared(experiment: str, language: str) -> dict:
    """Returns the subject of this language, as its experiment declares it."""
    subjects = tomllib.loads((ROOT / "experiments" / experiment / "experiment.toml").read_text())["subject"]
    return next(subject for subject in subjects if subject["name"] == language)


def benchlab(args: argparse.Namespace, case: Case, language: str, cores: set[int]) -> bench.Interval:
    """Returns the typical wall time of an operation, in ns."""
    settings = [word for setting in case.settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as folder:
        run([args.lab, "run", case.experiment, "--subjects", language, "--cases", case.name, *settings, "--no-control",
             "--budget", f"{args.effort.budget_s}s", "--seed", 1, "--runs", folder], cores)
        (file,) = Path(folder).glob("*.lab")
        rows = json.loads(run([args.lab, "report", file, "--format", "json"]))["rows"]
    value = next(row["value"] for row in rows
                 if row["case"] == case.name and row["subject"] == language and row["metric"]["id"] == "wall")
    return bench.Interval(value["value"], value.get("low", math.nan), value.get("high", math.nan), value.get("level", 0.0))


class Java:
    """JMH, in a JVM with the subject's options."""

    tool = "JMH"
    jmh = OUT / "java" / "lib"

    @staticmethod
    def class_path(experiments: list[str]) -> str:
        of_subjects = [f"build/{name}/java/{part}" for name in experiments for part in ("classes", "lib/*")]
        return ":".join(["build/outside/java/classes", "build/outside/java/lib/*", *of_subjects])

    @classmethod
    def build(cls) -> None:
        run(["mvn", "-q", "-B", "-ntp", "-f", HERE / "java" / "pom.xml", "dependency:copy-dependencies"])
        shutil.rmtree(OUT / "java" / "classes", ignore_errors=True)
        run(["javac", "--release", "17", "-Xlint:all,-processing", "-d", OUT / "java" / "classes",
             "-cp", cls.class_path(["counter", "cache", "pool"]), *(HERE / "java" / "src").rglob("*.java")])

    @classmethod
    def samples(cls, case: Case, effort: Effort, cores: set[int]) -> list[float]:
        program = declared(case.experiment, "java")["program"]
        options = program[1:program.index("-cp")]
        with tempfile.NamedTemporaryFile(suffix=".json") as said:
            run([program[0], *options, "-cp", cls.class_path([case.experiment]), "org.openjdk.jmh.Main",
                 rf"\.Operations\.{case.experiment}$", "-p", f"threads={case.threads}", "-jvm", shutil.which(program[0]),
                 "-jvmArgs", " ".join(options), *effort.jmh, "-foe", "true", "-rf", "json", "-rff", said.name], cores)
            (found,) = json.load(said)
        return [value for fork in found["primaryMetric"]["rawData"] for value in fork]


class Python:
    """pyperf, in an environment with the same interpreter."""

    tool = "pyperf"

    @staticmethod
    def build() -> None:
        run(["sh", "kits/python/environment.sh", OUT / "python", HERE / "python" / "requirements.txt"])

    @staticmethod
    def samples(case: Case, effort: Effort, cores: set[int]) -> list[float]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "said.json"
            run([OUT / "python" / "venv" / "bin" / "python", "-B", HERE / "python" / "operations.py",
                 "--experiment", case.experiment, "--threads", case.threads, "--affinity", ",".join(map(str, cores)),
                 *effort.pyperf, "--quiet", "--output", file], cores)
            runs = json.loads(file.read_text())["benchmarks"][0]["runs"]
        return [value * 1e9 for one in runs for value in one.get("values", [])]


class Go:
    """`go test` of the subject's package with two more files, compiled with the subject's flags."""

    tool = "testing.B"

    @staticmethod
    def build() -> None:
        for experiment in ("counter", "cache", "pool"):
            package = ROOT / "experiments" / experiment / "go"
            overlay = OUT / "go" / f"{experiment}.json"
            overlay.parent.mkdir(parents=True, exist_ok=True)
            more = {package / f"outside_{name}_test.go": HERE / "go" / f"{name}_test.go" for name in (experiment, "operation")}
            overlay.write_text(json.dumps({"Replace": {str(to): str(source) for to, source in more.items()}}))
            cgo = {} if experiment == "pool" else {"CGO_ENABLED": "0"}
            run(["go", "test", "-C", package, "-c", "-trimpath", "-overlay", overlay,
                 "-o", OUT / "go" / f"{experiment}.test", "."], env={**os.environ, **cgo})

    @staticmethod
    def samples(case: Case, effort: Effort, cores: set[int]) -> list[float]:
        said = run([OUT / "go" / f"{case.experiment}.test", "-test.run", "^$",
                    "-test.bench", f"^BenchmarkOperation$/^threads={case.threads}$", *effort.go], cores)
        return [float(value) for value in re.findall(r"^Benchmark\S+\s+\d+\s+([0-9.]+) ns/op", said, re.MULTILINE)]


class Rust:
    """Criterion on the subject's own files, compiled with the subject's profile."""

    tool = "Criterion"
    programs: dict[str, str] = {}

    @classmethod
    def build(cls) -> None:
        said = run(["cargo", "bench", "--quiet", "--no-run", "--locked", "--manifest-path", HERE / "rust" / "Cargo.toml",
                    "--target-dir", OUT / "rust", "--message-format", "json"])
        for line in map(json.loads, said.splitlines()):
            if line["reason"] == "compiler-artifact" and line["executable"]:
                cls.programs[line["target"]["name"]] = line["executable"]

    @classmethod
    def samples(cls, case: Case, effort: Effort, cores: set[int]) -> list[float]:
        name = f"{case.experiment} {case.threads}"
        home = OUT / "criterion"
        run([cls.programs[case.experiment], "--bench", f"^{name}$", "--noplot", *effort.criterion], cores,
            env={**os.environ, "CRITERION_HOME": str(home)})
        found = json.loads((home / name / "new" / "sample.json").read_text())
        return [time / operations for time, operations in zip(found["times"], found["iters"])]


LANGUAGES = {"java": Java, "python": Python, "go": Go, "rust": Rust}


@dataclass
class Compared:
    """The rounds of a case in a language."""

    lab: list[bench.Interval]
    tool: list[list[float]]

    @property
    def ratios(self) -> list[float]:
        """Returns the tool's time in each round, as a multiple of benchlab's."""
        return [statistics.median(samples) / own.estimate for own, samples in zip(self.lab, self.tool)]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def agrees(self) -> bool:
        return abs(self.ratio - 1) <= WITHIN

    def row(self, language: str, name: str) -> list[str]:
        """Returns a row of the table."""
        own, low, high = (statistics.median(getattr(one, key) for one in self.lab) for key in ("estimate", "low", "high"))
        interval = "no interval" if math.isnan(low + high) else f"{low:.4g} to {high:.4g}"
        medians = [statistics.median(samples) for samples in self.tool]
        within = sum(abs(ratio - 1) <= WITHIN for ratio in self.ratios)
        return [language, name, f"{own:.4g} ({interval})", LANGUAGES[language].tool,
                f"{statistics.median(medians):.4g} ({min(medians):.4g} to {max(medians):.4g})",
                f"{self.ratio:.3f} ({min(self.ratios):.3f} to {max(self.ratios):.3f})",
                f"{'yes' if self.agrees else '**no**'}, {within} of {len(self.ratios)}"]


def compare(args: argparse.Namespace, case: Case, language: str, cores: set[int]) -> Compared:
    """Runs rounds, in which the tools alternate in going first."""
    lab, tool = [], []
    for number in range(args.effort.rounds):
        turns: list[Callable[[], None]] = [
            lambda: lab.append(benchlab(args, case, language, cores)),
            lambda: tool.append(LANGUAGES[language].samples(case, args.effort, cores))]
        for turn in turns if number % 2 == 0 else reversed(turns):
            turn()
    return Compared(lab, tool)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default_cases = [name for name, case in CASES.items() if case.threads == 1]
    parser.add_argument("--languages", type=lambda text: text.split(","), default=list(LANGUAGES), help="[default: all four]")
    parser.add_argument("--cases", type=lambda text: text.split(","), default=default_cases, help="[default: counter,cache,pool]")
    parser.add_argument("--core", type=int, default=1, help="core of the case, and of the tool that measures it [default: 1]")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--short", dest="effort", action="store_const", const=SHORT,
                        help="builds everything and checks that it works, without results")
    effort.add_argument("--thorough", dest="effort", action="store_const", const=THOROUGH, help="4 longer rounds instead of 2")
    parser.add_argument("--lab", type=Path, default=ROOT / "benchlab", help="the benchlab program [default: ./benchlab]")
    parser.add_argument("--output", type=Path, help="a file that the table is appended to")
    parser.set_defaults(effort=DEFAULT)
    args = parser.parse_args()
    if unknown := {*args.languages} - {*LANGUAGES} | {*args.cases} - {*CASES}:
        parser.error(f"unknown language or case: {', '.join(unknown)}")
    os.environ["BENCHLAB_PROJECT"] = str(ROOT)

    chosen = [(language, name) for name in args.cases for language in args.languages if language in CASES[name].languages]
    print("building", file=sys.stderr)
    for experiment in sorted({CASES[name].experiment for name in CASES}):
        for language in args.languages:
            for command in declared(experiment, language).get("build", []):
                run(command)
    for language in args.languages:
        LANGUAGES[language].build()

    warning = bench.busy()
    found = {}
    for language, name in chosen:
        case = CASES[name]
        cores = {args.core} if case.threads == 1 else {args.core, *sorted(os.sched_getaffinity(0) - {args.core})[:case.threads - 1]}
        found[language, name] = compare(args, case, language, cores)
        print(" | ".join(found[language, name].row(language, name)), file=sys.stderr)

    head = ["language", "case", "benchlab, ns", "tool", "the tool's figure, ns", "ratio", "within 5 %"]
    rows = [compared.row(language, name) for (language, name), compared in found.items()]
    made = bench.paragraph(f"""Measured by `benches/outside/agree.py` on {bench.machine()}. Medians over
        {args.effort.rounds} rounds. Parentheses hold benchlab's interval, and the lowest and highest round of the other tool and
        of the ratio. The last column: is the median ratio within 5 % of 1, and in how many rounds.""")
    bench.publish(args, f"{warning}{made}\n\n{bench.table(head, rows)}\n")
    if apart := [f"{name} in {language}" for (language, name), compared in found.items() if not compared.agrees]:
        raise Failure(f"more than 5 % apart: {', '.join(apart)}")


if __name__ == "__main__":
    bench.run(main)
