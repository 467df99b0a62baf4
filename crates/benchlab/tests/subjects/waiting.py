# SPDX-License-Identifier: Apache-2.0
"""A subject whose calls write to an SQLite file and wait up to 20 ms for its lock. The first argument selects whether
a failed call is retried until it succeeds."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(_PROJECT / "kits/python/src")]

from lab_kit import Opening, Perform, Work, serve  # noqa: E402

NAME = sys.argv[1]


@contextmanager
def call(opening: Opening) -> Iterator[Perform]:
    path = opening.text("target").removeprefix("sqlite:")
    batch = 0

    def try_call(number: int) -> bool:
        try:
            with connection:
                connection.execute("INSERT INTO effect VALUES (?, ?)", (batch, number))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def perform(operations: int) -> Work:
        nonlocal batch
        batch += 1
        failed = []
        for number in range(operations):
            while not try_call(number):
                if NAME == "impatient":
                    failed.append(number)
                    break
        return Work(operations, operations, failed=failed)

    with closing(sqlite3.connect(path, timeout=0.02)) as connection:
        yield perform


if __name__ == "__main__":
    serve(NAME, "sqlite3", {"call": call})
