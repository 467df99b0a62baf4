# SPDX-License-Identifier: Apache-2.0
"""docs/protocol.md, The case `own`: every SQL subject decodes the user's columns to the same values, binds the same
parameters, and leaves the same rows."""

import struct
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import pytest

from databases import Database, SQLite
from experiments import Declared, declared_subjects, read_experiments
from subject import Subject

SEED = 7
_MASK = 2**64 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "sql" and subject.cases is None]
every_subject = pytest.mark.parametrize("declared", SUBJECTS, ids=str)

CREATE = {
    "sqlite": "CREATE TABLE own (id integer PRIMARY KEY, whole integer, number real, name text, data blob)",
    "postgresql": "CREATE TABLE own (id integer PRIMARY KEY, whole bigint, number double precision, name text, data bytea, "
                  "small smallint, price numeric(14,4), flag boolean, day date, moment timestamp, zoned timestamptz)",
    "mariadb": "CREATE TABLE own (id integer PRIMARY KEY, whole bigint, number double, "
               "name varchar(600) CHARACTER SET utf8mb4, data varbinary(40), small tinyint, price decimal(14,4), "
               "day date, moment datetime(3))",
}

TYPES = {
    "id": "integer", "whole": "integer", "number": "float", "name": "text", "data": "bytes", "small": "integer",
    "price": "decimal", "flag": "boolean", "day": "date", "moment": "timestamp", "zoned": "timestamp"}

COLUMNS = {
    "sqlite": ["id", "whole", "number", "name", "data"],
    "postgresql": list(TYPES),
    "mariadb": [name for name in TYPES if name not in ("flag", "zoned")],
}

_MOMENTS = [datetime(1970, 1, 1), datetime(2026, 11, 21, 9, 15, 0, 123_000), datetime(2069, 12, 31, 23, 59, 59, 999_000),
            datetime(1969, 12, 31, 23, 59, 59, 1_000)]

_NAMES = ["", "it's", "ß é 語 😀", "a % b ? $1", "x" * 500]

_NUMBERS = [0.0, -2.5, 1 / 3, 1e300, 0.1, -1e-300]


def make_rows() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for n in range(30):
        moment = _MOMENTS[n % 4]
        row: dict[str, object] = {
            "id": n + 1, "whole": [0, -1, 2**63 - 1, -2**63, 12345][n % 5], "number": _NUMBERS[n % 6], "name": _NAMES[n % 5],
            "data": [b"", b"\x00\xff\x80", b"abc"][n % 3], "small": [-128, 127, 0][n % 3],
            "price": [Decimal("0.0000"), Decimal("-12.5000"), Decimal("9999999999.9999"), Decimal("0.0001")][n % 4],
            "flag": n % 2 == 0, "day": moment.date(), "moment": moment, "zoned": moment.replace(tzinfo=timezone.utc)}
        if n % 7 == 6:
            row.update({name: None for name in row if name != "id"})
        rows.append(row)
    return rows


ROWS = make_rows()


def literal(value: object, target: str) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case bytes():
            return f"'\\x{value.hex()}'" if target == "postgresql" else f"X'{value.hex()}'"
        case str() | date():
            text = str(value).replace("'", "''")
            return f"'{text}'"
        case float():
            return f"{value!r}" if "e" in repr(value) else f"{value!r}e0"
    return "-9223372036854775807 - 1" if value == -2**63 else str(value)


def fold(value: object) -> int:
    match value:
        case None:
            return 1
        case bool() | int():
            return int(value)
        case float():
            return int.from_bytes(struct.pack("<d", value), "little")
        case Decimal():
            return sum(map(ord, format(value, "f")))
        case str():
            return sum(map(ord, value))
        case bytes():
            return sum(value)
        case datetime():
            elapsed = value.replace(tzinfo=timezone.utc) - _EPOCH
            return elapsed.days * 86_400_000 + elapsed.seconds * 1000 + elapsed.microseconds // 1000
        case date():
            return (value - _EPOCH.date()).days * 86_400_000
    raise TypeError(f"the model does not fold {value!r}; add its type here")


def placeholders(declared: Declared) -> list[str]:
    """Returns the driver's placeholders of the first parameters."""
    (subject,) = [s for s in read_experiments()["sql"]["subject"] if s["name"] == declared.name]
    usual = "$1" if declared.target == "postgresql" else "?"
    style = subject[declared.target].get("placeholder", usual)
    return [f"${n}" for n in range(1, 9)] if style == "$1" else [style] * 8


def write(declared: Declared, statement: str) -> str:
    """Returns a statement with `{}` for each parameter in the driver's syntax."""
    marks = placeholders(declared)
    text = statement.replace("%", "%%") if marks[0] == "%s" and "{}" in statement else statement
    return text.format(*marks)


@pytest.fixture
def filled(database: Database) -> Database:
    database.execute("DROP TABLE IF EXISTS own")
    database.execute(CREATE[database.target])
    columns = COLUMNS[database.target]
    rows = ",".join("(" + ",".join(literal(row[name], database.target) for name in columns) + ")" for row in ROWS)
    database.execute(f"INSERT INTO own ({', '.join(columns)}) VALUES {rows}")
    return database


