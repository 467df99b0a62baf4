# SPDX-License-Identifier: Apache-2.0
"""Runs `benchlab logs` on logs of databases: on generated logs with known results, and on logs of real servers.

The generator builds each statement and its query from the same pieces, so nothing here parses SQL."""

import csv
import hashlib
import io
import json
import math
import os
import pwd
import random
import re
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import duckdb
import psycopg
import pymysql
import pytest

from servers import free_port

ROOT = Path(__file__).resolve().parents[2]
BENCHLAB = Path(os.environ.get("BENCHLAB_PROGRAM", ROOT / "target/debug/benchlab"))
UNKNOWN = "(statement not in the log)"
WITHIN_S = 120


# -- Results of benchlab ---------------------------------------------------------------------------


@dataclass
class Figures:
    """The metrics of a query."""

    requests: int = 0
    errors: int = 0
    unknown: int = 0
    """The number of executions of which the log does not show whether they failed."""
    durations: list[int] = field(default_factory=list)
    """The durations in ns."""


def read(log: Path, *options: str) -> tuple[dict[str, dict[str, dict]], dict]:
    """Returns the metrics of each query by metric ID, and the whole document."""
    command = [BENCHLAB, "logs", "--no-keep", "--format", "json", *options, log]
    done = subprocess.run(command, capture_output=True, text=True, cwd=log.parent, timeout=WITHIN_S)
    assert done.returncode == 0, done.stderr
    assert "secret" not in done.stdout
    document = json.loads(done.stdout)
    figures: dict[str, dict[str, dict]] = defaultdict(dict)
    for row in document["rows"]:
        figures[row["subject"]][row["metric"]["id"]] = row["value"]
    return figures, document


def first_screen(log: Path, *options: str) -> str:
    done = subprocess.run([BENCHLAB, "logs", "--no-keep", *options, log], capture_output=True, text=True,
                          cwd=log.parent, timeout=WITHIN_S)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def check(log: Path, expected: dict[str, Figures], *options: str) -> dict:
    """Checks that every metric matches the reference, and that the table's sum is the number of requests."""
    figures, document = read(log, *options)
    all_together = figures.pop("(all)")
    assert {name: int(f["requests"]["value"]) for name, f in figures.items()} == {
        name: f.requests for name, f in expected.items()}
    assert all_together["requests"]["value"] == sum(f.requests for f in expected.values())
    for name, reference in expected.items():
        found = figures[name]
        if reference.unknown == reference.requests:
            assert "errors" not in found, name
        else:
            assert found["errors"]["value"] == reference.errors, name
        durations = sorted(reference.durations)
        if not durations:
            assert "total" not in found, name
            continue
        assert found["total"]["value"] == sum(durations), name
        assert found["max"]["value"] == durations[-1], name
        for part in (50, 95, 99):
            exact = durations[math.ceil(len(durations) * part / 100) - 1]
            quantile = found[f"p{part}"]
            assert quantile["low"] - 1 <= exact <= quantile["high"] + 1, (name, part)
    return document


# -- Statements -----------------------------------------------------------------------------------


class Statement(NamedTuple):
    text: bytes
    query: str


def name(query: str) -> str:
    """Returns the displayed name of a query. A long query is shown without its columns, but with a digest of the whole query."""
    if len(query) <= 200:
        return query
    # The digest is that of the statement, without a phase of the extended protocol. It ignores the case of keywords, and blanks around
    # symbols. A literal is not a symbol.
    spelling = re.sub(r"\b(SELECT|FROM|WHERE)\b", lambda word: word[0].lower(), re.sub("^(parse|bind): ", "", query))
    spelling = re.sub(r" *([,.=:]) *", r"\1", spelling)
    digest = hashlib.sha256(spelling.encode()).hexdigest()[:12]
    return f"{query[:query.index('SELECT') + 6]} … {query[query.index('FROM '):]} [{digest}]"


