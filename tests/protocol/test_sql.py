# SPDX-License-Identifier: Apache-2.0
"""experiments/sql/README.md: every subject does the same work, and leaves the same databases."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from experiments import Declared, declared_subjects, points, read_experiments
from sql_model import State, expect, make_database, make_values, read_state
from subject import Reply, Subject

EXPERIMENTS = {name: experiment for name, experiment in read_experiments().items()
               if experiment["experiment"].get("target") == "sqlite"}
SUBJECTS = [subject for subject in declared_subjects() if subject.target == "sqlite"]

SEED = 7
OPERATIONS = {"connect": 20, "select": 3, "insert_tx": 5, "drop_create": 5}
"""How many make up a run; of the other cases enough that the seeded sequence begins again."""


def every_point() -> list[Any]:
    """Every subject with every point of every case of its experiment."""
    return [
        pytest.param(subject, case, point,
                     id=" ".join([str(subject), case["name"], *(f"{k}={v}" for k, v in point.items())]))
        for subject in SUBJECTS
        for case in EXPERIMENTS[subject.experiment]["case"]
        for point in points(case)]


def table(experiment: str) -> tuple[str, int]:
    """The schema, and the number of rows."""
    target = EXPERIMENTS[experiment]["target"]["sqlite"]
    return target["table"], target["rows"]


def open_command(arguments: dict[str, object]) -> str:
    return "open" + "".join(f" {key}={quote(str(value), safe='/:,+')}"
                            for key, value in arguments.items())


def result(reply: Reply) -> tuple[int, int]:
    return reply.number("check"), reply.number("units")


@pytest.mark.parametrize("declared, case, point", every_point())
def test_point(subject: Subject, folder: Path, declared: Declared, case: dict[str, Any],
               point: dict[str, object]) -> None:
    schema, rows = table(declared.experiment)
    values = [] if case.get("empty") else make_values(rows)
    database = folder / "a name with blanks & more %.db"
    make_database(database, schema, values)
    before = read_state(database)
    arguments = {"case": case["name"], "seed": SEED, "target": f"sqlite:{database}",
                 "rows": rows, **point}
    operations = OPERATIONS.get(case["name"], 4100)

    opened = subject.ask_for("opened", open_command(arguments))
    assert_settings(opened, database)

    verified = subject.ask_for("verified", "verify")
    assert result(verified) == expect(arguments, values, 1)
    assert verified.number("operations") == 1
    verified = subject.ask_for("verified", "verify operations=2")
    assert result(verified) == expect(arguments, values, 2)
    for _ in range(2):  # every run begins its inputs anew
        earliest = time.monotonic_ns()
        ran = subject.ask_for("ran", f"run operations={operations}")
        latest = time.monotonic_ns()
        assert earliest <= ran.number("start") < ran.number("end") <= latest
        assert ran.number("operations") == operations
        assert result(ran) == expect(arguments, values, operations)
    subject.ask_for("closed", "close")
    assert subject.quit() == 0

    batches = [1, 2, operations, operations]
    inserted = sum(expect(arguments, values, n).check for n in batches)
    assert read_state(database) == expected_state(before, case, point, sum(batches), inserted)
    assert [path.name for path in folder.iterdir()] == [database.name]


def assert_settings(opened: Reply, database: Path) -> None:
    """The settings are there, and are SQLite's defaults as another program sees them."""
    with closing(sqlite3.connect(database)) as connection:
        for pragma in ("journal_mode", "synchronous", "encoding", "page_size", "cache_size"):
            ((value,),) = connection.execute(f"PRAGMA {pragma}")
            assert opened.arguments[pragma] == str(value), pragma
    # Not a property of the file: libraries are compiled with different defaults.
    assert opened.arguments["secure_delete"] in ("0", "1", "2")
    assert opened.arguments["autocommit"] == "1"
    assert opened.arguments["version"].startswith("3.")
    assert opened.arguments["source_id"].startswith("20"), "it begins with a date"