def open_command(database: Database, arguments: dict[str, object]) -> str:
    arguments = {"case": "own", "seed": SEED, **database.arguments(), **arguments}
    return "open" + "".join(f" {key}={quote(str(value), safe='/:,+')}" for key, value in arguments.items())


def work(subject: Subject, command: str) -> tuple[int, int]:
    reply = subject.ask_for("ran" if command.startswith("run") else "verified", command)
    return reply.number("check"), reply.number("units")


@every_subject
def test_every_column_is_decoded(declared: Declared, subject: Subject, filled: Database, folder: Path) -> None:
    columns = COLUMNS[filled.target]
    statement = (f"SELECT {', '.join(columns)} FROM own WHERE id >= {{}} AND (name <> {{}} OR name IS NULL) "
                 "AND (number > {} OR number IS NULL) AND 'a%b' LIKE 'a%' ORDER BY id")
    inputs = [(1 + k % 30, _NAMES[k % 5], [-1e308, 0.05, -2.5][k % 3]) for k in range(50)]
    file = folder / "inputs of a case.tsv"
    file.write_text("".join(f"{first}\t{name}\t{number!r}\n" for first, name, number in inputs), encoding="utf-8")
    subject.ask_for("opened", open_command(filled, {
        "statements": 1, "transaction": "no", "sql1": write(declared, statement),
        "parameters1": "integer,text,float", "columns1": ",".join(TYPES[name] for name in columns), "inputs": file}))

    def expected(operations: int) -> tuple[int, int]:
        check = units = 0
        for k in range(operations):
            first, name, number = inputs[k % len(inputs)]
            for row in ROWS:
                if (row["id"] >= first and (row["name"] is None or row["name"] != name)
                        and (row["number"] is None or row["number"] > number)):
                    check += sum(fold(row[column]) for column in columns)
                    units += 1
        return check & _MASK, units

    assert work(subject, "verify") == expected(1)
    assert work(subject, "verify operations=7") == expected(7)
    assert work(subject, "run operations=120") == expected(120)
    subject.ask_for("closed", "close")


@pytest.mark.parametrize("declared", [subject for subject in SUBJECTS if subject.target == "postgresql"], ids=str)
def test_a_large_value_is_decoded(declared: Declared, subject: Subject, database: Database) -> None:
    """The time to decode a value must be proportional to its size: otherwise this would take longer than a subject may."""
    repetitions = 2_000_000
    subject.ask_for("opened", open_command(database, {
        "statements": 1, "transaction": "no", "sql1": f"SELECT decode(repeat('00ff80', {repetitions}), 'hex')",
        "parameters1": "none", "columns1": "bytes"}))
    assert work(subject, "verify") == ((0xFF + 0x80) * repetitions, 1)
    subject.ask_for("closed", "close")


@every_subject
@pytest.mark.parametrize("transaction", ["no", "yes"])
def test_changes_are_made(declared: Declared, subject: Subject, filled: Database, folder: Path, transaction: str) -> None:
    file = folder / "inputs"
    ids = [3, 5, 3]
    file.write_text("".join(f"{n}\t{row}\t{row}\n" for n, row in enumerate(ids, 100)), encoding="utf-8")
    transactions = filled.transactions() if isinstance(filled, SQLite) else 0
    subject.ask_for("opened", open_command(filled, {
        "statements": 3, "transaction": transaction,
        "sql1": write(declared, "UPDATE own SET whole = {} WHERE id = {}"), "parameters1": "integer,integer", "columns1": "none",
        "sql2": "SELECT id FROM own WHERE id <= 2", "parameters2": "none", "columns2": "integer",
        "sql3": write(declared, "DELETE FROM own WHERE id = {} + 10"), "parameters3": "integer", "columns3": "none",
        "inputs": file}))
    assert work(subject, "run operations=3") == (3 * (1 + 1 + 2 + 1), 3 * 4)
    subject.ask_for("closed", "close")
    found = dict(filled.ask("SELECT id, whole FROM own"))
    assert (found[3], found[5]) == (102, 101)
    assert 13 not in found and 15 not in found and len(found) == len(ROWS) - 2
    if isinstance(filled, SQLite):
        # The last DELETE finds no row: with autocommit, it commits nothing.
        assert filled.transactions() - transactions == (3 if transaction == "yes" else 5)


@every_subject
def test_a_failed_statement_is_reported(declared: Declared, subject: Subject, filled: Database) -> None:
    def error(arguments: dict[str, object]) -> str:
        return subject.ask_for_error(open_command(filled, {"statements": 1, "transaction": "yes", **arguments}))

    one = {"sql1": "SELECT 1", "parameters1": "none", "columns1": "integer"}
    assert error({**one, "columns1": "money"}) in ("unsupported", "failed")
    assert error({key: value for key, value in one.items() if key != "sql1"}) == "usage"
    subject.ask_for("opened", open_command(filled, {
        "statements": 2, "transaction": "yes", **one,
        "sql2": "INSERT INTO own (id) VALUES (1)", "parameters2": "none", "columns2": "none"}))
    assert subject.ask_for_error("verify") == "failed"
    subject.ask_for("closed", "close")
    subject.ask_for("opened", open_command(filled, {"statements": 1, "transaction": "no", **one}))
    assert work(subject, "verify operations=3") == (3, 3)
    subject.ask_for("closed", "close")
