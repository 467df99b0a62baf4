# SPDX-License-Identifier: Apache-2.0
"""An honest subject of the case noop whose batches wait while the file `hold` exists. A process that waits appends a
line to the file `held`. Tests use `hold` to stop a run in the middle of a block."""

import os
import time

from by_hand import commands, say

HELD = os.open("held", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

for verb, _, work in commands("holding"):
    if verb == "run":
        if os.path.exists("hold"):
            os.write(HELD, b"held\n")
            while os.path.exists("hold"):
                time.sleep(0.01)
        start = time.monotonic_ns()
        end = time.monotonic_ns() + 1
        while time.monotonic_ns() <= end:
            pass
        say(f"@lab ran start={start} end={end} {work}")
