# SPDX-License-Identifier: Apache-2.0
"""experiments/retry/README.md: a call that succeeded is applied once, a call that is reported as failed is not applied,
and the metrics count the faults and the retries. Where the response to COMMIT is lost, subjects without a key apply
calls twice, and those with a key do not. On SQLite the tests cause its only fault: the database is busy."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pymysql
import pytest

from answer_loss import losing_answers
from databases import Database, Server, SQLite, eventually
from experiments import Declared, declared_subjects, read_experiments, tables
from sql_model import VALUES, split_mix
from subject import Reply, Subject

SEED = 7
DECLARED = [subject for subject in declared_subjects() if subject.experiment == "retry"]
WITH_BUDGET = [subject for subject in DECLARED if subject.name.endswith("_budget")]
WITH_BREAKER = [subject for subject in DECLARED if subject.name.endswith("_breaker")]
SUBJECTS = [subject for subject in DECLARED if subject not in WITH_BUDGET + WITH_BREAKER]
CASES = ("counter", "transfer", "record", "order", "outage", "arrivals")
OVER_HTTP = ("no_retry", "resilience4j", "failsafe", "smallrye", "java")
METRICS = ("stale", "deadlock", "disconnected", "retried")

BATCHES_MAX = 50
"""The maximum number of batches until calls of multiple clients conflict, or until a batch and its fault meet."""

BUSY_S = 1
"""The time in seconds for which a call waits for a lock on an SQLite database."""


class Behavior(NamedTuple):
    """A subject's behavior after a fault."""

    attempts: int
    has_key: bool = False
    """True if calls have keys, so that none is applied twice."""
    sleeps: bool = False
    """True if the subject sleeps for seconds after a lost connection."""
    has_budget: bool = False
    """True if the subject has a budget of 20 retries, plus one for every ten calls."""
    has_breaker: bool = False
    """True if the subject rejects calls for a second after half of 20 attempts have lost their connection."""

    def reads_first(self, case: str) -> bool:
        """Returns True if the case reads before it writes in a transaction, which SQLite rejects while another
        transaction writes."""
        return case == "record" and not self.has_key


BEHAVIORS = {
    "ada": Behavior(attempts=5, has_key=True),
    "no_retry": Behavior(attempts=1),
    "ada_breaker": Behavior(attempts=5, has_key=True, has_breaker=True),
    "ada_budget": Behavior(attempts=5, has_key=True, has_budget=True),
    "classic": Behavior(attempts=12, sleeps=True),
    "classic_key": Behavior(attempts=12, has_key=True, sleeps=True),
    "failsafe": Behavior(attempts=4),
    "java": Behavior(attempts=5, has_key=True),
    "java_25": Behavior(attempts=5, has_key=True),
    "java_25_virtual": Behavior(attempts=5, has_key=True),
    "java_breaker": Behavior(attempts=5, has_key=True, has_breaker=True),
    "java_budget": Behavior(attempts=5, has_key=True, has_budget=True),
    "resilience4j": Behavior(attempts=4),
    "resilience4j_breaker": Behavior(attempts=4, has_breaker=True),
    "smallrye": Behavior(attempts=4),
    "tenacity": Behavior(attempts=4),
}

RANGES = re.compile(r"none|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", re.ASCII)

ON_SERVERS = [subject for subject in SUBJECTS if subject.target != "sqlite"]
ON_SQLITE = [subject for subject in SUBJECTS if subject.target == "sqlite"]

every_subject = pytest.mark.parametrize("declared", SUBJECTS, ids=str)
every_subject_on_servers = pytest.mark.parametrize("declared", ON_SERVERS, ids=str)
every_quick_subject_on_servers = pytest.mark.parametrize(
    "declared", [subject for subject in ON_SERVERS if not BEHAVIORS[subject.name].sleeps], ids=str)
every_subject_with_a_budget = pytest.mark.parametrize("declared", WITH_BUDGET, ids=str)
every_subject_with_a_breaker = pytest.mark.parametrize("declared", WITH_BREAKER, ids=str)
every_subject_on_sqlite = pytest.mark.parametrize("declared", ON_SQLITE, ids=str)
every_subject_that_reads_first_on_sqlite = pytest.mark.parametrize(
    "declared", [subject for subject in ON_SQLITE if BEHAVIORS[subject.name].reads_first("record")], ids=str)
every_case = pytest.mark.parametrize("case", CASES)
one_and_eight_clients = pytest.mark.parametrize("clients", [1, 8])


