# SPDX-License-Identifier: Apache-2.0
"""An honest subject on SQLite that logs its process ID and every step in a file of the current directory. Tests use the
log to decide when to interrupt a run and which processes to look for.

With the argument `grandchild`, it starts a process that never exits; with `hang`, it hangs in its 20th step.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sql
from lab_kit import Case, Opening, Perform, Work, serve

STEPS = os.open("steps", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
WAYS = sys.argv[1:]


def note(step: str) -> None:
    os.write(STEPS, f"{step} {os.getpid()}\n".encode())


def diarist(honest: Case) -> Case:
    @contextmanager
    def case(opening: Opening) -> Iterator[Perform]:
        with honest(opening) as perform:

            def noted(operations: int) -> Work:
                note("perform")
                if "hang" in WAYS and open("steps").read().count(f"perform {os.getpid()}\n") == 20:
                    note("hang")
                    time.sleep(1000)
                return perform(operations)

            yield noted

    return case


if __name__ == "__main__":
    note("start")
    if "grandchild" in WAYS:
        child = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(1000)"])
        os.write(STEPS, f"start {child.pid}\n".encode())
    serve("counted", "sqlite3", {name: diarist(case) for name, case in sql.HONEST.items()})
    note("quit")
