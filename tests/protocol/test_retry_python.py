# SPDX-License-Identifier: Apache-2.0
"""experiments/retry/README.md, of the subjects in Ada and Python: a call that ended with an answer is applied once, one
that is told as failed is not, and the metrics count the faults and the retries."""

import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

import pymysql
import pytest
from pymysql.constants import ER

from databases import Server, eventually
from experiments import Declared, declared_subjects, tables
from lost_answers import losing_answers
from sql_model import VALUES, split_mix
from subject import Reply, Subject

SEED = 7
ATTEMPTS = {"ada": 5, "tenacity": 4}
"""Of a subject, at a call."""
WITH_A_KEY = {"ada"}
SUBJECTS = [subject for subject in declared_subjects()
            if subject.experiment == "retry" and subject.name in ATTEMPTS]
CASES = ("counter", "transfer", "record", "order")
METRICS = ("stale", "deadlock", "disconnected", "retried")
APPLICATION = "lab_test_retry"

RANGES = re.compile(r"none|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", re.ASCII)

every_subject = pytest.mark.parametrize("declared", SUBJECTS, ids=str)
every_subject_with_a_key = pytest.mark.parametrize(
    "declared", [subject for subject in SUBJECTS if subject.name in WITH_A_KEY], ids=str)
every_case = pytest.mark.parametrize("case", CASES)
one_and_eight = pytest.mark.parametrize("clients", [1, 8])


class Batch(NamedTuple):
    number: int
    operations: int
    failed: set[int]
    arguments: dict[str, str]

    def count(self, metric: str) -> int:
        """How many attempts the metric counts, of which it tells per cent of the calls."""
        return round(float(self.arguments[metric]) * self.operations / 100)


class Opened:
    """A case of a subject, and its batches so far."""

    def __init__(self, subject: Subject, server: Server, case: str, clients: int, **parts: object) -> None:
        """The parts are those of the target that differ from the server's own."""
        arguments = {"case": case, "seed": SEED, "clients": clients, "fault": "anything", "rows": len(VALUES),
                     **server.arguments(), "target": target(server, **parts)}
        words = (f" {key}={quote(str(value), safe='/:,+')}" for key, value in arguments.items())
        self._subject = subject
        self._case = case
        self.attempts = ATTEMPTS[subject.hello.arguments["subject"]]
        self.batches: list[Batch] = []
        self.settings = subject.ask_for("opened", f"open{''.join(words)}").arguments

    def verify(self, operations: int) -> Batch:
        return self._add(self._subject.ask_for("verified", f"verify operations={operations}"))

    def run(self, operations: int) -> Batch:
        """Whatever fails, every fault is followed by a retry, unless the call is given up for it."""
        batch = self._add(self._subject.ask_for("ran", f"run operations={operations}"))
        assert set(METRICS) <= set(batch.arguments)
        assert latency_count(batch.arguments["latencies"]) == operations
        faults = sum(map(batch.count, ("stale", "deadlock", "disconnected")))
        assert faults == batch.count("retried") + len(batch.failed)
        assert faults >= self.attempts * len(batch.failed)
        return batch

    def _add(self, reply: Reply) -> Batch:
        operations = reply.number("operations")
        assert reply.number("units") == reply.number("check") == operations, "whatever failed"
        batch = Batch(len(self.batches) + 1, operations, numbers(reply.arguments["failed"]), reply.arguments)
        assert max(batch.failed, default=0) < operations
        self.batches.append(batch)
        return batch

    def must_be_applied_once(self, server: Server) -> None:
        """Every call that ended with an answer, and none other."""
        answered = [(batch.number, call) for batch in self.batches
                    for call in range(batch.operations) if call not in batch.failed]
        rows = server.ask("SELECT * FROM effect")
        assert Counter(rows) == Counter(answered)
        expected = dict(enumerate(VALUES, 1))
        inputs = list(islice(split_mix(SEED), 4096))
        for _, call in answered:
            apply(self._case, inputs[call % 4096], expected)
        assert server.rows() == expected