class Batch(NamedTuple):
    number: int
    operations: int
    failed: set[int]
    arguments: dict[str, str]

    def count(self, metric: str) -> int:
        """Returns the number of attempts, from a metric in percent of the calls."""
        return round(float(self.arguments[metric]) * self.operations / 100)


class Opened:
    """A case of a subject, and its batches so far."""

    def __init__(self, subject: Subject, behavior: Behavior, database: Database, case: str, clients: int,
                 **more: str) -> None:
        arguments = {"case": case, "seed": SEED, "clients": clients, "fault": "anything", "rows": len(VALUES),
                     **database.arguments(), **more}
        words = (f" {key}={quote(str(value), safe='/:,+')}" for key, value in arguments.items())
        self._subject = subject
        self._behavior = behavior
        self._case = case
        self.batches: list[Batch] = []
        self.settings = subject.ask_for("opened", f"open{''.join(words)}").arguments

    def verify(self, operations: int) -> Batch:
        return self._add(self._subject.ask_for("verified", f"verify operations={operations}"))

    def run(self, operations: int) -> Batch:
        """Runs a batch, and checks that a retry follows every fault of a call, unless the call fails because of the
        fault."""
        batch = self._add(self._subject.ask_for("ran", f"run operations={operations}"))
        assert set(METRICS) <= set(batch.arguments)
        assert latency_count(batch.arguments["latencies"]) == operations
        faults = sum(map(batch.count, ("stale", "deadlock", "disconnected")))
        assert self._behavior.has_breaker or faults == batch.count("retried") + len(batch.failed)
        assert self._behavior.has_budget or self._behavior.has_breaker or faults >= self._behavior.attempts * len(batch.failed)
        return batch

    def close(self) -> None:
        self._subject.ask_for("closed", "close")

    def _add(self, reply: Reply) -> Batch:
        operations = reply.number("operations")
        assert reply.number("units") == reply.number("check") == operations, "failed calls count, too"
        batch = Batch(len(self.batches) + 1, operations, numbers(reply.arguments["failed"]), reply.arguments)
        assert max(batch.failed, default=0) < operations
        self.batches.append(batch)
        return batch

    def answered(self) -> list[tuple[int, int]]:
        return [(batch.number, call) for batch in self.batches
                for call in range(batch.operations) if call not in batch.failed]

    def must_be_applied_once(self, database: Database) -> None:
        """Checks that exactly the calls that succeeded were applied, once each."""
        answered = self.answered()
        assert effects(database) == Counter(answered)
        expected = dict(enumerate(VALUES, 1))
        inputs = list(islice(split_mix(SEED), 4096))
        for _, call in answered:
            apply(self._case, inputs[call % 4096], expected)
        assert database.rows() == expected


