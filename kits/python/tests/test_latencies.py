# SPDX-License-Identifier: Apache-2.0
"""Tests latencies: the buckets, against the table of docs/protocol.md, and merging of threads."""

import random
from collections import Counter

import pytest

from lab_kit.latencies import BUCKETS, Latencies, bucket, merged, encoded


@pytest.mark.parametrize("ns, index", [
    (0, 0), (63, 63), (64, 64), (65, 64), (66, 65), (127, 95), (128, 96), (1_000, 190),
    (1_000_000, 509), (4_294_967_296, 896), (2**64 - 1, BUCKETS - 1)])
def test_bucket(ns: int, index: int) -> None:
    assert bucket(ns) == index


def test_buckets_ascend_without_a_gap() -> None:
    assert sorted({bucket(ns) for ns in range(10_000)}) == list(range(bucket(9_999) + 1))


def test_laps_count_in_their_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = random.Random(1)
    waits = [0, 63, 64, *(numbers.randrange(2**numbers.randint(0, 40)) for _ in range(1000))]
    now = 5
    monkeypatch.setattr("lab_kit.latencies.monotonic_ns", lambda: now)
    latencies = Latencies()
    latencies.start()
    for wait in waits:
        now += wait
        latencies.lap()
    assert (latencies.begun, latencies.ended) == (5, 5 + sum(waits))
    assert Counter(dict(enumerate(latencies.counts))) - Counter() == Counter(map(bucket, waits))


def test_operations_that_are_due_wait_for_that_and_count_from_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += round(seconds * 1e9)

    monkeypatch.setattr("lab_kit.latencies.monotonic_ns", lambda: now)
    monkeypatch.setattr("lab_kit.latencies.sleep", sleep)
    latencies = Latencies()
    latencies.start()
    for due, takes in [(0, 10), (1_000, 2_500), (2_000, 100), (4_000, 7)]:
        latencies.wait(due)
        assert now >= due
        now += takes
        latencies.lap()
    assert Counter(dict(enumerate(latencies.counts))) - Counter() == Counter(map(bucket, (10, 2_500, 1_600, 7)))


def of(begun: int, ended: int, *counted: int) -> Latencies:
    latencies = Latencies()
    latencies.begun, latencies.ended = begun, ended
    for index in counted:
        latencies.counts[index] += 1
    latencies.finish()
    return latencies


def test_merged() -> None:
    total = merged([of(20, 90, 1, 1, 1919), of(10, 50, 0, 1)])
    assert (total.begun, total.ended, total.has_laps) == (10, 90, True)
    assert encoded(total) == "0:1,1:3,1919:1"
