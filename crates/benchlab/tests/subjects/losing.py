# SPDX-License-Identifier: Apache-2.0
"""A counter that loses a part of what it counts, and says of each batch how much, in words of its first
argument. Spoken by hand, so that it may say what a kit refuses.
"""

import sys
import time

from by_hand import commands, say

METRICS = sys.argv[1]

for verb, _, work in commands("losing"):
    if verb == "run":
        start = time.monotonic_ns()
        time.sleep(0.001)
        say(f"@lab ran start={start} end={time.monotonic_ns()} {work} {METRICS}")
