# SPDX-License-Identifier: Apache-2.0
"""The output of tests/rust.py for test programs that pass, fail, or end without a result."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PASSES = """
echo 'running 2 tests'
echo 'test result: ok. 2 passed; 0 failed; 0 ignored'
"""

FAILS = """
cat <<end
failures:

---- two stdout ----
it broke

failures:
    two

test result: FAILED. 1 passed; 1 failed; 0 ignored
end
exit 101
"""


def run_tests(folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Runs tests/rust.py with these scripts as the test programs."""
    messages = [{"reason": "build-script-executed"}]
    for name, script in programs.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\necho \"$@\" >>{program}.calls\n{script}")
        program.chmod(0o755)
        messages.append({"executable": str(program), "manifest_path": str(folder / "crate/Cargo.toml"),
                         "profile": {"test": True}, "target": {"name": name}})
    messages.append({**messages[-1], "executable": "/a/program/that/is/no/test", "profile": {"test": False}})
    (folder / "crate").mkdir()
    (folder / "messages").write_text("\n".join(map(json.dumps, messages)))
    return subprocess.run([ROOT / "tests/rust.py", folder / "messages"], capture_output=True, text=True, check=False)


def test_programs_that_pass_are_called_once(tmp_path: Path) -> None:
    completed = run_tests(tmp_path, one=PASSES, two=PASSES)
    assert completed.returncode == 0
    lines = [f"crate {name}: ok. 2 passed; 0 failed; 0 ignored" for name in ("one", "two")]
    assert sorted(completed.stdout.splitlines()) == lines
    assert (tmp_path / "one.calls").read_text() == "--quiet\n"


def test_a_program_without_tests_is_not_mentioned(tmp_path: Path) -> None:
    completed = run_tests(tmp_path, one="echo 'test result: ok. 0 passed; 0 failed; 0 ignored'")
    assert (completed.returncode, completed.stdout) == (0, "")


def test_a_program_that_fails_runs_once_and_fails_the_step(tmp_path: Path) -> None:
    completed = run_tests(tmp_path, one=FAILS, two=PASSES)
    assert completed.returncode == 1
    assert completed.stdout.count("it broke") == 1
    assert (tmp_path / "one.calls").read_text() == "--quiet\n"


def test_a_program_that_ends_without_a_result_has_failed(tmp_path: Path) -> None:
    completed = run_tests(tmp_path, one="echo gone; exit 9")
    assert completed.returncode == 1
    assert "no result, exit status 9" in completed.stdout
