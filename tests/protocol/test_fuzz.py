# SPDX-License-Identifier: Apache-2.0
"""The subject sends exactly one reply to any line, and continues to run. The lines are the same in every run."""

import random
from pathlib import Path

import pytest

from databases import SQLite
from experiments import Declared, declared_subjects, tables
from subject import Subject

pytestmark = pytest.mark.parametrize("declared", declared_subjects(), ids=str)

LINES = 300
CODES = {"usage", "unsupported", "failed"}
VERBS = {"opened", "verified", "ran", "closed"}


def random_line(numbers: random.Random) -> bytes:
    return numbers.randbytes(numbers.choice((1, 5, 40, 500))).replace(b"\n", b"")


def mutated(command: bytes, numbers: random.Random) -> bytes:
    """Returns the command with up to three bytes changed, removed, repeated or inserted."""
    line = bytearray(command)
    for _ in range(numbers.randint(1, 3)):
        at = numbers.randrange(len(line))
        match numbers.randrange(4):
            case 0:
                line[at] = numbers.randrange(256)
            case 1:
                del line[at]
            case 2:
                line[at:at] = line[at:at + 1]
            case 3:
                line.insert(at, numbers.choice(b" =%&?;/\r\t\0\x80\xff'\""))
    return bytes(line).replace(b"\n", b"")


def ask(subject: Subject, line: bytes) -> None:
    verb, arguments = subject.ask(line)
    if verb == "error":
        assert arguments["code"] in CODES and arguments["message"], line
    else:
        assert verb in VERBS, line


def must_still_work(subject: Subject) -> None:
    subject.ask("close")
    subject.ask_for("opened", "open case=noop seed=7")
    assert subject.ask_for("ran", "run operations=5").number("check") == 5


def test_random_bytes(subject: Subject) -> None:
    numbers = random.Random(1)
    for _ in range(LINES):
        line = random_line(numbers)
        assert subject.ask_for_error(line) == "usage", line
    must_still_work(subject)


def test_mutated_commands(declared: Declared, subject: Subject, folder: Path) -> None:
    commands = [b"open case=noop seed=7", b"verify", b"verify operations=2", b"run operations=3",
                b"close"]
    if declared.target == "sqlite":  # with a server's target, a mutation may connect to another machine
        SQLite(folder / "fuzz.db", tables(declared)).fill(list(range(10)))
        arguments = f"seed=7 rows=10 target=sqlite:{folder}/fuzz.db"
        commands += [f"open case={case} {arguments}".encode()
                     for case in ("select_1 statement=text", "select limit=5 statement=prepared",
                                  "mixed", "connections connections=2")]
    numbers = random.Random(2)
    for _ in range(LINES):
        command = numbers.choice(commands)
        ask(subject, mutated(command, numbers) if numbers.random() < 0.7 else command)
    must_still_work(subject)
    subject.ask_for("closed", "close")
    assert {path.name for path in folder.iterdir()} <= {"fuzz.db"}
