# SPDX-License-Identifier: Apache-2.0
"""SQL on the PostgreSQL or MariaDB server in `target`. The first argument selects an honest variant, a cheat, or a
changed setting. A cheat reports the check and units of an honest subject, unless the report itself is the cheat."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

_PROJECT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(_PROJECT / "kits/python/src")]

import lab_kit.subject  # noqa: E402
from lab_kit import Case, Opening, Perform, Work, serve  # noqa: E402
from server_drivers import Session, connect, unix  # noqa: E402

POINT = "SELECT value FROM test_simple WHERE id = {}"
INSERT = "INSERT INTO test_simple (value) VALUES ({})"
ROWS = 4096
"""The length of the seeded sequence, in values."""


class Variant(NamedTuple):
    """The ways in which a subject differs from an honest one."""

    cases: dict[str, Callable[[Session, Opening], Perform]] = {}
    settings: dict[str, list[str]] = {}
    """Statements that every connection executes first, for each kind of server."""
    target: Callable[[str], str] = str
    """Maps a target's URL to the URL that the variant connects to."""
    options: dict[str, dict[str, object]] = {}
    """Options for the driver."""


# Honest work


def point(session: Session, opening: Opening) -> Perform:
    execute = session.statement(POINT, _prepared(opening))
    return partial(_sum_of, execute, _ids(opening))


def insert(session: Session, opening: Opening) -> Perform:
    execute = session.statement(INSERT, _prepared(opening))
    return inserting(opening, lambda values: [execute(value) for value in values])


def insert_tx(session: Session, opening: Opening) -> Perform:
    execute = session.statement(INSERT, True)

    def write(batch: list[int]) -> None:
        for start in range(0, len(batch), rows_tx):
            session.run("BEGIN")
            for value in batch[start:start + rows_tx]:
                execute(value)
            session.run("COMMIT")

    rows_tx = opening.integer("rows_tx", 1, ROWS)
    return inserting(opening, write, rows_tx)


def connect_(session: Session, opening: Opening) -> Perform:
    def perform(operations: int) -> Work:
        check = 0
        for _ in range(operations):
            with closing(session.another()) as other:
                ((value,),) = other.run("SELECT 1")
                check += value
        return Work(check, operations)

    return perform


def inserting(opening: Opening, write: Callable[[list[int]], object], rows: int = 1) -> Perform:
    """Writes the values of a batch, with `rows` values per operation."""
    values = [value >> 33 for value in opening.inputs]

    def perform(operations: int) -> Work:
        batch = list(islice(cycle(values), operations * rows))
        write(batch)
        return Work(sum(batch), len(batch))

    return perform


def _sum_of(execute: Callable[..., list[tuple[int]]], ids: list[int], operations: int) -> Work:
    check = 0
    for row_id in islice(cycle(ids), operations):
        ((value,),) = execute(row_id)
        check += value
    return Work(check, operations)


def _ids(opening: Opening) -> list[int]:
    rows = opening.integer("rows", 1, 2**31 - 1)
    return [1 + value % rows for value in opening.inputs]


def _prepared(opening: Opening) -> bool:
    return opening.text("statement") == "prepared"


# Cheats at reading


def cached(session: Session, opening: Opening) -> Perform:
    """Reads the table once, while nothing is measured."""
    table = dict(session.run("SELECT id, value FROM test_simple"))
    return partial(_sum_of, lambda row_id: [(table[row_id],)], _ids(opening))


def half_cached(session: Session, opening: Opening) -> Perform:
    """Queries the server only for rows that the subject has not read before."""
    honest = session.statement(POINT, _prepared(opening))
    rows: dict[int, list[tuple[int]]] = {}

    def execute(row_id: int) -> list[tuple[int]]:
        if row_id not in rows:
            rows[row_id] = honest(row_id)
        return rows[row_id]

    return partial(_sum_of, execute, _ids(opening)[:2])


def knowing(query: str) -> Callable[[Session, Opening], Perform]:
    """Reads the table once, while nothing is measured, and then sends a cheaper query."""

    def case(session: Session, opening: Opening) -> Perform:
        table = dict(session.run("SELECT id, value FROM test_simple"))
        cheaper = session.statement(query, _prepared(opening))

        def execute(row_id: int) -> list[tuple[int]]:
            cheaper(table[row_id])
            return [(table[row_id],)]

        return partial(_sum_of, execute, _ids(opening))

    return case


def with_each(more: Callable[[Session], object]) -> Callable[[Session, Opening], Perform]:
    """Performs additional work with every operation."""

    def case(session: Session, opening: Opening) -> Perform:
        honest = session.statement(POINT, _prepared(opening))

        def execute(row_id: int) -> list[tuple[int]]:
            more(session)
            return honest(row_id)

        return partial(_sum_of, execute, _ids(opening))

    return case


