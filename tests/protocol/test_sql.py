# SPDX-License-Identifier: Apache-2.0
"""experiments/sql/README.md: every subject does the same work on each database, sends exactly the case's
statements, and leaves the same rows."""

import time
from collections import Counter
from typing import Any
from urllib.parse import quote

import pytest

from databases import Database, Server, SQLite, eventually
from experiments import Declared, declared_subjects, points, read_experiments
from sql_model import BEGIN_EMPTY, ROWS, SEND_TEXT, VALUES, WRITE, Table, statements
from subject import Reply, Subject

SEED = 7
SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "sql"]
EXPERIMENTS = read_experiments()

ATTEMPTS = 20
"""The maximum number of repetitions of a batch until the server's counters match: it may serve other clients
at the same time."""


def every_point() -> list[Any]:
    """Returns every subject with every point of every case that its experiment has for the target."""
    return [
        pytest.param(subject, case["name"], point, id=" ".join(
            [str(subject), case["name"], *(f"{key}={value}" for key, value in point.items())]))
        for subject in SUBJECTS
        for case in EXPERIMENTS[subject.experiment]["case"]
        for point in points(case, subject.target)]


def operations_of(case: str, target: str) -> int:
    """Returns the number of operations of a run: if they are cheap, enough for the sequence to repeat."""
    few = {"connect": 10, "select": 3, "insert_tx": 5, "drop_create": 4}
    if case in few:
        return few[case]
    if target == "sqlite" or case in ("point", "mixed", "connections"):
        return 4100
    return 10 if case in WRITE else 200


def open_command(arguments: dict[str, object]) -> str:
    return "open" + "".join(f" {key}={quote(str(value), safe='/:,+')}"
                            for key, value in arguments.items())


@pytest.mark.parametrize("declared, case, point", every_point())
def test_point(subject: Subject, database: Database, declared: Declared, case: str,
               point: dict[str, object]) -> None:
    values = [] if case in BEGIN_EMPTY else VALUES
    database.fill(values)
    table = Table(values)
    transport = str(point.get("transport", "tcp"))
    arguments = {"case": case, "seed": SEED, "rows": ROWS, **database.arguments(transport), **point}
    if not declared.can_do(point):
        assert subject.ask_for_error(open_command(arguments)) == "unsupported"
        return
    opened = subject.ask_for("opened", open_command(arguments))
    settings = {key: opened.arguments.get(key) for key in database.settings(transport)}
    assert settings == database.settings(transport)

    batches = Batches(subject, table, arguments)
    transactions = database.transactions() if isinstance(database, SQLite) else 0
    batches.verify()
    batches.verify(2)
    batches.run(operations_of(case, database.target))
    batches.run(2)  # every run starts again with the first input
    if isinstance(database, SQLite):
        assert database.transactions() - transactions == table.transactions
        assert opened.arguments["source_id"].startswith("20"), "the source ID begins with a date"
        assert opened.arguments["version"].startswith("3.")
    else:
        assert_connections(subject, database, arguments)
        if case == "connect":
            assert_new_sessions(batches, database)
        else:
            prepared = point["statement"] == "prepared" if "statement" in point else (
                case not in SEND_TEXT and "statement=prepared" not in declared.without)
            assert_statements(batches, database, prepared)

    subject.ask_for("closed", "close")
    if not isinstance(database, SQLite):
        assert eventually(lambda: subject.connections_to(database.port) == 0)
    assert database.rows() == table.rows


class Batches:
    """Batches of an open case, each compared with the model's result."""

    def __init__(self, subject: Subject, table: Table, arguments: dict[str, object]) -> None:
        self.arguments = arguments
        self._subject = subject
        self._table = table

    def verify(self, operations: int = 1) -> None:
        command = "verify" if operations == 1 else f"verify operations={operations}"
        self._compare(self._subject.ask_for("verified", command), operations)

    def run(self, operations: int) -> None:
        earliest = time.monotonic_ns()
        ran = self._subject.ask_for("ran", f"run operations={operations}")
        latest = time.monotonic_ns()
        self._compare(ran, operations)
        start, end = ran.number("start"), ran.number("end")
        assert earliest <= start < end <= latest
        if "connections" in self.arguments:
            assert_latencies(ran, operations, int(self.arguments["connections"]) * (end - start))
        else:
            assert "latencies" not in ran.arguments

    def _compare(self, reply: Reply, operations: int) -> None:
        check, units = self._table.do(self.arguments, operations)
        assert (reply.number("check"), reply.number("units")) == (check, units)
        assert reply.number("operations") == operations


def assert_latencies(ran: Reply, operations: int, most_ns: int) -> None:
    """Each operation counts once, and the sum of all latencies is at most the number of connections times the
    duration of the batch."""
    pairs = [tuple(map(int, pair.split(":"))) for pair in ran.arguments["latencies"].split(",")]
    indices = [index for index, _ in pairs]
    assert indices == sorted(set(indices))
    assert all(count >= 1 for _, count in pairs)
    assert sum(count for _, count in pairs) == operations
    assert sum(least_latency(index) * count for index, count in pairs) <= most_ns


