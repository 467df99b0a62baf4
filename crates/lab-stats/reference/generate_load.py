# SPDX-License-Identifier: Apache-2.0
"""A load run, and what NumPy and SciPy say about it, one list a line: "name key=value … : numbers".

Two servers in ten blocks with the passes A B B A; the second is slower, and one of its slices has a stall.
"""

import itertools

import numpy
from scipy import stats

BLOCKS, SERVERS, ALPHA = 10, 2, 0.05
PARTS = (0.5, 0.75, 0.9, 0.99, 0.999, 0.9999)


def line(name: str, numbers, **keys) -> None:
    words = [name] + [f"{key}={value}" for key, value in keys.items()]
    print(*words, ":", *(format(float(number), ".17g") for number in numbers))


def quantile(times, part: float) -> float:
    """The least time that at least this part does not exceed."""
    return numpy.quantile(times, part, method="inverted_cdf")


def median_interval(values) -> tuple:
    """With bounds at the order statistics that the binomial distribution gives."""
    n = len(values)
    rank = int(stats.binom.ppf(ALPHA / 2, n, 0.5))
    while rank > 0 and 2 * stats.binom.cdf(rank - 1, n, 0.5) > ALPHA:
        rank -= 1
    values = sorted(values)
    level = 1 - 2 * stats.binom.cdf(rank - 1, n, 0.5)
    return numpy.median(values), values[rank - 1], values[n - rank], level


def hodges_lehmann(logs, alpha: float) -> tuple:
    """Estimate, interval and p-value of the centre, by listing all signs and all Walsh averages."""
    n = len(logs)
    walsh = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(logs, 2))
    sums = numpy.zeros(1)
    sums[0] = 1.0
    for rank in range(1, n + 1):
        longer = numpy.zeros(len(sums) + rank)
        longer[: len(sums)] += sums / 2
        longer[rank:] += sums / 2
        sums = longer
    below = numpy.cumsum(sums)
    cut = int(numpy.searchsorted(2 * below, alpha, side="right"))
    p = stats.wilcoxon(logs, method="exact").pvalue
    return numpy.median(walsh), walsh[cut - 1], walsh[len(walsh) - cut], p


def main() -> None:
    random = numpy.random.default_rng(5)
    slices = [[[] for _ in range(SERVERS)] for _ in range(BLOCKS)]
    for block in range(BLOCKS):
        speed = random.normal(0.0, 0.1)
        for turn, server in enumerate([0, 1, 1, 0]):
            count = int(random.integers(600, 900))
            logs = random.normal(13.0 + 0.2 * server + speed, 0.5, count)
            times = numpy.rint(numpy.exp(numpy.round(logs * 20) / 20)).astype(int)
            if (block, turn) == (4, 1):
                times[:150] += 900_000_000
            wall, cpu = int(random.integers(9, 11) * 10**7), int(random.integers(10**6, 10**7))
            offered, received = count + int(random.integers(0, 9)), int(random.integers(10**5, 10**6))
            failed = int(random.integers(0, 2)) * (1 - server)
            server_cpu = int(count * random.integers(20_000 + 3000 * server, 24_000 + 3000 * server))
            numbers = [wall, offered, count, failed, received, cpu, cpu // 2, server_cpu]
            line("slice", numbers, block=block, subject=server, turn=turn)
            values, counts = numpy.unique(times, return_counts=True)
            line("times", numpy.column_stack([values, counts]).ravel(), block=block, turn=turn)
            slices[block][server].append((times, dict(wall=wall, offered=offered, served=count,
                                                      received=received, cpu=cpu, server=server_cpu)))

    def total(block: int, server: int, what: str) -> float:
        return sum(facts[what] for _, facts in slices[block][server])

    def times_of(block: int, server: int):
        return numpy.concatenate([times for times, _ in slices[block][server]])

    for server in range(SERVERS):
        everything = numpy.concatenate([times_of(block, server) for block in range(BLOCKS)])
        line("quantiles", [quantile(everything, p) for p in PARTS if len(everything) * (1 - p) >= 1],
             subject=server)
        line("extent", [len(everything), everything.max()], subject=server)
        for name, over in [("offered", "wall"), ("served", "wall"), ("received", "wall"), ("cpu", "served"),
                           ("server", "served"), ("server", "wall")]:
            scale = 1e9 if over == "wall" and name != "server" else 1.0
            values = [scale * total(b, server, name) / total(b, server, over) for b in range(BLOCKS)]
            line("level", median_interval(values), subject=server, of=name, per=over)

    metrics = {"throughput": lambda b, s: total(b, s, "wall") / total(b, s, "served"),
               "p50": lambda b, s: quantile(times_of(b, s), 0.5),
               "p90": lambda b, s: quantile(times_of(b, s), 0.9),
               "p99": lambda b, s: quantile(times_of(b, s), 0.99),
               "p999": lambda b, s: quantile(times_of(b, s), 0.999),
               "server-cpu": lambda b, s: total(b, s, "server") / total(b, s, "served")}
    found = {}
    for name, metric in metrics.items():
        logs = [numpy.log(metric(b, 1) / metric(b, 0)) for b in range(BLOCKS)]
        found[name] = hodges_lehmann(logs, ALPHA / len(metrics))
    by_size = sorted(found, key=lambda name: found[name][3])
    holm, greatest = {}, 0.0
    for done, name in enumerate(by_size):
        greatest = max(greatest, min(1.0, found[name][3] * (len(by_size) - done)))
        holm[name] = greatest
    for name, (estimate, low, high, _) in found.items():
        line("ratio", [numpy.exp(estimate), numpy.exp(low), numpy.exp(high), holm[name]], metric=name)


if __name__ == "__main__":
    main()
