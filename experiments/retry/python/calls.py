# SPDX-License-Identifier: Apache-2.0
"""What a call does in its transaction before it inserts its row into effect, by the name of its case
(experiments/retry/README.md)."""

from collections.abc import Callable
from typing import Any

Call = Callable[[Any, int], None]
"""For a cursor, and the call's input."""

READ = "SELECT value FROM test_simple WHERE id = %s"
ADD = "UPDATE test_simple SET value = value + 1 WHERE id = %s"
SUBTRACT = "UPDATE test_simple SET value = value - 1 WHERE id = %s"
ADD_TO_VERSION = "UPDATE test_simple SET value = value + 1 WHERE id = %s AND value = %s"


class StaleVersionError(Exception):
    """Another call changed the record after this one had read it."""


def counter(cursor: Any, _: int) -> None:
    cursor.execute(ADD, (1,))


def transfer(cursor: Any, value: int) -> None:
    giver = value % 10 + 1
    taker = (giver + value // 10 % 9) % 10 + 1
    cursor.execute(SUBTRACT, (giver,))
    cursor.execute(ADD, (taker,))


def record(cursor: Any, value: int) -> None:
    row_id = value % 10 + 1
    cursor.execute(READ, (row_id,))
    (version,) = cursor.fetchone()
    cursor.execute(ADD_TO_VERSION, (row_id, version))
    if cursor.rowcount == 0:
        raise StaleVersionError(f"the record {row_id} is no longer at version {version}")


def order(_cursor: Any, _value: int) -> None:
    pass


CALLS: dict[str, Call] = {"counter": counter, "transfer": transfer, "record": record, "order": order}
