# SPDX-License-Identifier: Apache-2.0
"""The protocol spoken by hand: for subjects that say what a kit refuses, or make no call but their own."""

import sys
import threading
from collections.abc import Iterator
from urllib.parse import unquote


def say(line: str) -> None:
    print(line, flush=True)


def commands(subject: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Commands of benchlab until `quit`: verb, arguments, and the work of a reply. The subject itself replies to `run`."""
    say(f"@lab hello protocol=1 subject={subject} thread={threading.get_native_id()} runtime=none library=none")
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "quit":
            return
        arguments = {key: unquote(value) for key, value in (word.split("=", 1) for word in words)}
        count = arguments.get("operations", "1")
        work = f"operations={count} units={count} check={count}"
        yield verb, arguments, work
        if verb != "run":
            say({"open": "@lab opened", "verify": f"@lab verified {work}", "close": "@lab closed"}[verb])