def other_way(session: Session, opening: Opening) -> Perform:
    """Prepares statements that must be sent as text, and sends statements as text that must be prepared."""
    execute = session.statement(POINT, not _prepared(opening))
    return partial(_sum_of, execute, _ids(opening))


def by_name(session: Session, opening: Opening) -> Perform:
    """Uses the SQL statements PREPARE and EXECUTE instead of messages of the protocol."""
    session.run(session.prepare_by_name)
    return partial(_sum_of, lambda row_id: session.run(session.execute_by_name.format(row_id)),
                   _ids(opening))


def wrong_check(session: Session, opening: Opening) -> Perform:
    honest = point(session, opening)

    def perform(operations: int) -> Work:
        work = honest(operations)
        return Work(work.check + 1, work.units)

    return perform


def transaction_around(session: Session, opening: Opening) -> Perform:
    """Begins and ends transactions like a driver without autocommit."""
    execute = session.statement(POINT, _prepared(opening))

    def perform(operations: int) -> Work:
        session.run("BEGIN")
        work = _sum_of(execute, _ids(opening), operations)
        session.run("COMMIT")
        return work

    return perform


# Cheats at writing


def written(write: Callable[[Session, Callable[[int], object], list[int]], object]) -> Variant:
    """Returns a variant in which a cheat writes the values of the case insert in its own way."""

    def case(session: Session, opening: Opening) -> Perform:
        execute = session.statement(INSERT, _prepared(opening))
        return inserting(opening, partial(write, session, execute))

    return Variant({"insert": case})


def each(session: Session, execute: Callable[[int], object], values: list[int]) -> None:
    for value in values:
        execute(value)


def multi_row(session: Session, _: object, values: list[int]) -> None:
    rows = ",".join(f"({value})" for value in values)
    session.run(f"INSERT INTO test_simple (value) VALUES {rows}")


def in_transaction(end: str) -> Callable[..., None]:
    def write(session: Session, execute: Callable[[int], object], values: list[int]) -> None:
        session.run("BEGIN")
        each(session, execute, values)
        session.run(end)

    return write


def no_rows(session: Session, _: object, values: list[int]) -> None:
    """Executes the right number of INSERTs, all for the same row. After the first one, the row exists and nothing is
    inserted."""
    for value in values:
        session.run(session.insert_once.format(value))


def wrong_values(session: Session, execute: Callable[[int], object], values: list[int]) -> None:
    each(session, execute, [value ^ 1 for value in values])


def shadow(session: Session, opening: Opening) -> Perform:
    """Writes to its own table, which has the same name as the real one and hides it."""
    session.run(session.shadow)
    return insert(session, opening)


def one_commit(session: Session, opening: Opening) -> Perform:
    """Commits one transaction per batch instead of one per operation."""
    execute = session.statement(INSERT, True)
    write = partial(in_transaction("COMMIT"), session, execute)
    return inserting(opening, write, opening.integer("rows_tx", 1, ROWS))


def no_commit(session: Session, opening: Opening) -> Perform:
    execute = session.statement(INSERT, True)
    session.run("BEGIN")
    write = partial(each, session, execute)
    return inserting(opening, write, opening.integer("rows_tx", 1, ROWS))


# Cheats at connecting


def reused(session: Session, opening: Opening) -> Perform:
    return partial(_sum_of, lambda _: session.run("SELECT 1"), [0])


def connects_twice(session: Session, opening: Opening) -> Perform:
    honest = connect_(session, opening)

    def perform(operations: int) -> Work:
        for _ in range(operations):
            session.another().close()
        return honest(operations)

    return perform


# Queries whose cost is compared with the clock of the process that serves them


def noted(query: Callable[[Session], str]) -> Callable[[Session, Opening], Perform]:
    """Runs a query of a known cost, and records its operations and CPU time."""

    def case(session: Session, opening: Opening) -> Perform:
        execute = session.statement(query(session), False)
        clock = session.clock()
        diary = Path(f"cost-{opening.text('case')}-{type(session).__name__}".lower())

        def perform(operations: int) -> Work:
            before = clock()
            for _ in range(operations):
                execute()
            with diary.open("a") as file:
                print(operations, clock() - before, file=file)
            return Work(operations, operations)

        return perform

    return case


def connect_noted(session: Session, opening: Opening) -> Perform:
    """Opens connections and keeps each open until its backend's clock has been read."""
    diary = Path(f"cost-connect-{type(session).__name__}".lower())

    def perform(operations: int) -> Work:
        cpu = 0
        for _ in range(operations):
            with closing(session.another()) as other:
                other.run("SELECT 1")
                cpu += other.clock()()
        with diary.open("a") as file:
            print(operations, cpu, file=file)
        return Work(operations, operations)

    return perform


# Concurrent operations


