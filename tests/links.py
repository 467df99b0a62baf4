#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the relative links in the project's Markdown pages: `links.py`. It exits with 1 and prints each link whose
file or heading does not exist.

Changelogs are skipped: an entry describes the tree of its release."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^( *)(```+|~~~+).*?^ *\2[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def anchors(text: str) -> set[str]:
    """Returns the anchors of a page, as GitHub creates them from its headings."""
    text = FENCE.sub("", text)
    found = set(ANCHOR.findall(text))
    for heading in HEADING.findall(text):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        number = 0
        while (anchor := f"{slug}-{number}" if number else slug) in found:
            number += 1
        found.add(anchor)
    return found


def broken(page: Path) -> Iterator[str]:
    """Returns the broken relative links of a page, each with the reason."""
    text = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), page.read_text())
    text = CODE.sub(lambda code: "`" * len(code[0]), text)
    for match in LINK.finditer(text):
        link = match[1] or match[2]
        if EXTERNAL.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        line = text.count("\n", 0, match.start()) + 1
        if not target.exists():
            yield f"{page}:{line}: {link}: no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
            yield f"{page}:{line}: {link}: no such heading"


def pages() -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z", "--", "*.md", ":!*CHANGELOG.md"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).exists()]


def main() -> int:
    found = [fault for page in pages() for fault in broken(page)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
