# SPDX-License-Identifier: Apache-2.0
"""The arguments and inputs of a case, and the settings that it reports."""

from collections.abc import Mapping

from lab_kit import lines

INPUTS = 4096
"""The length of the seeded sequence, in values."""

RATE_MAX = 1_000_000
"""The maximum number of operations that are due per second."""

_MASK = 2**64 - 1


def seeded_sequence(seed: int, count: int = INPUTS) -> list[int]:
    """Returns the first values of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), each from 0 to 2^64
    - 1."""
    values = []
    state = seed
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        values.append(z ^ (z >> 31))
    return values


class Opening:
    """One `open` command.

    `inputs` contains the first 4,096 values of the sequence for the command's seed. A case stores
    settings that it has read back in `settings`, for the reply. A case that serves stores metrics in
    `metrics`, which are reported when the case is closed.
    """

    def __init__(self, arguments: Mapping[str, str]) -> None:
        self._arguments = arguments
        self.inputs = seeded_sequence(self.integer("seed", 0, _MASK))
        self.settings: dict[str, object] = {}
        self.metrics: dict[str, float] = {}

    def text(self, key: str) -> str:
        """Returns the argument `key`. Raises UsageError if it is missing."""
        return lines.text(self._arguments, key)

    def integer(self, key: str, least: int, most: int) -> int:
        """Returns the argument `key`. Raises UsageError unless it is an integer from `least` to
        `most`."""
        return lines.integer(self._arguments, key, least, most)

    def rate(self) -> int:
        """Returns the number of operations that are due per second, or 0 if the case has no rate."""
        return self.integer("rate", 1, RATE_MAX) if "rate" in self._arguments else 0
