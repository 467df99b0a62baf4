# SPDX-License-Identifier: Apache-2.0
"""experiments/pool/README.md: no resource has two holders, none is lost, and failures are counted. The
expected sums are computed here."""

from itertools import islice
from typing import Any

import pytest

from experiments import Declared, declared_subjects, points, read_experiments
from sql_model import split_mix
from subject import Subject

SEED = 7
OPERATIONS = 2000
FAILS_EVERY = 8
WORDS = 8192
WRONG = {"c-unsafe", "python-forgets"}
SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "pool"]
SHARED = [case for case in read_experiments()["pool"]["case"] if "sweep" in case]


def check_of(case: str, operations: int) -> int:
    match case:
        case "fail":
            return sum(2 if value % FAILS_EVERY == 0 else 1 for value in islice(split_mix(SEED), operations))
        case "reuse":
            return operations * WORDS
        case _:
            return operations


@pytest.mark.parametrize("declared, case, point", [
    pytest.param(subject, case["name"], point, id=" ".join(map(str, [subject, case["name"], *point.values()])))
    for subject in SUBJECTS if subject.name not in WRONG
    for case in SHARED if subject.has(case["name"])
    for point in points(case, None) if subject.can_do(point)])
def test_one_holder_and_nothing_lost(
        declared: Declared, subject: Subject, case: str, point: dict[str, Any]) -> None:
    subject.ask_for("opened", f"open case={case} seed={SEED}"
                    + "".join(f" {key}={value}" for key, value in point.items()))
    operations = OPERATIONS // 10 if point.get("hold") == "100us" else OPERATIONS
    for _ in range(2):
        ran = subject.ask_for("ran", f"run operations={operations}")
        assert ran.number("check") == check_of(case, operations)
        assert ran.number("units") == operations
        metrics = {metric: float(ran.arguments[metric]) for metric in ("fairness", "over", "lost")}
        assert metrics["over"] == 0 and metrics["lost"] == 0
        assert 99.999 / point["threads"] <= metrics["fairness"] <= 100.001, "Jain's index: 1/n to 1"


@pytest.mark.parametrize("declared", [subject for subject in SUBJECTS if subject.name == "python-forgets"],
                         ids=str)
def test_who_forgets_runs_out_of_resources(subject: Subject) -> None:
    subject.ask_for("opened", f"open case=fail seed={SEED} threads=2")
    assert subject.ask_for_error(f"run operations={OPERATIONS}") == "failed"
    subject.ask_for("closed", "close")
