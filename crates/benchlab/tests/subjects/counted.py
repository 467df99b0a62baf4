# SPDX-License-Identifier: Apache-2.0
"""An honest subject on SQLite that keeps a diary in the folder where it is started: which process
it is, and every step that it takes. So a test knows when to strike and whom to look for.

An argument `grandchild` has it start a process that never ends; `hang` has it hang in its 20th step.
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
