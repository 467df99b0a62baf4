# SPDX-License-Identifier: Apache-2.0
"""An honest subject on SQLite that logs its process ID and every step in a file of the current directory. Tests use the
log to decide when to interrupt a run and which processes to look for.

If the file `hold` contains a kind of step and a number, the process that takes the step of that kind with that number
then waits until the file is removed or changed.

With the argument `grandchild`, it starts a process that never exits; with `hang`, it hangs in its 20th step.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sql
from lab_kit import Case, Opening, Perform, Work, serve

STEPS = os.open("steps", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
WAYS = sys.argv[1:]


def note(step: str) -> None:
    os.write(STEPS, f"{step} {os.getpid()}\n".encode())
    while is_held(step):
        time.sleep(0.01)


def is_held(step: str) -> bool:
    try:
        kind, number = Path("hold").read_text().split()
    except FileNotFoundError:
        return False
    steps = Path("steps").read_text().splitlines()
    return kind == step and sum(line.startswith(step) for line in steps) >= int(number)


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
