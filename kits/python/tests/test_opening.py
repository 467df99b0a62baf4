# SPDX-License-Identifier: Apache-2.0
"""Tests the seeded sequence, against the values in docs/protocol.md, and the arguments."""

import pytest

from lab_kit import Opening, UsageError
from lab_kit.opening import seeded_sequence


def test_first_values() -> None:
    assert seeded_sequence(7, 3) == [
        7191089600892374487, 309689372594955804, 16616101746815609346]


def test_the_state_wraps() -> None:
    # After one step, the state for seed s equals s plus the constant, modulo 2^64.
    following = (2**64 - 1 + 0x9E3779B97F4A7C15) % 2**64
    assert seeded_sequence(2**64 - 1, 4)[1:] == seeded_sequence(following, 3)


def test_an_opening_has_4096_inputs_of_64_bits() -> None:
    inputs = Opening({"seed": "7"}).inputs
    assert len(inputs) == 4096
    assert sum(inputs) % 2**64 == 17024844806574203696
    assert max(inputs) < 2**64


@pytest.mark.parametrize("arguments", [{}, {"seed": ""}, {"seed": "x"}, {"seed": str(2**64)}])
def test_an_opening_needs_a_seed(arguments: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        Opening(arguments)


def test_arguments() -> None:
    opening = Opening({"seed": "0", "a": "x", "n": "5"})
    assert opening.text("a") == "x"
    assert opening.integer("n", 5, 5) == 5
    with pytest.raises(UsageError, match="missing is missing"):
        opening.text("missing")
