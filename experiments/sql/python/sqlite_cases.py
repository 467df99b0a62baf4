# SPDX-License-Identifier: Apache-2.0
"""The cases of the SQL experiment for both drivers of SQLite: with implicit transactions off, sqlite3 and
apsw are used in the same way, so each subject defines only how it connects."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from itertools import cycle, islice
from typing import Any

from lab_kit import (Case, Latencies, Opening, Perform, Share, UnsupportedError, Work,
                     workers)
from own import Values, own_perform
from question import credits, ids, is_prepared, milliseconds, select_text, transfers, values

Connector = Callable[[str, bool], Callable[[], Any]]
"""Returns a function that connects, given the path of an existing file and whether the driver's statement cache is on."""

DriverSettings = Callable[[Any, bool], dict[str, object]]
"""Returns the settings that only the driver knows, given a connection and whether its statement cache is on."""

POINT = "SELECT value FROM test_simple WHERE id = ?"
# NOTHING is a keyword of SQLite.
MIXED = 'SELECT id, small, big, amount, name, "nothing", moment FROM test_mixed WHERE id = ?'
INSERT = "INSERT INTO test_simple (value) VALUES (?)"
DEBIT = "UPDATE test_simple SET value = value - ? WHERE id = ?"
CREDIT = "UPDATE test_simple SET value = value + ? WHERE id = ?"

# https://www.sqlite.org/c3ref/c_open_autoproxy.html
OPEN_NOMUTEX, OPEN_FULLMUTEX = 0x8000, 0x10000

PRAGMAS = ("journal_mode", "synchronous", "encoding", "page_size", "cache_size", "secure_delete")


