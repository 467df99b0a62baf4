# SPDX-License-Identifier: Apache-2.0
"""Tests conversations with a subject that uses the kit, in a separate process."""

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
OPEN = "open case=echo seed=7 fail_at=0 text=x"
OPENED = "@lab opened text=x"


def talk(*commands: str) -> tuple[list[str], str]:
    """Returns the replies after hello, and the log. The subject must exit successfully."""
    process = subprocess.run(
        [sys.executable, "-B", FOLDER / "echo_subject.py"], input="\n".join(commands) + "\n",
        capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parent / "src")})
    hello, *replies = process.stdout.splitlines()
    assert re.fullmatch(r"@lab hello protocol=1 subject=echo thread=[1-9][0-9]* "
                        r"runtime=[A-Za-z]+%203\.[0-9.]+ library=no%20library%201\.0", hello)
    return replies, process.stderr


def error(code: str, message: str) -> str:
    return f"@lab error code={code} message={message.replace(' ', '%20')}"


def test_a_conversation() -> None:
    before = time.monotonic_ns()
    replies, log = talk(OPEN, "verify", "verify operations=2", "run operations=4097", "close", "quit",
                        "verify")
    after = time.monotonic_ns()
    assert replies[:3] == [OPENED, "@lab verified check=7191089600892374487 operations=1 units=2",
                           "@lab verified check=7500778973487330291 operations=2 units=4"]
    ran = re.fullmatch(r"@lab ran start=(\d+) end=(\d+) operations=4097 units=8194 "
                       r"check=5769190333757026567", replies[3])
    assert ran and before < int(ran[1]) <= int(ran[2]) < after
    assert replies[4:] == ["@lab closed"]
    assert "@lab torn" in log, "the output of a case must be in the log"


def test_noop() -> None:
    assert talk("open case=noop seed=7", "verify operations=9007199254740992")[0] == [
        "@lab opened",
        "@lab verified check=9007199254740992 operations=9007199254740992 units=9007199254740992"]


def test_failed_work_is_reported_and_logged_and_the_case_stays_open() -> None:
    replies, log = talk(OPEN.replace("fail_at=0", "fail_at=2"), "verify operations=2", "verify")
    assert replies == [OPENED, error("failed", "operation 2 failed"),
                       "@lab verified check=7191089600892374487 operations=1 units=2"]
    assert "ValueError: operation 2 failed" in log


@pytest.mark.parametrize("threads", [1, 2, 7, 64])
def test_workers_share_a_batch_and_tell_each_latency(threads: int) -> None:
    before = time.monotonic_ns()
    replies, log = talk(f"open case=count seed=7 fail_at=0 laps=1 threads={threads}", "run operations=1000",
                        "run operations=3", "verify operations=4", "close")
    after = time.monotonic_ns()
    for reply, operations, check in ((replies[1], 1000, 499_500), (replies[2], 3, 3)):
        ran = re.fullmatch(rf"@lab ran start=(\d+) end=(\d+) operations={operations} "
                           rf"units={operations} check={check} latencies=([0-9:,]+)", reply)
        assert ran and before < int(ran[1]) < int(ran[2]) < after
        pairs = [tuple(map(int, pair.split(":"))) for pair in ran[3].split(",")]
        assert sum(count for _, count in pairs) == operations
        assert pairs == sorted(pairs) and len(dict(pairs)) == len(pairs)
    assert replies[3:] == ["@lab verified check=6 operations=4 units=4", "@lab closed"]
    assert "the workers were ended" in log, "the case must end its threads"


def test_workers_of_which_one_fails_work_again() -> None:
    assert talk("open case=count seed=7 fail_at=5 laps=1 threads=3", "run operations=10",
                "verify operations=4")[0][1:] == [
        error("failed", "operation 5 failed"), "@lab verified check=6 operations=4 units=4"]


@pytest.mark.parametrize("threads", [1, 16])
def test_workers_without_laps_tell_no_latencies(threads: int) -> None:
    before = time.monotonic_ns()
    replies, _ = talk(f"open case=count seed=7 fail_at=0 laps=0 threads={threads}",
                      "run operations=3")
    after = time.monotonic_ns()
    ran = re.fullmatch(r"@lab ran start=(\d+) end=(\d+) operations=3 units=3 check=3", replies[1])
    assert ran and before < int(ran[1]) < int(ran[2]) < after


