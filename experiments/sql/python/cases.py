# SPDX-License-Identifier: Apache-2.0
"""The cases of the SQL experiment, for both drivers: with implicit transactions off, sqlite3 and
apsw are used in the same way, so only how they connect is left to each subject."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import cycle, islice
from typing import Any

from lab_kit import Case, Opening, Perform, UnsupportedError, Work

Connector = Callable[[str, bool], Callable[[], Any]]
"""For the path of an existing file, and the driver's statement cache on or off: what connects."""

SELECT = "SELECT id, value FROM test_simple ORDER BY id LIMIT {}"
POINT = "SELECT value FROM test_simple WHERE id = ?"
INSERT = "INSERT INTO test_simple (value) VALUES (?)"
CREATE = "CREATE TABLE test_simple (id integer primary key autoincrement, value integer)"

PRAGMAS = ("journal_mode", "synchronous", "encoding", "page_size", "cache_size", "secure_delete")


def sql_cases(connector: Connector) -> dict[str, Case]:
    """The cases by name, over the given driver's connections."""

    @contextmanager
    def connected(opening: Opening, cached: bool) -> Iterator[Any]:
        with closing(connector(_path(opening), cached)()) as connection:
            opening.settings.update(_settings(connection))
            yield connection

    @contextmanager
    def connect(opening: Opening) -> Iterator[Perform]:
        with connected(opening, cached=False):
            pass
        new_connection = connector(_path(opening), False)

        def perform(operations: int) -> Work:
            check = units = 0
            for _ in range(operations):
                connection = new_connection()
                for (value,) in connection.execute("SELECT 1"):
                    check += value
                    units += 1
                connection.close()
            return Work(check, units)

        yield perform

    @contextmanager
    def select_1(opening: Opening) -> Iterator[Perform]:
        with connected(opening, _is_prepared(opening)) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = units = 0
                for _ in range(operations):
                    for (value,) in execute("SELECT 1"):
                        check += value
                        units += 1
                return Work(check, units)

            yield perform

    @contextmanager
    def select(opening: Opening) -> Iterator[Perform]:
        query = SELECT.format(opening.integer("limit", 1, 2**31 - 1))
        with connected(opening, _is_prepared(opening)) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = units = 0
                for _ in range(operations):
                    for row_id, value in execute(query):
                        check += row_id + value
                        units += 1
                return Work(check, units)

            yield perform

    @contextmanager
    def point(opening: Opening) -> Iterator[Perform]:
        rows = opening.integer("rows", 1, 2**31 - 1)
        ids = [1 + value % rows for value in opening.inputs]
        with connected(opening, cached=True) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = units = 0
                for row_id in islice(cycle(ids), operations):
                    for (value,) in execute(POINT, (row_id,)):
                        check += value
                        units += 1
                return Work(check, units)

            yield perform

    @contextmanager
    def insert(opening: Opening) -> Iterator[Perform]:
        values = _values(opening)
        with connected(opening, _is_prepared(opening)) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = 0
                for value in islice(cycle(values), operations):
                    execute(INSERT, (value,))
                    check += value
                return Work(check, operations)

            yield perform

    @contextmanager
    def insert_tx(opening: Opening) -> Iterator[Perform]:
        rows_tx = opening.integer("rows_tx", 1, 2**31 - 1)
        values = _values(opening)
        with connected(opening, cached=True) as connection:
            cursor = connection.cursor()

            def transaction(rows: list[int]) -> None:
                cursor.execute("BEGIN")
                try:
                    cursor.executemany(INSERT, zip(rows))
                    cursor.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        cursor.execute("ROLLBACK")
                    raise

            def perform(operations: int) -> Work:
                check = 0
                sequence = cycle(values)
                for _ in range(operations):
                    rows = list(islice(sequence, rows_tx))
                    transaction(rows)
                    check += sum(rows)
                return Work(check, operations * rows_tx)

            yield perform

    @contextmanager
    def drop_create(opening: Opening) -> Iterator[Perform]:
        with connected(opening, cached=False) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                for _ in range(operations):
                    execute("DROP TABLE test_simple")
                    execute(CREATE)
                return Work(operations, operations)

            yield perform

    return {
        "connect": connect,
        "select_1": select_1,
        "select": select,
        "point": point,
        "insert": insert,
        "insert_tx": insert_tx,
        "drop_create": drop_create,
    }


def _path(opening: Opening) -> str:
    scheme, _, path = opening.text("target").partition(":")
    if scheme != "sqlite":
        raise UnsupportedError("the target is not sqlite:PATH")
    return path


def _is_prepared(opening: Opening) -> bool:
    statement = opening.text("statement")
    if statement not in ("prepared", "text"):
        raise UnsupportedError("statement is neither prepared nor text")
    return statement == "prepared"


def _values(opening: Opening) -> list[int]:
    """The values to insert, from 0 to 2^31 - 1."""
    return [value >> 33 for value in opening.inputs]


def _settings(connection: Any) -> dict[str, object]:
    def ask(query: str) -> object:
        ((answer,),) = connection.execute(query)
        return answer

    return {
        "version": ask("SELECT sqlite_version()"),
        "source_id": ask("SELECT sqlite_source_id()"),
        **{pragma: ask(f"PRAGMA {pragma}") for pragma in PRAGMAS},
        "autocommit": int(not connection.in_transaction),
    }