def apply(case: str, value: int, rows: dict[int, int]) -> None:
    """Does to test_simple what a call does."""
    a = value % 10 + 1
    match case:
        case "counter":
            rows[1] += 1
        case "transfer":
            rows[a] -= 1
            rows[(a + value // 10 % 9) % 10 + 1] += 1
        case "record":
            rows[a] += 1


def numbers(told: str) -> set[int]:
    """Of ascending ranges."""
    assert RANGES.fullmatch(told), told
    if told == "none":
        return set()
    listed: list[int] = []
    for part in told.split(","):
        first, _, last = part.partition("-")
        listed += range(int(first), int(last or first) + 1)
    assert listed == sorted(set(listed)), "they ascend"
    return set(listed)


def latency_count(told: str) -> int:
    return sum(int(pair.split(":")[1]) for pair in told.split(","))


def target(server: Server, **parts: object) -> str:
    """The server's, with a name by which PostgreSQL's sessions of the subject are found."""
    return server.uri(**parts) + (f"&application_name={APPLICATION}" if server.target == "postgresql" else "")


def table_names(server: Server) -> list[str]:
    schema = {"postgresql": "current_schema()", "mariadb": "database()"}[server.target]
    return [name for (name,) in server.ask(
        f"SELECT table_name FROM information_schema.tables WHERE table_schema = {schema}")]


def sessions(server: Server) -> list[int]:
    """Of the subject."""
    return [number for (number,) in server.ask({
        "postgresql": f"SELECT pid FROM pg_stat_activity WHERE application_name = '{APPLICATION}'",
        "mariadb": "SELECT id FROM information_schema.PROCESSLIST "
                   "WHERE db = database() AND id <> connection_id()"}[server.target])]


def end_session(server: Server, number: int) -> None:
    """It may have ended."""
    try:
        server.execute({"postgresql": f"SELECT pg_terminate_backend({number})",
                        "mariadb": f"KILL {number}"}[server.target])
    except pymysql.err.OperationalError as error:
        if error.args[0] != ER.NO_SUCH_THREAD:
            raise


def end_sessions(server: Server) -> None:
    for number in sessions(server):
        end_session(server, number)
    assert eventually(lambda: not sessions(server))


@contextmanager
def ending_sessions(server: Server) -> Iterator[None]:
    """One of the subject's after the other, as long as the context lasts. Nobody else uses the server in it."""
    is_over = threading.Event()

    def end_some() -> None:
        while not is_over.wait(0.01):
            if numbers := sessions(server):
                end_session(server, random.choice(numbers))

    thread = threading.Thread(target=end_some)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def fail_inserts(server: Server, condition: str) -> None:
    """Those into effect that the condition holds for: with a serialization failure, in MariaDB a deadlock."""
    if server.target == "postgresql":
        server.execute(f"""CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF {condition} THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END IF;
              RETURN NEW;
            END $$""")
        server.execute("CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW EXECUTE FUNCTION fail()")
    else:
        server.execute(f"""CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW
            IF {condition} THEN
              SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'injected';
            END IF""")


@pytest.fixture
def server(declared: Declared, database: Server) -> Iterator[Server]:
    """With the rows of test_simple, and the table effect."""
    database.fill(VALUES)
    database.execute(tables(declared)["effects"])
    yield database
    database.execute("DROP TABLE effect")
    database.execute("DROP FUNCTION IF EXISTS fail")


@every_subject
@every_case
@one_and_eight
def test_every_call_is_applied_once(subject: Subject, server: Server, case: str, clients: int) -> None:
    opened = Opened(subject, server, case, clients)
    assert opened.settings == {**server.settings(), "transaction_isolation": {
        "postgresql": "read committed", "mariadb": "READ-COMMITTED"}[server.target]}
    assert subject.connections_to(server.port) == clients
    opened.verify(20)
    ran = opened.run(40)
    opened.must_be_applied_once(server)
    if clients == 1 or case in ("counter", "order"):
        assert not any(batch.failed for batch in opened.batches)
        assert not any(map(ran.count, METRICS)), "these calls do not meet"
    assert subject.connections_to(server.port) == clients
    subject.ask_for("closed", "close")
    assert eventually(lambda: subject.connections_to(server.port) == 0)
    assert set(table_names(server)) == {"test_simple", "test_mixed", "effect"}, "no table of its own is left"


@every_subject
@every_case
@one_and_eight
def test_a_call_that_failed_is_not_applied(
        subject: Subject, server: Server, case: str, clients: int) -> None:
    fail_inserts(server, {"postgresql": "random() < 1 / 3.0", "mariadb": "rand() < 1 / 3"}[server.target])
    opened = Opened(subject, server, case, clients)
    opened.verify(20)
    assert opened.run(100).count("deadlock") > 0
    opened.must_be_applied_once(server)
    assert subject.connections_to(server.port) == clients, "no connection was lost"


@every_subject
@one_and_eight
def test_a_call_is_given_up_after_its_attempts(subject: Subject, server: Server, clients: int) -> None:
    name = {"postgresql": '"call"', "mariadb": "`call`"}[server.target]
    fail_inserts(server, f"NEW.{name} IN (0, 3, 17, 18, 19) AND NEW.batch <> 2")
    opened = Opened(subject, server, "order", clients)
    assert opened.verify(20).arguments["failed"] == "0,3,17-19"
    assert opened.run(20).arguments["failed"] == "none"
    third = opened.run(50)
    assert third.arguments["failed"] == "0,3,17-19"
    assert [third.count(metric) for metric in METRICS] == [
        0, 5 * opened.attempts, 0, 5 * (opened.attempts - 1)]
    opened.must_be_applied_once(server)


@every_subject
@every_case
@one_and_eight
def test_a_lost_connection_is_replaced(subject: Subject, server: Server, case: str, clients: int) -> None:
    opened = Opened(subject, server, case, clients)
    opened.verify(20)
    for _ in range(2):
        end_sessions(server)
        assert opened.run(20).count("disconnected") == clients
    opened.must_be_applied_once(server)
    assert subject.connections_to(server.port) == clients


@every_subject
def test_a_call_that_loses_its_connection_each_time_is_given_up(subject: Subject, server: Server) -> None:
    if server.target == "postgresql":
        server.execute("""CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF NEW."call" = 5 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
              RETURN NEW;
            END $$""")
        server.execute("CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW EXECUTE FUNCTION fail()")
    else:
        server.execute("""CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW
            IF NEW.`call` = 5 THEN KILL CONNECTION_ID(); END IF""")
    opened = Opened(subject, server, "counter", 3)
    assert opened.verify(5).failed == set()
    ran = opened.run(20)
    assert ran.failed == {5}
    assert [ran.count(metric) for metric in METRICS] == [0, 0, opened.attempts, opened.attempts - 1]
    opened.must_be_applied_once(server)
    assert subject.connections_to(server.port) == 3


@every_subject_with_a_key
@every_case
def test_with_a_key_no_call_is_lost_or_applied_twice_where_connections_end(
        subject: Subject, server: Server, case: str) -> None:
    opened = Opened(subject, server, case, 8)
    with ending_sessions(server):
        ran = opened.run(400)
    assert ran.count("disconnected") > 0
    opened.must_be_applied_once(server)


@every_subject_with_a_key
@every_case
def test_with_a_key_no_call_is_applied_twice_where_answers_to_commit_are_lost(
        subject: Subject, server: Server, case: str) -> None:
    with losing_answers(server.port, 0.1) as proxy:
        opened = Opened(subject, server, case, 8, port=proxy.port)
        ran = opened.run(200)
        assert ran.count("disconnected") == proxy.lost > 0
        opened.must_be_applied_once(server)
        subject.ask_for("closed", "close")


@every_subject
def test_an_error_that_does_not_pass_is_reported(subject: Subject, server: Server) -> None:
    opened = Opened(subject, server, "record", 3)
    server.execute("DROP TABLE effect")
    try:
        reply = subject.ask("run operations=5")
        assert (reply.verb, reply.arguments.get("code")) == ("error", "failed")
        assert re.search(server.no_table, reply.arguments["message"])
    finally:
        server.execute("CREATE TABLE effect (a bigint, b bigint)")
    assert opened.run(5).failed == set(), "its transactions were rolled back, and it goes on"
    assert set(server.ask("SELECT a FROM effect")) == {(2,)}, "what failed was a batch, too"


@every_subject
@pytest.mark.parametrize("clients", ["", " clients=0", " clients=257", " clients=x"])
def test_clients_are_from_1_to_256(declared: Declared, subject: Subject, clients: str) -> None:
    nowhere = quote(f"{declared.target}://nobody:x@127.0.0.1:1/x")
    command = f"open case=order seed=7 rows=10 table=x settings=x target={nowhere}"
    assert subject.ask_for_error(command + clients) == "usage"
    assert subject.ask_for_error(command + " clients=256") == "failed", "nothing listens there"
    subject.ask_for("opened", "open case=noop seed=7")
