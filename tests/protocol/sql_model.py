# SPDX-License-Identifier: Apache-2.0
"""The results that experiments/sql/README.md defines, computed without a subject and without a database: the tables'
rows, and for each case the check, the units, the statements and the remaining rows."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

_MASK = 2**64 - 1

ROWS = 1200
"""Rows of test_simple and of test_mixed. The largest limit needs this many, and the number is not a power of two."""

BEGIN_EMPTY = {"insert", "insert_tx", "drop_create"}
WRITE = BEGIN_EMPTY | {"update_point", "transfer"}
SEND_TEXT = {"connect", "do_1", "drop_create"}


class Expected(NamedTuple):
    check: int
    units: int


class MixedRow(NamedTuple):
    """A row of test_mixed."""

    id: int
    small: int
    big: int
    amount: Decimal
    name: str
    nothing: None
    moment: datetime

    def fold(self) -> int:
        return (self.id + self.small + self.big + int(self.amount * 10_000)
                + sum(map(ord, self.name)) + (self.nothing is None)
                + (self.moment - datetime(1970, 1, 1)) // timedelta(milliseconds=1))


def split_mix(seed: int) -> Iterator[int]:
    """Returns the seeded sequence, which repeats its first 4,096 values."""
    first = []
    for i in range(1, 4097):
        z = (seed + i * 0x9E3779B97F4A7C15) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        first.append(z ^ (z >> 31))
    while True:
        yield from first


def make_values(rows: int) -> list[int]:
    """Returns values from 0 to 2^30 - 1, including both ends."""
    numbers = random.Random(rows)
    return [0, 2**30 - 1, *(numbers.randrange(2**30) for _ in range(rows - 2))][:rows]


def make_mixed(rows: int) -> list[MixedRow]:
    """Returns rows of every kind, beginning with the ends of each column's range."""
    numbers = random.Random(rows)
    days = (datetime(2070, 1, 1) - datetime(1970, 1, 1)).days
    last_ms = days * 86_400_000 - 1
    ends = [(-2**31, -2**63, -10**15 + 1, 0), (2**31 - 1, 2**63 - 1, 10**15 - 1, last_ms),
            (0, 0, 0, 1), (-1, -1, 1, 1000), (1, 1, -1, 999), (0, 0, 10_000, 86_400_000)]
    drawn = ((numbers.randrange(-2**31, 2**31), numbers.randrange(-2**63, 2**63),
              numbers.randrange(-10**15 + 1, 10**numbers.randint(1, 15)),
              numbers.randrange(last_ms + 1)) for _ in range(rows))
    return [MixedRow(row_id, small, big, Decimal(amount).scaleb(-4), _name(numbers), None,
                     datetime(1970, 1, 1) + timedelta(milliseconds=ms))
            for row_id, (small, big, amount, ms) in enumerate(islice((*ends, *drawn), rows), 1)]


def _name(numbers: random.Random) -> str:
    """Returns 20 to 40 characters, some of them with two, three and four bytes in UTF-8."""
    ranges = [(0x20, 0x7E)] * 3 + [(0xA1, 0x17F), (0x4E00, 0x9FA5), (0x1F600, 0x1F64F)]
    return "".join(chr(numbers.randint(*numbers.choice(ranges)))
                   for _ in range(numbers.randint(20, 40)))


VALUES = make_values(ROWS)
MIXED = make_mixed(ROWS)


class Table:
    """The expected state of test_simple after the batches so far."""

    def __init__(self, values: list[int]) -> None:
        self.rows = dict(enumerate(values, 1))
        self.transactions = 0
        """The number of transactions that have written."""

    def do(self, arguments: dict[str, object], operations: int) -> Expected:
        """Applies a batch of the case that `arguments` opens, and returns its expected result."""
        sequence = split_mix(arguments["seed"])
        inputs = list(islice(sequence, operations))
        rows = arguments["rows"]
        match arguments["case"]:
            case "connect" | "select_1" | "do_1":
                return Expected(operations, operations)
            case "drop_create":
                self.rows.clear()
                self.transactions += 2 * operations
                return Expected(operations, operations)
            case "select":
                first = list(self.rows.items())[:arguments["limit"]]
                one = sum(row_id + value for row_id, value in first)
                return Expected(operations * one & _MASK, operations * len(first))
            case "point" | "connections":
                return Expected(sum(self.rows[1 + s % rows] for s in inputs), operations)
            case "mixed":
                return Expected(sum(MIXED[s % rows].fold() for s in inputs) & _MASK, operations)
            case "insert" | "insert_tx":
                count = operations * arguments.get("rows_tx", 1)
                values = [s >> 33 for s in islice(split_mix(arguments["seed"]), count)]
                self.rows.update(enumerate(values, len(self.rows) + 1))
                self.transactions += operations
                return Expected(sum(values), count)
            case "update_point":
                amounts = [1 + (s >> 20) % 100 for s in inputs]
                for s, amount in zip(inputs, amounts):
                    self.rows[1 + s % rows] += amount
                self.transactions += operations
                return Expected(sum(amounts), operations)
            case "transfer":
                amounts = [1 + (s >> 20) % 100 for s in inputs]
                for s, amount in zip(inputs, amounts):
                    self.rows[1 + s % rows] -= amount
                    self.rows[1 + (s >> 32) % rows] += amount
                self.transactions += operations
                return Expected(sum(amounts), 2 * operations)
        raise LookupError(f"the model lacks the case {arguments['case']}; add its result here")


def statements(arguments: dict[str, object], operations: int) -> Counter[str]:
    """Returns the statements of a batch by first keyword, without the BEGIN that a driver may send."""
    match arguments["case"]:
        case "do_1":
            counts = {"DO": 1}
        case "insert":
            counts = {"INSERT": 1}
        case "insert_tx":
            counts = {"INSERT": arguments["rows_tx"], "COMMIT": 1}
        case "update_point":
            counts = {"UPDATE": 1}
        case "transfer":
            counts = {"UPDATE": 2, "COMMIT": 1}
        case "drop_create":
            counts = {"DROP": 1, "CREATE": 1}
        case _:
            counts = {"SELECT": 1}
    return Counter({keyword: count * operations for keyword, count in counts.items()})
