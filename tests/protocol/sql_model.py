# SPDX-License-Identifier: Apache-2.0
"""What experiments/sql/README.md says, computed without any subject: the databases, and the check
and the units of each case."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

_MASK = 2**64 - 1


class Expected(NamedTuple):
    check: int
    units: int


class State(NamedTuple):
    """What a database file holds. `changes` is its header's file change counter, which each
    transaction that writes increments (https://www.sqlite.org/fileformat2.html)."""

    rows: int
    total: int
    largest_id: int
    schema: str
    changes: int


def split_mix(seed: int) -> Iterator[int]:
    """The seeded sequence, which repeats its first 4,096 values."""
    first = []
    for i in range(1, 4097):
        z = (seed + i * 0x9E3779B97F4A7C15) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        first.append(z ^ (z >> 31))
    while True:
        yield from first


def make_values(rows: int) -> list[int]:
    """Values from 0 to 2^31 - 1, both ends among them."""
    numbers = random.Random(rows)
    return [0, 2**31 - 1, *(numbers.randrange(2**31) for _ in range(rows - 2))][:rows]


def make_database(path: Path, schema: str, values: list[int]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(schema)
        with connection:
            connection.executemany("INSERT INTO test_simple (value) VALUES (?)", zip(values))


def read_state(path: Path) -> State:
    with closing(sqlite3.connect(path)) as connection:
        ((schema,),) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'test_simple'")
        ((rows, total, largest_id),) = connection.execute(
            "SELECT count(*), coalesce(sum(value), 0), coalesce(max(id), 0) FROM test_simple")
        ((integrity,),) = connection.execute("PRAGMA integrity_check")
    assert integrity == "ok"
    return State(rows, total, largest_id, schema, int.from_bytes(path.read_bytes()[24:28], "big"))


def expect(arguments: dict[str, object], values: list[int], operations: int) -> Expected:
    """What the case that `arguments` opens yields on a table with these values."""
    sequence = split_mix(arguments["seed"])
    match arguments["case"]:
        case "connect" | "select_1" | "drop_create":
            return Expected(operations, operations)
        case "select":
            rows = list(enumerate(values, 1))[:arguments["limit"]]
            one = sum(row_id + value for row_id, value in rows)
            return Expected(operations * one & _MASK, operations * len(rows))
        case "point":
            ids = (1 + s % arguments["rows"] for s in islice(sequence, operations))
            return Expected(sum(values[row_id - 1] for row_id in ids), operations)
        case "insert" | "insert_tx":
            rows = operations * arguments.get("rows_tx", 1)
            return Expected(sum(s >> 33 for s in islice(sequence, rows)), rows)
    raise LookupError(f"write down here what the case {arguments['case']} yields")
