#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the subject of experiments/disk with fio on the same file system, in mirrored turns of one second:
`benches/disk.py FOLDER [ROUNDS]`. The ratio is the median over the rounds, with its order-statistic interval
(Conover, Practical Nonparametric Statistics, 3.2), at 95 % or more."""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "build/rust/release/disk"
TURN_S = 1
ROUNDS = 12


@dataclass(frozen=True)
class Case:
    """A case that does the same work in both programs."""

    case: str
    """The case, as in the subject's command `open`."""
    file: str
    fio: tuple[str, ...]


READ = ("--rw=randread", "--bs=4k", "--direct=1", "--readonly", "--randrepeat=0", "--norandommap")
CASES = (
    Case("random_read depth=1 cache=cold", "large", (*READ, "--ioengine=psync")),
    Case("random_read depth=4 cache=cold", "large", (*READ, "--ioengine=io_uring", "--iodepth=4")),
    Case("random_read depth=32 cache=cold", "large", (*READ, "--ioengine=io_uring", "--iodepth=32")),
    Case("sequential_read cache=cold", "large", ("--rw=read", "--bs=1M", "--direct=1", "--readonly", "--ioengine=psync")),
    Case("sequential_write", "written", ("--rw=write", "--bs=1M", "--direct=1", "--ioengine=psync", "--overwrite=1")),
    Case("append", "fio-appended", ("--rw=write", "--bs=4k", "--fsync=1", "--ioengine=psync", "--size=64M")),
)


class Subject:
    """The subject with one case open."""

    def __init__(self, folder: Path, case: str) -> None:
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.ask(f"open case={case} target=folder:{folder} seed=7")
        self.operations = 100

    def ask(self, line: str) -> dict[str, str]:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        assert words[1] != "error", words
        return dict(word.split("=", 1) for word in words[2:])

    def per_s(self) -> float:
        ran = self.ask(f"run operations={self.operations}")
        rate = self.operations * 1e9 / (int(ran["end"]) - int(ran["start"]))
        self.operations = max(1, int(rate * TURN_S))
        return rate

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def fio_per_s(folder: Path, case: Case) -> float:
    output = subprocess.run(
        ["fio", "--name=x", f"--filename={folder / case.file}", "--time_based", f"--runtime={TURN_S}",
         "--output-format=json", *case.fio], check=True, capture_output=True, cwd=folder)
    job = json.loads(output.stdout)["jobs"][0]
    return job["read" if "read" in case.case else "write"]["iops"]


def interval(values: list[float]) -> tuple[float, float]:
    """Returns the interval of the median, from the k-th value to the k-th value from the end, with the largest k
    for which the confidence level is at least 95 %."""
    n = len(values)
    beyond = [2 * sum(math.comb(n, i) for i in range(k)) / 2**n for k in range(n // 2 + 1)]
    k = max((k for k, p in enumerate(beyond) if k and p <= 0.05), default=0)
    if k == 0:
        sys.exit("at least 6 rounds are needed")
    return sorted(values)[k - 1], sorted(values)[n - k]


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    with tempfile.TemporaryDirectory(prefix="benchlab-fio-", dir=sys.argv[1]) as name:
        folder = Path(name)
        for case in CASES:
            subject = Subject(folder, case.case)
            for _ in range(2):
                subject.per_s()  # finds the number of operations that fill a turn
            fio_per_s(folder, case)
            own, fio = [], []
            for turn in range(rounds):
                measures = [lambda: own.append(subject.per_s()), lambda: fio.append(fio_per_s(folder, case))]
                for measure in measures if turn % 2 == 0 else reversed(measures):
                    measure()
            subject.close()
            ratios = [a / b for a, b in zip(own, fio, strict=True)]
            low, high = interval(ratios)
            print(f"{case.case:32} {statistics.median(own):8.0f}/s, fio {statistics.median(fio):8.0f}/s; "
                  f"ratio {statistics.median(ratios):.2f} ({low:.2f} to {high:.2f}, {rounds} rounds)", flush=True)


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    main()