def apply(case: str, value: int, rows: dict[int, int]) -> None:
    """Applies a call to the expected rows of test_simple."""
    match case:
        case "counter":
            rows[1] += 1
        case "transfer":
            a = value % 100 + 1
            rows[a] -= 1
            rows[(a + value // 100 % 99) % 100 + 1] += 1
        case "record":
            rows[value % 10 + 1] += 1


def numbers(text: str) -> set[int]:
    """Returns the numbers in ascending ranges."""
    assert RANGES.fullmatch(text), text
    if text == "none":
        return set()
    listed: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        listed += range(int(first), int(last or first) + 1)
    assert listed == sorted(set(listed)), "the numbers must ascend"
    return set(listed)


def latency_count(text: str) -> int:
    return sum(int(pair.split(":")[1]) for pair in text.split(","))


def effects(database: Database) -> Counter[tuple[int, int]]:
    """Returns the number of rows of each call."""
    return Counter(database.ask("SELECT * FROM effect"))


def connections(subject: Subject, database: Database) -> int:
    """Returns the number of the subject's open connections."""
    return (subject.times_open(database.path) if isinstance(database, SQLite)
            else subject.connections_to(database.port))


def sessions(subject: Subject, server: Server) -> list[int]:
    """Returns the server's numbers of the subject's sessions."""
    ports = ", ".join(map(str, subject.ports_of_connections_to(server.port))) or "0"
    return [number for (number,) in server.ask({
        "postgresql": f"SELECT pid FROM pg_stat_activity WHERE client_port IN ({ports})",
        "mariadb": "SELECT id FROM information_schema.PROCESSLIST "
                   f"WHERE substring_index(host, ':', -1) IN ({ports})"}[server.target])]


def end_session(server: Server, number: int) -> None:
    """Ends a session, which may have ended before."""
    with suppress(pymysql.MySQLError):
        server.execute({"postgresql": f"SELECT pg_terminate_backend({number})",
                        "mariadb": f"KILL {number}"}[server.target])


def end_sessions(subject: Subject, server: Server) -> None:
    ended = sessions(subject, server)
    for number in ended:
        end_session(server, number)
    assert eventually(lambda: not set(ended) & set(sessions(subject, server)))


def tables_of(database: Database) -> set[str]:
    of_schema = "SELECT table_name FROM information_schema.tables WHERE table_schema ="
    return {name for (name,) in database.ask({
        "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'table'",
        "postgresql": f"{of_schema} current_schema()",
        "mariadb": f"{of_schema} database()"}[database.target])}


def must_be_read_back(settings: dict[str, str], database: Database) -> None:
    if isinstance(database, SQLite):
        assert settings["version"].startswith("3.")
        expected = {"journal_mode": "delete", "synchronous": "2", "busy_timeout": "1000"}
        assert {key: settings.get(key) for key in expected} == expected
    else:
        # Not every driver has a statement cache.
        assert settings.get("statement_cache", "0").isdecimal()
        read = {key: value for key, value in settings.items() if key != "statement_cache"}
        assert read == {**database.settings(), "transaction_isolation": {
            "postgresql": "read committed", "mariadb": "READ-COMMITTED"}[database.target]}


RAISED = {
    "postgresql": ["RAISE EXCEPTION 'injected' USING ERRCODE = '40001'",
                   "RAISE EXCEPTION 'injected' USING ERRCODE = '40P01'"],
    "mariadb": ["SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1020, MESSAGE_TEXT = 'injected'",
                "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'injected'"]}
"""A serialization failure and a deadlock, with the servers' own codes, as the experiment injects them."""

SERIALIZATION_FAILURE, DEADLOCK = range(2)


def fail_inserts(server: Server, condition: str, fault: int = SERIALIZATION_FAILURE) -> None:
    """Makes inserts into the table effect fail if the condition holds."""
    raised = RAISED[server.target][fault]
    if server.target == "postgresql":
        server.execute(f"""CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF {condition} THEN {raised}; END IF;
              RETURN NEW;
            END $$""")
        server.execute("CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW EXECUTE FUNCTION fail()")
    else:
        server.execute(f"""CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW
            IF {condition} THEN {raised}; END IF""")


def run_while_locked(database: SQLite, seconds: float, run: Callable[[], Batch]) -> tuple[Batch, int]:
    """Runs the batch while a transaction of the test locks all other transactions out, for at most `seconds`. Also returns
    the time in ns at which the lock was released."""
    with ThreadPoolExecutor(1) as pool:
        with database.locked("EXCLUSIVE"):
            running = pool.submit(run)
            wait([running], seconds)
            released_ns = time.monotonic_ns()
        return running.result(), released_ns


@pytest.fixture
def behavior(declared: Declared) -> Behavior:
    return BEHAVIORS[declared.name]


@pytest.fixture
def filled(declared: Declared, database: Database) -> Iterator[Database]:
    """Returns the database with the rows of test_simple and the table effect."""
    database.fill(VALUES)
    database.execute(tables(declared)["effects"])
    yield database
    if not isinstance(database, SQLite):  # SQLite has a new file in each test
        database.execute("DROP TABLE effect")
        database.execute("DROP FUNCTION IF EXISTS fail")


@pytest.fixture
def server(filled: Server) -> Server:
    return filled


@pytest.fixture
def open_case(subject: Subject, behavior: Behavior, filled: Database) -> Callable[..., Opened]:
    """Returns a function that takes the name of a case, the number of clients, and a target unless it is the
    database's own."""
    return partial(Opened, subject, behavior, filled)


@every_subject
@every_case
@one_and_eight_clients
def test_every_call_is_applied_once(
        subject: Subject, behavior: Behavior, filled: Database, open_case: Callable[..., Opened],
        case: str, clients: int) -> None:
    tables_before = tables_of(filled)
    opened = open_case(case, clients)
    must_be_read_back(opened.settings, filled)
    assert connections(subject, filled) == clients
    begun = time.monotonic()
    opened.verify(10)
    ran = opened.run(30)
    took_s = time.monotonic() - begun
    opened.must_be_applied_once(filled)
    # On a busy machine a client may hold the lock on an SQLite database for so long that others give up.
    meet = (behavior.reads_first(case) or took_s >= BUSY_S if filled.target == "sqlite"
            else case in ("transfer", "record"))
    if clients == 1 or not meet:
        assert not any(batch.failed for batch in opened.batches)
        assert not any(map(ran.count, METRICS)), "these calls cannot conflict"
    assert connections(subject, filled) == clients
    opened.close()
    assert eventually(lambda: connections(subject, filled) == 0)
    assert tables_of(filled) == tables_before


@every_subject_on_servers
@every_case
@one_and_eight_clients
def test_a_call_that_failed_is_not_applied(
        subject: Subject, behavior: Behavior, server: Server, open_case: Callable[..., Opened],
        case: str, clients: int) -> None:
    fail_inserts(server, {"postgresql": "random() < 1 / 3.0", "mariadb": "rand() < 1 / 3"}[server.target])
    opened = open_case(case, clients)
    opened.verify(5)
    ran = opened.run(40)
    assert ran.count("deadlock") > 0
    if behavior.attempts == 1:
        assert ran.failed and ran.count("retried") == 0
    else:
        assert ran.count("retried") > 0
    opened.must_be_applied_once(server)
    assert subject.connections_to(server.port) == clients, "no connection may be lost"


@pytest.mark.parametrize("target", RAISED)
@pytest.mark.parametrize("fault", ["published", "percent"])
def test_the_experiment_injects_both_faults(target: str, fault: str) -> None:
    statements = read_experiments()["retry"]["target"][target]["fault"][fault]
    assert re.findall(r"(?:RAISE|SIGNAL)[^;]*", " ".join(statements)) == RAISED[target]


@every_subject_on_servers
@pytest.mark.parametrize("fault", [SERIALIZATION_FAILURE, DEADLOCK], ids=["serialization", "deadlock"])
@one_and_eight_clients
def test_a_call_is_given_up_after_its_attempts(
        behavior: Behavior, server: Server, open_case: Callable[..., Opened], fault: int, clients: int) -> None:
    name = {"postgresql": '"call"', "mariadb": "`call`"}[server.target]
    fail_inserts(server, f"NEW.{name} IN (0, 3, 17, 18, 19) AND NEW.batch <> 2", fault)
    opened = open_case("order", clients)
    assert opened.verify(20).arguments["failed"] == "0,3,17-19"
    assert opened.run(20).arguments["failed"] == "none"
    third = opened.run(50)
    assert third.arguments["failed"] == "0,3,17-19"
    attempts = behavior.attempts
    assert [third.count(metric) for metric in METRICS] == [0, 5 * attempts, 0, 5 * (attempts - 1)]
    opened.must_be_applied_once(server)


@every_subject_with_a_budget
@one_and_eight_clients
def test_a_budget_ends_calls_before_their_attempts(
        server: Server, open_case: Callable[..., Opened], clients: int) -> None:
    opened = open_case("arrivals", clients)
    assert not opened.run(10).count("retried")
    fail_inserts(server, "true")
    ran = opened.run(100)
    assert len(ran.failed) == 100
    assert 0 < ran.count("retried") <= 20 + 100 // 10
    server.execute({"postgresql": "DROP TRIGGER fail ON effect", "mariadb": "DROP TRIGGER fail"}[server.target])
    assert not opened.run(20).failed
    opened.must_be_applied_once(server)


@every_subject_with_a_breaker
def test_a_circuit_breaker_keeps_calls_from_a_server_that_does_not_respond(
        server: Server, open_case: Callable[..., Opened]) -> None:
    with losing_answers(server.port, every=1) as port:
        opened = open_case("arrivals", 4, target=server.uri(port=port))
        ran = opened.run(2_000)
        opened.close()
    # The circuit breaker lets some calls try again every second.
    tries = (int(ran.arguments["end"]) - int(ran.arguments["start"])) // 1_000_000_000
    assert len(ran.failed) > 1_900 - 40 * tries
    assert 10 <= ran.count("disconnected") < 200 + 40 * tries, "without a circuit breaker, thousands of connections are lost"


@pytest.mark.parametrize(
    "declared", [each for each in DECLARED if each.name in OVER_HTTP and each.target != "sqlite"], ids=str)
def test_only_with_a_key_no_request_is_applied_twice_whose_response_was_lost(
        behavior: Behavior, server: Server, open_case: Callable[..., Opened]) -> None:
    opened = open_case("http", 4)
    ran = opened.run(400)
    lost = ran.count("disconnected")
    applied = effects(server)
    if behavior.has_key:
        opened.must_be_applied_once(server)
        assert lost == 4 and not ran.failed
    elif behavior.attempts == 1:
        assert applied == Counter((1, call) for call in range(400))
        assert len(ran.failed) == lost == 4, "calls whose response was lost were applied but count as failed"
    else:
        assert not ran.failed
        assert Counter(applied.values()) == {1: 400 - lost, 2: lost}
    opened.close()


@pytest.mark.parametrize("declared", DECLARED, ids=str)
def test_calls_of_a_rate_are_made_when_they_are_due(
        filled: Database, open_case: Callable[..., Opened]) -> None:
    opened = open_case("arrivals", 3, rate="200")
    ran = opened.run(21).arguments
    assert int(ran["end"]) - int(ran["start"]) >= 20 * 5_000_000
    opened.must_be_applied_once(filled)


@every_subject_on_servers
@one_and_eight_clients
def test_a_lost_connection_is_replaced(
        subject: Subject, behavior: Behavior, server: Server, open_case: Callable[..., Opened],
        clients: int) -> None:
    opened = open_case("record", clients)
    opened.verify(10)
    for _ in range(2):
        end_sessions(subject, server)
        ran = opened.run(20)
        assert ran.count("disconnected") == clients
        assert len(ran.failed) >= (clients if behavior.attempts == 1 else 0)
    opened.must_be_applied_once(server)
    assert eventually(lambda: subject.connections_to(server.port) == clients)


@every_quick_subject_on_servers
def test_a_call_that_loses_its_connection_each_time_is_given_up(
        subject: Subject, behavior: Behavior, server: Server, open_case: Callable[..., Opened]) -> None:
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
    opened = open_case("counter", 3)
    assert opened.verify(5).failed == set()
    ran = opened.run(20)
    assert ran.failed == {5}
    assert [ran.count(metric) for metric in METRICS] == [0, 0, behavior.attempts, behavior.attempts - 1]
    opened.must_be_applied_once(server)
    assert eventually(lambda: subject.connections_to(server.port) == 3)


@every_subject_on_servers
def test_no_call_is_lost_while_connections_are_ended(
        subject: Subject, behavior: Behavior, server: Server, open_case: Callable[..., Opened]) -> None:
    opened = open_case("order", 4)

    def run() -> Batch:
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(opened.run, 2000)
            end = time.monotonic() + 1
            while not running.done() and time.monotonic() < end:
                for number in sessions(subject, server)[:1]:
                    end_session(server, number)
                time.sleep(0.02)
            return running.result()

    # On a busy machine a batch may end before a connection does.
    assert any(run().count("disconnected") for _ in range(BATCHES_MAX))
    applied = effects(server)
    assert set(opened.answered()) <= set(applied)
    if behavior.has_key:
        assert set(applied.values()) == {1}


@every_subject_on_servers
@pytest.mark.parametrize("case", ["counter", "order"])
def test_only_with_a_key_no_call_is_applied_twice_whose_answer_was_lost(
        behavior: Behavior, server: Server, open_case: Callable[..., Opened], case: str) -> None:
    with losing_answers(server.port, every=3) as port:
        opened = open_case(case, 1, target=server.uri(port=port))
        ran = opened.run(6)
        opened.close()
    lost = ran.count("disconnected")
    assert lost >= 2
    applied = effects(server)
    if behavior.has_key:
        opened.must_be_applied_once(server)
        assert not ran.failed
    elif behavior.attempts == 1:
        assert applied == Counter((1, call) for call in range(6))
        assert len(ran.failed) == lost, "calls whose response was lost were applied but count as failed"
    else:
        assert not ran.failed
        assert Counter(applied.values()) == {1: 6 - lost, 2: lost}


@every_subject_that_reads_first_on_sqlite
def test_calls_that_keep_the_database_busy_for_each_other_are_applied_once(
        filled: SQLite, open_case: Callable[..., Opened]) -> None:
    opened = open_case("record", 8)
    assert any(opened.run(200).count("deadlock") for _ in range(BATCHES_MAX))
    assert not any(ran.count("stale") or ran.count("disconnected") for ran in opened.batches)
    opened.must_be_applied_once(filled)


@every_subject_that_reads_first_on_sqlite
@one_and_eight_clients
def test_a_call_that_has_read_is_given_up_while_another_transaction_writes(
        behavior: Behavior, filled: SQLite, open_case: Callable[..., Opened], clients: int) -> None:
    opened = open_case("record", clients)
    attempts = behavior.attempts
    with filled.locked("IMMEDIATE"):
        assert opened.verify(3).arguments["failed"] == "0-2"
        ran = opened.run(10)
    assert ran.arguments["failed"] == "0-9"
    assert [ran.count(metric) for metric in METRICS] == [0, 10 * attempts, 0, 10 * (attempts - 1)]
    opened.must_be_applied_once(filled)
    opened.run(10)
    opened.must_be_applied_once(filled)


@every_subject_on_sqlite
def test_a_lock_is_waited_for_as_long_as_the_busy_timeout(
        behavior: Behavior, filled: SQLite, open_case: Callable[..., Opened]) -> None:
    opened = open_case("counter", 1)

    def meets_its_lock(seconds: float, deadlocks: bool, fails: bool) -> bool:
        """Returns True if the batch met the lock while it was held, for the right time: on a busy machine it may begin too
        late, or the lock may be held for too long."""
        ran, released_ns = run_while_locked(filled, seconds, partial(opened.run, 1))
        return (int(ran.arguments["start"]) < released_ns
                and (ran.count("deadlock") > 0, bool(ran.failed)) == (deadlocks, fails))

    assert any(meets_its_lock(0.1, False, False) for _ in range(BATCHES_MAX))
    assert any(meets_its_lock(1.5, True, behavior.attempts == 1) for _ in range(BATCHES_MAX))
    opened.must_be_applied_once(filled)


@every_subject_on_sqlite
def test_a_file_that_is_not_there_is_not_made(subject: Subject, folder: Path) -> None:
    missing = folder / "missing.db"
    command = f"open case=order seed=7 rows=10 clients=1 table=x target=sqlite:{missing}"
    assert subject.ask_for_error(command) == "failed"
    assert not missing.exists()


@every_subject
def test_what_a_subject_left_that_was_killed_is_no_matter(
        declared: Declared, subject: Subject, filled: Database, running: Callable[[Declared], Subject],
        behavior: Behavior, open_case: Callable[..., Opened]) -> None:
    open_case("order", 2).verify(10)
    subject.kill()
    filled.execute("DELETE FROM effect")
    again = Opened(running(declared), behavior, filled, "order", 2)
    again.verify(10)
    again.must_be_applied_once(filled)
    again.close()


@every_subject
def test_an_error_that_does_not_pass_is_reported(
        subject: Subject, filled: Database, open_case: Callable[..., Opened]) -> None:
    opened = open_case("counter", 3)
    filled.execute("DROP TABLE effect")
    try:
        reply = subject.ask("run operations=5")
        assert (reply.verb, reply.arguments.get("code")) == ("error", "failed")
        assert re.search(filled.no_table, reply.arguments["message"])
    finally:
        filled.execute("CREATE TABLE effect (a bigint, b bigint)")
    assert opened.run(5).failed == set(), "the subject must roll back its transactions and continue"
    assert set(filled.ask("SELECT a FROM effect")) == {(2,)}, "the failed batch has the number 1"


@every_subject
@pytest.mark.parametrize("clients", ["", " clients=0", " clients=257", " clients=x"])
def test_clients_are_from_1_to_256(declared: Declared, subject: Subject, clients: str) -> None:
    nowhere = quote("sqlite:/nonexistent/x.db" if declared.target == "sqlite"
                    else f"{declared.target}://nobody:x@127.0.0.1:1/x")
    command = f"open case=order seed=7 rows=10 table=x settings=x target={nowhere}"
    assert subject.ask_for_error(command + clients) == "usage"
    assert subject.ask_for_error(command + " clients=256") == "failed", "the target does not exist"
    subject.ask_for("opened", "open case=noop seed=7")


@every_subject
def test_what_there_is_not_is_unsupported(declared: Declared, subject: Subject) -> None:
    command = "open seed=7 rows=10 clients=1 table=x settings=x"
    own_target, other_target = "sqlite:/x", quote("postgresql://u:p@127.0.0.1:1/x")
    if declared.target != "sqlite":
        own_target, other_target = quote(f"{declared.target}://u:p@127.0.0.1:1/x"), own_target
    assert subject.ask_for_error(f"{command} case=nothing target={own_target}") == "unsupported"
    assert subject.ask_for_error(f"{command} case=order target={other_target}") == "unsupported"
    subject.ask_for("opened", "open case=noop seed=7")
