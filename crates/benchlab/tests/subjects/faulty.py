# SPDX-License-Identifier: Apache-2.0
"""An implementation of the case noop without a kit, with one fault that the first argument selects.

Its processes are numbered with a file in the project's directory: the first process is for the pilot, the second for
a whole block, the third for a repeated block.
"""

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

FAULT = sys.argv[1]
COUNT = Path(f"processes-{FAULT}")
RUNS = Path(f"runs-{FAULT}")


def main() -> None:
    process = count_process()
    say("a first line for the log")
    if FAULT == "crash-at-start":
        sys.exit("no such device")
    if FAULT == "hang-at-start":
        hang()
    say(hello())
    runs = 0
    for line in sys.stdin:
        verb, *words = line.split()
        operations = int(dict(word.split("=", 1) for word in words).get("operations", 1))
        if verb == "open":
            say(opened())
        elif verb == "verify":
            say(f"@lab verified check={operations} operations={operations} units={operations}")
        elif verb == "run":
            runs += 1
            if FAULT == "crash-in-block" and process == 3 and runs == int(RUNS.read_text()) - 3:
                os.kill(os.getpid(), signal.SIGSEGV)
            if FAULT == "killed-in-block" and process >= 2 and runs == 5:
                Path("left-behind").write_text(tempfile.mkstemp()[1])
                os.kill(os.getpid(), signal.SIGKILL)
            run(operations)
        elif verb == "close":
            say("@lab closed")
        elif verb == "quit":
            RUNS.write_text(str(runs))
            leave()
            return


def count_process() -> int:
    number = int(COUNT.read_text()) + 1 if COUNT.exists() else 1
    COUNT.write_text(str(number))
    return number


def hello() -> str:
    thread = threading.get_native_id()
    protocol = 1
    if FAULT == "protocol-2":
        protocol = 2
    if FAULT == "thread-of-another":
        thread = os.getppid()
    if FAULT == "no-thread":
        return "@lab hello protocol=1 subject=faulty runtime=none library=none"
    return f"@lab hello protocol={protocol} subject=faulty thread={thread} runtime=none library=none"


def opened() -> str:
    match FAULT:
        case "crash-in-open":
            say("the library is broken")
            os.abort()
        case "hang-in-open":
            hang()
        case "refuses":
            return "@lab error code=failed message=no%20such%20table%3A%20test"
        case "unsupported":
            return "@lab error code=unsupported message=there%20is%20no%20case%20noop"
    return "@lab opened"


def run(operations: int) -> None:
    start = time.monotonic_ns()
    end = time.monotonic_ns() + 1
    while time.monotonic_ns() <= end:
        pass
    check, verb = operations, "ran"
    match FAULT:
        case "hang-in-run":
            hang()
        case "nonsense":
            say("@lab 42 ! what?")
            return
        case "bad-percent-coding":
            say(f"@lab ran start={start} end={end} operations={operations} units=1 check=%zz")
            return
        case "another-verb":
            verb = "verified"
        case "negative-check":
            check = -1
        case "missing-argument":
            say(f"@lab ran start={start} end={end} operations={operations} units={operations}")
            return
        case "end-before-start":
            start, end = end, start
        case "start-before-call":
            start -= 10_000_000_000
        case "end-after-reply":
            end += 10_000_000_000
        case "wrong-operations":
            operations += 1
        case "long-line":
            say("@lab ran check=" + "1" * 100_000)
            return
        case "endless-line":
            while True:
                os.write(1, b"x" * 4096)
        case "closes-output":
            os.close(1)
            hang()
        case "floods-errors":
            for number in range(3_000):
                print(f"line {number} of very many lines on standard error", file=sys.stderr)
        case "floods-output":
            for number in range(3_000):
                say(f"line {number} of very many lines on standard output")
    say(f"@lab {verb} start={start} end={end} operations={operations} units={check} check={check}")


def leave() -> None:
    match FAULT:
        case "status-after-quit":
            print("the state cannot be saved", file=sys.stderr)
            sys.exit(3)
        case "hang-after-quit":
            os.close(1)
            os.close(2)
            hang()


def hang() -> None:
    while True:
        time.sleep(1000)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
