# SPDX-License-Identifier: Apache-2.0
"""An implementation of the protocol without a kit, for subjects that send invalid replies or make no other system calls."""

import sys
import threading
from collections.abc import Iterator
from urllib.parse import unquote


def say(line: str) -> None:
    print(line, flush=True)


def commands(subject: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yields benchlab's commands until `quit`, each with its verb and arguments. The subject itself replies to
    `run`."""
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
