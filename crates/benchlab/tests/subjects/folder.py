# SPDX-License-Identifier: Apache-2.0
"""A subject that works in its own directory. It leaves a file there, and logs the directory and the content of a
host's file during each batch. Its arguments are the log, the host's file, and the latency in ms that it reports for
operations at a fixed rate.
"""

import sys
import time
from pathlib import Path

from by_hand import commands, say

NOTES, WATCHED, LATENCY_MS = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])


def note(line: str) -> None:
    with NOTES.open("a") as notes:
        notes.write(line + "\n")


def index(ns: int) -> int:
    """Returns the bucket of a latency (docs/protocol.md)."""
    exponent = max(0, ns.bit_length() - 6)
    return exponent * 32 + (ns >> exponent)


folder = Path()
for verb, arguments, work in commands("folder"):
    if verb == "open":
        folder = Path(arguments["target"].removeprefix("folder:"))
        with (folder / "left-by-the-subject").open("a") as leftover:
            leftover.write("x")
        note(f"folder {folder} {arguments.get('rate')}")
    elif verb == "run":
        start = time.monotonic_ns()
        time.sleep(0.002)
        end = time.monotonic_ns()
        count = arguments["operations"]
        if int(count) > 1:
            note(f"watched {WATCHED.read_text().strip()}" if WATCHED.exists() else "watched nothing")
        say(f"@lab ran start={start} end={end} {work} latencies={index(LATENCY_MS * 1_000_000)}:{count}")
