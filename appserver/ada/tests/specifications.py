# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Inserts the examples in the comments of specifications into frames, which are compiled: python3 specifications.py DIRECTORY

An example is the text of a comment that is indented by three spaces. Its pieces are separated by blank lines, and by lines with an
ellipsis. specifications/NAME.ada is the frame of NAME.ads: Ada code in which a line `@2` stands for the second piece. Lines
`@… TEXT` at the beginning of the frame contain the replacements of the ellipses within the pieces, in order. Each piece must be in a
frame, or in TEXTS."""

import re
import sys
from pathlib import Path

CRATES = Path(__file__).parent.parent
FRAMES = Path(__file__).parent / "specifications"
INDENTED = re.compile(r" *--     ( *\S.*)")
PLACE = re.compile(r"( *)@(\d+)")
ELLIPSIS = "…"

# Pieces that are not Ada: names and their meanings, SQL, a document in two formats
TEXTS = {
    "appserver-caches": {1},
    "appserver-counters": {1},
    "appserver-documents": {1},
    "appserver-monitors-prometheus": {1},
    "appserver-resilience": {1},
    "appserver-resilience-circuit_breakers": {1},
    "appserver-retry": {1},
    "appserver-retry-key_tables": {1},
}


def pieces_of(text: str) -> list[list[str]]:
    pieces: list[list[str]] = []
    goes_on = False
    for line in text.splitlines():
        found = INDENTED.fullmatch(line)
        if not found or found[1].strip() == ELLIPSIS:
            goes_on = False
        elif goes_on:
            pieces[-1].append(found[1])
        else:
            pieces.append([found[1]])
            goes_on = True
    return pieces


def filled(name: str, pieces: list[list[str]]) -> str:
    """Returns the frame with the pieces inserted. Raises LookupError if they do not match."""
    lines = (FRAMES / f"{name}.ada").read_text().splitlines()
    stand_ins = [line.removeprefix(f"@{ELLIPSIS} ") for line in lines if line.startswith(f"@{ELLIPSIS} ")]
    used, result = set(TEXTS.get(name, ())), []
    for line in lines[len(stand_ins):]:
        if not (place := PLACE.fullmatch(line)):
            result.append(line)
            continue
        number = int(place[2])
        if number > len(pieces):
            raise LookupError(f"{name}.ads has {len(pieces)} pieces of examples, but its frame requires {number}")
        used.add(number)
        result += [place[1] + piece for piece in pieces[number - 1]]
    if lacking := sorted(set(range(1, len(pieces) + 1)) - used):
        raise LookupError(f"{name}.ads: its frame has no place for {lacking}: {pieces[lacking[0] - 1]}")
    text = "\n".join(result) + "\n"
    for stand_in in stand_ins:
        text = text.replace(ELLIPSIS, stand_in, 1)
    return text


def main(folder: Path) -> None:
    count = 0
    names = set()
    for specification in sorted(path for crate in CRATES.glob("*/alire.toml") for path in crate.parent.glob("src/*.ads")):
        name = specification.stem
        names.add(name)
        pieces = pieces_of(specification.read_text())
        if pieces and set(range(1, len(pieces) + 1)) != TEXTS.get(name, set()):
            if not (FRAMES / f"{name}.ada").exists():
                raise LookupError(f"{specification.name} has an example, and {FRAMES.name}/{name}.ada is not there: {pieces[0]}")
            (folder / f"{name}.ada").write_text(filled(name, pieces))
            count += 1
    if stale := sorted({frame.stem for frame in FRAMES.glob("*.ada")} - names):
        raise LookupError(f"frames without a specification: {stale}")
    print(f"examples in {count} specifications")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except LookupError as error:
        sys.exit(str(error))
