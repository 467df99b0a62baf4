# SPDX-License-Identifier: Apache-2.0
"""Subjects report errors of a database with the code failed, and can continue."""

import re
from itertools import islice
from pathlib import Path

import pytest

from databases import Database, Server, eventually, refusing
from experiments import Declared, declared_subjects
from sql_model import ROWS, VALUES, split_mix
from subject import Reply, Subject
from test_sql import SEED, open_command

SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "sql"]
ON_SQLITE = [subject for subject in SUBJECTS if subject.target == "sqlite"]
ON_SERVERS = [subject for subject in SUBJECTS if subject.target != "sqlite"]


def opening(database: Database, case: str, **more: object) -> str:
    """Returns the command that opens a case, which is given as `name key=value ...`."""
    name, *words = case.split()
    point = dict(word.split("=") for word in words)
    return open_command({"case": name, "seed": SEED, "rows": ROWS, **database.arguments(), **point,
                         **more})


def skip_unless_able(declared: Declared, case: str) -> None:
    if not declared.can_do(dict(word.split("=") for word in case.split()[1:])):
        pytest.skip("the driver does not support this case")


def assert_usable(subject: Subject, database: Database) -> None:
    subject.ask_for("opened", opening(database, "select_1 statement=text"))
    assert subject.ask_for("ran", "run operations=2").number("check") == 2
    subject.ask_for("closed", "close")


# -- Files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", ON_SQLITE, ids=str)
@pytest.mark.parametrize("case", ["connect", "select_1 statement=text", "insert statement=prepared",
                                  "connections connections=2"])
def test_missing_file(subject: Subject, folder: Path, case: str) -> None:
    name, *words = case.split()
    command = " ".join(["open", f"case={name}", *words, "seed=7 rows=3 table=x"])
    assert subject.ask_for_error(f"{command} target=sqlite:{folder}/missing.db") == "failed"
    assert list(folder.iterdir()) == [], "the subject must not create a file"
    subject.ask_for("opened", "open case=noop seed=7")


@pytest.mark.parametrize("declared", ON_SQLITE, ids=str)
def test_file_that_is_no_database(subject: Subject, folder: Path) -> None:
    text = folder / "text.db"
    text.write_text("This is no database. " * 1000)
    command = f"open case=select_1 statement=text seed=7 rows=3 table=x target=sqlite:{text}"
    assert subject.ask_for_error(command) == "failed"
    subject.ask_for("opened", "open case=noop seed=7")


# -- Servers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", ON_SERVERS, ids=str)
@pytest.mark.parametrize("case", ["connect", "select_1 statement=text", "connections connections=2"])
@pytest.mark.parametrize("wrong", [
    {"user": "nobody_of_this_name", "password": "not this one"}, {"port": "1"},
    {"password": "secret%@:/?#&=+ ünd mehr", "user": "not@:/?#"}], ids=["user", "port", "encoded"])
def test_no_connection(subject: Subject, database: Server, case: str, wrong: dict[str, str]) -> None:
    assert subject.ask_for_error(opening(database, case, target=database.uri(**wrong))) == "failed"
    assert eventually(lambda: subject.connections_to(database.port) == 0)
    assert_usable(subject, database)


@pytest.mark.parametrize("declared", ON_SERVERS, ids=str)
def test_the_target_is_decoded(subject: Subject, database: Server) -> None:
    scheme, _, address = database.uri().partition("://")
    user = address[0]
    target = f"{scheme}://%{ord(user):02x}{address[1:]}"
    subject.ask_for("opened", opening(database, "select_1 statement=text", target=target))


@pytest.mark.parametrize("declared", ON_SERVERS, ids=str)
def test_settings_that_cannot_be_read(subject: Subject, database: Server) -> None:
    command = opening(database, "select_1 statement=text", settings="SELECT * FROM no_such_table")
    assert_names_missing_table(subject.ask(command), database)
    assert eventually(lambda: subject.connections_to(database.port) == 0)
    assert_usable(subject, database)


# -- Work --------------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("case", [
    "select statement=prepared limit=2", "select statement=text limit=2", "point statement=text",
    "insert statement=prepared", "insert statement=text", "insert_tx rows_tx=3", "update_point",
    "transfer", "connections connections=3", "drop_create"])
def test_work_that_fails(declared: Declared, subject: Subject, database: Database,
                         case: str) -> None:
    skip_unless_able(declared, case)
    database.fill(VALUES)
    command = opening(database, case)
    subject.ask_for("opened", command)
    database.execute("DROP TABLE test_simple")
    try:
        assert_names_missing_table(subject.ask("run operations=3"), database)
        # No transaction was left open: it would hold a lock.
    finally:
        database.execute(database.table)
    database.fill(VALUES)

    # It does the same work when this is possible again. It may need a new statement, because some drivers
    # discard a statement that failed.
    subject.ask_for("closed", "close")
    subject.ask_for("opened", command)
    subject.ask_for("ran", "run operations=2")
    subject.ask_for("closed", "close")


def assert_names_missing_table(reply: Reply, database: Database) -> None:
    assert (reply.verb, reply.arguments.get("code")) == ("error", "failed")
    message = reply.arguments["message"]
    assert re.search(database.no_table, message), f"no SQLSTATE or reason in: {message}"


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("case", ["insert_tx rows_tx=2", "transfer"])
def test_a_transaction_that_fails_is_rolled_back(subject: Subject, database: Database,
                                                 case: str) -> None:
    """The second statement of a transaction fails: the first one is rolled back, and its lock is released
    although the case is still open."""
    first, second = islice(split_mix(SEED), 2)
    if case == "transfer":
        values = [1000, 1000]
        refused = 1000 + (1 + (first >> 20) % 100)
        assert first % 2 != (first >> 32) % 2, "the seed must move the amount between two rows"
    else:
        values = []
        refused = second >> 33
    database.fill(values)
    subject.ask_for("opened", opening(database, case, rows=2))
    try:
        with refusing(database, refused):
            assert subject.ask_for_error("run operations=1") == "failed"
        assert database.rows() == dict(enumerate(values, 1))
    finally:
        database.execute("DROP TABLE test_simple")
        database.execute(database.table)


# -- Arguments ---------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("case, missing, code", [
    ("select statement=text limit=1", "target", "usage"),
    ("select statement=text", None, "usage"),
    ("select limit=1", None, "usage"),
    ("select statement=text limit=0", None, "usage"),
    ("select statement=text limit=1;", None, "usage"),
    ("select statement=nonsense limit=1", None, "unsupported"),
    ("connect target=nonsense:x", None, "unsupported"),
    ("point statement=text", "rows", "usage"),
    ("mixed", "rows", "usage"),
    ("update_point", "rows", "usage"),
    ("transfer", "rows", "usage"),
    ("insert_tx", None, "usage"),
    ("connections", None, "usage"),
    ("connections connections=0", None, "usage"),
    ("drop_create", "table", "usage"),
])
def test_arguments(subject: Subject, database: Database, case: str, missing: str | None,
                   code: str) -> None:
    database.fill(VALUES)
    name, *words = case.split()
    arguments = {"case": name, "seed": SEED, "rows": ROWS, **database.arguments(),
                 **dict(word.split("=") for word in words)}
    arguments.pop(missing, None)
    assert subject.ask_for_error(open_command(arguments)) == code
    assert_usable(subject, database)
