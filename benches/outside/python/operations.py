# SPDX-License-Identifier: Apache-2.0
"""A case of a Python subject, measured by pyperf: `operations.py --experiment counter --threads 1`, and pyperf's
options.

The case is opened as benchlab opens it. Its loop is the subject's own, so it costs the same under both tools. pyperf
chooses the number of operations so that they last 100 ms or more."""

import sys
from argparse import Namespace
from contextlib import AbstractContextManager
from pathlib import Path
from time import perf_counter

import pyperf

ROOT = Path(__file__).resolve().parents[3]


def opened(experiment: str, threads: str) -> AbstractContextManager:
    """Opens the case, and returns the function that performs its operations."""
    sys.path[:0] = [str(ROOT / "kits" / "python" / "src"), str(ROOT / "experiments" / experiment / "python")]
    import subject
    from lab_kit import Opening

    def opening(**arguments: str) -> Opening:
        return Opening({"seed": "1", "threads": threads, **arguments})

    match experiment:
        case "counter":
            return subject.increment(opening(scheme="atomic"))
        case "cache":
            return subject.read_only(opening(scheme="concurrent"))
        case "pool":
            return subject.cases(subject.Pool)["uncontended"](opening())
    raise LookupError(experiment)


def add_own_arguments(command: list[str], args: Namespace) -> None:
    """Passes these arguments to the workers too."""
    command += ["--experiment", args.experiment, "--threads", args.threads]


def main() -> None:
    runner = pyperf.Runner(add_cmdline_args=add_own_arguments)
    runner.argparser.add_argument("--experiment", required=True)
    runner.argparser.add_argument("--threads", default="1")
    args = runner.parse_args()
    with opened(args.experiment, args.threads) as perform:
        def time(operations: int) -> float:
            start = perf_counter()
            work = perform(operations)
            taken = perf_counter() - start
            if work.units != operations:
                raise ValueError(f"{work.units} operations instead of {operations}")
            return taken

        runner.bench_time_func(f"{args.experiment}, {args.threads} threads", time)


if __name__ == "__main__":
    main()
