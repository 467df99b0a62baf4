# SPDX-License-Identifier: Apache-2.0
"""Measures how fast `benchlab profile` reads a Callgrind file of 2 GB, how much memory it needs, and how long a whole
report of 100 MB takes: `python3 benches/profile_speed.py target/local/benchlab [GB]`. The file repeats Callgrind's
output for `git --version`, each time as a part.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MB = 1_000_000


def recorded(folder: Path) -> bytes:
    file = folder / "part"
    subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--cache-sim=yes",
         f"--callgrind-out-file={file}", "git", "--version"],
        check=True, stdout=subprocess.DEVNULL,
    )
    return file.read_bytes()


def write(file: Path, part: bytes, size: int) -> int:
    with file.open("wb") as out:
        for _ in range(-(-size // len(part))):
            out.write(part)
    return file.stat().st_size


def report(lab: str, file: Path, form: str) -> tuple[float, float, float]:
    """Returns wall and CPU seconds, and the peak memory in MB."""
    began = time.monotonic()
    with open(os.devnull, "wb") as nowhere:
        lab_process = subprocess.Popen([lab, "profile", "--callgrind", str(file), "--format", form], stdout=nowhere)
        _, status, usage = os.wait4(lab_process.pid, 0)
    assert status == 0, status
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    lab = sys.argv[1]
    gigabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        part = recorded(folder)
        file = folder / "callgrind.out"
        for size, form in [(len(part), "csv"), (100 * MB, "html"), (int(gigabytes * 1000) * MB, "csv")]:
            size = write(file, part, size)
            runs = [report(lab, file, form) for _ in range(3)]
            wall, cpu, memory = (sorted(values) for values in zip(*runs))
            print(f"{size / MB:8.1f} MB as {form:4}  wall {wall[0]:.2f} to {wall[-1]:.2f} s, CPU {cpu[0]:.2f} to {cpu[-1]:.2f} s "
                  f"({size / MB / cpu[-1]:.0f} to {size / MB / cpu[0]:.0f} MB/s of CPU time), peak memory {memory[-1]:.0f} MB")


main()
