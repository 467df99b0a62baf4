#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Runs the programs of the guides, and attacks them: guides.py ada|java PROGRAMS [SECONDS]

PROGRAMS is the directory with the programs in Ada, or with classes/ and lib/ in Java. Each attack takes SECONDS, 5 by default.
The service with PostgreSQL needs a database in LAB_POSTGRESQL; without it, that guide is skipped."""

import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

APPSERVER = Path(__file__).resolve().parent.parent
LOST = (http.client.HTTPException, OSError)
THREADS = 8
MAX_LINES = 80


@dataclass
class Programs:
    """The programs of the guides in one language, with their commands and sources."""

    language: str
    folder: Path

    def command(self, name: str) -> list[str]:
        if self.language == "ada":
            return [str(self.folder / name)]
        class_name = "".join(word.capitalize() for word in name.split("_"))
        options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{self.folder}/classes:{self.folder}/lib/*"]
        return ["java", *options, f"guides.{class_name}"]

    def sources(self) -> list[Path]:
        folder = "ada/examples/guides" if self.language == "ada" else "java/examples/src/main/java/guides"
        return sorted((APPSERVER / folder).iterdir())


class Server:
    """A program that serves until its standard input ends. It first prints its URLs; the last URL belongs to the service of the guide."""

    def __init__(self, command: list[str], *arguments: str, urls: int = 1) -> None:
        self.words = [*command, "0", *arguments]
        self.urls = urls
        self.errors = tempfile.TemporaryFile("w+")  # The attacks cause many.
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.printed = [urlsplit(self.process.stdout.readline().strip()) for _ in range(self.urls)]
        assert all(url.port for url in self.printed), f"{self.words[0]} did not start"
        self.port = self.printed[-1].port

    def ask(self, method: str, target: str, body: str | None = None, port: int = 0, **fields: str) -> tuple[int, object]:
        """Sends a request. Returns the status, and the JSON document, or None if the response has no content."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        try:
            connection.request(method, target, body=body, headers={"Accept": "application/json", "Connection": "close"} | fields)
            response = connection.getresponse()
            content = response.read()
            return response.status, json.loads(content) if content.strip() else None
        finally:
            connection.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def stop(self) -> None:
        self.process.stdin.close()
        try:
            status = self.process.wait(timeout=120)
        finally:
            self.kill()
        assert status == 0, f"{self.words[0]} ended with {status}"


@contextmanager
def serving(*words: object, **options: int) -> Iterator[Server]:
    server = Server(*words, **options)
    try:
        yield server
        server.stop()
    except BaseException:
        server.errors.seek(0)
        print("".join(server.errors.readlines()[-10:]), file=sys.stderr)
        raise
    finally:
        server.kill()


def together(seconds: float, attack: Callable[[int, random.Random, Callable[[], bool]], None], threads: int = THREADS) -> None:
    """Runs an attack in concurrent threads. Its arguments are the thread's number, random numbers, and a function that returns False
    when the time is over."""
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(threads) as pool:
        started = [pool.submit(attack, number, random.Random(number), lambda: time.monotonic() < end) for number in range(threads)]
        for each in started:
            each.result()


# A REST service with PostgreSQL

LETTERS = "abc'\"\\;%_ äß€\N{GRINNING FACE}\t-"


