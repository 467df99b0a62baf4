#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hit rates of eviction policies on generated traces, in percent.

    benches/cache_hit_rates.py [--seed 1] [--requests 300000] [--capacity 1000]

Policies: FIFO, LRU, S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023), and W-TinyLFU
(Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", ACM TOS 13 (4), 2017; with a fixed
window of 1 %). "optimum" is Belady's optimal policy, which knows all future requests.

The command is deterministic: it counts hits and misses, and measures no time.
"""

import argparse
import bisect
import heapq
import itertools
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator

MASK = (1 << 64) - 1


# Traces


def zipf_ranks(source: random.Random, keys: int, exponent: float) -> Iterator[int]:
    sums = list(itertools.accumulate(1 / (i + 1) ** exponent for i in range(keys)))
    while True:
        yield bisect.bisect(sums, source.random() * sums[-1])


def zipf(source: random.Random, capacity: int) -> Iterator[int]:
    """Yields independent draws from a Zipf distribution with exponent 1 and 20 times as many keys as fit."""
    return zipf_ranks(source, 20 * capacity, 1.0)


def flat_zipf(source: random.Random, capacity: int) -> Iterator[int]:
    """Yields independent draws from a Zipf distribution with exponent 0.7 and 20 times as many keys as fit."""
    return zipf_ranks(source, 20 * capacity, 0.7)


def loop(source: random.Random, capacity: int) -> Iterator[int]:
    """Yields a loop over a quarter more keys than fit, always in the same order."""
    return itertools.cycle(range(capacity * 5 // 4))


def scans(source: random.Random, capacity: int) -> Iterator[int]:
    """Yields draws from a Zipf distribution, interrupted by scans of keys that are not requested again. Half of the
    requests are scans."""
    ranks, fresh = zipf(source, capacity), itertools.count(1 << 40)
    while True:
        yield from itertools.islice(ranks, 2 * capacity)
        yield from itertools.islice(fresh, 2 * capacity)


def shifting(source: random.Random, capacity: int) -> Iterator[int]:
    """Yields draws from a Zipf distribution over a set of keys that is repeatedly replaced as a whole."""
    ranks = zipf(source, capacity)
    for shift in itertools.count():
        for rank in itertools.islice(ranks, 30 * capacity):
            yield shift << 40 | rank


def recent(source: random.Random, capacity: int) -> Iterator[int]:
    """Yields recent keys: new keys appear all the time, and old keys are requested less and less (the stack distance is
    exponential)."""
    newest = 0
    while True:
        if source.random() < 0.2:
            newest += 1
            yield newest
        else:
            yield max(0, newest - int(source.expovariate(1 / (0.4 * capacity))))


def phases(source: random.Random, capacity: int) -> Iterator[int]:
    """Alternates between Zipf, a loop and recent keys."""
    parts = [zipf(source, capacity), (1 << 41 | k for k in loop(source, capacity)),
             (1 << 42 | k for k in recent(source, capacity))]
    while True:
        for part in parts:
            yield from itertools.islice(part, 20 * capacity)


TRACES = {
    "Zipf, exponent 1": zipf,
    "Zipf, exponent 0.7": flat_zipf,
    "loop": loop,
    "scans and Zipf": scans,
    "shifting Zipf": shifting,
    "recent keys": recent,
    "phases": phases,
}


# Policies: each returns the number of hits


def fifo(trace: list[int], capacity: int) -> int:
    entries: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for key in trace:
        if key in entries:
            hits += 1
        else:
            entries[key] = None
            if len(entries) > capacity:
                entries.popitem(last=False)
    return hits


def lru(trace: list[int], capacity: int) -> int:
    entries: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for key in trace:
        if key in entries:
            hits += 1
            entries.move_to_end(key)
        else:
            entries[key] = None
            if len(entries) > capacity:
                entries.popitem(last=False)
    return hits


def s3_fifo(trace: list[int], capacity: int) -> int:
    """Returns the hits of S3-FIFO as implemented in appserver/, which remembers one eviction from the small queue for each
    entry."""
    reads: dict[int, int] = {}
    small: deque[int] = deque()
    main: deque[int] = deque()
    evicted: dict[int, int] = {}
    evictions = hits = 0
    for key in trace:
        if key in reads:
            hits += 1
            reads[key] = min(3, reads[key] + 1)
            continue
        while len(reads) >= capacity:
            is_from_small = not main or (len(small) > 0 and len(small) >= capacity // 10)
            oldest = (small if is_from_small else main).popleft()
            if reads[oldest] > (1 if is_from_small else 0):
                reads[oldest] = 0 if is_from_small else reads[oldest] - 1
                main.append(oldest)
            else:
                del reads[oldest]
                if is_from_small:
                    evictions += 1
                    evicted[oldest] = evictions
        is_remembered = key in evicted and evictions - evicted[key] <= len(reads)
        (main if is_remembered else small).append(key)
        reads[key] = 0
    return hits


class Sketch:
    """A count-min sketch of 4-bit counters, four per key, all halved after ten additions per entry."""

    def __init__(self, capacity: int) -> None:
        size = 1
        while size < capacity:
            size *= 2
        self.size, self.mask, self.rows = size, size - 1, [bytearray(size) for _ in range(4)]
        self.added, self.period = 0, 10 * capacity

    def places(self, key: int) -> list[int]:
        mixed = (key + 1) * 0x9E3779B97F4A7C15 & MASK
        mixed ^= mixed >> 32
        mixed = mixed * 0xD6E8FEB86659FD93 & MASK
        return [(mixed >> 16 * row ^ mixed >> 7) & self.mask for row in range(4)]

    def add(self, key: int) -> None:
        places = self.places(key)
        low = min(row[place] for row, place in zip(self.rows, places))
        to = min(15, low + 1)
        for row, place in zip(self.rows, places):
            row[place] = max(row[place], to)
        self.added += 1
        if self.added >= self.period:
            self.added //= 2
            self.rows = [bytearray(count >> 1 for count in row) for row in self.rows]

    def count(self, key: int) -> int:
        return min(row[place] for row, place in zip(self.rows, self.places(key)))


def w_tiny_lfu(trace: list[int], capacity: int) -> int:
    sketch = Sketch(capacity)
    window: OrderedDict[int, None] = OrderedDict()
    probation: OrderedDict[int, None] = OrderedDict()
    protected: OrderedDict[int, None] = OrderedDict()
    window_size = max(1, capacity // 100)
    main_size = capacity - window_size
    hits = 0
    for key in trace:
        sketch.add(key)
        if key in window:
            hits += 1
            window.move_to_end(key)
        elif key in protected:
            hits += 1
            protected.move_to_end(key)
        elif key in probation:
            hits += 1
            del probation[key]
            protected[key] = None
            if len(protected) > main_size * 8 // 10:
                probation[protected.popitem(last=False)[0]] = None
        else:
            window[key] = None
            if len(window) > window_size:
                candidate = window.popitem(last=False)[0]
                if len(probation) + len(protected) < main_size:
                    probation[candidate] = None
                else:
                    victims = probation or protected
                    victim = next(iter(victims))
                    if sketch.count(candidate) > sketch.count(victim):
                        del victims[victim]
                        probation[candidate] = None
    return hits


def optimum(trace: list[int], capacity: int) -> int:
    """Returns the hits of the optimal policy (L. A. Belady, "A study of replacement algorithms for a virtual-storage
    computer", IBM Systems Journal 5 (2), 1966)."""
    following = [len(trace)] * len(trace)
    latest: dict[int, int] = {}
    for index in range(len(trace) - 1, -1, -1):
        following[index] = latest.get(trace[index], len(trace) + index)
        latest[trace[index]] = index
    next_use: dict[int, int] = {}
    farthest: list[tuple[int, int]] = []
    hits = 0
    for index, key in enumerate(trace):
        if key in next_use:
            hits += 1
        elif len(next_use) >= capacity:
            while True:
                use, victim = heapq.heappop(farthest)
                if next_use.get(victim) == -use:
                    break
            del next_use[victim]
        next_use[key] = following[index]
        heapq.heappush(farthest, (-following[index], key))
    return hits


POLICIES: dict[str, Callable[[list[int], int], int]] = {
    "FIFO": fifo,
    "LRU": lru,
    "S3-FIFO": s3_fifo,
    "W-TinyLFU": w_tiny_lfu,
    "optimum": optimum,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=300_000)
    parser.add_argument("--capacity", type=int, default=1_000)
    options = parser.parse_args()
    print("| trace | " + " | ".join(POLICIES) + " |")
    print("|---" * (len(POLICIES) + 1) + "|")
    for title, generate in TRACES.items():
        source = random.Random(options.seed)
        trace = list(itertools.islice(generate(source, options.capacity), options.requests))
        rates = [100 * policy(trace, options.capacity) / len(trace) for policy in POLICIES.values()]
        print(f"| {title} | " + " | ".join(f"{rate:.1f}" for rate in rates) + " |", flush=True)


if __name__ == "__main__":
    main()
