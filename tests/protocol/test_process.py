# SPDX-License-Identifier: Apache-2.0
"""experiments/process/README.md: every subject starts the same programs, gets the same bytes and exit
statuses, and leaves nothing behind. The expected sums are computed here."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from experiments import Declared, declared_subjects, read_experiments
from sql_model import split_mix
from subject import TIMEOUT_S, Reply, Subject

SEED = 7
OPERATIONS = 2
CASES = read_experiments()["process"]["case"]
SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "process"]
RUNS_MAX = 1000
"""The maximum number of runs until the machine is fast enough for one of them."""
TIMED = {"start", "end", "operations", "units", "check"}
SIGKILL = 256 + 9
KILL_AFTER_NS = 5_000_000
RESIDENT = {"10MB": 10 << 20, "1GB": 1 << 30}
READS_WHILE_WRITING = {"ada"}
"""The subjects whose libraries cannot deadlock, because they read and write at the same time."""


@cache
def fnv(data: bytes) -> int:
    """Computes FNV-1a (Fowler, Noll, Vo) with 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def content(size: int) -> bytes:
    values = islice(split_mix(SEED), size // 8 + 1)
    return b"".join(value.to_bytes(8, "little") for value in values)[:size]


def expected(case: str, point: dict[str, Any]) -> tuple[int, int]:
    """Returns one operation's contribution to check and units."""
    match case:
        case "start":
            return fnv(b""), 1
        case "read" | "exchange":
            return fnv(content(point["bytes"])), point["bytes"]
        case "converse":
            values = islice(split_mix(SEED), point["lines"])
            return fnv(b"".join(b"%d\n" % value for value in values)), point["lines"]
        case "kill":
            return fnv(b"") + SIGKILL, 1
        case "write_then_read" | "fail":
            return 1, 1
    raise LookupError(f"the model lacks the case {case}; add it here and in the README")


def points() -> list[Any]:
    """Returns the points: the small parent with the ends of the sweep, and the large parent only where a
    program is just started."""
    some = []
    for subject in SUBJECTS:
        for case in CASES:
            sweep = [(key, {min(values), max(values)}) for key, values in case.get("sweep", {}).items()]
            values = [{key: value} for key, ends in sweep for value in sorted(ends)] or [{}]
            parents = case["factor"]["parent"] if case["name"] in ("start", "kill") else ["10MB"]
            some += [pytest.param(subject, case, {"parent": parent, **value},
                                  id=" ".join([str(subject), case["name"], parent, *map(str, value.values())]))
                     for value in values for parent in parents]
    return some


@pytest.mark.parametrize("declared, case, point", points())
def test_point(subject: Subject, declared: Declared, case: dict[str, Any], point: dict[str, Any]) -> None:
    name = case["name"]
    arguments = "".join(f" {key}={value}" for key, value in point.items())
    subject.ask_for("opened", f"open case={name} seed={SEED}{arguments}")
    try:
        check, units = expected(name, point)
        must_yield(subject.ask_for("verified", "verify"), 1, check, units)
        assert subject.resident_bytes() >= RESIDENT[point["parent"]]
        for _ in range(2):
            ran = subject.ask_for("ran", f"run operations={OPERATIONS}")
            must_yield(ran, OPERATIONS, check, units)
            assert set(ran.arguments) == TIMED | set(case["metrics"])
            metrics = metrics_of(ran, case)
            assert metrics["descriptors"] == 0 and metrics["children"] == 0
            if name == "write_then_read":
                if point["bytes"] == 1 << 20 and declared.name not in READS_WHILE_WRITING:
                    assert metrics["deadlocked"] == 100
            elif name == "read":
                assert 0 < metrics["first_byte"]
            elif name == "kill":
                assert 0 < metrics["kill_time"]
                span = ran.number("end") - ran.number("start")
                assert span / OPERATIONS - metrics["kill_time"] >= KILL_AFTER_NS - 1000, "not before the timeout"
        if name == "write_then_read" and declared.name in READS_WHILE_WRITING:
            # An operation that takes more than 50 ms on a busy machine counts as deadlocked.
            assert any(metrics_of(subject.ask_for("ran", "run operations=1"), case)["deadlocked"] == 0
                       for _ in range(RUNS_MAX))
    finally:
        subject.ask_for("closed", "close")


def metrics_of(ran: Reply, case: dict[str, Any]) -> dict[str, float]:
    return {metric: float(ran.arguments[metric]) for metric in case["metrics"]}


def must_yield(reply: Reply, operations: int, check: int, units: int) -> None:
    assert reply.number("operations") == operations
    assert reply.number("check") == operations * check % 2**64
    assert reply.number("units") == operations * units


NULL, PIPE = "/dev/null", "pipe"
STREAMS = {
    "start": ("true", [NULL, NULL, NULL]),
    "read bytes=1048576": ("cat", [NULL, PIPE, NULL]),
    "converse lines=100": ("cat", [PIPE, PIPE, NULL]),
    "exchange bytes=1048576": ("cat", [PIPE, PIPE, NULL]),
    "write_then_read bytes=1048576": ("cat", [PIPE, PIPE, NULL]),
    "kill": ("sleep", [NULL, PIPE, NULL]),
}
"""The program of a case, with its standard input, output and error."""


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("case", STREAMS)
def test_streams_are_null_unless_the_case_pipes_them(subject: Subject, declared: Declared, case: str) -> None:
    program, streams = STREAMS[case]
    subject.ask_for("opened", f"open case={case} seed={SEED} parent=10MB")
    try:
        assert streams_of_child(subject, program) == streams
    finally:
        subject.ask_for("closed", "close")


def streams_of_child(subject: Subject, program: str) -> list[str] | None:
    """Runs batches until a child that executes this program could be examined before it exited."""
    deadline = time.monotonic() + TIMEOUT_S
    with ThreadPoolExecutor(1) as executor:
        while time.monotonic() < deadline:
            running, seen = executor.submit(subject.ask_for, "ran", "run operations=20"), None
            while seen is None and not running.done():
                seen = next(filter(None, (streams_of(pid, program) for pid in children(subject.pid))), None)
            running.result()
            if seen is not None:
                return seen
    raise AssertionError(f"no batch has a child that executes {program}")


def children(pid: int) -> list[str]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            found += (task / "children").read_text().split()
    return found


def streams_of(pid: str, program: str) -> list[str] | None:
    """Returns None if the process has exited, or does not execute the program."""
    folder = Path("/proc", pid)
    with suppress(OSError):
        if (folder / "comm").read_text().strip() == program:
            return [os.readlink(folder / "fd" / str(stream)).split(":")[0] for stream in range(3)]
    return None


CALLS = re.compile(r"\b(posix_spawn|vfork|fork|clone)\b", re.IGNORECASE)


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
def test_the_library_names_the_declared_call(subject: Subject, declared: Declared) -> None:
    (driver,) = [s["driver"] for s in read_experiments()["process"]["subject"] if s["name"] == declared.name]
    told = [call.lower() for call in CALLS.findall(subject.hello.arguments["library"])]
    declared_calls = CALLS.findall(driver)
    if told and declared_calls:
        assert told == declared_calls


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("command, code", [
    ("open case=start seed=7", "usage"),
    ("open case=start seed=7 parent=2GB", "unsupported"),
    ("open case=read seed=7 parent=10MB", "usage"),
    ("open case=read seed=7 parent=10MB bytes=0", "usage"),
    ("open case=converse seed=7 parent=10MB lines=0", "usage"),
])
def test_arguments(subject: Subject, command: str, code: str) -> None:
    assert subject.ask_for_error(command) == code
    subject.ask_for("opened", "open case=noop seed=7")
