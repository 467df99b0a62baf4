# SPDX-License-Identifier: Apache-2.0
"""SQL on SQLite. The first argument selects an honest variant, a cheat, or a changed setting. A cheat reports the check
and units of an honest subject, unless the report itself is the cheat."""

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import cycle, islice
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(_PROJECT / "kits/python/src"), str(_PROJECT / "experiments/sql/python")]

import lab_kit.subject  # noqa: E402
from lab_kit import Case, Opening, Perform, Work, serve  # noqa: E402
from sqlite3_subject import connector, driver_settings  # noqa: E402
from sqlite_cases import INSERT, sqlite_cases  # noqa: E402

CREATE = "CREATE TABLE test_simple (id integer primary key autoincrement, value integer)"
HONEST = sqlite_cases(connector, driver_settings)
measured = False  # whether the batch comes from `run`: a cheat that is honest in `verify` looks here


def insert(write: Callable[[sqlite3.Connection, list[int]], None]) -> dict[str, Case]:
    """Returns the case insert in which a cheat writes the values of a batch in its own way."""

    @contextmanager
    def case(opening: Opening) -> Iterator[Perform]:
        values = [value >> 33 for value in opening.inputs]
        with connected(opening) as connection:

            def perform(operations: int) -> Work:
                batch = list(islice(cycle(values), operations))
                write(connection, batch)
                return Work(sum(batch), operations)

            yield perform

    return {"insert": case}


def drop_create(replace: Callable[[sqlite3.Connection], None]) -> dict[str, Case]:
    """Returns the case drop_create in which a cheat replaces the table in its own way."""

    @contextmanager
    def case(opening: Opening) -> Iterator[Perform]:
        with connected(opening) as connection:

            def perform(operations: int) -> Work:
                for _ in range(operations):
                    replace(connection)
                return Work(operations, operations)

            yield perform

    return {"drop_create": case}


def around(name: str, cheat: Callable[[Perform, str, int], Work]) -> dict[str, Case]:
    """Returns a case whose operations a cheat performs: `cheat(honest, path, operations)`."""

    @contextmanager
    def case(opening: Opening) -> Iterator[Perform]:
        path = opening.text("target").removeprefix("sqlite:")
        with HONEST[name](opening) as honest:
            yield lambda operations: cheat(honest, path, operations)

    return {name: case}


@contextmanager
def connected(opening: Opening) -> Iterator[sqlite3.Connection]:
    path = opening.text("target").removeprefix("sqlite:")
    with HONEST["select_1"](Statement(opening)):
        pass  # it reads the settings back
    with closing(connector(path, True)()) as connection:
        yield connection


class Statement(Opening):
    """The arguments of select_1, with different settings."""

    def __init__(self, opening: Opening) -> None:
        super().__init__({**opening._arguments, "statement": "text"})
        self.settings = opening.settings


def each(connection: sqlite3.Connection, values: list[int]) -> None:
    for value in values:
        connection.execute(INSERT, (value,))


