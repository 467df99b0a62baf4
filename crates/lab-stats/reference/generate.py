# SPDX-License-Identifier: Apache-2.0
"""Prints change points found by ruptures, one list per line: "name : numbers"."""

import numpy
import ruptures


def line(name: str, numbers, **keys) -> None:
    words = [name] + [f"{key}={value!r}" for key, value in keys.items()]
    print(*words, ":", *(format(float(number), ".17g") for number in numbers))


def main() -> None:
    random = numpy.random.default_rng(1)
    shapes = [
        [(60, 0.0)],
        [(10, 1.0), (50, 0.0)],
        [(1, 2.0), (4, 0.5), (70, 0.0)],
        [(30, 0.0), (30, 0.3)],
        [(20, 0.8), (20, 0.4), (20, 0.2), (20, 0.0)],
        [(15, 0.0), (15, 0.2), (15, 0.0), (15, 0.2)],
    ]
    for shape in shapes:
        levels = numpy.concatenate([numpy.full(count, level) for count, level in shape])
        values = levels + random.normal(0.0, 0.05, len(levels))
        # With `jump` 1 and `min_size` 1, all divisions are considered, so the result is the optimum.
        pelt = ruptures.Pelt(model="l2", min_size=1, jump=1).fit(values)
        for penalty in (0.01, 0.04):
            changes = pelt.predict(pen=penalty * numpy.log(len(values)))[:-1]
            line("values", values, penalty=penalty)
            line("changes", changes)


if __name__ == "__main__":
    main()
