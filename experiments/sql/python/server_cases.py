# SPDX-License-Identifier: Apache-2.0
"""The cases of the SQL experiment for drivers of a server. With autocommit on, psycopg, mysqlclient and
PyMySQL are used in the same way, so each subject defines only how it connects and how it performs a
transaction."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from itertools import cycle, islice
from typing import Any

from lab_kit import Case, Latencies, Opening, Perform, Share, UnsupportedError, Work, workers
from own import Values, own_perform
from question import credits, ids, is_prepared, milliseconds, select_text, transfers, values

Connector = Callable[[str, bool], Callable[[], Any]]
"""Returns a function that connects, given a target and whether statements are prepared."""

Transaction = Callable[[Any], AbstractContextManager[Any]]
"""Begins a transaction on a connection, and commits it or, after an error, rolls it back."""

StatementCache = Callable[[Any], int]
"""Returns the number of statements that the driver of a connection caches."""

POINT = "SELECT value FROM test_simple WHERE id = %s"
MIXED = "SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = %s"
INSERT = "INSERT INTO test_simple (value) VALUES (%s)"
DEBIT = "UPDATE test_simple SET value = value - %s WHERE id = %s"
CREDIT = "UPDATE test_simple SET value = value + %s WHERE id = %s"


def server_cases(connector: Connector, transaction: Transaction,
                 statement_cache: StatementCache | None) -> dict[str, Case]:
    """Returns the cases by name, over the driver's connections. A driver without a statement cache does not prepare
    statements."""
    can_prepare = statement_cache is not None

    def settings(opening: Opening, connection: Any) -> dict[str, object]:
        return {**read_settings(connection, opening.text("settings")),
                "statement_cache": statement_cache(connection) if statement_cache else 0}

    @contextmanager
    def connected(opening: Opening, prepared: bool) -> Iterator[Any]:
        with closing(connector(opening.text("target"), prepared)()) as connection:
            opening.settings.update(settings(opening, connection))
            yield connection

    def as_told(opening: Opening) -> bool:
        """Returns True if the statement must be prepared."""
        prepared = is_prepared(opening)
        if prepared and not can_prepare:
            raise UnsupportedError("the driver does not prepare statements on the server")
        return prepared

    @contextmanager
    def connect(opening: Opening) -> Iterator[Perform]:
        with connected(opening, False):
            pass
        new_connection = connector(opening.text("target"), False)

        def perform(operations: int) -> Work:
            check = 0
            for _ in range(operations):
                with closing(new_connection()) as connection:
                    cursor = connection.cursor()
                    cursor.execute("SELECT 1")
                    (value,) = cursor.fetchone()
                    check += value
            return Work(check, operations)

        yield perform

    @contextmanager
    def select_1(opening: Opening) -> Iterator[Perform]:
        with connected(opening, as_told(opening)) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                for _ in range(operations):
                    cursor.execute("SELECT 1")
                    (value,) = cursor.fetchone()
                    check += value
                return Work(check, operations)

            yield perform

    @contextmanager
    def do_1(opening: Opening) -> Iterator[Perform]:
        with connected(opening, False) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                for _ in range(operations):
                    cursor.execute("DO 1")
                return Work(operations, operations)

            yield perform

    @contextmanager
    def select(opening: Opening) -> Iterator[Perform]:
        query = select_text(opening)
        with connected(opening, as_told(opening)) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = units = 0
                for _ in range(operations):
                    cursor.execute(query)
                    for row_id, value in cursor.fetchall():
                        check += row_id + value
                        units += 1
                return Work(check, units)

            yield perform

    @contextmanager
    def point(opening: Opening) -> Iterator[Perform]:
        row_ids = ids(opening)
        with connected(opening, as_told(opening)) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                for row_id in islice(cycle(row_ids), operations):
                    cursor.execute(POINT, (row_id,))
                    (value,) = cursor.fetchone()
                    check += value
                return Work(check, operations)

            yield perform

    @contextmanager
    def mixed(opening: Opening) -> Iterator[Perform]:
        row_ids = ids(opening)
        with connected(opening, can_prepare) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                for row_id in islice(cycle(row_ids), operations):
                    cursor.execute(MIXED, (row_id,))
                    row_id, small, big, amount, name, nothing, moment = cursor.fetchone()
                    check += (row_id + small + big + int(amount * 10_000) + sum(map(ord, name))
                              + (nothing is None) + milliseconds(moment))
                return Work(check, operations)

            yield perform

    @contextmanager
    def insert(opening: Opening) -> Iterator[Perform]:
        new_values = values(opening)
        with connected(opening, as_told(opening)) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                for value in islice(cycle(new_values), operations):
                    cursor.execute(INSERT, (value,))
                    check += value
                return Work(check, operations)

            yield perform

    @contextmanager
    def insert_tx(opening: Opening) -> Iterator[Perform]:
        rows_tx = opening.integer("rows_tx", 1, 2**31 - 1)
        new_values = values(opening)
        with connected(opening, can_prepare) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                sequence = cycle(new_values)
                for _ in range(operations):
                    with transaction(connection):
                        # Not executemany: psycopg would not wait for each result, and the drivers of MariaDB
                        # would combine all statements into one.
                        for value in islice(sequence, rows_tx):
                            cursor.execute(INSERT, (value,))
                            check += value
                return Work(check, operations * rows_tx)

            yield perform

    @contextmanager
    def update_point(opening: Opening) -> Iterator[Perform]:
        all_credits = credits(opening)
        with connected(opening, can_prepare) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                for credit in islice(cycle(all_credits), operations):
                    cursor.execute(CREDIT, credit)
                    check += credit[0]
                return Work(check, operations)

            yield perform

    @contextmanager
    def transfer(opening: Opening) -> Iterator[Perform]:
        all_transfers = transfers(opening)
        with connected(opening, can_prepare) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                for amount, giver, taker in islice(cycle(all_transfers), operations):
                    with transaction(connection):
                        cursor.execute(DEBIT, (amount, giver))
                        cursor.execute(CREDIT, (amount, taker))
                    check += amount
                return Work(check, 2 * operations)

            yield perform

    @contextmanager
    def drop_create(opening: Opening) -> Iterator[Perform]:
        create = opening.text("table")
        with connected(opening, False) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                for _ in range(operations):
                    cursor.execute("DROP TABLE test_simple")
                    cursor.execute(create)
                return Work(operations, operations)

            yield perform

    @contextmanager
    def connections(opening: Opening) -> Iterator[Perform]:
        count = opening.integer("connections", 1, 1024)
        row_ids = ids(opening)
        with ExitStack() as stack:
            new_connection = connector(opening.text("target"), can_prepare)
            opened = [stack.enter_context(closing(new_connection())) for _ in range(count)]
            shares = [_points(connection.cursor(), row_ids) for connection in opened]
            for share in shares:  # prepares the statement
                share(range(1), Latencies())
            opening.settings.update(settings(opening, opened[0]))
            yield stack.enter_context(workers(shares))

    @contextmanager
    def own(opening: Opening) -> Iterator[Perform]:
        with connected(opening, can_prepare) as connection:
            cursor = connection.cursor()

            def fetch(text: str, parameters: Values) -> Iterable[Any]:
                cursor.execute(text, parameters)
                return cursor.fetchall()

            yield own_perform(opening, cursor.execute, fetch, lambda: transaction(connection))

    return {
        "connect": connect,
        "select_1": select_1,
        "do_1": do_1,
        "select": select,
        "point": point,
        "mixed": mixed,
        "insert": insert,
        "insert_tx": insert_tx,
        "update_point": update_point,
        "transfer": transfer,
        "drop_create": drop_create,
        "connections": connections,
        "own": own,
    }


def _points(cursor: Any, row_ids: list[int]) -> Share:
    """Returns the function that performs one connection's share of the operations of the case `connections`."""

    def share(operations: range, latencies: Latencies) -> Work:
        check = 0
        for k in operations:
            cursor.execute(POINT, (row_ids[k % 4096],))
            (value,) = cursor.fetchone()
            check += value
            latencies.lap()
        return Work(check, len(operations))

    return share


def read_settings(connection: Any, query: str) -> dict[str, str]:
    with closing(connection.cursor()) as cursor:
        cursor.execute(query)
        (row,) = cursor.fetchall()
        return {column[0]: "" if value is None else value
                for column, value in zip(cursor.description, row)}
