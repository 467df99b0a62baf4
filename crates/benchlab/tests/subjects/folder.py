# SPDX-License-Identifier: Apache-2.0
"""Works in a private folder, and notes there and beside it what it saw: the folder, and how a file of the host was
during each batch. Of operations at a fixed rate it tells latencies of so many ms as its last argument says.
"""

import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote

NOTES, WATCHED, LATENCY_MS = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])


def say(line: str) -> None:
    print(line, flush=True)


def note(line: str) -> None:
    with NOTES.open("a") as notes:
        notes.write(line + "\n")


def index(ns: int) -> int:
    """The bucket of a latency (docs/protocol.md)."""
    exponent = max(0, ns.bit_length() - 6)
    return exponent * 32 + (ns >> exponent)


folder = Path()
say(f"@lab hello protocol=1 subject=folder thread={threading.get_native_id()} runtime=none library=none")
for line in sys.stdin:
    verb, *words = line.split()
    args = dict(word.split("=", 1) for word in words)
    count = args.get("operations", "1")
    told = f"operations={count} units={count} check={count}"
    if verb == "open":
        folder = Path(unquote(args["target"]).removeprefix("folder:"))
        with (folder / "left-by-the-subject").open("a") as mine:
            mine.write("x")
        note(f"folder {folder} {args.get('rate')}")
        say("@lab opened")
    elif verb == "run":
        start = time.monotonic_ns()
        time.sleep(0.002)
        end = time.monotonic_ns()
        if int(count) > 1:
            note(f"watched {WATCHED.read_text().strip()}" if WATCHED.exists() else "watched nothing")
        say(f"@lab ran start={start} end={end} {told} latencies={index(LATENCY_MS * 1_000_000)}:{count}")
    elif verb == "verify":
        say(f"@lab verified {told}")
    elif verb == "close":
        say("@lab closed")
    else:
        break