def test_metrics_are_told_as_decimal_numbers_of_a_run() -> None:
    replies, _ = talk("open case=measure seed=7", "run operations=3", "verify operations=3")
    assert replies[1].endswith(
        " check=3 lost=33.333333333333336 none=0 small=-0.000012 large=98765432109876540")
    assert replies[2] == "@lab verified check=3 operations=3 units=3"


@pytest.mark.parametrize("threads", [1, 3, 64])
@pytest.mark.parametrize("digits, of_3, of_20", [
    ("3789", "none", "3,7-9,13,17-19"), ("901", "0-1", "0-1,9-11,19"), ("", "none", "none"),
    ("0123456789", "0-2", "0-19")])
def test_operations_that_failed_are_told_in_ascending_ranges(
        threads: int, digits: str, of_3: str, of_20: str) -> None:
    replies, _ = talk(f"open case=fallible seed=7 digits={digits} threads={threads}",
                      "verify operations=3", "verify operations=20", "run operations=20")
    assert replies[1:3] == [
        f"@lab verified check=3 operations=3 units=3 failed={of_3}",
        f"@lab verified check=20 operations=20 units=20 failed={of_20}"]
    assert replies[3].endswith(f" operations=20 units=20 check=20 lost=0.5 failed={of_20}")


def test_a_reply_that_no_line_holds_is_an_error() -> None:
    assert talk("open case=fallible seed=7 digits=13579 threads=1", "verify operations=100000",
                "verify operations=4")[0][1:] == [
        error("failed", "the reply would be longer than 65536 bytes; perform fewer operations").replace(";", "%3B"),
        "@lab verified check=4 operations=4 units=4 failed=1,3"]


def test_a_case_without_operations_serves_until_it_is_closed() -> None:
    with subprocess.Popen(
            [sys.executable, "-B", FOLDER / "echo_subject.py", "threads"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(FOLDER.parent / "src")}) as subject:
        def ask(command: str) -> str:
            subject.stdin.write(command + "\n")
            subject.stdin.flush()
            return subject.stdout.readline().removesuffix("\n")

        assert " thread=0 " in subject.stdout.readline()
        for _ in range(2):
            opened = re.fullmatch(r"@lab opened port=(\d+)", ask("open case=greet seed=7"))
            assert opened
            assert greeting(opened[1]) == b"hello"
            for command in ("verify", "run operations=1"):
                assert ask(command) == error(
                    "unsupported", "the case is a server and has no operations")
            assert greeting(opened[1]) == b"hello", "the server must continue to respond"
            assert ask("close") == "@lab closed"
            with pytest.raises(ConnectionRefusedError):
                greeting(opened[1])
        assert ask("close") == error("usage", "no case is open")
        ask("open case=greet seed=7")
    assert subject.returncode == 0, "the end of the input must close the case, too"


def greeting(port: str) -> bytes:
    with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as connection:
        return connection.recv(100)


@pytest.mark.parametrize("end", ["close", "quit", ""])
def test_a_case_is_closed_whatever_ends_it(end: str) -> None:
    log = talk(OPEN, end)[1]
    assert log.count("echo was closed") == 1


def test_a_failed_open_leaves_nothing_open() -> None:
    assert talk(OPEN.replace("text=x", "text=unsupported"), "verify", OPEN.replace("text=x", ""),
                "open case=echo seed=7 text=x", OPEN)[0] == [
        error("unsupported", "this text is not supported"), error("usage", "no case is open"),
        error("usage", "argument 4 is not key%3Dvalue, percent-encoded"),
        error("usage", "the argument fail_at is missing"), OPENED]


@pytest.mark.parametrize("commands, expected", [
    (["", "Run"], [error("usage", "there is no command "), error("usage", "there is no command Run")]),
    (["verify", "run operations=1", "close"], [error("usage", "no case is open")] * 3),
    (["open seed=7"], [error("usage", "the argument case is missing")]),
    (["open case=nonsense seed=7"], [error("unsupported", "there is no case nonsense")]),
    ([OPEN, OPEN], [OPENED, error("usage", "a case is already open")]),
    ([OPEN, "run"], [OPENED, error("usage", "the argument operations is missing")]),
    ([OPEN, "run operations=0"],
     [OPENED, error("usage", "operations is not a whole number from 1 to 9007199254740992")]),
    (["x" * 65_537], [error("usage", "the line is longer than 65536 bytes")]),
    (["open seed=7 case=" + "x" * 5000],
     [error("unsupported", "there is no case " + "x" * 983)]),
])
def test_errors(commands: list[str], expected: list[str]) -> None:
    assert talk(*commands)[0] == expected
