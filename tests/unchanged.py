# SPDX-License-Identifier: Apache-2.0
"""Checks whether the inputs of a step are the same as when it last passed: the project's files, the machine's
software, and the settings of the tests."""

import functools
import hashlib
import os
import platform
import stat
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PASSED = ROOT / "build/tests/passed"

TOOLS = ["rustc --version --verbose", "go version", "java -version", "node --version", "python3 --version", "cc -v",
         "gnatls --version", "dpkg-query --show"]
"""Commands that print the versions of tools that may not come from packages."""

SETTINGS = ("BENCHLAB_", "LAB_", "NGINX", "APACHE", "PATH")


def state(reads: list[str]) -> str | None:
    """Returns a hash of the files that match these pathspecs, and of the environment, or None outside of a
    checkout."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *reads]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        return None
    digest = hashlib.sha256(surroundings().encode())
    for name in listed.stdout.split(b"\0")[:-1]:
        digest.update(b"%d %s\0" % (len(name), name) + content(ROOT / os.fsdecode(name)))
    return digest.hexdigest()


def content(file: Path) -> bytes:
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return b"none"
    data = os.fsencode(os.readlink(file)) if stat.S_ISLNK(mode) else file.read_bytes()
    return b"%o " % mode + hashlib.sha256(data).digest()


@functools.cache
def surroundings() -> str:
    settings = [f"{key}={value}" for key, value in sorted(os.environ.items()) if key.startswith(SETTINGS)]
    return "\n".join([*platform.uname(), str(os.cpu_count()), *map(answer, TOOLS), *settings])


def answer(line: str) -> str:
    try:
        return subprocess.run(line.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    except OSError:
        return "none"


def has_passed(name: str, current: str | None) -> bool:
    file = PASSED / name
    return current is not None and file.exists() and file.read_text() == current


def forget(name: str) -> None:
    (PASSED / name).unlink(missing_ok=True)


def remember(name: str, current: str | None) -> None:
    if current is not None:
        PASSED.mkdir(parents=True, exist_ok=True)
        (PASSED / name).write_text(current)