def commit_something(connection: sqlite3.Connection) -> None:
    """Commits a transaction that changes neither the table nor its rows."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version + 1}")


# Cheats at inserting


def one_transaction(connection: sqlite3.Connection, values: list[int]) -> None:
    with connection:
        connection.execute("BEGIN")
        each(connection, values)


def fewer_rows(connection: sqlite3.Connection, values: list[int]) -> None:
    each(connection, values[1:])
    commit_something(connection)


def wrong_values(connection: sqlite3.Connection, values: list[int]) -> None:
    each(connection, [value ^ 1 for value in values])


def no_write(connection: sqlite3.Connection, values: list[int]) -> None:
    pass


def extra_transaction(connection: sqlite3.Connection, values: list[int]) -> None:
    each(connection, values)
    commit_something(connection)


def rolled_back(connection: sqlite3.Connection, values: list[int]) -> None:
    connection.execute("BEGIN")
    each(connection, values)
    connection.execute("ROLLBACK")


# Cheats at replacing a table


def keeps_table(connection: sqlite3.Connection) -> None:
    commit_something(connection)
    commit_something(connection)


def another_table(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE test_simple")
    connection.execute("CREATE TABLE test_simple (id integer primary key, value integer)")


def one_transaction_for_both(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("DROP TABLE test_simple")
    connection.execute(CREATE)
    connection.execute("COMMIT")


# Cheats at reading


def writes_too(honest: Perform, path: str, operations: int) -> Work:
    with closing(connector(path, True)()) as connection:
        commit_something(connection)
    return honest(operations)


def fewer_units(honest: Perform, path: str, operations: int) -> Work:
    work = honest(operations)
    return Work(work.check, work.units - 1)


def wrong_check(honest: Perform, path: str, operations: int) -> Work:
    work = honest(operations)
    return Work(work.check + 1, work.units)


def wrong_in_run(honest: Perform, path: str, operations: int) -> Work:
    return (wrong_check if measured else _honest)(honest, path, operations)


def skips_in_run(honest: Perform, path: str, operations: int) -> Work:
    return (fewer_units if measured else _honest)(honest, path, operations)


def _honest(honest: Perform, path: str, operations: int) -> Work:
    return honest(operations)


@contextmanager
def precomputed_results(opening: Opening) -> Iterator[Perform]:
    """Keeps a sorted copy of the table, created while nothing is measured."""
    path = opening.text("target").removeprefix("sqlite:")
    with closing(connector(path, True)()) as connection:
        connection.execute("CREATE TABLE copy AS SELECT * FROM test_simple ORDER BY id")
    with HONEST["select"](opening) as honest:
        yield honest


# Cheats at connecting


def cached_handle(only_in_run: bool) -> dict[str, Case]:
    @contextmanager
    def case(opening: Opening) -> Iterator[Perform]:
        path = opening.text("target").removeprefix("sqlite:")
        with HONEST["connect"](opening) as honest, closing(connector(path, True)()) as kept:

            def perform(operations: int) -> Work:
                if only_in_run and not measured:
                    return honest(operations)
                check = sum(kept.execute("SELECT 1").fetchone()[0] for _ in range(operations))
                return Work(check, operations)

            yield perform

    return {"connect": case}


# Settings


def pragma(name: str, value: object) -> dict[str, Case]:
    """Returns every case with a pragma that the subject sets."""
    cases = sqlite_cases(lambda path, cached: lambda: with_pragma(path, cached, name, value), driver_settings)
    return dict(cases)


def with_pragma(path: str, cached: bool, name: str, value: object) -> sqlite3.Connection:
    connection = connector(path, cached)()
    if name == "autocommit":
        connection.execute("BEGIN")
    else:
        connection.execute(f"PRAGMA {name} = {value}")
    return connection


def false_setting(name: str, value: object) -> dict[str, Case]:
    """Returns every case with a false report of a setting that a connection cannot change."""

    def wrapped(honest: Case) -> Case:
        @contextmanager
        def case(opening: Opening) -> Iterator[Perform]:
            with honest(opening) as perform:
                opening.settings[name] = value
                yield perform

        return case

    return {key: wrapped(case) for key, case in HONEST.items()}


@contextmanager
def hog(opening: Opening) -> Iterator[Perform]:
    """Fills the filesystem of its database, so that its own inserts fail."""
    path = opening.text("target").removeprefix("sqlite:")
    junk = os.open(f"{path}-junk", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    os.unlink(f"{path}-junk")
    with HONEST["insert"](opening) as honest:
        for size in (65536, 4096, 1):
            try:
                while os.write(junk, b"x" * size):
                    pass
            except OSError:
                pass
        yield honest
    os.close(junk)


class Elsewhere(Opening):
    """The arguments of a case on a copy of the database."""

    def __init__(self, opening: Opening, path: str) -> None:
        super().__init__({**opening._arguments, "target": f"sqlite:{path}"})
        self.settings = opening.settings


@contextmanager
def own_elsewhere(opening: Opening) -> Iterator[Perform]:
    """Changes a copy of the database."""
    path = opening.text("target").removeprefix("sqlite:")
    copy = f"{path}-copy"
    shutil.copyfile(path, copy)
    with HONEST["own"](Elsewhere(opening, copy)) as honest:
        yield honest
    os.unlink(copy)


VARIANTS: dict[str, dict[str, Case]] = {
    "honest": {},
    "one-transaction": insert(one_transaction),
    "fewer-rows": insert(fewer_rows),
    "wrong-values": insert(wrong_values),
    "no-write": insert(no_write),
    "extra-transaction": insert(extra_transaction),
    "rolled-back": insert(rolled_back),
    "keeps-table": drop_create(keeps_table),
    "another-table": drop_create(another_table),
    "one-transaction-for-both": drop_create(one_transaction_for_both),
    "does-nothing": drop_create(lambda connection: None),
    "writes-too": around("select", writes_too),
    "fewer-units": around("select", fewer_units),
    "wrong-check": around("select", wrong_check),
    "wrong-in-run": around("select", wrong_in_run),
    "skips-in-run": around("select", skips_in_run),
    "prepared-answers": {"select": precomputed_results},
    "cached-handle": cached_handle(only_in_run=False),
    "cached-in-run": cached_handle(only_in_run=True),
    "journal-mode": pragma("journal_mode", "truncate"),
    "wal": pragma("journal_mode", "wal"),
    "synchronous": pragma("synchronous", 0),
    "cache-size": pragma("cache_size", -64000),
    "autocommit": pragma("autocommit", 0),
    "encoding": false_setting("encoding", "UTF-16le"),
    "page-size": false_setting("page_size", 8192),
    "hog": {"insert": hog},
    "own-wrong-check": around("own", wrong_check),
    "own-elsewhere": {"own": own_elsewhere},
}


def watch_run() -> None:
    """Sets `measured` to true while a batch comes from `run`."""
    session = lab_kit.subject._Session
    run = session.run

    def watched(self: object, arguments: dict[str, str]) -> bytes:
        global measured
        measured = True
        try:
            return run(self, arguments)
        finally:
            measured = False

    session.run = watched


if __name__ == "__main__":
    watch_run()
    serve(sys.argv[1], f"sqlite3, SQLite {sqlite3.sqlite_version}", HONEST | VARIANTS[sys.argv[1]])