def least_latency(index: int) -> int:
    """Returns the smallest latency in ns that is counted in this bucket."""
    if index < 64:
        return index
    exponent = index // 32 - 1
    return (index - exponent * 32) << exponent


def assert_connections(subject: Subject, server: Server, arguments: dict[str, object]) -> None:
    """Checks the number of connections of the open case. A case that uses a Unix socket has none over TCP."""
    expected = int(arguments.get("connections", 1))
    if arguments.get("transport") == "unix" or arguments["case"] == "connect":
        expected = 0
    assert eventually(lambda: subject.connections_to(server.port) == expected), (
        subject.connections_to(server.port))


def assert_new_sessions(batches: Batches, server: Server) -> None:
    """Each operation begins a session and ends it properly."""
    operations = 10
    for attempt in range(ATTEMPTS):
        before = server.counted()
        batches.run(operations)
        assert eventually(lambda: server.counted().sessions - before.sessions >= operations)
        after = server.counted()
        counted = (after.sessions - before.sessions, after.aborted - before.aborted)
        if counted == (operations, 0):
            break
    assert counted == (operations, 0), "the numbers of new and of aborted sessions"
    assert (after.statements - before.statements)["SELECT"] >= operations


def assert_statements(batches: Batches, server: Server, prepared: bool) -> None:
    """The server executes the case's statements, prepared or not, and no other statements."""
    arguments = batches.arguments
    connections, rows = int(arguments.get("connections", 1)), int(arguments.get("rows_tx", 1))
    if prepared:  # some drivers and servers prepare only statements that were used often
        batches.verify(max(1, 20 // rows) * connections)
    operations = 3 * connections
    expected = statements(arguments, operations)
    for attempt in range(ATTEMPTS):
        before = server.counted()
        batches.run(operations)
        after = server.counted()
        counted = without_begin(after.statements - before.statements, expected["COMMIT"])
        if counted == expected and server.shows_preparing(before, after) == prepared:
            break
    assert counted == expected
    if set(expected) & {"SELECT", "INSERT", "UPDATE"}:
        assert server.shows_preparing(before, after) == prepared, (
            f"statements prepared or planned: {after.prepared - before.prepared}")


def without_begin(counted: Counter[str], transactions: int) -> Counter[str]:
    """Returns the statements without the statements that begin a transaction, which a driver may send at most once for
    each transaction. PostgreSQL 15 counts only the first execution of a prepared COMMIT. In that case, its BEGIN is
    counted instead."""
    remaining = Counter(counted)
    for begin in ("BEGIN", "START"):
        if remaining[begin] == transactions > remaining["COMMIT"]:
            remaining["COMMIT"] = transactions
        if remaining[begin] <= transactions:
            del remaining[begin]
    if remaining["SET_OPTION"] <= 2 * transactions:  # SET autocommit = 0, and then 1 again
        del remaining["SET_OPTION"]
    return remaining


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
def test_fewer_operations_than_connections(subject: Subject, database: Database) -> None:
    database.fill(VALUES)
    arguments = {"case": "connections", "connections": 8, "seed": SEED, "rows": ROWS,
                 **database.arguments()}
    subject.ask_for("opened", open_command(arguments))
    batches = Batches(subject, Table(VALUES), arguments)
    for operations in (3, 1, 9):
        batches.run(operations)


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
def test_the_table_of_drop_create_is_the_one_told(subject: Subject, database: Database) -> None:
    database.fill([])
    other = database.table.replace("value integer", "value integer, more integer")
    subject.ask_for("opened", open_command(
        {"case": "drop_create", "seed": SEED, "rows": ROWS, **database.arguments(), "table": other}))
    subject.ask_for("ran", "run operations=2")
    subject.ask_for("closed", "close")
    database.execute("INSERT INTO test_simple (more) VALUES (1)")
    database.execute("DROP TABLE test_simple")
    database.execute(database.table)


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
def test_hello_names_the_thread_that_works(subject: Subject, database: Database) -> None:
    thread = subject.hello.number("thread")
    if thread == 0:
        pytest.skip("the runtime of this language moves the work between threads")
    database.fill(VALUES)
    subject.ask_for("opened", open_command(
        {"case": "select", "statement": "text", "limit": 1000, "seed": SEED, "rows": ROWS,
         **database.arguments()}))
    for _ in range(ATTEMPTS):  # at first, a compiler's threads may use more CPU time
        before = subject.cpu_time_by_thread()
        subject.ask_for("ran", "run operations=100")
        used = {task: ns - before.get(task, 0) for task, ns in subject.cpu_time_by_thread().items()}
        if max(used, key=used.get) == thread:
            break
    assert max(used, key=used.get) == thread, used
