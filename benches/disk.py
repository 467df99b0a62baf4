#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the subject of experiments/disk and fio say of the same file: random reads of 4 KiB past the page cache, 1, 4 and 32
at a time, in mirrored turns of a second: `benches/disk.py FOLDER [ROUNDS]`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "build/disk/rust/release/disk"
DEPTHS = (1, 4, 32)
TURN_S = 1


class Subject:
    """The subject, with one case open."""

    def __init__(self, folder: Path, depth: int) -> None:
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.ask(f"open case=random_read depth={depth} cache=cold target=folder:{folder} seed=7")
        self.operations = 2000

    def ask(self, line: str) -> dict[str, str]:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        assert words[1] != "error", words
        return dict(word.split("=", 1) for word in words[2:])

    def reads_per_s(self) -> float:
        ran = self.ask(f"run operations={self.operations}")
        rate = self.operations * 1e9 / (int(ran["end"]) - int(ran["start"]))
        self.operations = max(1, int(rate * TURN_S))
        return rate

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def fio_reads_per_s(file: Path, depth: int) -> float:
    engine = "psync" if depth == 1 else "io_uring"
    output = subprocess.run(
        ["fio", "--name=x", f"--filename={file}", "--readonly", "--rw=randread", "--bs=4k", "--direct=1",
         f"--ioengine={engine}", f"--iodepth={depth}", "--time_based", f"--runtime={TURN_S}", "--randrepeat=0",
         "--norandommap", "--output-format=json"], check=True, capture_output=True, cwd=file.parent)
    return json.loads(output.stdout)["jobs"][0]["read"]["iops"]


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    with tempfile.TemporaryDirectory(prefix="benchlab-fio-", dir=sys.argv[1]) as name:
        folder = Path(name)
        for depth in DEPTHS:
            subject = Subject(folder, depth)
            subject.reads_per_s()  # how many operations fill a turn
            own, fio = [], []
            for turn in range(rounds):
                measures = [lambda: own.append(subject.reads_per_s()),
                            lambda: fio.append(fio_reads_per_s(folder / "large", depth))]
                for measure in measures if turn % 2 == 0 else reversed(measures):
                    measure()
            subject.close()
            ratios = sorted(a / b for a, b in zip(own, fio, strict=True))
            print(f"depth {depth:2}: {statistics.median(own):8.0f} reads/s, fio {statistics.median(fio):8.0f}; "
                  f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f} in {rounds} rounds)")


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    main()
