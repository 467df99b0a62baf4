#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words that benchlab does not use, in code, messages and docs: `words.py`. Exits with 1 if there are more of them than
LEFT allows, and shows each. `words.py --all` shows every one; `words.py --count` prints the counts.

A word list stays true only if something checks it. LEFT is what still has to be rewritten: lower it when you rewrite some,
never raise it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CODE = ".rs .py .java .ads .adb .go .c .h .mjs .js .ts .sh".split()
DOC = r"^\s*(?:///|//!|--!?|/\*\*|\*|//|#|\"\"\")\s+"
EXCEPT = (
    "fuzz/corpus/",  # inputs of parsers
    "tests/words.py",  # this list
    "CHANGELOG.md",  # earlier names stand there
)


class Rule(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    instead: str
    endings: tuple[str, ...]


def rule(name: str, pattern: str, instead: str, *endings: str, flags: int = 0) -> Rule:
    return Rule(name, re.compile(pattern, flags | re.MULTILINE), instead, endings or (*CODE, ".md", ".toml"))


RULES = [
    rule("comment", r"^\s*(?:///|//!|/\*\*|\"\"\"|--[!|]?| \*)\s*(?:What|Whether|Of|The same of|Who|Which) ",
         "a noun phrase or a verb: \"Parses one line.\", \"True if the server is warm.\"", *CODE),
    rule("constant", r"\b_?(?:[A-Z]+_)*(?:MOST|LEAST|FEWEST|LONGEST|SHORTEST|USUAL|PATIENCE)(?:_[A-Z0-9]+)+\b",
         "MAX_, MIN_, DEFAULT_, TIMEOUT", *CODE),
    rule("patience", r"\b[Pp]atience\b|\bPATIENCE\b", "timeout"),
    rule("is wanted", r"\b(?:is|are) wanted\b", "expected, or requested"),
    rule("not decided", r"\bnot (?:yet )?decided\b", "inconclusive"),
    rule("told apart", r"\btold apart\b", "statistically tied, or distinguished"),
    rule("besides", r"\b[Bb]esides?\b", "next to, compared with, in addition to, apart from"),
    rule("whoever", r"\b[Ww]hoever\b", "the client, the server, the process that"),
    rule("come out", r"\b(?:comes?|came) out (?:as|at|of it|well|badly)\b", "result"),
    rule("reservation", r"\b[Rr]eservations?\b", "caveat"),
]

LEFT: dict[str, int] = {"comment": 4, "is wanted": 1, "not decided": 1, "besides": 38, "whoever": 1}
"""The number of words that are still there, by rule."""


def files() -> Iterator[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in listed.split("\0"):
        if name and not name.startswith(EXCEPT) and (ROOT / name).is_file():
            yield Path(name)


def found() -> dict[str, list[str]]:
    """Every forbidden word, by its rule."""
    places: dict[str, list[str]] = {rule.name: [] for rule in RULES}
    for file in files():
        rules = [rule for rule in RULES if file.suffix in rule.endings]
        if not rules:
            continue
        text = (ROOT / file).read_text(errors="replace")
        for each in rules:
            for match in each.pattern.finditer(text):
                number = text.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip())) + 1
                line = text.splitlines()[number - 1].strip()
                places[each.name].append(f"{file}:{number}: {line[:100]}")
    return places


def main(options: list[str]) -> int:
    places = found()
    if "--count" in options:
        print({name: len(lines) for name, lines in places.items() if lines})
        return 0
    failed = False
    for each in RULES:
        lines, left = places[each.name], LEFT.get(each.name, 0)
        if lines and (len(lines) > left or "--all" in options):
            print(f"{each.name}: {len(lines)}, at most {left} expected. Write instead: {each.instead}")
            print("\n".join(f"    {line}" for line in lines))
        failed |= len(lines) > left
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
