# SPDX-License-Identifier: Apache-2.0
"""A counter that loses a part of what it counts, and says of each batch how much, in words of its first
argument. Spoken by hand, so that it may say what a kit refuses.
"""

import sys
import threading
import time

TOLD = sys.argv[1]


def say(line: str) -> None:
    print(line, flush=True)


say(f"@lab hello protocol=1 subject=losing thread={threading.get_native_id()} runtime=none library=none")
for line in sys.stdin:
    verb, *words = line.split()
    count = dict(word.split("=", 1) for word in words).get("operations", "1")
    work = f"operations={count} units={count} check={count}"
    if verb == "run":
        start = time.monotonic_ns()
        time.sleep(0.001)
        say(f"@lab ran start={start} end={time.monotonic_ns()} {work} {TOLD}")
    elif verb == "quit":
        break
    else:
        say({"open": "@lab opened", "verify": f"@lab verified {work}", "close": "@lab closed"}[verb])
