# SPDX-License-Identifier: Apache-2.0
"""The subjects and the points of their cases, as the experiments' files declare them."""

import itertools
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Declared:
    """A subject that an experiment declares."""

    experiment: str
    name: str
    program: list[str]
    build: list[list[str]]
    target: str | None

    def __str__(self) -> str:
        return f"{self.experiment}-{self.name}"


def read_experiments() -> dict[str, dict[str, Any]]:
    """Experiments by the name of their folder."""
    files = sorted(ROOT.glob("experiments/*/experiment.toml"))
    return {file.parent.name: tomllib.loads(file.read_text()) for file in files}


def declared_subjects() -> list[Declared]:
    """All subjects, or those that BENCHLAB_TEST_SUBJECTS names, separated by commas."""
    declared = [
        Declared(folder, subject["name"], subject["program"], subject.get("build", []),
                 experiment["experiment"].get("target"))
        for folder, experiment in read_experiments().items()
        for subject in experiment["subject"]]
    wanted = os.environ.get("BENCHLAB_TEST_SUBJECTS")
    if wanted is None:
        return declared
    names = set(wanted.split(","))
    if unknown := names - {subject.name for subject in declared}:
        raise LookupError(f"BENCHLAB_TEST_SUBJECTS: no experiment declares {', '.join(unknown)}")
    return [subject for subject in declared if subject.name in names]


def points(case: dict[str, Any]) -> Iterator[dict[str, object]]:
    """The further arguments of a case: each value of its factors, with the smallest and the
    largest value of its sweep."""
    axes = [[(key, value) for value in values] for key, values in case.get("factor", {}).items()]
    axes += [[(key, value) for value in sorted({min(values), max(values)})]
             for key, values in case.get("sweep", {}).items()]
    for point in itertools.product(*axes):
        yield dict(point)
