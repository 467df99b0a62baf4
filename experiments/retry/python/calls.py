# SPDX-License-Identifier: Apache-2.0
"""The work of a call in its transaction (experiments/retry/README.md)."""

from collections.abc import Callable
from typing import Any

Call = Callable[[Any, int], None]
"""Runs the statements of a call, given a cursor and the call's input."""


class StaleVersionError(Exception):
    """Raised if another call changed the record after this call had read it."""


def effect(placeholder: str) -> str:
    """Returns the last statement of the transaction, which inserts the call's row into the table `effect`."""
    return f"INSERT INTO effect VALUES ({placeholder}, {placeholder})"


def calls(placeholder: str) -> dict[str, Call]:
    """Returns the work before the insertion into `effect`, by case name. `placeholder` is the driver's parameter marker."""
    read = f"SELECT value FROM test_simple WHERE id = {placeholder}"
    add = f"UPDATE test_simple SET value = value + 1 WHERE id = {placeholder}"
    subtract = f"UPDATE test_simple SET value = value - 1 WHERE id = {placeholder}"
    add_to_version = f"{add} AND value = {placeholder}"

    def counter(cursor: Any, _: int) -> None:
        cursor.execute(add, (1,))

    def transfer(cursor: Any, value: int) -> None:
        giver = value % 100 + 1
        taker = (giver + value // 100 % 99) % 100 + 1
        cursor.execute(subtract, (giver,))
        cursor.execute(add, (taker,))

    def record(cursor: Any, value: int) -> None:
        row_id = value % 10 + 1
        cursor.execute(read, (row_id,))
        (version,) = cursor.fetchone()
        cursor.execute(add_to_version, (row_id, version))
        if cursor.rowcount == 0:
            raise StaleVersionError(f"the record {row_id} is no longer at version {version}")

    def order(_cursor: Any, _value: int) -> None:
        pass

    return {"counter": counter, "transfer": transfer, "record": record, "order": order, "outage": order,
            "arrivals": order}
