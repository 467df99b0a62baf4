# SPDX-License-Identifier: Apache-2.0
"""The experiments whose subjects have no target: every subject does the same work at every point, and reports the
metrics of its case."""

import itertools
import re
import time
from typing import Any

import pytest

from experiments import Declared, declared_subjects, points, read_experiments
from subject import ProtocolError, Subject

TESTED_ELSEWHERE = {"process"}
"""The experiments that other files test: an operation of `process` takes milliseconds."""


def needs_fixture(experiment: dict[str, Any]) -> bool:
    """Returns True if subjects get arguments from a fixture, such as the address of a link."""
    return any("provides" in fixture for fixture in experiment.get("fixture", []))


EXPERIMENTS = {name: experiment for name, experiment in read_experiments().items()
               if "targets" not in experiment["experiment"] and "server" not in experiment
               and not needs_fixture(experiment) and name not in TESTED_ELSEWHERE}

WRONG = {("python-forgets", "fail")}
"""The subjects and cases that are expected to fail."""

POINTS = [pytest.param(declared, case, point, id=f"{declared}-{case['name']}-"
                       + "-".join(str(value) for value in point.values()))
          for declared in declared_subjects() if declared.experiment in EXPERIMENTS
          for case in EXPERIMENTS[declared.experiment]["case"]
          for point in points(case, None)
          if declared.has(case["name"]) and declared.can_do(point) and (declared.name, case["name"]) not in WRONG]

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)

OPERATIONS = (1, 10, 100, 1000)

ENOUGH_S = 0.2
"""The time after which no larger batches are run at a point: an operation may copy a million entries."""

checks: dict[tuple[object, ...], tuple[str, str]] = {}
"""Check and units of the first subject that did this number of operations at a point."""


def opening(case: dict[str, Any], point: dict[str, object]) -> str:
    arguments = "".join(f" {key}={value}" for key, value in point.items())
    return f"open case={case['name']}{arguments} seed=7"


@pytest.mark.parametrize("declared, case, point", POINTS)
def test_every_subject_does_the_same_work_and_tells_the_metrics(
        declared: Declared, subject: Subject, case: dict[str, Any], point: dict[str, object]) -> None:
    subject.ask_for("opened", opening(case, point))
    end = time.monotonic() + ENOUGH_S
    for operations in itertools.takewhile(lambda _: time.monotonic() < end, OPERATIONS):
        verified = subject.ask_for("verified", f"verify operations={operations}").arguments
        done = verified["check"], verified["units"]
        key = (declared.experiment, case["name"], *point.items(), operations)
        assert checks.setdefault(key, done) == done
    ran = subject.ask_for("ran", "run operations=1").arguments
    key = (declared.experiment, case["name"], *point.items(), 1)
    assert (ran["check"], ran["units"]) == checks[key], "run must have the same result as verify"
    metrics = set(ran) - {"start", "end", "operations", "units", "check", "latencies"}
    assert metrics == set(case.get("metrics", []))
    assert ("latencies" in ran) == (case.get("cores") == "all" and case.get("latencies", True))
    for metric in metrics:
        if not NUMBER.fullmatch(ran[metric]):
            raise ProtocolError(f"{metric} is not a decimal number: {ran[metric]!r}")


@pytest.mark.parametrize("declared", [declared for declared in declared_subjects()
                                      if declared.experiment in EXPERIMENTS], ids=str)
def test_what_a_case_cannot_be_opened_with(declared: Declared, subject: Subject) -> None:
    for case in filter(lambda case: declared.has(case["name"]), EXPERIMENTS[declared.experiment]["case"]):
        for point in itertools.islice(filter(declared.can_do, points(case, None)), 1):
            for factor in case.get("factor", {}):
                command = opening(case, point | {factor: "nonsense"})
                assert subject.ask_for_error(command) == "unsupported", command
            for sweep in case.get("sweep", {}):
                command = opening(case, point | {sweep: 0})
                assert subject.ask_for_error(command) == "usage", command