def latencies(latencies_of: Callable[[int], str]) -> Callable[[Session, Opening], Perform]:
    """Reads points, and reports made-up latencies."""

    def case(session: Session, opening: Opening) -> Perform:
        honest = _sum_of
        execute = session.statement(POINT, True)

        def perform(operations: int) -> Work:
            global latencies_text
            latencies_text = latencies_of(operations)
            return honest(execute, _ids(opening), operations)

        return perform

    return case


latencies_text = ""
"""The argument `latencies=` of the next reply."""


def report_latencies() -> None:
    """Adds `latencies_text` to every reply `ran`, because the kit's own recorder is always correct."""
    run = lab_kit.subject._Session.run

    def reporting(self: object, arguments: dict[str, str]) -> bytes:
        global latencies_text
        latencies_text = ""
        reply = run(self, arguments)
        return reply[:-1] + b" latencies=" + latencies_text.encode() + b"\n" if latencies_text else reply

    lab_kit.subject._Session.run = reporting


HONEST = {"point": point, "insert": insert, "insert_tx": insert_tx, "connect": connect_,
          "connections": latencies(lambda n: f"300:{n}")}


def on_both(statement: str) -> dict[str, list[str]]:
    return {"postgresql": [statement], "mariadb": [statement]}


VARIANTS: dict[str, Variant] = {
    "honest": Variant(),
    "cached": Variant({"point": cached}),
    "half-cached": Variant({"point": half_cached}),
    "rowless": Variant({"point": knowing("SELECT value FROM test_simple WHERE id = -{} - 1")}),
    "tableless": Variant({"point": knowing("SELECT {}")}),
    "pings": Variant({"point": with_each(lambda session: session.ping())}),
    "sets": Variant({"point": with_each(lambda session: session.run(session.harmless_set))}),
    "other-way": Variant({"point": other_way}),
    "by-name": Variant({"point": by_name}),
    "wrong-check": Variant({"point": wrong_check}),
    "transaction-around": Variant({"point": transaction_around}),
    "multi-row": written(multi_row),
    "one-transaction": written(in_transaction("COMMIT")),
    "rolled-back": written(in_transaction("ROLLBACK")),
    "no-rows": written(no_rows),
    "wrong-values": written(wrong_values),
    "shadow": Variant({"insert": shadow}),
    "one-commit": Variant({"insert_tx": one_commit}),
    "no-commit": Variant({"insert_tx": no_commit}),
    "reused": Variant({"connect": reused}),
    "connects-twice": Variant({"connect": connects_twice}),
    "costs": Variant({
        "burn": noted(lambda session: session.burn), "sleep": noted(lambda session: session.sleep),
        "connect": connect_noted}),
    "no-latencies": Variant({"connections": latencies(lambda n: "")}),
    "wrong-sum": Variant({"connections": latencies(lambda n: f"300:{n + 1}")}),
    "descending": Variant({"connections": latencies(lambda n: f"300:1,200:{n - 1}" if n > 1 else "300:1")}),
    "isolation": Variant(settings={
        "postgresql": ["SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE"],
        "mariadb": ["SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"]}),
    "asynchronous": Variant(settings={
        "postgresql": ["SET synchronous_commit = off"],
        "mariadb": ["SET GLOBAL innodb_flush_log_at_trx_commit = 0"]}),
    "time-zone": Variant(settings={
        "postgresql": ["SET TIME ZONE 'Asia/Tokyo'"],
        "mariadb": ["SET time_zone = '+09:00'"]}),
    "charset": Variant(settings={
        "postgresql": ["SET client_encoding = 'LATIN1'"],
        "mariadb": ["SET NAMES latin1"]}),
    "autocommit": Variant(settings={
        "postgresql": [], "mariadb": ["SET autocommit = 0"]}),
    "socket": Variant(target=unix),
    "tls": Variant(options={
        "postgresql": {"sslmode": "require"},
        "mariadb": {"ssl_disabled": False, "ssl": {"check_hostname": False}}}),
}


def case(variant: Variant, build: Callable[[Session, Opening], Perform]) -> Case:
    @contextmanager
    def opened(opening: Opening) -> Iterator[Perform]:
        target = variant.target(opening.text("target"))
        kind = target.partition(":")[0]
        session = connect(target, variant.settings.get(kind, []), variant.options.get(kind, {}))
        with closing(session):
            perform = build(session, opening)
            # Reads the settings over the measured connection or, for `connect`, over one opened in the same way.
            opening.settings.update(session.first_row(opening.text("settings")))
            yield perform

    return opened


if __name__ == "__main__":
    name = sys.argv[1]
    with open("processes", "a") as diary:
        words = Path("/proc/self/cmdline").read_text() + Path("/proc/self/environ").read_text()
        print(os.getpid(), words.replace("\0", " ").replace("\n", " "), file=diary)
    report_latencies()
    variant = VARIANTS[name]
    serve(name, "psycopg, PyMySQL",
          {key: case(variant, build) for key, build in (HONEST | variant.cases).items()})
