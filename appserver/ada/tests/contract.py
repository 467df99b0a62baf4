# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Checks that the tests named in appserver/CONTRACT.md exist, and that the files that Ada and Java share are equal: python3 contract.py"""

import re
import sys
from pathlib import Path

APPSERVER = Path(__file__).resolve().parent.parent.parent
# Each library can be built without the other one, so it has its own copy
SHARED = {
    "ada/monitor/src/appserver_monitor_page.html": "java/monitor/src/main/resources/benchlab/appserver/monitor/appserver_monitor_page.html",
    "ada/tests/blocks/faults.txt": "java/retry/src/test/data/faults.txt",
    "ada/tests/blocks/held_calls.c": "java/processes/src/test/c/held_calls.c",
    "ada/tests/monitor/percentiles.txt": "java/monitor/src/test/data/percentiles.txt",
    "ada/tests/shared/retry_situations.txt": "java/retry/src/test/data/retry_situations.txt",
}
HEADER = ["promise", "Ada", "Java", "databases"]
ABSENT = "–"
ADA_NAME = re.compile(r"(\w+)\.(\w+)")
DATABASES = re.compile(rf"{ABSENT}|all|(?:PostgreSQL|MariaDB|SQLite)(?:, (?:PostgreSQL|MariaDB|SQLite))*")


def rows(text: str) -> list[tuple[int, list[str]]]:
    """Returns the line number and the cells of each row of each table."""
    lines = enumerate(text.splitlines(), 1)
    cells = [(number, [cell.strip() for cell in line.strip("|").split(" | ")]) for number, line in lines if line.startswith("|")]
    return [(number, row) for number, row in cells if row != HEADER and set("".join(row)) - set("-|")]


def is_in_ada(name: str) -> bool:
    """Returns whether a body in this directory registers the routine with AUnit."""
    match = ADA_NAME.fullmatch(name)
    if not match:
        return False
    package, routine = match.groups()
    bodies = [path.read_text() for path in (APPSERVER / "ada/tests").glob(f"*/*{package.lower()}.adb")]
    return any(re.search(rf"procedure {routine}\b", body) and f"{routine}'Access" in body for body in bodies)


def is_in_java(name: str) -> bool:
    """Returns whether JUnit runs the method."""
    match = ADA_NAME.fullmatch(name)
    if not match:
        return False
    type_name, method = match.groups()
    test = re.compile(rf"@(?:Parameterized|Repeated)?Test\b[^;{{}}]*(?:\{{[^}}]*\}}[^;{{}}]*)*?\bvoid {method}\(")
    return any(test.search(path.read_text()) for path in (APPSERVER / "java").glob(f"**/src/test/**/{type_name}.java"))


def is_in_python(name: str) -> bool:
    path, _, function = name.partition("::")
    file = APPSERVER.parent / path
    return path.endswith(".py") and file.is_file() and (not function or f"def {function}(" in file.read_text())


def faults_in(number: int, row: list[str]) -> list[str]:
    if len(row) != len(HEADER):
        return [f"line {number}: {len(row)} cells, expected {len(HEADER)}"]
    promise, *tests, databases = row
    faults = [] if DATABASES.fullmatch(databases) else [f"line {number}: databases: {databases}"]
    if all(cell == ABSENT for cell in tests):
        faults.append(f"line {number}: no test of: {promise}")
    for cell, is_there in zip(tests, [is_in_ada, is_in_java], strict=True):
        names = re.findall(r"`([^`]+)`", cell)
        if cell != ABSENT and cell != ", ".join(f"`{name}`" for name in names):
            faults.append(f"line {number}: expected tests in backticks, or {ABSENT}: {cell}")
        faults += [f"line {number}: no test {name}" for name in names if not is_there(name) and not is_in_python(name)]
    return faults


def differences() -> list[str]:
    return [f"{ada} and {java} differ: copy the changed one" for ada, java in SHARED.items()
            if (APPSERVER / ada).read_bytes() != (APPSERVER / java).read_bytes()]


def check_itself() -> None:
    """Checks that missing tests are detected."""
    assert faults_in(1, ["p", "`Retry_Tests.No_Such_Test`", ABSENT, ABSENT])
    assert faults_in(1, ["p", ABSENT, "`RetryTest.noSuchTest`", ABSENT])
    assert faults_in(1, ["p", ABSENT, ABSENT, ABSENT]) and faults_in(1, ["p", "all"])


def main() -> int:
    check_itself()
    found = rows((APPSERVER / "CONTRACT.md").read_text())
    faults = [f"CONTRACT.md: {fault}" for number, row in found for fault in faults_in(number, row)] + differences()
    print("\n".join(faults or [f"CONTRACT.md: {len(found)} promises"]))
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
