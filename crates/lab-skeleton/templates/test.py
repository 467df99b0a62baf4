"""Checks the values that the subjects compute. Run it after `benchlab build`: python3 test.py"""

import subprocess
import tomllib
from itertools import islice
from pathlib import Path
from unittest import TestCase, main

FOLDER = Path(__file__).resolve().parent
ROOT = (FOLDER / "{{root_of_experiment}}").resolve()
SEED = 7
OPERATIONS = 3
SIZES = (1, 16, 5000)


def inputs():
    """Yields the seeded sequence of SplitMix64."""
    state = SEED
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def expected(size):
    """Returns the sum of the hashes that the operations compute."""
    first = list(islice(inputs(), 4096))
    data = [first[i % 4096] & 0xFF for i in range(size)]
    check = 0
    for k in range(OPERATIONS):
        data[0] = first[k] & 0xFF
        total = 2166136261
        for byte in data:
            total = (total ^ byte) * 16777619 % 2**32
        check += total
    return check


class SubjectTest(TestCase):
    def test_values(self):
        subjects = tomllib.loads((FOLDER / "experiment.toml").read_text())["subject"]
        for subject in subjects:
            for size in SIZES:
                with self.subTest(subject=subject["name"], size=size):
                    commands = [f"open case=hash n={size} seed={SEED}",
                                f"verify operations={OPERATIONS}", "close", "quit", ""]
                    ended = subprocess.run(subject["program"], cwd=ROOT, input="\n".join(commands), timeout=60,
                                           capture_output=True, text=True, check=True)
                    replies = (line.split() for line in ended.stdout.splitlines())
                    verified = [set(words[2:]) for words in replies if words[:2] == ["@lab", "verified"]]
                    values = {"check": expected(size), "operations": OPERATIONS, "units": OPERATIONS * size}
                    self.assertEqual([{f"{key}={value}" for key, value in values.items()}], verified)


if __name__ == "__main__":
    main()
