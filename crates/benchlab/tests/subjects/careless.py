# SPDX-License-Identifier: Apache-2.0
"""Calls in an SQLite file with known wrong effects. The first argument selects the kind."""

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(_PROJECT / "kits/python/src")]

from lab_kit import Opening, Perform, Work, serve  # noqa: E402

Rows = list[tuple[object, int]]
Batch = Callable[[int, int], tuple[Rows, list[int]]]
"""A function that takes a batch's number and its number of calls, and returns the rows to insert and the calls to
report as failed."""


def careless(batch: int, calls: int) -> tuple[Rows, list[int]]:
    """Loses calls with even numbers, and applies calls with odd numbers twice."""
    return [(batch, call) for call in range(1, calls, 2)] * 2, []


def hesitant(batch: int, calls: int) -> tuple[Rows, list[int]]:
    """Like `careless`, but its pilot runs out of time after 16 batches, whose calls have just been checked."""
    if batch == 16:
        time.sleep(0.5)
    return careless(batch, calls)


def timid(batch: int, calls: int) -> tuple[Rows, list[int]]:
    """Reports all calls as failed, although calls with even numbers succeeded."""
    return [(batch, call) for call in range(0, calls, 2)], list(range(calls))


def stray(_: int, calls: int) -> tuple[Rows, list[int]]:
    """Inserts rows that belong to no batch."""
    return [("none", call) for call in range(calls)], []


BATCHES: dict[str, Batch] = {batch.__name__: batch for batch in (careless, hesitant, timid, stray)}


def case(batch: Batch) -> Callable[[Opening], object]:
    @contextmanager
    def opened(opening: Opening) -> Iterator[Perform]:
        number = 0

        def perform(operations: int) -> Work:
            nonlocal number
            number += 1
            rows, failed = batch(number, operations)
            with connection:
                connection.executemany("INSERT INTO effect VALUES (?, ?)", rows)
            return Work(operations, operations, failed=failed)

        with closing(sqlite3.connect(opening.text("target").removeprefix("sqlite:"))) as connection:
            yield perform

    return opened


if __name__ == "__main__":
    serve(sys.argv[1], "sqlite3", {"call": case(BATCHES[sys.argv[1]])})
