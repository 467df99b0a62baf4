# SPDX-License-Identifier: Apache-2.0
"""A counter that loses increments, and reports how many of each batch, under the names in its first argument. It does
not use a kit, so that it can send replies that a kit would reject.
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
