# SPDX-License-Identifier: Apache-2.0
"""Tests conversations with a fixture that uses the kit, in a separate process."""

import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def start(file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-B", FOLDER / "fixture_program.py", file], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(FOLDER.parent / "src")})


def talk(file: Path, *commands: str) -> list[str]:
    """Returns the replies after hello. The fixture must exit successfully."""
    process = start(file)
    output, _ = process.communicate("\n".join(commands) + "\n", timeout=60)
    assert process.returncode == 0
    hello, *replies = output.splitlines()
    assert re.fullmatch(r"@lab hello protocol=1 fixture=value runtime=[A-Za-z]+%203\.[0-9.]+", hello)
    return replies


def test_a_conversation(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("usual")
    assert talk(file, "open seed=7", "check state=a value=usual disk=vda folder=/x", "check state=b value=new",
                "check state=c value=impossible", "set state=b value=new", "set state=d value=refused", "set",
                "close", "quit") == [
        "@lab opened port=4711",
        "@lab checked current=yes permanent=on%20vda undo=usual claims=file,a",
        "@lab checked current=no undo=usual claims=file,b",
        "@lab error code=unsupported message=there%20is%20no%20such%20value",
        "@lab set value=new",
        "@lab error code=failed message=not%20this%20value",
        "@lab set value=usual",
        "@lab closed"]


def test_a_fixture_takes_part_in_visits(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("usual")
    assert talk(file, "open", "enter visit=1 state=a value=5", "enter visit=2 value=3", "begin visit=1",
                "end visit=1 operations=4", "leave visit=2", "leave visit=2", "end visit=1", "enter visit=3") == [
        "@lab opened port=4711",
        "@lab entered doubled=10",
        "@lab entered doubled=6",
        "@lab begun",
        "@lab ended each=1.25",
        "@lab left",
        "@lab error code=usage message=there%20is%20no%20visit%202",
        "@lab error code=usage message=the%20argument%20operations%20is%20missing",
        "@lab error code=usage message=the%20argument%20value%20is%20missing"]


def test_a_fixture_requests_an_outage_and_follows_it(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("usual")
    assert talk(file, "open", "enter visit=1 state=a value=5 seed=7 target=sqlite:/x", "begin visit=1 expected_ns=1000",
                "outage visit=1 step=stopped", "outage visit=1 step=starting", "outage visit=1")[2:] == [
        "@lab begun down_after_ns=500 down_ns=10",
        "@lab noted",
        "@lab error code=failed message=it%20is%20too%20late",
        "@lab error code=usage message=the%20argument%20step%20is%20missing"]


def test_visits_end_before_changes_are_undone(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("usual")
    process = start(file)
    _, log = process.communicate("open\nenter visit=1 state=a value=5\nbegin visit=1\n", timeout=60)
    assert log.splitlines() == ["@lab torn begun", " a left", "set usual"]


def test_changes_are_undone_at_the_end_of_the_input(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("usual")
    assert talk(file, "open", "set state=b value=new")[-1] == "@lab set value=new"
    assert file.read_text() == "usual"


def test_changes_are_undone_when_nobody_reads_the_replies(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("usual")
    process = start(file)
    assert process.stdin and process.stdout and process.stderr
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write("open\nset state=b value=new\n")
    process.stdin.close()
    assert process.wait(60) != 0
    process.stderr.close()
    assert file.read_text() == "usual"


def test_another_process_undoes_what_was_left(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("new")
    assert talk(file, "undo record=usual", "undo record=usual", "undo") == [
        "@lab undone changed=the%20file%20set%20to%20new",
        "@lab undone",
        "@lab error code=usage message=the%20argument%20record%20is%20missing"]
    assert file.read_text() == "usual"


def test_commands_out_of_order(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("usual")
    replies = talk(file, "set", "check state=a", "close", "open", "open", "check", "run operations=1")
    assert ["code=usage" in reply for reply in replies] == [True, True, True, False, True, True, True]
