#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words that benchlab does not use, in code, messages and docs, and exits with 1 if there are any. `words.py --count`
prints the counts.

A word list stays true only if something checks it. EXCEPT lists the files that may contain such words, with the reason."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CODE = ".rs .py .java .ads .adb .go .c .h .mjs .js .ts .sh".split()
EXCEPT = (
    "fuzz/corpus/",  # inputs of parsers, which need not be written well
    "tests/words.py",  # this list
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
    rule("constant", r"\b_?(?:[A-Z]+_)*(?:MOST|LEAST|FEWEST|LONGEST|SHORTEST|USUAL|PATIENCE)(?:_[A-Z0-9]+)*\b(?! *\()",
         "MAX_, MIN_, DEFAULT_, TIMEOUT", *CODE),
    rule("share", r"\b[A-Z]+(?:_[A-Z]+)*_SHARE\b", "FRACTION", *CODE),
    rule("patience", r"\b[Pp]atience\b|\bPATIENCE\b", "timeout"),
    rule("is wanted", r"\b(?:is|are) wanted\b", "expected, or requested"),
    rule("not decided", r"\bnot (?:yet )?decided\b", "inconclusive"),
    rule("told apart", r"\btold apart\b", "statistically tied, or distinguished"),
    rule("besides", r"\b[Bb]esides?\b", "next to, compared with, in addition to, apart from"),
    rule("whoever", r"\b[Ww]hoever\b", "the client, the server, the process that"),
    rule("come out", r"\b(?:comes?|came) out (?:as|at|of it|well|badly)\b", "result"),
    rule("several", r"^\s*(?:///?!?|--|#|\*|\"\"\").*\b[Ss]everal\b", "multiple, or the number", *CODE),
    rule("several in docs", r"\b[Ss]everal\b", "multiple, or the number", ".md", ".toml"),
    rule("reservation", r"\b[Rr]eservations?\b", "caveat"),
]


def files() -> Iterator[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in listed.split("\0"):
        if name and not name.startswith(EXCEPT) and (ROOT / name).is_file():
            yield Path(name)


def found() -> dict[str, list[str]]:
    """Returns the lines with forbidden words, by rule."""
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
    for each in RULES:
        if lines := places[each.name]:
            print(f"{each.name}: write instead: {each.instead}")
            print("\n".join(f"    {line}" for line in lines))
    return int(any(places.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
