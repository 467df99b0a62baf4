# SPDX-License-Identifier: Apache-2.0
"""A subject that logs the arguments of `open`, and the state of a host's file at that time."""

import sys
import time
from pathlib import Path

from by_hand import commands, say

NOTES, HOST = Path(sys.argv[1]), Path(sys.argv[2])

for verb, arguments, work in commands("surrounded"):
    if verb == "open":
        values = [arguments.get(key, "none") for key in ("color", "shade", "process")]
        with NOTES.open("a") as notes:
            notes.write(f"{HOST.read_text()}|{'|'.join(values)}\n")
    elif verb == "run":
        start = time.monotonic_ns()
        time.sleep(0.001)
        say(f"@lab ran start={start} end={time.monotonic_ns()} {work}")