LITERALS = {
    "postgresql": [b"'plain'", b"'it''s'", rb"E'it\'s'", rb"e'\\'", rb"'C:\'", b"$$it's$$", b"$q$ $$ $q$", b"42", b"4.5e-3",
                   b"-7", b"0x1F", b"B'01'", b"'a -- b'", b"'a /* b'", b"'two\nlines'", b"'semi; colon'", b"$1", b".5",
                   b"'2026-05-01 10:00:00 UTC [1] LOG:  duration: 5 ms'", b"'\n\n'", "'é\u202e'".encode(), b"'\xff\xfe'",
                   b"'secret@example.org'", b"'x'::text"],
    "mysql": [b"'plain'", b"'it''s'", rb"'it\'s'", rb"'\\'", b'"al""ice"', rb'"al\"ice"', b"\"it's\"", b"42", b"4.5e-3", b"-7",
              b"0x1F", b"x'4D'", b"_utf8mb4'x'", b"N'x'", b"'a -- b'", b"'a /* b'", b"'# b'", b"'two\nlines'", b"'; x'",
              b"'a\n# User@Host: x[x] @  []\nb'", b'"secret@example.org"', "'é\u202e'".encode(), b"'\xff\xfe\0'"],
}
COMMENTS = {
    "postgresql": [b" -- it's '\n", b" /* ' */ ", b" /* a /* \" */ b */ ", b" --\n", b" \n\t", b"  "],
    "mysql": [b" -- it's '\n", b" /* ' \" */ ", b" # it's\n", b" --\n", b" \n\t", b"  ", b" /* a /* b */ "],
}
COLUMNS = ", ".join(f"o.column_number_{i} as c{i}" for i in range(60))
SHAPES = {
    "postgresql": [
        ("SELECT * FROM t1 WHERE a = {}", "SELECT * FROM t1 WHERE a = ?"),
        ('SELECT d #>> {} FROM "Odd""name" WHERE b @> {}', 'SELECT d #>> ? FROM "Odd""name" WHERE b @> ?'),
        ("SELECT a FROM t2 WHERE id IN [] AND b < {}", "SELECT a FROM t2 WHERE id IN (…) AND b < ?"),
    ],
    "mysql": [
        ("SELECT * FROM t1 WHERE a = {} AND b = {}", "SELECT * FROM t1 WHERE a = ? AND b = ?"),
        ("SELECT `odd``name` FROM t2 WHERE id IN []", "SELECT `odd``name` FROM t2 WHERE id IN (…)"),
        ("SELECT 5--x FROM 2020_sales LIMIT {}", "SELECT ?--x FROM 2020_sales LIMIT ?"),
    ],
    "both": [
        ("INSERT INTO log VALUES []", "INSERT INTO log VALUES (…)"),
        ("INSERT INTO log VALUES <>", "INSERT INTO log VALUES (?, now(), ?)"),
        ("UPDATE stock SET n = n - {} WHERE id = {}", "UPDATE stock SET n = n - ? WHERE id = ?"),
        (f"SELECT {COLUMNS} FROM small_table o WHERE id = {{}}", f"SELECT {COLUMNS} FROM small_table o WHERE id = ?"),
        (f"SELECT {COLUMNS} FROM huge_history o WHERE id = {{}}", f"SELECT {COLUMNS} FROM huge_history o WHERE id = ?"),
        ("BEGIN", "BEGIN"),
    ],
}


def statement(rng: random.Random, dialect: str, plain: bool = False) -> Statement:
    """Returns a random statement with its query. `plain` limits it to characters that are valid in JSON."""
    template, query = rng.choice(SHAPES[dialect] + SHAPES["both"])
    literals = LITERALS[dialect]
    if plain:
        literals = [text for text in literals if b"\xff" not in text and b"\0" not in text]

    def literal() -> bytes:
        return rng.choice(literals).replace(b"::text", b"")

    def blank() -> bytes:
        return rng.choice(COMMENTS[dialect]) if rng.random() < 0.2 else b" "

    words = []
    for word in template.split(" "):
        filled = word.encode()
        if "{}" in word:
            filled = filled.replace(b"{}", literal())
        elif word == "[]":
            rows = [b"(" + b", ".join(literal() for _ in range(rng.randint(1, 4))) + b")"
                    for _ in range(rng.randint(1, 3) if "VALUES" in template else 1)]
            filled = b",".join(rows)
        elif word == "<>":
            rows = [b"(" + rng.choice([b"NULL", literal()]) + b", now(), " + literal() + b")" for _ in range(rng.randint(1, 3))]
            filled = b", ".join(rows)
        words.append(filled)
    text = words[0]
    for word in words[1:]:
        text += blank() + word
    return Statement(text, name(query))


# -- PostgreSQL's log -----------------------------------------------------------------------------


class Message(NamedTuple):
    """A message of a session."""

    severity: str
    text: bytes
    statement: bytes | None = None
    """The text after STATEMENT in the log."""
    detail: bytes | None = None


@dataclass
class PostgresqlSession:
    """A session, with the messages that it will write."""

    pid: int
    started: int
    messages: list[Message] = field(default_factory=list)
    executed: set[bytes] = field(default_factory=set)
    """The statements of the extended protocol."""


