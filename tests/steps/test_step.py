# SPDX-License-Identifier: Apache-2.0
"""Tests how steps of `make test` begin and end, what they print, and that no process remains."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

TIMEOUT_S = 60


def run_step(step: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([step, *words], capture_output=True, text=True, check=False)


def log(step: Path, name: str) -> Path:
    return step.parents[1] / "build/tests/logs" / f"{name}.log"


def all_of(step: Path, **scripts: str) -> list[str]:
    """Returns the command that runs all of these steps concurrently; a step without a script does not begin."""
    rules = {name: f"{name}:\n\t@{step} {name} sh -c '{script}'\n" for name, script in scripts.items() if script}
    makefile = step.parent / "Makefile"
    makefile.write_text("".join(rules.values()).replace("$", "$$"))
    make = ["make", f"--file={makefile}", "--jobs=9", "--keep-going", "--no-print-directory", *rules]
    return [str(step), "--all", *make, "--", *scripts]


def run_all(step: Path, **scripts: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(all_of(step, **scripts), capture_output=True, text=True, check=False)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def written(file: Path) -> int:
    """Returns the number in a file, when the file exists."""
    until(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


def is_running(pid: int) -> bool:
    """Returns True unless the process has ended; a zombie has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_step_shows_what_it_printed_between_its_beginning_and_its_end(step: Path) -> None:
    completed = run_step(step, "one", "sh", "-c", "echo out; echo err >&2")
    assert re.fullmatch(r"one: begins\n--- one\nout\nerr\n--- one passed in \d+ s, CPU \d+ s\n", completed.stdout)
    assert completed.returncode == 0
    assert log(step, "one").read_text() == "out\nerr\n"


def test_a_failed_step_shows_its_last_lines_and_has_its_commands_status(step: Path) -> None:
    completed = run_step(step, "one", "sh", "-c", "seq 1000; exit 7")
    _, head, *lines, end = completed.stdout.splitlines()
    assert (head, completed.returncode) == ("--- one", 7)
    assert lines == [str(number) for number in range(601, 1001)]
    assert re.fullmatch(rf"--- one FAILED in \d+ s, CPU \d+ s with 7; all that it printed: {log(step, 'one')}", end)
    assert len(log(step, "one").read_text().splitlines()) == 1000


def test_a_step_that_a_signal_ended_has_failed(step: Path) -> None:
    assert run_step(step, "one", "sh", "-c", "kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_no_step_can_ask_for_input(step: Path) -> None:
    assert run_step(step, "one", "cat").returncode == 0


def test_what_steps_print_at_the_same_time_stays_together(step: Path) -> None:
    """Tests output that is longer than a pipe's buffer."""
    names = ["one", "two", "three"]
    completed = run_all(step, **{name: f'seq --format="{name} %g" 20000' for name in names})
    for name in names:
        (block,) = re.findall(rf"^--- {name}\n(.*?)^--- {name} passed", completed.stdout, re.MULTILINE | re.DOTALL)
        assert block.splitlines() == [f"{name} {number}" for number in range(1, 20001)]


def test_all_passed(step: Path) -> None:
    log(step, "of an earlier run").touch()
    completed = run_all(step, one="echo 1", two="echo 2")
    assert completed.returncode == 0
    table = completed.stdout.split("\n\n")[-2]
    assert {line.split()[0] for line in table.splitlines()} == {"step", "one", "two", "all"}
    assert completed.stdout.endswith("\nall suites passed\n")
    assert not log(step, "of an earlier run").exists()


def test_what_failed_and_what_never_began_is_named(step: Path) -> None:
    completed = run_all(step, one="true", two="exit 3", three="")
    assert completed.returncode == 1
    assert re.search(r"^two +FAILED +\d+ +\d+$", completed.stdout, re.MULTILINE)
    assert re.search(r"^three +not run +0 +0$", completed.stdout, re.MULTILINE)
    assert completed.stdout.endswith("\nNOT PASSED: two, three\n")


def test_the_end_of_a_failed_step_is_printed_again_after_all_steps(step: Path) -> None:
    """Other steps may print thousands of lines after it."""
    completed = run_all(step, one="seq 100; exit 3", two="sleep 0.3; seq --format=two%g 100")
    _, _, after_the_table = completed.stdout.rpartition("\nall ")
    repeated = "\n".join(str(number) for number in range(61, 101))
    assert f"\n--- the end of one, again\n{repeated}\n\n" in after_the_table
    assert "two" not in after_the_table


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_steps_with_their_processes(step: Path, tmp_path: Path, number: signal.Signals) -> None:
    endless = {name: f"echo $$ >{tmp_path}/{name}; exec sleep 1000" for name in ("one", "two")}
    process = subprocess.Popen(all_of(step, **endless), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    pids = [written(tmp_path / name) for name in endless]
    assert all(map(is_running, pids))
    process.send_signal(number)
    lines, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert "NOT PASSED: one, two" in lines
    until(lambda: not any(map(is_running, pids)))


def test_who_does_not_stop_when_asked_is_killed(step: Path, tmp_path: Path) -> None:
    impatient = f"import sys; sys.path.insert(0, {str(step.parent)!r}); import step; step.TIMEOUT_S = 1; " \
                f"sys.exit(step.run('one', sys.argv[1:]))"
    stubborn = f"trap '' TERM; echo $$ >{tmp_path}/pid; while true; do sleep 0.05; done"
    process = subprocess.Popen([sys.executable, "-B", "-c", impatient, "sh", "-c", stubborn], stdout=subprocess.DEVNULL)
    pid = written(tmp_path / "pid")
    process.send_signal(signal.SIGTERM)
    assert process.wait(TIMEOUT_S) == 128 + signal.SIGKILL
    assert not is_running(pid)


def test_what_takes_too_long_is_stopped_and_shown(step: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEP_LIMIT_S", "0.5")
    completed = run_step(step, "one", "sh", "-c", "echo begun; exec sleep 1000.25")
    assert completed.returncode == 128 + signal.SIGTERM
    assert "not ended after 0.5 s" in completed.stdout
    assert re.search(r"^ *\d+ .* sleep 1000\.25$", completed.stdout, re.MULTILINE)
