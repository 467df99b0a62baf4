# SPDX-License-Identifier: Apache-2.0
"""Code shared by the cases on all databases: their parameters, their inputs, and the folding of a row of
test_mixed to a number."""

from datetime import datetime, timedelta

from lab_kit import Opening, UnsupportedError

SELECT = "SELECT id, value FROM test_simple ORDER BY id LIMIT {}"

_EPOCH = datetime(1970, 1, 1)
_MS = timedelta(milliseconds=1)


def is_prepared(opening: Opening) -> bool:
    statement = opening.text("statement")
    if statement not in ("prepared", "text"):
        raise UnsupportedError("expected statement=prepared or statement=text")
    return statement == "prepared"


def select_text(opening: Opening) -> str:
    return SELECT.format(opening.integer("limit", 1, 2**31 - 1))


def ids(opening: Opening) -> list[int]:
    rows = opening.integer("rows", 1, 2**31 - 1)
    return [1 + value % rows for value in opening.inputs]


def values(opening: Opening) -> list[int]:
    """Returns the values to write, from 0 to 2^31 - 1."""
    return [value >> 33 for value in opening.inputs]


def credits(opening: Opening) -> list[tuple[int, int]]:
    """Returns pairs of an amount and the id of the row that it is added to."""
    return [(amount, giver) for amount, giver, _ in transfers(opening)]


def transfers(opening: Opening) -> list[tuple[int, int, int]]:
    """Returns triples of an amount, the id of the row that it is subtracted from, and the id of the row that
    it is added to."""
    rows = opening.integer("rows", 1, 2**31 - 1)
    return [(1 + (value >> 20) % 100, 1 + value % rows, 1 + (value >> 32) % rows)
            for value in opening.inputs]


def milliseconds(moment: datetime) -> int:
    """Returns the milliseconds since 1970 of a moment in UTC."""
    return (moment - _EPOCH) // _MS