def expected_state(before: State, case: dict[str, Any], point: dict[str, object],
                   operations: int, inserted: int) -> State:
    """The database after so many operations, by what the experiment says that each one writes."""
    writes = case.get("writes")
    if writes is None:
        return before
    rows = operations * int(point.get(writes["rows"], writes["rows"]))
    return State(rows, inserted if rows else 0, rows, before.schema,
                 before.changes + operations * writes["transactions"])


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
class TestErrors:
    """What goes wrong is reported as such, and the subject can go on."""

    @pytest.mark.parametrize("case", ["case=connect", "case=select_1 statement=text",
                                      "case=insert statement=prepared"])
    def test_missing_file(self, subject: Subject, folder: Path, case: str) -> None:
        target = f"target=sqlite:{folder}/missing.db"
        assert subject.ask_for_error(f"open {case} seed=7 {target}") == "failed"
        assert list(folder.iterdir()) == [], "no file was made"
        subject.ask_for("opened", "open case=noop seed=7")
        assert subject.quit() == 0

    def test_file_that_is_no_database(self, subject: Subject, folder: Path) -> None:
        text = folder / "text.db"
        text.write_text("This is no database. " * 1000)
        command = f"open case=select_1 statement=text seed=7 target=sqlite:{text}"
        assert subject.ask_for_error(command) == "failed"
        subject.ask_for("opened", "open case=noop seed=7")
        assert subject.quit() == 0

    @pytest.mark.parametrize("rest, code", [
        ("case=select statement=text limit=1", "usage"),
        ("case=select statement=text target=sqlite:{}", "usage"),
        ("case=select limit=1 target=sqlite:{}", "usage"),
        ("case=select statement=text limit=0 target=sqlite:{}", "usage"),
        ("case=select statement=text limit=1%3B target=sqlite:{}", "usage"),
        ("case=select statement=nonsense limit=1 target=sqlite:{}", "unsupported"),
        ("case=connect target=postgresql:{}", "unsupported"),
        ("case=point target=sqlite:{}", "usage"),
        ("case=insert_tx target=sqlite:{}", "usage"),
    ])
    def test_arguments(self, declared: Declared, subject: Subject, folder: Path, rest: str,
                       code: str) -> None:
        database = folder / "some.db"
        schema, _ = table(declared.experiment)
        make_database(database, schema, [1, 2, 3])
        assert subject.ask_for_error(f"open seed=7 {rest.format(database)}") == code
        subject.ask_for("opened", f"open seed=7 case=connect target=sqlite:{database}")
        assert subject.quit() == 0

    @pytest.mark.parametrize("case", [
        "case=select statement=prepared limit=2", "case=select statement=text limit=2",
        "case=insert statement=prepared", "case=insert statement=text",
        "case=insert_tx rows_tx=3", "case=drop_create"])
    def test_work_that_fails(self, declared: Declared, subject: Subject, folder: Path,
                             case: str) -> None:
        database = folder / "some.db"
        schema, _ = table(declared.experiment)
        make_database(database, schema, [1, 2, 3])
        command = f"open {case} seed=7 target=sqlite:{database}"
        subject.ask_for("opened", command)
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("DROP TABLE test_simple")
        reply = subject.ask("run operations=2")
        assert (reply.verb, reply.arguments["code"]) == ("error", "failed")
        assert "no such table: test_simple" in reply.arguments["message"]

        # It has let go of the file, and does the same work once it can be done. It may need a new
        # statement for that: some drivers give one up that failed.
        with closing(sqlite3.connect(database, timeout=0)) as connection:
            connection.execute(schema)
        subject.ask_for("closed", "close")
        subject.ask_for("opened", command)
        subject.ask_for("ran", "run operations=2")
        subject.ask_for("closed", "close")
        assert subject.quit() == 0
        assert read_state(database).schema == schema


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
def test_hello_names_the_thread_that_works(declared: Declared, subject: Subject,
                                           folder: Path) -> None:
    schema, rows = table(declared.experiment)
    database = folder / "some.db"
    make_database(database, schema, make_values(rows))
    subject.ask_for("opened", f"open case=select statement=prepared limit={rows} seed=7 "
                              f"target=sqlite:{database}")
    subject.ask_for("verified", "verify operations=100")
    before = cpu_time_by_thread(subject.pid)
    subject.ask_for("ran", "run operations=100")
    used = {thread: ns - before.get(thread, 0)
            for thread, ns in cpu_time_by_thread(subject.pid).items()}
    assert max(used, key=used.get) == subject.hello.number("thread"), used


def cpu_time_by_thread(pid: int) -> dict[int, int]:
    """In ns; the first figure of schedstat."""
    return {int(task.name): int((task / "schedstat").read_text().split()[0])
            for task in Path(f"/proc/{pid}/task").iterdir()}
