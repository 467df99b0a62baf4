# SPDX-License-Identifier: Apache-2.0
"""docs/protocol.md without a target: hello, the case noop, the order of commands, errors, and the end."""

import re
import time
from pathlib import Path

import pytest

from experiments import Declared, declared_subjects
from subject import Subject

pytestmark = pytest.mark.parametrize("declared", declared_subjects(), ids=str)

OPEN_NOOP = "open case=noop seed=7"


def test_hello_says_what_runs(declared: Declared, subject: Subject) -> None:
    verb, hello = subject.hello
    assert verb == "hello"
    assert hello["protocol"] == "1"
    assert hello["subject"] == declared.name
    assert re.search(r"\S \d", hello["runtime"]), "the runtime must have a name and a version"
    assert re.search(r"\d", hello["library"]), "the library must have a version"
    thread = subject.hello.number("thread")
    assert thread == 0 or Path(f"/proc/{subject.pid}/task/{thread}").exists()


def test_noop(subject: Subject) -> None:
    assert subject.ask_for("opened", OPEN_NOOP).arguments == {}
    verified = subject.ask_for("verified", "verify")
    assert verified.arguments == {"check": "1", "operations": "1", "units": "1"}
    before = time.monotonic_ns()
    ran = subject.ask_for("ran", "run operations=1000")
    after = time.monotonic_ns()
    assert before <= ran.number("start") <= ran.number("end") <= after
    assert (ran.arguments["check"], ran.arguments["units"], ran.arguments["operations"]) == (
        "1000", "1000", "1000")
    assert subject.ask_for("closed", "close").arguments == {}


WITHOUT_A_CASE = (
    ("", "usage"),
    ("nonsense", "usage"),
    ("RUN operations=1", "usage"),
    ("open", "usage"),
    ("open seed=7", "usage"),
    ("open case=noop", "usage"),
    ("open case=noop seed=", "usage"),
    ("open case=noop seed=-1", "usage"),
    ("open case=noop seed=seven", "usage"),
    ("open case=noop seed=18446744073709551616", "usage"),
    ("open case=noop seed", "usage"),
    ("open case=noop seed=7 a=%zz", "usage"),
    ("open case=noop seed=7 a=%2", "usage"),
    ("open case=noop seed=7 a=%", "usage"),
    ("open case=nonsense seed=7", "unsupported"),
    ("verify", "usage"),
    ("run operations=1", "usage"),
    ("close", "usage"),
)

WITH_A_CASE = (
    ("", "usage"),
    (OPEN_NOOP, "usage"),
    ("nonsense", "usage"),
    ("run", "usage"),
    ("run operations=", "usage"),
    ("run operations=0", "usage"),
    ("run operations=-1", "usage"),
    ("run operations=abc", "usage"),
    ("run operations=1.5", "usage"),
    ("run operations=9007199254740993", "usage"),
    ("run operations=99999999999999999999999", "usage"),
    ("run operations=1%", "usage"),
    ("verify operations=0", "usage"),
    ("verify operations=abc", "usage"),
)


def test_errors_while_no_case_is_open(subject: Subject) -> None:
    for command, code in WITHOUT_A_CASE:
        assert subject.ask_for_error(command) == code, command
        subject.ask_for("opened", OPEN_NOOP)
        assert subject.ask_for("verified", "verify").number("check") == 1, command
        subject.ask_for("closed", "close")


def test_errors_while_a_case_is_open(subject: Subject) -> None:
    for command, code in WITH_A_CASE:
        subject.ask_for("opened", OPEN_NOOP)
        assert subject.ask_for_error(command) == code, command
        assert subject.ask_for("ran", "run operations=3").number("check") == 3, command
        subject.ask_for("closed", "close")


def test_a_line_that_is_too_long(subject: Subject) -> None:
    assert subject.ask_for_error(b"x" * 70_000) == "usage"
    assert subject.ask_for_error(OPEN_NOOP.encode() + b" " + b"a=" + b"x" * 70_000) == "usage"
    subject.ask_for("opened", OPEN_NOOP)


def test_the_longest_line_and_quit_while_a_case_is_open(subject: Subject) -> None:
    command = OPEN_NOOP + " a="
    assert subject.ask_for_error(command.ljust(65_537, "x")) == "usage"
    subject.ask_for("opened", command.ljust(65_536, "x"))
    assert subject.quit() == 0


def test_arguments_in_any_order_encoded_and_unknown(subject: Subject) -> None:
    subject.ask_for("opened", "open nonsense=%20 seed=18446744073709551615 case=%6e%6Fop")
    subject.ask_for("ran", "run later=1 operations=%32")


@pytest.mark.parametrize("commands", [[], [OPEN_NOOP], [OPEN_NOOP, "run operations=1", "close"]],
                         ids=["at once", "while a case is open", "after close"])
def test_the_end_of_the_input_is_a_good_end(subject: Subject, commands: list[str]) -> None:
    for command in commands:
        subject.ask(command)
    assert subject.end_input() == 0