@dataclass
class PostgresqlLog:
    """A log of concurrent sessions, with the expected metrics."""

    rng: random.Random
    plain: bool = False
    expected: dict[str, Figures] = field(default_factory=lambda: defaultdict(Figures))
    messages: list[tuple[PostgresqlSession, Message]] = field(default_factory=list)

    def make(self, statements: int) -> None:
        sessions = [PostgresqlSession(1000 + i, 1_700_000_000 + i) for i in range(5)]
        for session in sessions:
            for _ in range(statements // len(sessions)):
                self.add(session)
            if self.rng.random() < 0.5:
                session.messages.append(Message("LOG", b"disconnection: session time: 0:00:01.000 user=u database=d host=[local]"))
        queues = [session for session in sessions for _ in session.messages]
        self.rng.shuffle(queues)
        for session in queues:
            self.messages.append((session, session.messages.pop(0)))

    def count(self, query: str, us: int | None, failed: bool = False) -> None:
        figures = self.expected[query]
        figures.requests += 1
        figures.errors += failed
        if us is not None:
            figures.durations.append(us * 1000)

    def add(self, session: PostgresqlSession) -> None:
        """Adds the messages for a statement, in one of the ways in which a server writes them."""
        rng, write = self.rng, session.messages.append
        done = statement(rng, "postgresql", self.plain)
        us = int(rng.lognormvariate(7, 2)) + 1
        ms = f"duration: {us // 1000}.{us % 1000:03} ms".encode()
        prepared = rng.choice([b"<unnamed>", b"S_1", b"fetch from S_2/C_3"])
        way = rng.randrange(11)
        if way == 0:
            write(Message("LOG", ms + b"  statement: " + done.text))
        elif way == 1:
            write(Message("LOG", b"statement: " + done.text))
            write(Message("LOG", ms))
        elif way == 2:
            write(Message("LOG", ms + b"  execute " + prepared + b": " + done.text, detail=b"parameters: $1 = 'secret'"))
            self.explain_later(session, done, ms, prepared)
        elif way == 3:
            write(Message("LOG", b"execute " + prepared + b": " + done.text, detail=b"Parameters: $1 = 'secret'"))
            write(Message("LOG", ms))
            self.explain_later(session, done, ms, prepared)
        elif way == 4:
            phase = rng.choice([b"parse", b"bind"])
            write(Message("LOG", ms + b"  " + phase + b" <unnamed>: " + done.text))
            self.count(name(phase.decode() + ": " + self.whole(done)), us)
            return
        elif way == 5:
            write(Message("LOG", self.plan(done, ms)))
            write(Message("LOG", ms + b"  statement: " + done.text))
        elif way == 6 and done.text in session.executed:
            # The plan could be that of the earlier execution.
            return self.add(session)
        elif way == 6:
            write(Message("LOG", self.plan(done, ms)))
            write(Message("LOG", b"could not receive data from client: Connection reset by peer"))
            # Nothing shows that the next message belongs to the plan.
            write(Message("LOG", ms + b"  statement: COMMIT"))
            self.count("COMMIT", us)
        elif way == 7:
            write(Message("LOG", b"statement: " + done.text))
            write(Message("LOG", self.plan(done, ms)))
            write(Message("LOG", ms))
        elif way == 8:
            write(Message("LOG", b'temporary file: path "base/pgsql_tmp/pgsql_tmp1.0", size 81920', done.text))
            write(Message("WARNING", b"there is no transaction in progress", done.text))
            write(Message("LOG", ms + b"  statement: " + done.text))
        elif way == 9:
            if rng.random() < 0.5:
                write(Message("LOG", b"statement: " + done.text))
            write(Message("ERROR", b'relation "x" does not exist', done.text))
            self.count(done.query, None, failed=True)
            return
        else:
            write(Message("LOG", ms))
            self.count(UNKNOWN, us)
            return
        self.count(done.query, us)

    def explain_later(self, session: PostgresqlSession, done: Statement, ms: bytes, prepared: bytes) -> None:
        """Adds the plan of a statement of the extended protocol, alone or after the next statement was parsed."""
        session.executed.add(done.text)
        if prepared.startswith(b"fetch") or self.rng.random() < 0.5:
            return
        if self.rng.random() < 0.5:
            other = statement(self.rng, "postgresql", self.plain)
            session.messages.append(Message("LOG", b"duration: 0.100 ms  parse <unnamed>: " + other.text))
            self.count(name("parse: " + self.whole(other)), 100)
        session.messages.append(Message("LOG", self.plan(done, ms)))

    @staticmethod
    def whole(done: Statement) -> str:
        """Returns the query before it was cut for display."""
        return next(query for shapes in SHAPES.values() for _, query in shapes if name(query) == done.query)

    def plan(self, done: Statement, ms: bytes) -> bytes:
        if self.rng.random() < 0.5 or b"\xff" in done.text or b"\0" in done.text:
            return (ms + b"  plan:\nQuery Text: " + done.text + b"\nAggregate  (cost=16.77..16.78 rows=1 width=0)\n"
                    b"  ->  Seq Scan on t  (cost=0.00..14.00 rows=800 width=0)\n        Filter: (a = 'secret')")
        text = json.dumps(done.text.decode(), ensure_ascii=False)
        return ms + b"  plan:\n{\n  \"Query Text\": " + text.encode() + b",\n  \"Plan\": {\"Node Type\": \"Result\"}\n}"

    def lines(self, prefix: Callable[[PostgresqlSession, float], str], begin: float) -> bytes:
        """Returns the log as written with `log_destination = stderr`, with 1.5 s between messages."""
        out = bytearray()
        for i, (session, message) in enumerate(self.messages):
            head = prefix(session, begin + 1.5 * i).encode()
            parts = [(message.severity, message.text)]
            parts += [("DETAIL", message.detail)] if message.detail else []
            parts += [("STATEMENT", message.statement)] if message.statement else []
            for tag, text in parts:
                out += head + tag.encode() + b":  " + text.replace(b"\n", b"\n\t") + b"\n"
        return bytes(out)

    def csv(self, begin: float, fields: int) -> bytes:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        for i, (session, message) in enumerate(self.messages):
            row = [""] * fields
            row[0] = moment(begin + 1.5 * i, 3) + " UTC"
            row[1:4] = ["ap\"p", "shop", str(session.pid)]
            row[5] = f"{session.started:x}.{session.pid:x}"
            row[11], row[13] = message.severity, message.text.decode("latin-1")
            row[14] = (message.detail or b"").decode()
            row[19] = (message.statement or b"").decode("latin-1")
            writer.writerow(row)
        return out.getvalue().encode("latin-1")

    def json(self, begin: float) -> bytes:
        out = []
        for i, (session, message) in enumerate(self.messages):
            record = {"timestamp": moment(begin + 1.5 * i, 3) + " UTC", "user": "app", "pid": session.pid,
                      "session_id": f"{session.started:x}.{session.pid:x}", "error_severity": message.severity,
                      "message": message.text.decode(), "application_name": "psql", "query_id": 0}
            if message.statement:
                record["statement"] = message.statement.decode()
            out.append(json.dumps(record, ensure_ascii=self.rng.random() < 0.5) + "\n")
        return "".join(out).encode()


    def logplex(self, begin: float, colon: str) -> bytes:
        """Returns the log as written by Heroku's logplex, which numbers the lines within each message."""
        out = bytearray()
        for i, (session, message) in enumerate(self.messages):
            lines = [f"{message.severity}:  ".encode() + message.text.replace(b"\n", b"\n\t")]
            lines += [b"DETAIL:  " + message.detail] if message.detail else []
            lines += [b"STATEMENT:  " + message.statement.replace(b"\n", b"\n\t")] if message.statement else []
            number = 0
            for line in b"\n".join(lines).split(b"\n"):
                number += 1
                head = f"{moment(begin + 1.5 * i).replace(' ', 'T')}+00:00 app[postgres.{session.pid}]{colon} [GREEN] [{i}-{number}] "
                begins = line.startswith(b"\t")
                out += head.encode() + (b"" if begins else b" sql_error_code = 00000 ") + line + b"\n"
        return bytes(out)


def moment(at: float, digits: int = 0, zone: str = "UTC") -> str:
    shown = datetime.fromtimestamp(round(at, 3), ZoneInfo(zone))
    text = shown.strftime("%Y-%m-%d %H:%M:%S")
    return text + f".{shown.microsecond // 1000:03}" if digits else text


def abbreviation(at: float, zone: str) -> str:
    return datetime.fromtimestamp(at, ZoneInfo(zone)).strftime("%Z")


# Close to the end of daylight saving time at 01:00 UTC, and to midnight.
DST = datetime(2026, 10, 25, 0, 58, tzinfo=UTC).timestamp()
PREFIXES: dict[str, Callable[[PostgresqlSession, float], str]] = {
    "%m [%p] %q%u@%d ": lambda s, t: f"{moment(t, 3, 'Europe/Berlin')} {abbreviation(t, 'Europe/Berlin')} [{s.pid}] u@d ",
    "%t:%r:%u@%d:[%p]:": lambda s, t: f"{moment(t)} UTC:10.0.0.5(5432):app@shop:[{s.pid}]:",
    "%t-%c-": lambda s, t: f"{moment(t)} UTC-{s.started:x}.{s.pid:x}-",
    "%m [%p]: [%l-1] db=%d,user=%u ": lambda s, t: f"{moment(t, 3)} UTC [{s.pid}]: [7-1] db=shop,user=me ",
    "%n [%p] ": lambda s, t: f"{t:.3f} [{s.pid}] ",
    "%t %p %u %a ": lambda s, t: f"{moment(t, 0, 'America/Sao_Paulo')} -03 {s.pid} me an app ",
    "pid=%p,%m ": lambda s, t: f"pid={s.pid},{moment(t, 3)} UTC ",
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("is_given", [False, True], ids=["found", "given"])
def test_lines_of_postgresql(tmp_path: Path, prefix: str, seed: int, is_given: bool) -> None:
    made = PostgresqlLog(random.Random(f"{prefix} {seed}"))
    made.make(300)
    log = tmp_path / "postgresql.log"
    log.write_bytes(made.lines(PREFIXES[prefix], DST))
    check(log, made.expected, *(["--log-format", prefix] if is_given else []))


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize("fields", [22, 23, 24, 26])
def test_csv_of_postgresql(tmp_path: Path, fields: int, seed: int) -> None:
    made = PostgresqlLog(random.Random(f"csv {fields} {seed}"))
    made.make(300)
    log = tmp_path / "postgresql.csv"
    log.write_bytes(made.csv(DST, fields))
    check(log, made.expected)


@pytest.mark.parametrize("seed", range(3))
def test_json_of_postgresql(tmp_path: Path, seed: int) -> None:
    made = PostgresqlLog(random.Random(f"json {seed}"), plain=True)
    made.make(300)
    log = tmp_path / "postgresql.json"
    log.write_bytes(made.json(DST))
    check(log, made.expected)


@pytest.mark.parametrize("colon", ["", ":"])
def test_logplex_of_heroku(tmp_path: Path, colon: str) -> None:
    made = PostgresqlLog(random.Random(f"logplex {colon}"), plain=True)
    made.make(300)
    log = tmp_path / "heroku.log"
    log.write_bytes(made.logplex(DST, colon))
    check(log, made.expected)


def cut_in_files(whole: bytes, rng: random.Random, log: Path) -> list[Path]:
    """Writes a log as three rotated files and the current one, cut between random lines, and returns the files in order."""
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    quarter = len(ends) // 4
    cuts = [0] + [ends[quarter * n + rng.randrange(quarter // 2)] for n in range(1, 4)] + [len(whole)]
    files = [log.with_name(f"{log.name}.{n}") for n in (3, 2, 1)] + [log]
    for file, (begin, end) in zip(files, zip(cuts, cuts[1:])):
        file.write_bytes(whole[begin:end])
    return files


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["lines", "given", "csv", "json"])
def test_a_log_of_postgresql_in_multiple_files(tmp_path: Path, form: str, seed: int) -> None:
    """A statement, its duration and its plan can be in different files, and so can the lines of one message."""
    rng = random.Random(f"files {form} {seed}")
    made = PostgresqlLog(rng, plain=form == "json")
    made.make(300)
    prefix = "%m [%p] %q%u@%d "
    whole = {"lines": lambda: made.lines(PREFIXES[prefix], DST), "given": lambda: made.lines(PREFIXES[prefix], DST),
             "csv": lambda: made.csv(DST, 26), "json": lambda: made.json(DST)}[form]()
    options = ["--log-format", prefix] if form == "given" else []
    files = cut_in_files(whole, rng, tmp_path / "postgresql.log")
    check(files[-1], made.expected, "--rotated", *options)
    check(files[-1], made.expected, *options, *map(str, files[:-1]))


def test_logs_of_two_servers_are_kept_apart(tmp_path: Path) -> None:
    """Both servers have a process with the same ID: a duration at the beginning of one log does not belong to the other log."""
    logs = []
    for number, begin in enumerate(["09:00", "09:30"]):
        lines = [f"2026-05-01 {begin}:01 UTC [7] LOG:  duration: 5.000 ms", f"2026-05-01 {begin}:02 UTC [7] LOG:  statement: SELECT b"]
        logs.append(tmp_path / f"{number}.log")
        logs[-1].write_text("\n".join(lines) + "\n")
    first, second = logs
    # The second log begins before the first one ends.
    check(first, {UNKNOWN: Figures(2, durations=[5_000_000] * 2), "SELECT b": Figures(2)}, str(second))
    # A statement of half an hour ago does not take fifty minutes.
    text = second.read_text().replace("5.000", "3000000.000")
    second.write_text(text)
    check(second, {UNKNOWN: Figures(2, durations=[5_000_000, 3_000_000_000_000]), "SELECT b": Figures(2)}, str(first))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata"])
def test_times_when_a_clock_is_set_back(tmp_path: Path, zone: str) -> None:
    """Each record has the right time, both with the zone's abbreviation in the log and with its name as an option."""
    begin = datetime(2026, 10, 25 if zone == "Europe/Berlin" else 32 - 31, 0, 30, tzinfo=UTC).timestamp()
    begin = datetime(2026, 11, 1, 5, 30, tzinfo=UTC).timestamp() if zone == "America/New_York" else begin
    times = [begin + 60 * i for i in range(90)]
    log = tmp_path / "postgresql.log"
    log.write_text("".join(f"{moment(t, 3, zone)} {abbreviation(t, zone)} [1] LOG:  duration: 1.000 ms  statement: SELECT 1\n"
                           for t in times))
    for options in ([], ["--zone", zone]):
        folder = tmp_path / f"records{len(options)}"
        read(log, "--parquet", str(folder), *options)
        rows = duckdb.sql(f"SELECT epoch(time), offset_s FROM '{folder}/records/*.parquet' ORDER BY 1").fetchall()
        offsets = [datetime.fromtimestamp(t, ZoneInfo(zone)).utcoffset().total_seconds() for t in times]
        assert rows == [(t, offset) for t, offset in zip(times, offsets)]
        said = first_screen(log, *options)
        words = {abbreviation(t, zone) for t in times}
        assert all((word in said) == (not options) for word in words), said


@pytest.mark.parametrize("word, code", [("UTC", 0), ("EET", 0), ("+03", 0), ("IST", 4), ("XQT", 4), ("", 4)])
def test_no_gate_passes_on_a_guessed_zone(tmp_path: Path, word: str, code: int) -> None:
    log = tmp_path / "postgresql.log"
    log.write_text(f"2026-05-01 10:00:00.000 {word} [1] LOG:  duration: 1.000 ms  statement: SELECT 1\n".replace("  [", " [") * 20)

    def gate(condition: str, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([BENCHLAB, "logs", "--no-keep", "--fail-if", condition, *options, log], capture_output=True,
                              text=True, cwd=tmp_path, timeout=WITHIN_S)

    by_time = gate("rate>100")
    assert by_time.returncode == code, by_time.stderr
    if code:
        assert "--zone" in " ".join(by_time.stdout.split()) and word in by_time.stdout
    assert gate("p95>1s").returncode == 0
    assert gate("rate>100", "--zone", "Asia/Kolkata").returncode == 0


@pytest.mark.parametrize("form", ["lines", "csv", "json"])
def test_truncated_logs(tmp_path: Path, form: str) -> None:
    """For a log that is cut anywhere, the results contain no more statements and errors than the rest of the log."""
    rng = random.Random(f"cut {form}")
    made = PostgresqlLog(rng, plain=True)
    made.make(100)
    whole = {"lines": lambda: made.lines(PREFIXES["%n [%p] "], DST), "csv": lambda: made.csv(DST, 26),
             "json": lambda: made.json(DST)}[form]()
    log = tmp_path / "postgresql.log"
    for _ in range(12):
        begin, end = sorted(rng.sample(range(len(whole)), 2))
        end = min(len(whole), max(end, begin + 4000))
        log.write_bytes(whole[begin:end])
        figures, _ = read(log)
        durations = whole[begin:end].count(b"duration: ")
        found = figures["(all)"]["requests"]["value"]
        others = sum(whole[begin:end].count(mark) for mark in (b"ERROR", b"statement: ", b"execute ", b"STATEMENT"))
        assert found <= durations + others
        log.write_bytes(whole[: whole.rindex(b"\n", 0, end) + 1])
        figures, _ = read(log)
        assert figures["(all)"]["errors"]["value"] <= sum(f.errors for f in made.expected.values())


# -- Slow query logs ------------------------------------------------------------------------------


@dataclass
class SlowLog:
    """A slow query log of a server, with the expected metrics."""

    rng: random.Random
    server: str
    expected: dict[str, Figures] = field(default_factory=lambda: defaultdict(Figures))
    times: list[float] = field(default_factory=list)
    out: bytearray = field(default_factory=bytearray)

    def make(self, statements: int, begin: float) -> bytes:
        at, shown = begin, 0
        for i in range(statements):
            at += self.rng.choice([0, 0, 1, 7])
            if i == 0 or self.rng.random() < 0.03:
                self.banner()
            self.event(int(at), int(at) != shown)
            shown = int(at)
        return bytes(self.out)

    def banner(self) -> None:
        program = {"mysql": "/usr/sbin/mysqld, Version: 8.4.0 (MySQL Community Server - GPL)",
                   "mariadb": "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-log (Debian 12)",
                   "percona": "/usr/sbin/mysqld, Version: 8.0.36-28 (Percona Server (GPL))"}[self.server]
        self.out += (f"{program}. started with:\nTcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n"
                     "Time\t\t    Id Command\tArgument\n").encode()

    def event(self, at: int, is_new_second: bool) -> None:
        rng = self.rng
        done = statement(rng, "mysql")
        text, query = done.text + b";", done.query
        us = int(rng.lognormvariate(10, 2)) + 1
        failed = self.server != "mariadb" and rng.random() < 0.1
        has_outcome = self.server == "percona"
        lines = []
        if self.server == "mysql":
            lines.append(f"# Time: {datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S}.{rng.randrange(10**6):06}Z")
            lines.append("# User@Host: app[app] @  [192.0.2.5]  Id:     8")
            has_outcome = failed or rng.random() < 0.5
            extra = f" Thread_id: 8 Errno: {1146 if failed else 0} Killed: 0 Bytes_received: 0" if has_outcome else ""
            lines.append(f"# Query_time: {us / 1e6:.6f}  Lock_time: 0.000020 Rows_sent: 1  Rows_examined: 10{extra}")
        else:
            time_line = f"# Time: {datetime.fromtimestamp(at, ZoneInfo('America/New_York')):%y%m%d %k:%M:%S}"
            user = "# User@Host: app[app] @ localhost []"
            if is_new_second and self.server == "percona":
                lines.append(f"{time_line} {user}")
            else:
                lines += [time_line, user] if is_new_second else [user]
            times = f"# Query_time: {us / 1e6:.6f}  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 0"
            if self.server == "percona":
                code = rng.choice([1062, 1064, 1366]) if failed else 0
                # A value that does not fit is an error or, in some SQL modes, a warning.
                has_outcome = code != 1366
                failed = failed and has_outcome
                lines += [f"# Schema: shop  Last_errno: {code}  Killed: 0", f"{times}  Rows_affected: 0  Bytes_sent: 117"]
            else:
                lines += ["# Thread_id: 4  Schema: shop  QC_hit: No", times, "# Rows_affected: 0  Bytes_sent: 117"]
            if rng.random() < 0.3:
                lines += ["# Full_scan: Yes  Full_join: No  Tmp_table: No", "#   InnoDB_pages_distinct: 18",
                          "# explain: id\tselect_type\ttable", "# explain: 1\tSIMPLE\tt"]
        if rng.random() < 0.2:
            lines.append("use shop;")
        ids = rng.choice(["", "insert_id=34484549,", "last_insert_id=7,insert_id=8,"]) if self.server != "mysql" else ""
        lines.append(f"SET {ids}timestamp={at};")
        if rng.random() < 0.05:
            command = rng.choice(["Quit", "Prepare", "Init DB"])
            text, query = f"# administrator command: {command};".encode(), f"administrator command: {command}"
        elif rng.random() < 0.2:
            text = b"# report of the day; 'x\n" + text
        self.out += "\n".join(lines).encode() + b"\n" + text + b"\n"
        figures = self.expected[query]
        figures.requests += 1
        figures.errors += failed
        figures.unknown += not has_outcome
        figures.durations.append(us * 1000)
        self.times.append(at)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("server", ["mysql", "mariadb", "percona"])
def test_slow_logs(tmp_path: Path, server: str, seed: int) -> None:
    made = SlowLog(random.Random(f"{server} {seed}"), server)
    log = tmp_path / "slow.log"
    log.write_bytes(made.make(400, DST))
    folder = tmp_path / "records"
    check(log, made.expected, "--parquet", str(folder))
    times = duckdb.sql(f"SELECT epoch(time) FROM '{folder}/records/*.parquet' ORDER BY 1").fetchall()
    assert [t for t, in times] == sorted(made.times)
    said = first_screen(log)
    assert "zone" not in said and "secret" not in said, said


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("server", ["mysql", "mariadb", "percona"])
def test_slow_logs_in_multiple_files(tmp_path: Path, server: str, seed: int) -> None:
    """An entry that a rotation splits is counted once, with the time from the previous file."""
    rng = random.Random(f"files {server} {seed}")
    made = SlowLog(rng, server)
    files = cut_in_files(made.make(400, DST), rng, tmp_path / "slow.log")
    folder = tmp_path / "records"
    check(files[-1], made.expected, "--rotated", "--parquet", str(folder))
    times = duckdb.sql(f"SELECT epoch(time) FROM '{folder}/records/*.parquet' ORDER BY 1").fetchall()
    assert [t for t, in times] == sorted(made.times)
    check(files[-1], made.expected, *map(str, files[:-1]))


def test_truncated_slow_logs(tmp_path: Path) -> None:
    rng = random.Random("cut")
    made = SlowLog(rng, "mariadb")
    whole = made.make(100, DST)
    log = tmp_path / "slow.log"
    for _ in range(20):
        begin, end = sorted(rng.sample(range(len(whole)), 2))
        end = min(len(whole), max(end, begin + 3000))
        log.write_bytes(whole[begin:end])
        figures, _ = read(log)
        headers = sum(line.startswith(b"# Query_time: ") and b" Lock_time: " in line for line in whole[begin:end].split(b"\n"))
        assert figures["(all)"]["requests"]["value"] == headers


# -- Logs of real servers -------------------------------------------------------------------------


def program(name_of: str, folders: list[Path]) -> str:
    found = shutil.which(name_of, path=os.pathsep.join([*map(str, folders), os.environ["PATH"], "/usr/sbin"]))
    assert found, f"{name_of} is not installed"
    return found


@pytest.fixture
def account(tmp_path: Path) -> Iterator[dict]:
    """Returns the arguments of `subprocess` for servers that refuse to run as root."""
    if os.getuid() != 0:
        yield {}
        return
    user = pwd.getpwnam("nobody")
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)
    yield {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def data_folder(tmp_path: Path, account: dict) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    if account:
        os.chown(folder, account["user"], account["group"])
    return folder


def wait_until(is_ready: Callable[[], bool], process: subprocess.Popen) -> None:
    limit = time.monotonic() + WITHIN_S
    while not is_ready():
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.05)


@pytest.fixture
def postgresql(tmp_path: Path, account: dict) -> Iterator[tuple[str, Path]]:
    """Starts a PostgreSQL server that logs to all destinations; yields its URL and its log directory."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    data = data_folder(tmp_path, account)
    subprocess.run([program("initdb", folders), "-D", data, "-A", "trust", "-U", "lab", "--no-sync", "-E", "UTF8", "--locale=C"],
                   check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=WITHIN_S, **account)
    version = int((data / "PG_VERSION").read_text())
    port = free_port()
    settings = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off",
                "logging_collector": "on", "log_directory": "logs", "log_filename": "postgresql.log",
                "log_destination": "stderr,csvlog" + (",jsonlog" if version >= 15 else ""),
                "log_line_prefix": "%m [%p] %q%u@%d ", "log_timezone": "Europe/Helsinki",
                "session_preload_libraries": "auto_explain"}
    options = [option for key, value in settings.items() for option in ("-c", f"{key}={value}")]
    process = subprocess.Popen([program("postgres", folders), "-D", data, *options], cwd="/", stderr=subprocess.DEVNULL, **account)
    url = f"postgresql://lab@127.0.0.1:{port}/postgres"

    def is_ready() -> bool:
        try:
            psycopg.connect(url, connect_timeout=WITHIN_S).close()
        except psycopg.OperationalError:
            return False
        return True

    try:
        wait_until(is_ready, process)
        yield url, data / "logs"
    finally:
        process.terminate()
        process.wait(WITHIN_S)


def run_postgresql(url: str, settings: dict[str, str]) -> dict[str, tuple[int, int]]:
    """Runs statements alternately in two sessions, and returns the number of requests and errors of each query."""
    ran: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    sessions = [psycopg.connect(url, autocommit=True, prepare_threshold=None) for _ in range(2)]
    for session in sessions:
        for key, value in settings.items():
            session.execute("SELECT set_config(%s, %s, false)", (key, value))
    plain = [("CREATE TEMPORARY TABLE t (a int, b text)", "CREATE TEMPORARY TABLE t (a int, b text)"),
             ("INSERT INTO t VALUES (1, 'x;''y'), (2, E'a\\'b')", "INSERT INTO t VALUES (…)"),
             ("SELECT a -- it's\n\tFROM t\n\n WHERE b = $$z$$", "SELECT a FROM t WHERE b = ?"),
             ("SELECT '{\"a\":1}'::json #>> '{a}'", "SELECT ?::json #>> ?"),
             ("SELECT a FROM t WHERE a IN (1, 2, 3)", "SELECT a FROM t WHERE a IN (…)")]
    for text, query in plain:
        for session in sessions:
            session.execute(text)
            ran[query][0] += 1
    for session in sessions:
        session.execute("SELECT b FROM t WHERE a = %s", (1,))
        ran["SELECT b FROM t WHERE a = ?"][0] += 1
        with pytest.raises(psycopg.errors.UndefinedColumn):
            session.execute("SELECT c FROM t WHERE a = 5")
        ran["SELECT c FROM t WHERE a = ?"][0] += 1
        ran["SELECT c FROM t WHERE a = ?"][1] += 1
        session.close()
    return {query: (requests, errors) for query, (requests, errors) in ran.items()}


@pytest.mark.parametrize("settings", [
    {"log_min_duration_statement": "0"},
    {"log_duration": "on", "log_statement": "all"},
    {"log_min_duration_statement": "0", "auto_explain.log_min_duration": "0", "auto_explain.log_analyze": "on"},
    {"log_duration": "on", "log_statement": "all", "auto_explain.log_min_duration": "0", "auto_explain.log_format": "json"},
], ids=["durations", "statements", "plans", "plans as JSON"])
def test_postgresql_itself(postgresql: tuple[str, Path], settings: dict[str, str]) -> None:
    url, folder = postgresql
    ran = run_postgresql(url, settings)
    by_log = []
    for log in sorted(folder.glob("postgresql.*")):
        limit = time.monotonic() + WITHIN_S
        while True:
            figures, _ = read(log)
            found = {query: (int(f["requests"]["value"]), int(f["errors"]["value"])) for query, f in figures.items()
                     if query in ran}
            # The collector writes with a delay.
            if found == ran or time.monotonic() > limit:
                break
            time.sleep(0.2)
        assert found == ran, log
        others = {query for query in figures if query not in ran}
        assert all(query in ("(all)", UNKNOWN, "SELECT set_config(…)") or query.startswith(("parse: ", "bind: "))
                   for query in others), others
        assert "EET is read as UTC+2" in first_screen(log) or "EEST is read as UTC+3" in first_screen(log)
        by_log.append({query: {id: value for id, value in f.items() if id in ("requests", "errors", "total", "max")}
                       for query, f in figures.items()})
    assert len(by_log) >= 2 and all(figures == by_log[0] for figures in by_log)


def test_mariadb_itself(tmp_path: Path, account: dict) -> None:
    data = data_folder(tmp_path, account)
    subprocess.run([program("mariadb-install-db", []), "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
                    "--skip-test-db"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", timeout=WITHIN_S, **account)
    port = free_port()
    log = data / "slow.log"
    process = subprocess.Popen([
        program("mariadbd", []), "--no-defaults", f"--datadir={data}", f"--port={port}", "--bind-address=127.0.0.1",
        f"--socket={data}/s", f"--pid-file={data}/pid", "--slow-query-log", f"--slow-query-log-file={log}", "--long-query-time=0",
        "--log-slow-verbosity=query_plan,innodb,explain", "--innodb-flush-log-at-trx-commit=0"],
        cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **account)

    def connect() -> pymysql.Connection:
        return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, connect_timeout=WITHIN_S)

    def is_ready() -> bool:
        try:
            connect().close()
        except pymysql.OperationalError:
            return False
        return True

    ran: dict[str, int] = defaultdict(int)
    try:
        wait_until(is_ready, process)
        sessions = [connect() for _ in range(2)]
        statements = [
            ("CREATE DATABASE IF NOT EXISTS shop", "CREATE DATABASE IF NOT EXISTS shop"),
            ("USE shop", "USE shop"),
            ("CREATE TEMPORARY TABLE t (a int AUTO_INCREMENT PRIMARY KEY, b text)",
             "CREATE TEMPORARY TABLE t (a int AUTO_INCREMENT PRIMARY KEY, b text)"),
            ("INSERT INTO t (b) VALUES ('x;\\'y'), (\"secret@example.org\")", "INSERT INTO t (b) VALUES (…)"),
            ("SELECT a -- it's\nFROM t # why\nWHERE b = \"a\"\"b\"\n# the end", "SELECT a FROM t WHERE b = ?"),
            ("SELECT /* ' */ a FROM t WHERE a IN (1, 2)", "SELECT a FROM t WHERE a IN (…)"),
            ("SELECT 5--1, sleep(0.02)", "SELECT ?-?, sleep(?)"),
        ]
        for text, query in statements:
            for session in sessions:
                session.cursor().execute(text)
                ran[query] += 1
        connect().cursor().execute("FLUSH SLOW LOGS")
        for session in sessions:
            session.close()
        limit = time.monotonic() + WITHIN_S
        while True:
            figures, _ = read(log)
            found = {query: int(f["requests"]["value"]) for query, f in figures.items() if query in ran}
            # The server may write more after the log was read.
            logged = log.read_bytes().count(b"\n# Query_time: ")
            if (found == ran and figures["(all)"]["requests"]["value"] == logged) or time.monotonic() > limit:
                break
            time.sleep(0.2)
        assert found == ran
        assert figures["(all)"]["requests"]["value"] == logged
        assert figures["SELECT ?-?, sleep(?)"]["total"]["value"] >= 2 * 20_000_000
        said = first_screen(log, "--full")
        assert "secret" not in said and "started with" not in said and "no zone" not in said, said
    finally:
        process.terminate()
        process.wait(WITHIN_S)
