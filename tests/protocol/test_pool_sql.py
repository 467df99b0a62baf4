# SPDX-License-Identifier: Apache-2.0
"""experiments/pool_sql/README.md: a pool has four connections, all requests use them, and the server sees
nothing else; without a pool each request has its own session."""

from urllib.parse import quote

import pytest

from databases import Database, Server, SQLite, eventually
from experiments import Declared, declared_subjects
from subject import Subject

SEED = 7
ROWS = 1000
CONNECTIONS = 4
OPERATIONS = 40
ATTEMPTS = 20
"""The maximum number of repetitions of a batch until the server's counters match: it may serve other clients
at the same time."""

SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "pool_sql"]


def open_case(subject: Subject, database: Database, case: str, **more: object) -> dict[str, str]:
    arguments = {"case": case, "seed": SEED, "rows": ROWS, **database.arguments(), **more}
    return subject.ask_for("opened", "open" + "".join(
        f" {key}={quote(str(value), safe='/:,+')}" for key, value in arguments.items())).arguments


def run(subject: Subject, operations: int = OPERATIONS) -> dict[str, str]:
    for verb, command in (("verified", "verify"), ("ran", "run")):
        reply = subject.ask_for(verb, f"{command} operations={operations}")
        assert (reply.number("check"), reply.number("units")) == (operations, operations)
    return reply.arguments


def connections(subject: Subject, database: Database) -> int:
    return CONNECTIONS if isinstance(database, SQLite) else subject.connections_to(database.port)


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("threads", [None, 1, 3, 16])
def test_all_requests_go_over_four_connections(
        declared: Declared, subject: Subject, database: Database, threads: int | None) -> None:
    more = {} if threads is None else {"threads": threads}
    opened = open_case(subject, database, "pooled" if threads is None else "shared", **more)
    settings = database.settings()
    assert {key: opened.get(key) for key in settings} == settings
    assert connections(subject, database) == CONNECTIONS
    assert ("latencies" in run(subject)) == (threads is not None)
    assert connections(subject, database) == CONNECTIONS
    if not isinstance(database, SQLite):
        must_send_only_select(subject, database)
    subject.ask_for("closed", "close")
    if not isinstance(database, SQLite):
        assert eventually(lambda: connections(subject, database) == 0)


def must_send_only_select(subject: Subject, server: Server) -> None:
    for _ in range(ATTEMPTS):
        before = server.counted()
        subject.ask_for("ran", f"run operations={OPERATIONS}")
        after = server.counted()
        sent = after.statements - before.statements
        if sent["SELECT"] == OPERATIONS and after.sessions == before.sessions:
            break
    assert sent["SELECT"] == OPERATIONS
    assert after.sessions == before.sessions


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
def test_without_a_pool_each_request_has_a_session(
        declared: Declared, subject: Subject, database: Database) -> None:
    open_case(subject, database, "opened")
    assert "latencies" not in run(subject, 10)
    if not isinstance(database, SQLite):
        for _ in range(ATTEMPTS):
            before = server_sessions(database)
            subject.ask_for("ran", "run operations=10")
            assert eventually(lambda: server_sessions(database) - before >= 10)
            if (counted := server_sessions(database) - before) == 10:
                break
        assert counted == 10
        assert eventually(lambda: connections(subject, database) == 0)
    subject.ask_for("closed", "close")


def server_sessions(server: Server) -> int:
    return server.counted().sessions


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("case", ["opened", "pooled", "shared threads=2"])
def test_a_target_that_is_not_there(subject: Subject, declared: Declared, case: str) -> None:
    target = {"sqlite": "sqlite:/nonexistent/x.db",
              "postgresql": "postgresql://nobody:x@127.0.0.1:1/x",
              "mariadb": "mariadb://nobody:x@127.0.0.1:1/x"}[declared.target]
    command = f"open case={case} seed={SEED} rows={ROWS} settings=SELECT%201 target={quote(target)}"
    assert subject.ask_for_error(command) == "failed"
    subject.ask_for("opened", "open case=noop seed=7")
