# SPDX-License-Identifier: Apache-2.0
"""Runs `benchlab logs` on generated logs of many formats, with hostile data from clients.

The counts, sums, hours, peaks and percentiles must match those that this module computes exactly from the logged requests.

BENCHLAB_LOGS_SEED is the seed of the first log of each format [default: 1]. BENCHLAB_LOGS_ROUNDS is the number of logs of each
format [default: 2]."""

import gzip
import json
import math
import os
import random
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from formats import FORMATS, Format, Request, requests

ROOT = Path(__file__).resolve().parents[2]
BENCHLAB = Path(os.environ.get("BENCHLAB_PROGRAM", ROOT / "target/debug/benchlab"))
SEED = int(os.environ.get("BENCHLAB_LOGS_SEED", "1"))
ROUNDS = int(os.environ.get("BENCHLAB_LOGS_ROUNDS", "2"))
WITHIN_S = 120
LINES = 700

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
BROKEN = [b"\0\0\0\0", b"\xff\xfe\xfd", b"nonsense", b'"', b"[", b"-", b"[10/Oct/2025:13:00:36 -0700] \"GET /a", b"{\"path\":\"/a\","]
"""Lines that are malformed in every format."""


class Read:
    """The result of reading a log."""

    def __init__(self, folder: Path, log: Path, words: tuple[str, ...]) -> None:
        runs = folder / "runs"
        command = [BENCHLAB, "logs", "--runs", runs, "--format", "json", *words, log]
        done = subprocess.run(command, capture_output=True, timeout=WITHIN_S, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        self.rows = json.loads(done.stdout)["rows"]
        [file] = runs.glob("*.lab")
        with sqlite3.connect(file) as database:
            [(text,)] = database.execute("SELECT value FROM meta WHERE key = 'logs'")
            self.analysis = json.loads(text)
            columns = "kind, name, requests, errors, client_errors, timed, total_ns, max_ns, bytes"
            self.pages = {(row[0], row[1]): row[2:] for row in database.execute(f"SELECT {columns} FROM log_page")}
            self.hours = dict(
                (start, tuple(rest)) for start, *rest in database.execute("SELECT start_s, requests, errors, total_ns FROM log_hour"))
        database.close()

    def figure(self, page: str, metric: str) -> float:
        [row] = [row for row in self.rows if row["subject"] == page and row["metric"]["id"] == metric]
        return row["value"]["value"]


def name(request: Request) -> str:
    return request.path if request.method == "GET" else f"{request.method} {request.path}"


def write(form: Format, made: list[Request], file: Path, draw: random.Random) -> int:
    """Writes the log, with malformed lines between the requests, and returns the number of malformed lines."""
    end = draw.choice([b"\n", b"\r\n"])
    broken = 0
    with file.open("wb") as log:
        log.write(form.header(made[0]))
        for request in made:
            if draw.random() < 0.05:
                line = draw.choice(BROKEN)
                log.write(line + end)
                # In JSON, the bracket may begin an array with one object per line.
                broken += not (form.is_json and form.name != "otlp" and line == b"[")
            log.write(form.encode(request) + end)
    return broken


def exact(durations: list[int], part: float) -> int:
    """Returns the exact quantile."""
    return sorted(durations)[math.ceil(len(durations) * part) - 1]


def expected_pages(made: list[Request], form: Format) -> dict[tuple[str, str], tuple]:
    pages = {}
    for page in {name(request) for request in made}:
        of_page = [request for request in made if name(request) == page]
        durations = [request.duration_ns for request in of_page if request.duration_ns is not None]
        pages["page", page] = (
            len(of_page), sum(r.status >= 500 for r in of_page), sum(400 <= r.status < 500 for r in of_page), len(durations),
            sum(durations), max(durations, default=0), sum(r.sent for r in of_page) if form.has_bytes else 0)
    return pages


def expected_hours(made: list[Request]) -> dict[int, tuple]:
    hours: dict[int, tuple] = {}
    for request in made:
        start = request.time_ns // 10**9 // 3600 * 3600
        count, errors, total = hours.get(start, (0, 0, 0))
        hours[start] = (count + 1, errors + (request.status >= 500), total + (request.duration_ns or 0))
    return hours


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_metrics_are_exact(form: Format, round_: int, tmp_path: Path) -> None:
    seed = SEED + round_
    made = requests(seed, LINES, form)
    log = tmp_path / "access.log"
    broken = write(form, made, log, random.Random(seed))
    read = Read(tmp_path, log, form.words)
    lines = read.analysis["lines"]
    assert lines["entries"] == len(made)
    assert lines["other" if form.has_others else "malformed"] == broken
    assert lines["all"] == sum(lines[kind] for kind in ("entries", "other", "malformed", "too_long", "cut_off"))
    assert read.pages == expected_pages(made, form)
    assert read.hours == expected_hours(made)
    for length, figure in ((1, "peak"), (60, "peak_minute")):
        busiest = Counter(request.time_ns // 10**9 // length * length for request in made)
        start, count = read.analysis[figure]
        assert (count, busiest[start]) == (max(busiest.values()), count)
    # Nothing was guessed: each of these logs, or its options, determines the unit and the zone. Some servers write no duration for
    # many requests.
    untimed = sum(request.duration_ns is None for request in made)
    missing = [{"code": "missing-durations", "requests": untimed, "of": len(made)}] if untimed * 20 > len(made) else []
    assert read.analysis["assumptions"] == missing
    error = read.analysis["error"]
    for page in {name(request) for request in made}:
        durations = [r.duration_ns for r in made if name(r) == page and r.duration_ns is not None]
        for metric, part in PERCENTILES.items():
            value, truth = read.figure(page, metric), exact(durations, part)
            assert abs(value - truth) <= error * truth + 1, (page, metric)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_truncated_line_changes_no_other_line(form: Format, tmp_path: Path) -> None:
    """The end of a log that is still being written can be anywhere in a line."""
    # A report merges pages whose only responses were 404.
    made = [replace(request, status=200 if request.status == 404 else request.status) for request in requests(SEED, 60, form)]
    whole = form.header(made[0]) + b"".join(form.encode(request) + b"\n" for request in made)
    last = form.encode(made[-1])
    draw = random.Random(SEED)
    for number in range(3):
        cut = draw.randrange(1, len(last))
        folder = tmp_path / str(number)
        folder.mkdir()
        log = folder / "access.log"
        log.write_bytes(whole[:len(whole) - 1 - cut])
        read = Read(folder, log, form.words)
        lines = read.analysis["lines"]
        # The rest of the last line may still describe the request.
        told = lines["entries"] + lines["cut_off"] + (lines["other"] if form.has_others else 0)
        assert told == len(made), cut
        if len(last) - cut <= last.rfind(form.needed):
            assert lines["entries"] == len(made) - 1, cut
        others = expected_pages(made[:-1], form)
        for page, figures in others.items():
            if page[1] != name(made[-1]):
                assert read.pages[page] == figures


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_log_in_multiple_files_is_read_as_one(form: Format, tmp_path: Path) -> None:
    """Rotated files without a header of their own, one of them compressed."""
    made = requests(SEED, 300, form)
    lines = [form.encode(request) + b"\n" for request in made]
    log = tmp_path / "access.log"
    log.write_bytes(b"".join(lines[200:]))
    log.with_name("access.log.1").write_bytes(b"".join(lines[100:200]))
    log.with_name("access.log.2.gz").write_bytes(gzip.compress(form.header(made[0]) + b"".join(lines[:100])))
    read = Read(tmp_path, log, (*form.words, "--rotated"))
    assert read.pages == expected_pages(made, form)
    assert read.hours == expected_hours(made)
    assert read.analysis["lines"]["malformed"] == 0
    assert [source["lines"] for source in read.analysis["sources"]] == [100 + form.header(made[0]).count(b"\n"), 100, 100]


W3C_HEAD = "#Version: 1.0\n#Fields: date time cs-method cs-uri-stem sc-status time-taken\n"
ASSUMED = {
    "combined": ('192.0.2.7 - - [10/Oct/2025:13:00:{:02} +0000] "GET /a HTTP/1.1" 200 5 "-" "x" {}', 300, (), ("us", "ms")),
    "slog": ('{{"time":"2025-10-10T13:00:{:02}Z","level":"INFO","msg":"done","method":"GET","path":"/a","status":200,"latency":{}}}',
             300, (), ("us", "ms")),
    "zerolog": ('{{"time":"2025-10-10T13:00:{:02}Z","level":"info","message":"done","method":"GET","path":"/a","status":200,'
                '"duration":{}.25}}', 2, (), ("ms", "s")),
    "w3c": ("2025-10-10 13:00:{:02} GET /a 200 {}", 2, (), ("ms", "s")),
    "tomcat": ('192.0.2.7 - - [10/Oct/2025:13:00:{:02} +0000] "GET /a HTTP/1.1" 200 5 {}', 300,
               ("--log-format", '%h %l %u %t "%r" %s %b %D'), ("us", "ms")),
}


@pytest.mark.parametrize("name", ASSUMED)
def test_a_gate_on_an_assumed_unit_is_not_judged(tmp_path: Path, name: str) -> None:
    """If durations can be in two units, the first screen says so, and the gate exits with 4 unless the unit is given."""
    line, first, options, (fine, coarse) = ASSUMED[name]
    log = tmp_path / "access.log"
    lines = (line.format(i, first + i % 10) + "\n" for i in range(60))
    log.write_text((W3C_HEAD if name == "w3c" else "") + "".join(lines))

    def gate(*words: str) -> subprocess.CompletedProcess:
        command = [BENCHLAB, "logs", "--no-keep", "--fail-if", "p95>200ms", *options, *words, log]
        return subprocess.run(command, capture_output=True, timeout=WITHIN_S, check=False, text=True)

    assumed = gate()
    assert assumed.returncode == 4 and "--duration-unit" in assumed.stderr
    screen = " ".join(assumed.stdout.split())
    assert "are assumed to be in" in screen and "fit too" in screen
    assert gate("--duration-unit", fine).returncode == 0
    assert gate("--duration-unit", coarse).returncode == 3


COMMON = '192.0.2.7 - - [{:02}/Oct/2025:13:{:02}:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" {}\n'


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for file, text in files.items():
        (folder / file).write_text(text)
    return folder / "access.log"


def day(number: int, values: list[str], line: str = COMMON) -> str:
    return "".join(line.format(number, minute, values[minute % len(values)]) for minute in range(60))


W3C_LINE = "2025-10-{:02} 13:{:02}:00 GET /a 200 {}\n"
JSON_LINE = '{{"time":"2025-10-{:02}T13:{:02}:00Z","method":"GET","path":"/a","status":200,"duration":{}}}\n'


@pytest.mark.parametrize("name", ["combined", "json", "w3c", "w3c without a header"])
def test_each_file_has_its_own_unit(tmp_path: Path, name: str) -> None:
    """The application changes the unit of its durations, and then the log is rotated."""
    older, newer = {
        "combined": (day(11, ["480123", "95123"]), day(12, ["0.480", "0.005"])),
        "json": (day(11, ["480000000", "95000000"], JSON_LINE), day(12, ["480.5", "95.5"], JSON_LINE)),
        "w3c": (W3C_HEAD + day(11, ["0.480", "0.095"], W3C_LINE), W3C_HEAD + day(12, ["4800", "9500"], W3C_LINE)),
        "w3c without a header": (W3C_HEAD + day(11, ["0.480", "0.095"], W3C_LINE), day(12, ["4800", "9500"], W3C_LINE)),
    }[name]
    values = {"combined": [480_123_000, 95_123_000, 480_000_000, 5_000_000], "json": [480_000_000, 95_000_000, 480_500_000, 95_500_000],
              "w3c": [480_000_000, 95_000_000, 4_800_000_000, 9_500_000_000],
              "w3c without a header": [480_000_000, 95_000_000, 4_800_000_000, 9_500_000_000]}[name]
    log = write_files(tmp_path, {"access.log.1": older, "access.log": newer})
    read = Read(tmp_path, log, ("--rotated",))
    [page] = read.pages.values()
    assert page[4] == sum(values) * 30
    # A whole number without a name may be something else, and minutes-long requests are possible.
    assumed = {"combined": ["bare-number"], "json": ["unit", "unit"]}.get(name, [])
    assert [assumption["code"] for assumption in read.analysis["assumptions"]] == assumed
    [differ] = [advice for advice in read.analysis["advice"] if advice["code"] == "units-differ"]
    assert Path(differ["before"]).name == "access.log.1" and differ["before_ns"] != differ["after_ns"]
    given = Read(tmp_path / "given", log, ("--rotated", "--duration-unit", "ms"))
    assert "units-differ" not in [advice["code"] for advice in given.analysis["advice"]]


def test_missing_rotated_files_are_reported(tmp_path: Path) -> None:
    files = {"access.log.4": day(8, ["480123"]), "access.log.1": day(11, ["480123"]), "access.log": day(12, ["480123"])}
    log = write_files(tmp_path, files)
    command = [BENCHLAB, "logs", "--no-keep", "--rotated", log]
    done = subprocess.run(command, capture_output=True, timeout=WITHIN_S, check=True, text=True)
    assert "access.log are missing (2 to 3)" in " ".join(done.stdout.split())
    done = subprocess.run([BENCHLAB, "logs", "--no-keep", log], capture_output=True, timeout=WITHIN_S, check=True, text=True)
    assert "are missing" not in done.stdout


SLOW = "# Time: 2025-10-10T13:00:{:02}.000000Z\n# User@Host: u[u] @ h []  Id: 7\n# Query_time: 0.250000  Lock_time: 0.000010\nSET timestamp={};\n{}"


@pytest.mark.parametrize("number", [1, 2])
def test_a_statement_does_not_continue_after_a_gap(tmp_path: Path, number: int) -> None:
    head = SLOW.format(0, 1760101200, "SELECT a\n")
    rest = "FROM t WHERE id = 1;\n" + SLOW.format(9, 1760101209, "SELECT b FROM t;\n")
    log = write_files(tmp_path, {f"access.log.{number}": head, "access.log": rest})
    read = Read(tmp_path, log, ("--rotated",))
    first = "SELECT a FROM t WHERE id = ?" if number == 1 else "SELECT a"
    assert {name for _, name in read.pages} == {first, "SELECT b FROM t"}


@pytest.mark.parametrize("values", [["480123", "1.480"], ["0.480", "480"]])
def test_a_gate_on_a_unit_that_changes_within_a_file_is_not_judged(tmp_path: Path, values: list[str]) -> None:
    # A constant would be no duration.
    first, second = ([value, value.replace("480", "479")] for value in values)
    log = write_files(tmp_path, {"access.log": day(11, first) * 40 + day(12, second) * 40})
    command = [BENCHLAB, "logs", "--no-keep", "--fail-if", "p99>1h", log]
    done = subprocess.run(command, capture_output=True, timeout=WITHIN_S, check=False, text=True)
    assert done.returncode == 4 and "--duration-unit" in " ".join(done.stdout.split())


def by_comment(trace: str, statement: str) -> str:
    return f"2025-10-10 13:00:00.000 UTC [7] LOG:  duration: 1.000 ms  statement: {statement} /*traceparent='00-{trace}-00f067aa0ba902b8-01'*/"


def by_prefix(trace: str, statement: str) -> str:
    return f"2025-10-10 13:00:00 UTC [7]: [1-1] user=u,app=shop 00-{trace}-00f067aa0ba902b8-01,db=d LOG:  duration: 1.000 ms  statement: {statement}"


def by_any_prefix(trace: str, statement: str) -> str:
    return f"2025-10-10 13:00:00 UTC [7] u@d 00-{trace}-00f067aa0ba902b8-01 LOG:  duration: 1.000 ms  statement: {statement}"


def by_csv(trace: str, statement: str) -> str:
    fields = ["2025-10-10 13:00:00.000 UTC", "u", "d", "7", "h", "51494b96.7", "1", "SELECT", "", "3/4", "0", "LOG", "00000",
              f"duration: 1.000 ms  statement: {statement}", "", "", "", "", "", "", "", "", f"shop-00-{trace}-00f067aa0ba902b8-01",
              "client backend", "", "0"]
    return ",".join(f'"{field}"' if " " in field and not field.endswith("UTC") else field for field in fields)


def by_json(trace: str, statement: str) -> str:
    return json.dumps({"timestamp": "2025-10-10 13:00:00.000 UTC", "pid": 7, "session_id": "51494b96.7", "error_severity": "LOG",
                       "message": f"duration: 1.000 ms  statement: {statement}", "application_name": f"00-{trace}-00f067aa0ba902b8-01"})


@pytest.mark.parametrize("line", [by_comment, by_prefix, by_any_prefix, by_csv, by_json], ids=lambda line: line.__name__)
@pytest.mark.parametrize("is_constant", [False, True], ids=["", "one name"])
def test_pages_are_joined_to_their_queries(tmp_path: Path, line: Callable[[str, str], str], is_constant: bool) -> None:
    """The logs of a server and of its database share trace IDs, and a query in a loop is a finding of the first screen.

    If all lines of the database log have the same ID, nothing is joined."""
    server, database = tmp_path / "access.json", tmp_path / "postgresql.log"
    requests_of, statements = [], []
    for number in range(40):
        trace, path = f"{number:032x}", "/orders" if number % 2 else "/about"
        requests_of.append(json.dumps({"time": "2025-10-10T13:00:00Z", "method": "GET", "path": path, "status": 200,
                                       "duration_ms": 66, "traceparent": f"00-{trace}-00f067aa0ba902b7-01"}))
        for item in range(52 if number % 2 else 1):
            statements.append(line("f" * 32 if is_constant else trace, f"SELECT * FROM item WHERE id = {item}"))
    server.write_text("\n".join(requests_of) + "\n")
    database.write_text("\n".join(statements) + "\n")
    command = [BENCHLAB, "logs", "--no-keep", server, database]
    done = subprocess.run(command, capture_output=True, timeout=WITHIN_S, check=True, text=True)
    finding = "/orders runs `SELECT * FROM item WHERE id = ?` 52 times per request, which takes 79 % of its time."
    assert (finding in " ".join(done.stdout.split())) != is_constant
    assert ("N+1" in done.stdout) != is_constant
