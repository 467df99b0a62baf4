#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs benchlab's tests: rust.py FILE, where FILE contains the messages of the `cargo test --no-run` that
built them. Two test programs run at a time, because many tests wait."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PROGRAMS_AT_ONCE = 2
ENVIRONMENT = {**os.environ, "RUST_TEST_THREADS": str(2 * (os.cpu_count() or 1))}
"""Runs twice as many tests as there are cores, because most tests wait for a benchlab process that waits, too."""
FIRST = ["cli", "stats"]
"""The test programs that take longest, which are started first."""

printing = threading.Lock()


class Tests(NamedTuple):
    """A test program."""

    name: str
    program: str
    folder: Path


def built(messages: Path) -> Iterator[Tests]:
    for message in map(json.loads, messages.read_text().splitlines()):
        if message.get("executable") and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            yield Tests(f"{folder.name} {message['target']['name']}", message["executable"], folder)


def call(tests: Tests) -> tuple[int, str]:
    process = subprocess.run([tests.program, "--quiet"], cwd=tests.folder, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return process.returncode, process.stdout.decode(errors="replace")


def passes(tests: Tests) -> bool:
    """Runs a test program, and prints its output if it failed."""
    status, output = call(tests)
    (result,) = re.findall("^test result: (.*)", output, re.MULTILINE)[-1:] or [f"no result, exit status {status}"]
    with printing:
        if status:
            print(output)
        if not result.startswith("ok. 0 passed; 0 failed; 0 ignored"):
            print(f"{tests.name}: {result}", flush=True)
    return status == 0


def main() -> int:
    programs = sorted(built(Path(sys.argv[1])), key=lambda tests: tests.name.split()[1] not in FIRST)
    with ThreadPoolExecutor(PROGRAMS_AT_ONCE) as pool:
        outcomes = list(pool.map(passes, programs))
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