def check_length(programs: Programs) -> None:
    """Checks that the service consists of at most 80 lines of code."""
    own = {"ada": ("articles.ads", "articles.adb", "rest_service.adb"), "java": ("RestService.java", "Serving.java")}[programs.language]
    text = "\n".join(path.read_text() for path in programs.sources() if path.name in own)
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\s*(?:--|//|/\*\*|with |import |package guides)", line)]
    assert len(lines) <= MAX_LINES, f"rest_service has {len(lines)} lines"


def psql(target: str, text: str) -> str:
    program = shutil.which("psql") or max(map(str, Path("/usr/lib/postgresql").glob("*/bin/psql")))
    return subprocess.run([program, "-qXAtv", "ON_ERROR_STOP=1", target, "-c", text], check=True, capture_output=True, text=True).stdout


def jdbc(target: str) -> str:
    url = urlsplit(target)
    options = dict(parse_qsl(url.query)) | {"user": url.username or "", "password": url.password or ""}
    return f"jdbc:postgresql://{url.hostname}:{url.port or 5432}{url.path}?{urlencode(options, quote_via=quote)}"


def rest_service(programs: Programs, seconds: float) -> str:
    check_length(programs)
    target = os.environ.get("LAB_POSTGRESQL")
    if not target:
        return "skipped: no LAB_POSTGRESQL"
    psql(target, "DROP TABLE IF EXISTS guide_article; CREATE TABLE guide_article (id serial PRIMARY KEY, name text UNIQUE NOT NULL)")
    found: dict[int, str] = {}
    uncertain: set[str] = set()
    statuses: Counter[int] = Counter()
    lock = threading.Lock()

    with serving(programs.command("rest_service"), target if programs.language == "ada" else jdbc(target)) as service:
        def add(name: object) -> tuple[int, object]:
            if programs.language == "ada":
                return service.ask("POST", "/articles?" + urlencode({"name": name}, quote_via=quote))
            return service.ask("POST", "/articles", json.dumps({"name": name}))

        def await_status(expected: int) -> None:
            """Waits until the service responds with the expected status. Without a connection to the database, it responds with 500."""
            until = time.monotonic() + 60
            while (status := service.ask("GET", "/articles/1")[0]) != expected:
                assert status == 500 and time.monotonic() < until, status

        await_status(404)
        assert add("gear wheel") == (201, {"id": 1})
        assert add("gear wheel")[0] == 409
        assert service.ask("GET", "/articles/1") == (200, {"name": "gear wheel"})
        found[1] = "gear wheel"
        for request in (("POST", "/articles"), ("GET", "/articles/x"), ("GET", "/articles/-1"), ("GET", "/none")):
            assert service.ask(*request)[0] in (400, 404), request
        assert add("x" * 101)[0] == 400

        def attack(number: int, chance: random.Random, goes_on: Callable[[], bool]) -> None:
            while goes_on():
                if number == 0:  # Terminates the connections of the service.
                    psql(target, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                 " WHERE query LIKE '%guide_article%' AND pid <> pg_backend_pid()")
                    time.sleep(0.5)
                elif number == 1:  # Sends what is not HTTP, and goes away.
                    with socket.create_connection(("127.0.0.1", service.port)) as raw:
                        raw.sendall(chance.randbytes(chance.randrange(200)))
                elif chance.random() < 0.5 and found:
                    with lock:
                        article = chance.choice([*found])
                    status, document = service.ask("GET", f"/articles/{article}")
                    statuses[status] += 1
                    assert status == 500 or (status, document) == (200, {"name": found[article]}), (status, document)
                else:
                    name = "".join(chance.choices(LETTERS, k=chance.randrange(1, 9)))
                    status, document = add(name)
                    with lock:
                        statuses[status] += 1
                        assert status in (201, 409, 500), (status, name)
                        if status == 201:
                            assert document["id"] not in found and name not in found.values(), name
                            found[document["id"]] = name
                        elif status == 500:
                            uncertain.add(name)

        together(seconds, attack)
        await_status(200)  # It recovers: a connection that was terminated while it was idle may cost a request.
    stored = psql(target, "SELECT id, encode(convert_to(name, 'UTF8'), 'hex') FROM guide_article")
    rows = dict(line.split("|") for line in stored.splitlines())
    names = {int(key): bytes.fromhex(name).decode() for key, name in rows.items()}
    assert names.items() >= found.items() and set(names.values()) - set(found.values()) <= uncertain
    psql(target, "DROP TABLE guide_article")
    return f"{sum(statuses.values())} requests, {len(found)} articles, {statuses[500]} of the requests lost their connection"


# A cache in front of a query


def cached_query(programs: Programs, seconds: float) -> str:
    prices: dict[int, int] = {}
    reads = Counter[int]()
    with tempfile.TemporaryDirectory() as folder, serving(programs.command("cached_query"), f"{folder}/prices.db") as service:
        assert service.ask("GET", "/prices/7")[0] == 404
        for article in range(1, 41):
            assert service.ask("PUT", f"/prices/{article}?cents=1") == (200, {"cents": 1})
            prices[article] = 1
        for target in ("/prices/7?cents=-1", "/prices/7?cents=x", "/prices/7", "/prices/0?cents=1000000001"):
            assert service.ask("PUT", target)[0] == 400, target

        def attack(number: int, chance: random.Random, goes_on: Callable[[], bool]) -> None:
            while goes_on():
                if number < 2:  # Each writer raises the prices of its own articles.
                    article = 2 * chance.randrange(20) + 1 + number
                    assert service.ask("PUT", f"/prices/{article}?cents={prices[article] + 1}")[0] == 200
                    prices[article] += 1
                    time.sleep(0.01)
                else:
                    article = chance.randrange(1, 41)
                    at_least = prices[article]
                    status, document = service.ask("GET", f"/prices/{article}")
                    assert status == 200 and document["cents"] >= at_least, f"stale: {document}, at least {at_least}"
                    reads[number] += 1

        together(seconds, attack)
        assert {article: service.ask("GET", f"/prices/{article}")[1]["cents"] for article in prices} == prices
        queries = service.ask("GET", "/queries")[1]["queries"]
    writes = sum(prices.values())
    # Each write removes one value, which is then loaded once, or more often if it is removed during the load.
    assert queries <= 2 * writes + len(prices) + 1, (queries, writes)
    return f"{sum(reads.values())} reads, none of them stale, {writes} writes, {queries} queries"


# Transfers that take effect exactly once


def transfer_service(programs: Programs, seconds: float) -> str:
    balances = Counter({1: 1_000, 2: 1_000, 3: 1_000})
    results: Counter[int] = Counter()
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as folder, serving(programs.command("transfer_service"), f"{folder}/accounts.db") as service:
        assert service.ask("GET", "/accounts") == (200, {"balances": [1_000, 1_000, 1_000]})
        assert service.ask("POST", "/transfers?from=1&to=2&amount=5")[0] == 400

        def ask(target: str, key: str) -> int:
            """Repeats the request until the response is not a server error, and returns its status."""
            while True:
                try:
                    status, document = service.ask("POST", target, **{"Idempotency-Key": key})
                    if status < 500:
                        assert status != 200 or document == {"transfer": "done"}, document
                        return status
                except LOST:
                    time.sleep(0.02)
                results[0] += 1

        def attack(number: int, chance: random.Random, goes_on: Callable[[], bool]) -> None:
            while goes_on():
                if number == 0:
                    time.sleep(chance.uniform(0.5, 1.5))
                    service.kill()
                    service.port = 0  # Another server on this machine may get the old port.
                    service.start()
                    results[-1] += 1
                    continue
                source, destination, amount = chance.randrange(1, 4), chance.randrange(1, 4), chance.randrange(1, 400)
                target = f"/transfers?from={source}&to={destination}&amount={amount}"
                key = str(uuid.UUID(int=chance.getrandbits(128)))
                with ThreadPoolExecutor(2) as pool:  # Most clients send a request once; this one sends it twice.
                    status, again = pool.map(ask, [target] * 2, [key] * 2)
                assert {status, again} <= {200, 409}, (status, again)
                done = 200 in (status, again)
                if done:
                    assert ask(target, key) == 200
                    assert ask(f"/transfers?from=1&to=2&amount={amount + 1}", key) == 422
                with lock:
                    results[200 if done else 409] += 1
                    if done:
                        balances.subtract({source: amount})
                        balances.update({destination: amount})

        together(seconds, attack)
        status, document = service.ask("GET", "/accounts")
        assert document == {"balances": [balances[1], balances[2], balances[3]]}, f"{document}, expected {dict(balances)}"
    return (f"{results[200]} transfers, each once, {results[409]} not covered, "
            f"server killed {results[-1]} times, {results[0]} requests lost")


# Running a program

MARK = f"{60_000_000 + os.getpid()}.5"
"""The duration of the programs that hang, in seconds. It is different in each process that runs this script, so that a process finds
only its own programs."""
CASES = [
    (["true"], "exit code 0\noutput: 0 bytes\nerrors: 0 bytes\n"),
    (["sh", "-c", "echo done; echo wrong >&2; exit 7"], "exit code 7\noutput: 5 bytes\nerrors: 6 bytes\ndone\n"),
    (["sh", "-c", "kill -9 $$"], "killed by signal 9\noutput: 0 bytes\nerrors: 0 bytes\n"),
    (["head", "-c", "5000000", "/dev/zero"], "exit code 0\noutput: 5000000 bytes\nerrors: 0 bytes\n"),
    (["sh", "-c", "head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero"],
     "exit code 0\noutput: 3000000 bytes\nerrors: 3000000 bytes\n"),
    (["printf", "%s", "$HOME; `id`"], "exit code 0\noutput: 11 bytes\nerrors: 0 bytes\n$HOME; `id`"),
    (["cat"], "exit code 0\noutput: 0 bytes\nerrors: 0 bytes\n"),
]
HANGING = [["sleep", MARK], ["sh", "-c", f"sleep {MARK} & sleep {MARK}"], ["sh", "-c", f"exec >&- 2>&-; sleep {MARK}"],
           ["sh", "-c", f"trap '' TERM INT; sleep {MARK}"]]


def left_running() -> list[str]:
    processes = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    found = []
    for process in processes:
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[:2] == ["sleep", MARK]:
            found.append(process.name)
    return found


def run_program(programs: Programs, seconds: float) -> str:
    ran: Counter[str] = Counter()
    command = programs.command("run_program")

    def output(limit: float, words: list[str]) -> str:
        process = subprocess.run([*command, str(limit), *words], capture_output=True, text=True,
                                 stdin=subprocess.DEVNULL, timeout=300)
        assert process.returncode == 0, process
        return process.stdout

    assert "no-such-program" in output(60.0, ["no-such-program"])
    assert "exit code" not in output(60.0, ["yes"]), "output without a limit"

    def attack(number: int, chance: random.Random, goes_on: Callable[[], bool]) -> None:
        while goes_on():
            if chance.random() < 0.7:
                words, expected = chance.choice(CASES)
                printed = output(60.0, words)
                assert printed.replace("\0", "").rstrip("\n") == expected.rstrip("\n"), (words, printed[:300])
                ran["programs"] += 1
            else:
                words = chance.choice(HANGING)
                assert output(0.3, words) == "timeout: the program and its children were killed\n", words
                ran["timeouts"] += 1

    together(seconds, attack, threads=3)
    until = time.monotonic() + 60  # A killed process exits when it runs again.
    while left_running() and time.monotonic() < until:
        time.sleep(0.1)
    assert left_running() == []
    return f"{ran['programs']} programs, {ran['timeouts']} timeouts, nothing left running"


# What each page costs


def page_costs(programs: Programs, seconds: float) -> str:
    sent: Counter[str] = Counter()
    lock = threading.Lock()
    with serving(programs.command("page_costs"), urls=2) as service:
        own, metrics = service.printed if programs.language == "ada" else reversed(service.printed)
        service.port = own.port

        def attack(number: int, chance: random.Random, goes_on: Callable[[], bool]) -> None:
            while goes_on():
                target, page, expected = chance.choice([
                    (f"/articles/{chance.randrange(1, 9_999)}", "GET /articles/{id}", 200), ("/sum", "GET /sum", 200),
                    (f"/none/{chance.randrange(1_000_000)}", "(other)", 404)])
                status, _ = service.ask("GET", target)
                assert status == expected, (target, status)
                with lock:
                    sent[page] += 1

        together(seconds, attack)
        until = time.monotonic() + 60
        while True:  # A response may arrive before its request is counted.
            _, document = service.ask("GET", "/monitor/json", port=metrics.port)
            if sum(page["count"] for page in document["pages"]) >= sum(sent.values()) or time.monotonic() > until:
                break
            time.sleep(0.1)
    pages = {page["name"]: page for page in document["pages"]}
    for name, count in sent.items():
        if name != "(other)":
            page = pages[name]
            assert (page["count"], page["errors"]) == (count, 0), (name, page["count"], count)
            assert sum(query["count"] for query in page["queries"]) == count, name
    unknown = sum(page["client_errors"] for page in document["pages"])
    assert unknown == sent["(other)"] and len(pages) <= 6, (unknown, sent, [*pages])
    return f"{sum(sent.values())} requests, all of them counted once"


def check_pages(programs: Programs) -> None:
    """Checks that the examples in the guides are excerpts of the programs."""
    sources = ["\n".join(map(str.strip, path.read_text().splitlines())) for path in programs.sources()]
    for page in sorted((APPSERVER / "guides").glob("*.md")):
        for example in re.findall(rf"^```{programs.language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            stripped = "\n".join(map(str.strip, example.strip().splitlines()))
            assert any(stripped in source for source in sources), f"{page.name}: not in a program:\n{example}"


GUIDES = (rest_service, cached_query, transfer_service, run_program, page_costs)


def main(language: str, folder: str, seconds: str = "5") -> None:
    programs = Programs(language, Path(folder).resolve())
    check_pages(programs)
    for guide in GUIDES:
        print(f"{guide.__name__} in {language}: {guide(programs, float(seconds))}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
