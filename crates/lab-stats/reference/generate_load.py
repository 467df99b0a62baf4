# SPDX-License-Identifier: Apache-2.0
"""Prints a load run and the results of NumPy and SciPy for it, one list per line: "name key=value … : numbers".

Two servers are measured in ten blocks with the passes A B B A. The second is slower, and one of its slices has a stall.
"""

import itertools

import numpy
from scipy import optimize, stats

BLOCKS, SERVERS, ALPHA = 10, 2, 0.05
PARTS = (0.5, 0.75, 0.9, 0.99, 0.999, 0.9999)


def line(name: str, numbers, **keys) -> None:
    words = [name] + [f"{key}={value}" for key, value in keys.items()]
    print(*words, ":", *(format(float(number), ".17g") for number in numbers))


def quantile(times, fraction: float) -> float:
    """Returns the smallest time such that at least the given fraction of the times does not exceed it."""
    return numpy.quantile(times, fraction, method="inverted_cdf")


def median_interval(values) -> tuple:
    """Returns the median and its interval: the bounds, which are order statistics, and the level."""
    n = len(values)
    rank = int(stats.binom.ppf(ALPHA / 2, n, 0.5))
    while rank > 0 and 2 * stats.binom.cdf(rank - 1, n, 0.5) > ALPHA:
        rank -= 1
    values = sorted(values)
    level = 1 - 2 * stats.binom.cdf(rank - 1, n, 0.5)
    return numpy.median(values), values[rank - 1], values[n - rank], level


def statistic(values, center: float, signs):
    """Returns Student's t of Huber's limited scores about the center, for each row of signs, on Wallace's normal scale."""
    away = numpy.asarray(values) - center
    limit = 2.5 * numpy.median(abs(away))
    scores = numpy.clip(away, -limit, limit)
    n = len(scores)
    share = (signs @ scores) ** 2 / (n * (scores**2).sum())
    rest = numpy.clip(1 - share, 1e-12, 1)
    return (8 * n - 7) / (8 * n - 5) * numpy.sqrt(-(n - 1) * numpy.log(rest))


def together(comparisons, alpha: float) -> list:
    """Returns estimates, simultaneous intervals and p-values, using all combinations of the blocks' signs."""
    n = len(comparisons[0])
    signs = numpy.array(list(itertools.product([1, -1], repeat=n)))
    walsh = [[(a + b) / 2 for a, b in itertools.combinations_with_replacement(logs, 2)] for logs in comparisons]
    centers = [numpy.median(averages) for averages in walsh]
    about_zero = numpy.max([statistic(logs, 0.0, signs) for logs in comparisons], axis=0)
    about_centers = numpy.max([statistic(logs, c, signs) for logs, c in zip(comparisons, centers)], axis=0)
    identity = abs(signs.sum(axis=1)) == n
    others = numpy.sort(about_centers[~identity])[::-1]
    limit = others[int(alpha * len(signs) / 2) * 2 - 2]
    ones = numpy.ones((1, n))
    found = []
    for logs, center in zip(comparisons, centers):
        def beyond(value):
            return statistic(logs, value, ones)[0] - limit
        low = optimize.brentq(beyond, center - 3, center, xtol=1e-14)
        high = optimize.brentq(beyond, center, center + 3, xtol=1e-14)
        p = numpy.mean(about_zero >= statistic(logs, 0.0, ones)[0] * (1 - 1e-9))
        found.append((center, low, high, p))
    return found


def log_likelihood_ratio(values) -> float:
    """Returns -2 ln of the empirical likelihood ratio of a mean of 0."""
    if min(values) >= 0 or max(values) <= 0:
        return numpy.inf
    edge = 1e-12
    low, high = -1 / max(values) * (1 - edge), -1 / min(values) * (1 - edge)
    root = optimize.brentq(lambda l: numpy.sum(values / (1 + l * values)), low, high, xtol=1e-15)
    return 2 * numpy.sum(numpy.log1p(root * values))


def excess(blocks, value: float, part: float):
    return numpy.array([(times > value).sum() - (1 - part) * len(times) for times in blocks])


def quantile_interval(blocks, part: float, alpha: float) -> tuple:
    """Returns the interval of a quantile: the values that empirical likelihood and Student's t do not both reject.

    The upper bound also allows for missed stalls: with fewer than 29 blocks, a tenth of all blocks may stall unseen.
    """
    values = numpy.unique(numpy.concatenate(blocks))
    critical = stats.t.ppf(1 - alpha / 2, len(blocks) - 1) ** 2

    def accepted(value, part):
        away = excess(blocks, value, part)
        student = stats.ttest_1samp(away, 0.0).statistic ** 2
        return min(student, log_likelihood_ratio(away)) <= critical

    stalled = 0.1 if len(blocks) < 29 else 0.0
    without_stalls = 1 - (1 - part - stalled) / (1 - stalled)
    low = next(i for i, value in enumerate(values) if accepted(value, part))
    estimate = numpy.searchsorted(values, quantile(numpy.concatenate(blocks), part))
    high = max(i for i, value in enumerate(values)
               if i >= estimate and (accepted(value, part) or accepted(value, without_stalls)))
    return values[low], values[high + 1]


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

    servers = [[times_of(b, server) for b in range(BLOCKS)] for server in range(SERVERS)]
    p50 = [quantile(numpy.concatenate(blocks), 0.5) for blocks in servers]
    for server, blocks in enumerate(servers):
        line("p50", [p50[server], *quantile_interval(blocks, 0.5, ALPHA)], subject=server)

    # Two metrics are compared by blocks, and the p50 by all requests. Each uses its fraction of alpha.
    metrics = {"throughput": lambda b, s: total(b, s, "wall") / total(b, s, "served"),
               "server-cpu": lambda b, s: total(b, s, "server") / total(b, s, "served")}
    logs = [[numpy.log(metric(b, 1) / metric(b, 0)) for b in range(BLOCKS)] for metric in metrics.values()]
    for name, (estimate, low, high, p) in zip(metrics, together(logs, ALPHA * 2 / 3)):
        line("ratio", [numpy.exp(estimate), numpy.exp(low), numpy.exp(high), p], metric=name)
    common, _ = stats.pearsonr(*[excess(blocks, m, 0.5) for blocks, m in zip(servers, p50)])
    common = max(0.0, numpy.tanh(numpy.arctanh(common) - 1 / numpy.sqrt(BLOCKS - 3)))
    bounds = [quantile_interval(blocks, 0.5, ALPHA / 3) for blocks in servers]
    below = [numpy.log(m / low) for m, (low, _) in zip(p50, bounds)]
    above = [numpy.log(high / m) for m, (_, high) in zip(p50, bounds)]

    def joined(a, b):
        return numpy.sqrt(a * a + b * b - 2 * common * a * b)

    ratio = p50[1] / p50[0]
    line("ratio", [ratio, ratio * numpy.exp(-joined(below[1], above[0])),
                   ratio * numpy.exp(joined(above[1], below[0]))], metric="p50")


if __name__ == "__main__":
    main()
