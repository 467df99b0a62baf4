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
COLUMNS = ("promise", "Ada", "Java", "databases")
ABSENT = "–"
ADA_NAME = re.compile(r"(\w+)\.(\w+)")
DATABASES = re.compile(rf"{ABSENT}|all|(?:PostgreSQL|MariaDB|SQLite)(?:, (?:PostgreSQL|MariaDB|SQLite))*")


def rows(text: str) -> list[tuple[int, list[str], list[str]]]:
    """Returns the line number, the table's header and the cells of each row of each table."""
    found: list[tuple[int, list[str], list[str]]] = []
    header: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("|") else []
        if not cells or not header:
            header = cells
        elif set("".join(cells)) - set("-|"):
            found.append((number, header, cells))
    return found


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


def faults_in(number: int, header: list[str], row: list[str]) -> list[str]:
    if header != [name for name in COLUMNS if name in header] or "promise" not in header:
        return [f"line {number}: the columns are {header}, expected some of {COLUMNS}"]
    if len(row) != len(header):
        return [f"line {number}: {len(row)} cells, expected {len(header)}"]
    cells = dict(zip(header, row, strict=True))
    databases = cells.get("databases", ABSENT)
    faults = [] if DATABASES.fullmatch(databases) else [f"line {number}: databases: {databases}"]
    tests = [(cells[language], is_there) for language, is_there in (("Ada", is_in_ada), ("Java", is_in_java)) if language in cells]
    if all(cell == ABSENT for cell, _ in tests):
        faults.append(f"line {number}: no test of: {cells['promise']}")
    for cell, is_there in tests:
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
    columns = list(COLUMNS)
    assert faults_in(1, columns, ["p", "`Retry_Tests.No_Such_Test`", ABSENT, ABSENT])
    assert faults_in(1, columns, ["p", ABSENT, "`RetryTest.noSuchTest`", ABSENT])
    assert faults_in(1, columns, ["p", ABSENT, ABSENT, ABSENT]) and faults_in(1, columns, ["p", "all"])
    assert faults_in(1, columns[:2], ["p", "`Retry_Tests.No_Such_Test`"]) and faults_in(1, columns[:2], ["p", ABSENT])
    assert faults_in(1, columns[::-1], [ABSENT] * 4)
    assert rows("| promise | Ada |\n|---|---|\n| p | – |\n\n| promise |\n") == [(3, ["promise", "Ada"], ["p", ABSENT])]


def main() -> int:
    check_itself()
    found = rows((APPSERVER / "CONTRACT.md").read_text())
    faults = [f"CONTRACT.md: {fault}" for number, header, row in found for fault in faults_in(number, header, row)]
    faults += differences()
    print("\n".join(faults or [f"CONTRACT.md: {len(found)} promises"]))
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
