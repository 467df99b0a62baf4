#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of `make test` concurrently, and prints the output of each step in one piece.

step.py NAME COMMAND…: runs a step. Its output is written to build/tests/logs/NAME.log, and printed when it has ended.
With one or more --reads=PATHSPEC before NAME, the step is skipped if it passed and none of these files has changed
since. After STEP_LIMIT_S seconds (3,000 by default, or from the environment) the step is stopped, and its processes are
printed.
step.py --all COMMAND… -- NAME…: runs a command that runs these steps; then prints how they ended, how long they took,
and the last lines of those that failed. Exits with 1 unless all passed."""

import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import unchanged

LOGS = Path(__file__).resolve().parents[1] / "build/tests/logs"
LAST_LINES = 400
"""The number of lines to print from the end of a failed step's output; the log contains all."""

REPEATED_LINES = 40
"""The number of lines from the end of a failed step's output that are printed again after all steps."""

TIMEOUT_S = 20
"""Seconds that a step may take to stop before it is killed."""

STEP_LIMIT_S = 50 * 60
"""The default time limit of a step, which is longer than any step takes on a busy machine. A step that takes longer
hangs, and is stopped so that the log shows where."""


def run_if_changed(reads: list[str], name: str, command: list[str]) -> int:
    before = unchanged.state(reads)
    if unchanged.has_passed(name, before):
        (LOGS / f"{name}.result").write_text("before 0 0\n")
        show(f"{name}: passed before, and none of its inputs has changed\n")
        return 0
    unchanged.forget(name)
    status = run(name, command)
    # Changes during its run were not tested.
    if status == 0 and unchanged.state(reads) == before:
        unchanged.remember(name, before)
    return status


def run(name: str, command: list[str]) -> int:
    log = LOGS / f"{name}.log"
    show(f"{name}: begins\n")
    began = time.monotonic()
    limit_s = float(os.environ.get("STEP_LIMIT_S", STEP_LIMIT_S))
    with log.open("wb") as out:
        status = run_to_end(command, limit_s, stdout=out, stderr=subprocess.STDOUT)
    outcome = "passed" if status == 0 else "FAILED"
    wall, cpu = f"{time.monotonic() - began:.0f}", f"{cpu_s():.0f}"
    (LOGS / f"{name}.result").write_text(f"{outcome} {wall} {cpu}\n")
    lines = last_lines(name, None if status == 0 else LAST_LINES)
    ending = "" if status == 0 else f" with {status}; all that it printed: {log}"
    show("".join(f"{line}\n" for line in [f"--- {name}", *lines, f"--- {name} {outcome} in {wall} s, CPU {cpu} s{ending}"]))
    return status


def run_all(command: list[str], names: list[str]) -> int:
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    began = time.monotonic()
    run_to_end(command)
    results = {name: result(name) for name in names}
    print(f"\n{'step':22}{'':8}{'wall s':>7}{'CPU s':>7}")
    for name, (outcome, wall, cpu) in sorted(results.items(), key=lambda item: -float(item[1][1])):
        print(f"{name:22}{outcome:8}{wall:>7}{cpu:>7}")
    print(f"{'all':30}{time.monotonic() - began:7.0f}{cpu_s():7.0f}\n")
    wrong = [name for name, (outcome, _, _) in results.items() if outcome not in ("passed", "before")]
    for name in wrong:
        if lines := last_lines(name, REPEATED_LINES):
            print(f"--- the end of {name}, again", *lines, "", sep="\n")
    before = sum(outcome == "before" for outcome, _, _ in results.values())
    passed = "all suites passed" + (f", {before} of them before (`make test FORCE=1` runs all)" if before else "")
    print(f"NOT PASSED: {', '.join(wrong)}" if wrong else passed)
    return 1 if wrong else 0


def result(name: str) -> list[str]:
    """Returns a step's result. A step whose predecessor failed may not have begun."""
    file = LOGS / f"{name}.result"
    return file.read_text().split() if file.exists() else ["not run", "0", "0"]


def last_lines(name: str, count: int | None) -> list[str]:
    """Returns the end of a step's output, or all of it if the count is None."""
    log = LOGS / f"{name}.log"
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return lines if count is None else lines[-count:]


def cpu_s() -> float:
    """Returns the CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_to_end(command: list[str], limit_s: float | None = None, **more) -> int:
    """Runs a command to its end and returns its exit status. The command runs in its own process group. The time limit,
    and signals that stop the command, apply to the whole group."""
    groups: list[int] = []
    signals: list[int] = []

    def stop(number: int, _: object) -> None:
        signals.append(number)
        for group in groups:
            os.killpg(group, number)
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(groups[0], signal.SIGKILL))
        signal.alarm(TIMEOUT_S)

    # The handlers come first: a signal that ends this process before it knows the command's group would leave
    # the group running.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0, **more)
    groups.append(process.pid)
    for number in signals:
        os.killpg(process.pid, number)
    try:
        status = process.wait(limit_s)
    except subprocess.TimeoutExpired:
        processes = subprocess.run(["ps", "-eo", "pid,ppid,pgid,etimes,stat,wchan:20,args", "--width=200", "--sort=etimes"],
                                   capture_output=True, check=False).stdout
        os.write(more.get("stdout", sys.stdout).fileno(), b"\nnot ended after %g s; stopped while these processes ran:\n" % limit_s + processes)
        stop(signal.SIGTERM, None)
        status = process.wait()
    signal.alarm(0)
    return status if status >= 0 else 128 - status


def show(text: str) -> None:
    """Prints the text in one piece, even if other steps print at the same time."""
    with (LOGS / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sys.stdout.write(text)
        sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--all", *words]:
            end = words.index("--")
            sys.exit(run_all(words[:end], words[end + 1:]))
        case words:
            reads = [word.removeprefix("--reads=") for word in words if word.startswith("--reads=")]
            name, *command = words[len(reads):]
            sys.exit(run_if_changed(reads, name, command) if reads else run(name, command))
