# SPDX-License-Identifier: Apache-2.0
"""The cases are the same on every database: their parameters, their inputs, and the number that a row of test_mixed
folds to."""

from datetime import datetime, timedelta

from lab_kit import Opening, UnsupportedError

SELECT = "SELECT id, value FROM test_simple ORDER BY id LIMIT {}"

_EPOCH = datetime(1970, 1, 1)
_MS = timedelta(milliseconds=1)


def is_prepared(opening: Opening) -> bool:
    statement = opening.text("statement")
    if statement not in ("prepared", "text"):
        raise UnsupportedError("statement is neither prepared nor text")
    return statement == "prepared"


def select_text(opening: Opening) -> str:
    return SELECT.format(opening.integer("limit", 1, 2**31 - 1))


def ids(opening: Opening) -> list[int]:
    rows = opening.integer("rows", 1, 2**31 - 1)
    return [1 + value % rows for value in opening.inputs]


def values(opening: Opening) -> list[int]:
    """The values to write, from 0 to 2^31 - 1."""
    return [value >> 33 for value in opening.inputs]


def credits(opening: Opening) -> list[tuple[int, int]]:
    """An amount, and the id of whom it goes to."""
    return [(amount, giver) for amount, giver, _ in transfers(opening)]


def transfers(opening: Opening) -> list[tuple[int, int, int]]:
    """An amount, and the ids of whom it is taken from and of whom it goes to."""
    rows = opening.integer("rows", 1, 2**31 - 1)
    return [(1 + (value >> 20) % 100, 1 + value % rows, 1 + (value >> 32) % rows)
            for value in opening.inputs]


def milliseconds(moment: datetime) -> int:
    """Since 1970, of a moment in UTC."""
    return (moment - _EPOCH) // _MS