def sqlite_cases(connector: Connector, driver_settings: DriverSettings) -> dict[str, Case]:
    """Returns the cases by name, over the driver's connections."""

    @contextmanager
    def connected(opening: Opening, cached: bool) -> Iterator[Any]:
        with closing(connector(path_of(opening), cached)()) as connection:
            opening.settings.update(read_settings(connection), **driver_settings(connection, cached))
            yield connection

    @contextmanager
    def connect(opening: Opening) -> Iterator[Perform]:
        with connected(opening, cached=False):
            pass
        new_connection = connector(path_of(opening), False)

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
        with connected(opening, is_prepared(opening)) as connection:
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
        query = select_text(opening)
        with connected(opening, is_prepared(opening)) as connection:
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
        row_ids = ids(opening)
        with connected(opening, is_prepared(opening)) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = units = 0
                for row_id in islice(cycle(row_ids), operations):
                    for (value,) in execute(POINT, (row_id,)):
                        check += value
                        units += 1
                return Work(check, units)

            yield perform

    @contextmanager
    def mixed(opening: Opening) -> Iterator[Perform]:
        row_ids = ids(opening)
        with connected(opening, cached=True) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = units = 0
                for row_id in islice(cycle(row_ids), operations):
                    for row_id, small, big, amount, name, nothing, moment in execute(
                            MIXED, (row_id,)):
                        check += (row_id + small + big + round(amount * 10_000)
                                  + sum(map(ord, name)) + (nothing is None)
                                  + milliseconds(datetime.fromisoformat(moment)))
                        units += 1
                return Work(check, units)

            yield perform

    @contextmanager
    def insert(opening: Opening) -> Iterator[Perform]:
        new_values = values(opening)
        with connected(opening, is_prepared(opening)) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = 0
                for value in islice(cycle(new_values), operations):
                    execute(INSERT, (value,))
                    check += value
                return Work(check, operations)

            yield perform

    @contextmanager
    def insert_tx(opening: Opening) -> Iterator[Perform]:
        rows_tx = opening.integer("rows_tx", 1, 2**31 - 1)
        new_values = values(opening)
        with connected(opening, cached=True) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                sequence = cycle(new_values)
                for _ in range(operations):
                    rows = list(islice(sequence, rows_tx))
                    with transaction(connection, cursor):
                        cursor.executemany(INSERT, zip(rows))
                    check += sum(rows)
                return Work(check, operations * rows_tx)

            yield perform

    @contextmanager
    def update_point(opening: Opening) -> Iterator[Perform]:
        all_credits = credits(opening)
        with connected(opening, cached=True) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                check = 0
                for credit in islice(cycle(all_credits), operations):
                    execute(CREDIT, credit)
                    check += credit[0]
                return Work(check, operations)

            yield perform

    @contextmanager
    def transfer(opening: Opening) -> Iterator[Perform]:
        all_transfers = transfers(opening)
        with connected(opening, cached=True) as connection:
            cursor = connection.cursor()

            def perform(operations: int) -> Work:
                check = 0
                for amount, giver, taker in islice(cycle(all_transfers), operations):
                    with transaction(connection, cursor):
                        cursor.execute(DEBIT, (amount, giver))
                        cursor.execute(CREDIT, (amount, taker))
                    check += amount
                return Work(check, 2 * operations)

            yield perform

    @contextmanager
    def drop_create(opening: Opening) -> Iterator[Perform]:
        create = opening.text("table")
        with connected(opening, cached=False) as connection:
            execute = connection.cursor().execute

            def perform(operations: int) -> Work:
                for _ in range(operations):
                    execute("DROP TABLE test_simple")
                    execute(create)
                return Work(operations, operations)

            yield perform

    @contextmanager
    def connections(opening: Opening) -> Iterator[Perform]:
        count = opening.integer("connections", 1, 1024)
        row_ids = ids(opening)
        with ExitStack() as stack:
            new_connection = connector(path_of(opening), True)
            opened = [stack.enter_context(closing(new_connection())) for _ in range(count)]
            shares = [_points(connection.cursor().execute, row_ids) for connection in opened]
            for share in shares:  # prepares the statement
                share(range(1), Latencies())
            opening.settings.update(read_settings(opened[0]), **driver_settings(opened[0], True))
            yield stack.enter_context(workers(shares))

    @contextmanager
    def own(opening: Opening) -> Iterator[Perform]:
        with connected(opening, cached=True) as connection:
            cursor = connection.cursor()

            def fetch(text: str, parameters: Values) -> Iterable[Any]:
                return cursor.execute(text, parameters or ())

            yield own_perform(opening, fetch, fetch, lambda: transaction(connection, cursor))

    return {
        "connect": connect,
        "select_1": select_1,
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


def path_of(opening: Opening) -> str:
    scheme, _, path = opening.text("target").partition(":")
    if scheme != "sqlite":
        raise UnsupportedError("the target must be sqlite:PATH")
    return path


@contextmanager
def transaction(connection: Any, cursor: Any) -> Iterator[None]:
    """Begins a transaction with the cursor, and commits it or, after an error, rolls it back."""
    cursor.execute("BEGIN")
    try:
        yield
        cursor.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            cursor.execute("ROLLBACK")
        raise


def _points(execute: Callable[..., Any], row_ids: list[int]) -> Share:
    """Returns the function that performs one connection's share of the operations of the case `connections`."""

    def share(operations: range, latencies: Latencies) -> Work:
        check = units = 0
        for k in operations:
            for (value,) in execute(POINT, (row_ids[k % 4096],)):
                check += value
                units += 1
            latencies.lap()
        return Work(check, units)

    return share


def threading_mode(connection: Any, flags: int = 0) -> str:
    """Returns the threading mode that the library was built with, unless the connection's flags select another mode."""
    ((built,),) = connection.execute("SELECT substr(compile_options, 12) FROM pragma_compile_options "
                                     "WHERE compile_options LIKE 'THREADSAFE=%'")
    if built == "0":
        return "single-thread"
    if flags & OPEN_NOMUTEX or built == "2" and not flags & OPEN_FULLMUTEX:
        return "multi-thread"
    return "serialized"


def read_settings(connection: Any) -> dict[str, object]:
    def ask(query: str) -> object:
        ((answer,),) = connection.execute(query)
        return answer

    return {
        "version": ask("SELECT sqlite_version()"),
        "source_id": ask("SELECT sqlite_source_id()"),
        **{pragma: ask(f"PRAGMA {pragma}") for pragma in PRAGMAS},
        "autocommit": int(not connection.in_transaction),
    }
