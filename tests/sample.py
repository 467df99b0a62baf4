#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a random sample of doc comments and messages in all languages, for a person to read. The same seed draws the same
sample from the same tree.

Each text is printed with its position and, for a comment, with the code that the comment describes. A reader who only
knows the word list marks texts that need a second reading or break a rule."""

import argparse
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOC_LINE = {".rs": r"\s*//[/!]", ".ads": r"\s*--", ".go": r"\s*//"}
DOC_BLOCK = {".java": (r"\s*/\*\*", "*/"), ".py": (r"\s*\"\"\"(?=[^\s.,)\]}])", '"""'), ".c": (r"\s*/\*", "*/"), ".h": (r"\s*/\*", "*/"),
             ".mjs": (r"\s*/\*\*", "*/")}
MESSAGE = re.compile(r'"((?:[^"\\\n]|\\.|\\\n\s*)*)"')
NOT_TEXT = re.compile(r"^\s*(?://|--|#|\*)")


def files(*folders: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=True).stdout
    return [Path(name) for name in listed.decode().split("\0") if name]


def comments(file: Path, lines: list[str]) -> Iterator[str]:
    """Returns the doc comments of a file, with the line of code that follows or, in Python and Ada, precedes
    them."""
    number = 0
    while number < len(lines):
        begin = number
        if (pattern := DOC_LINE.get(file.suffix)) and re.match(pattern, lines[number]):
            while number < len(lines) and re.match(pattern, lines[number]):
                number += 1
        elif (block := DOC_BLOCK.get(file.suffix)) and re.match(block[0], lines[number]):
            first = re.sub(block[0], "", lines[number], count=1)
            number += 1
            if block[1] not in first:
                while number < len(lines) and block[1] not in lines[number]:
                    number += 1
                number += 1
        else:
            number += 1
            continue
        before = file.suffix in (".py", ".ads")
        code = lines[begin - 1] if before and begin else lines[number] if number < len(lines) else ""
        text = " ".join(line.strip() for line in lines[begin:number])
        if "SPDX" not in text and len(text) > 8:
            yield f"{file}:{begin + 1}: {text}\n        {code.strip()}"


def messages(file: Path, text: str) -> Iterator[str]:
    """Returns the quoted texts that look like sentences for people: at least four words."""
    if "/tests/" in str(file) or file.suffix not in (".rs", ".py", ".java", ".adb", ".go"):
        return
    for match in MESSAGE.finditer(text):
        words = re.sub(r"\\\n\s*", "", match[1])
        line = text.count("\n", 0, match.start()) + 1
        if len(re.findall(r"[A-Za-z]{2,}", words)) >= 4 and " " in words and not NOT_TEXT.match(text.splitlines()[line - 1]):
            yield f"{file}:{line}: {words}"


def main(seed: int, number_of_comments: int, number_of_messages: int) -> None:
    dice = random.Random(seed)
    all_comments: list[str] = []
    all_messages: list[str] = []
    for file in files("crates", "kits", "appserver", "experiments"):
        try:
            text = (ROOT / file).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        all_comments += comments(file, text.splitlines())
        all_messages += messages(file, text)
    for title, drawn, number in (("comments", all_comments, number_of_comments), ("messages", all_messages, number_of_messages)):
        print(f"# {number} of {len(drawn)} {title}, seed {seed}\n")
        for i, each in enumerate(dice.sample(drawn, min(number, len(drawn))), 1):
            print(f"{i:4}  {each}")
        print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Example: tests/sample.py 7 20 10")
    parser.add_argument("seed", type=int, help="any integer")
    parser.add_argument("comments", type=int, nargs="?", default=200, help="number of doc comments (default: 200)")
    parser.add_argument("messages", type=int, nargs="?", default=100, help="number of messages (default: 100)")
    options = parser.parse_args()
    main(options.seed, options.comments, options.messages)
