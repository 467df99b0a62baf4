# SPDX-License-Identifier: Apache-2.0
"""experiments/cache/README.md: the unsynchronized map is the upper limit for reads, and no case writes to it. With eviction,
all subjects return the same values, and the hit rates are those of their policies."""

import bisect
import itertools
from collections import OrderedDict

import pytest

from experiments import ROOT, Declared, declared_subjects
from sql_model import split_mix
from subject import Subject

SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "cache"]

WRITING = ("read_mostly threads=2 reads=99", "read_mostly threads=1 reads=90", "write entries=100", "wait", "lost threads=2")


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("case", WRITING)
def test_the_unsynchronized_map_is_for_reading_only(declared: Declared, subject: Subject, case: str) -> None:
    command = f"open case={case} scheme=unsynchronized seed=7"
    assert subject.ask_for_error(command) == "unsupported"
    subject.ask_for("opened", "open case=noop seed=7")


@pytest.mark.parametrize("declared", [subject for subject in SUBJECTS if subject.name == "c"], ids=str)
@pytest.mark.parametrize("case", ["write scheme=lock entries=100", "evict trace=loop"])
def test_c_locks_as_between_threads(declared: Declared, case: str) -> None:
    """In a process with one thread, glibc locks a mutex without an atomic instruction."""
    subject = Subject(declared.program, ROOT)
    try:
        subject.ask_for("opened", f"open case={case} seed=7")
        assert len(subject.cpu_time_by_thread()) > 1
    finally:
        subject.kill()


SEED = 7
REQUESTS = 50_000
CAPACITY = 1_000
MASK = (1 << 64) - 1
TRACES = ("zipf", "loop", "scans", "shifting")


def requests(trace: str) -> list[int]:
    sums = list(itertools.accumulate((1 << 32) // (key + 1) for key in range(10_000)))
    inputs = list(itertools.islice(split_mix(SEED), 4096))
    keys = []
    for k in range(REQUESTS):
        mixed = inputs[k % 4096] + k // 4096 * 0x9E3779B97F4A7C15 & MASK
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        zipf = bisect.bisect(sums, (mixed ^ mixed >> 27) % sums[-1])
        keys.append({"zipf": zipf, "loop": k % 1_250, "scans": zipf if k // 2_000 % 2 == 0 else 1_000_000 + k,
                     "shifting": 100_000 * (k // 10_000) + zipf}[trace])
    return keys


def lru_hits(keys: list[int]) -> int:
    entries: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for key in keys:
        hits += key in entries
        entries[key] = None
        entries.move_to_end(key)
        if len(entries) > CAPACITY:
            entries.popitem(last=False)
    return hits


@pytest.mark.parametrize("declared", [subject for subject in SUBJECTS if subject.has("evict")], ids=str)
@pytest.mark.parametrize("trace", TRACES)
def test_hit_rates(declared: Declared, subject: Subject, trace: str) -> None:
    keys = requests(trace)
    subject.ask_for("opened", f"open case=evict trace={trace} seed={SEED}")
    ran = subject.ask_for("ran", "run operations=2")
    assert ran.number("check") == 2 * sum(key + 1 for key in keys) and ran.number("units") == 2 * REQUESTS
    rate, lru = float(ran.arguments["hit_rate"]), 100 * lru_hits(keys) / REQUESTS
    if declared.name == "c":
        assert rate == pytest.approx(lru)
    else:
        least = lru - 10 if trace == "shifting" else lru + 3  # An LRU adapts fast.
        assert least < rate < 100
