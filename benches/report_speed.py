#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long a report of a large run takes: opening the file, analyzing it, rendering the whole HTML page.

    benches/report_speed.py RUN.lab [--samples 1000000] [--times 7]

It makes a copy of a run whose blocks are repeated until it contains this many samples.
"""

import argparse
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent / "target" / "release" / "benchlab"


def enlarge(source: Path, target: Path, samples: int) -> int:
    """Copies a run and repeats its complete blocks. Returns the number of samples."""
    shutil.copy(source, target)
    with sqlite3.connect(target) as db:
        blocks = [b for (b,) in db.execute("SELECT id FROM block WHERE state = 'complete' ORDER BY id")]
        number = len(blocks)
        count = lambda: db.execute("SELECT count(*) FROM sample").fetchone()[0]
        while count() < samples:
            for block in blocks:
                cursor = db.execute(
                    "INSERT INTO block SELECT NULL, ?, 0, core, state, started_unix_s, duration_ns, steal,"
                    " foreign_load, memory_pressure, swapped_pages, throttled FROM block WHERE id = ?", (number, block))
                number += 1
                for table in ("sample", "process", "resource"):
                    columns = [c[1] for c in db.execute(f"PRAGMA table_info({table})")][1:]
                    names = ", ".join(columns)
                    db.execute(f"INSERT INTO {table} SELECT ?, {names} FROM {table} WHERE block = ?",
                               (cursor.lastrowid, block))
        return count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.lab"
        samples = enlarge(args.run, large, args.samples)
        page = Path(folder) / "page.html"
        seconds = []
        for _ in range(args.times):
            begin = time.monotonic()
            subprocess.run([LAB, "report", large, "--format", "html", "--output", page], check=True)
            seconds.append(time.monotonic() - begin)
        print(f"{samples} samples, {large.stat().st_size / 1e6:.0f} MB: "
              f"median {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), "
              f"{page.stat().st_size / 1000:.0f} kB of HTML")


if __name__ == "__main__":
    main()
