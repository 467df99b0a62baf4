# SPDX-License-Identifier: Apache-2.0
"""The case `own`: the user's own statements, with values to bind from a file (docs/protocol.md, The case `own`)."""

import struct
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from lab_kit import Opening, Perform, UnsupportedError, Work
from question import milliseconds

_MAX = 100
_DAY_MS = 86_400_000
_EPOCH_DAY = date(1970, 1, 1).toordinal()


def _float(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


def _text(value: str) -> int:
    return sum(map(ord, value))


def _decimal(value: Decimal) -> int:
    return sum(map(ord, format(value, "f")))


def _date(value: date) -> int:
    return (value.toordinal() - _EPOCH_DAY) * _DAY_MS


def _timestamp(value: datetime) -> int:
    return milliseconds(value.replace(tzinfo=None))  # the session's time zone is UTC


_FOLDS: dict[str, Callable[[Any], int]] = {
    "integer": int, "boolean": int, "float": _float, "decimal": _decimal, "text": _text, "bytes": sum, "date": _date,
    "timestamp": _timestamp}

_KINDS: dict[str, Callable[[str], object]] = {"integer": int, "float": float, "text": str}


class Statement(NamedTuple):
    text: str
    kinds: list[Callable[[str], object]]
    """The types of the parameters."""
    folds: list[Callable[[Any], int]]
    """The function that folds the values of each column; empty if the statement returns no rows."""

    def fold(self, row: Iterable[Any]) -> int:
        return sum(1 if value is None else fold(value) for fold, value in zip(self.folds, row))


Values = tuple[object, ...] | None


def own_perform(opening: Opening, execute: Callable[[str, Values], object],
                fetch: Callable[[str, Values], Iterable[Any]],
                transaction: Callable[[], AbstractContextManager[Any]]) -> Perform:
    """Returns the function that performs operations. `execute` runs a statement that returns no rows. `fetch` runs a
    statement that returns rows, and returns these rows."""
    statements = _statements(opening)
    inputs = _inputs(opening, statements)
    in_transaction = opening.text("transaction") == "yes"

    def operate(all_values: list[Values]) -> tuple[int, int]:
        check = units = 0
        for statement, values in zip(statements, all_values):
            if statement.folds:
                for row in fetch(statement.text, values):
                    check += statement.fold(row)
                    units += 1
            else:
                execute(statement.text, values)
                check += 1
                units += 1
        return check, units

    def perform(operations: int) -> Work:
        check = units = 0
        for k in range(operations):
            if in_transaction:
                with transaction():
                    one, more = operate(inputs[k % len(inputs)])
            else:
                one, more = operate(inputs[k % len(inputs)])
            check += one
            units += more
        return Work(check, units)

    return perform


def _statements(opening: Opening) -> list[Statement]:
    count = opening.integer("statements", 1, _MAX)
    return [Statement(opening.text(f"sql{n}"), _words(opening, f"parameters{n}", _KINDS),
                      _words(opening, f"columns{n}", _FOLDS)) for n in range(1, count + 1)]


def _words(opening: Opening, key: str, known: dict[str, Callable[[Any], Any]]) -> list[Callable[[Any], Any]]:
    text = opening.text(key)
    words = [] if text == "none" else text.split(",")
    if unknown := [word for word in words if word not in known]:
        raise UnsupportedError(f"{key}: unknown type {unknown[0]}")
    return [known[word] for word in words]


def _inputs(opening: Opening, statements: list[Statement]) -> list[list[Values]]:
    """Returns the values of the statements' parameters, operation by operation."""
    if not any(statement.kinds for statement in statements):
        return [[None] * len(statements)]
    with open(opening.text("inputs"), encoding="utf-8", newline="\n") as lines:
        return [_split(line.removesuffix("\n").split("\t"), statements) for line in lines]


def _split(fields: list[str], statements: list[Statement]) -> list[Values]:
    rest = iter(fields)
    return [tuple(kind(next(rest)) for kind in statement.kinds) or None for statement in statements]
