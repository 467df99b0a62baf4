# SPDX-License-Identifier: Apache-2.0
"""A counter that loses increments. Its first argument is added to every reply, and contains the metrics with the
number of lost increments. It does not use a kit, because a kit would reject some of these replies.
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
