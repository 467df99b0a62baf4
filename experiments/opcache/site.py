# SPDX-License-Identifier: Apache-2.0
"""Usage: `site.py DIR`. Creates DIR/site and the program that the subjects run. The site contains the blog and 500 classes
of a hundred lines each, like a framework. The classes differ in names, numbers and texts, which are generated
from a fixed seed."""

import random
import shutil
import sys
from pathlib import Path

CLASSES = 500
WORDS = """account address amount archive author balance basket branch budget button cache caption
category channel charge client column comment contact country credit currency customer delivery
detail device discount domain draft entry event export feature field filter folder format gallery
group header history image import index invoice item journal label language layout level library
license location market member memory menu message method module network notice number object
option order owner package page parcel partner payment period permission person picture plan policy
position post price product profile project property query question quota record region report
request response review role rule sample schedule section segment server service session setting
shipment signature snippet source status stock store string subject summary supplier survey table
target task team template tenant text theme thread ticket token topic total track transfer type
unit update user vendor version view visit voucher warehouse widget window""".split()


def php_class(number: int, random_words: random.Random) -> str:
    name = f"Module{number:03d}"
    words = random_words.sample(WORDS, 24)
    factor, shift = random_words.randrange(3, 97), random_words.randrange(1, 1000)
    labels = "\n".join(f"        '{word}' => '{word.capitalize()} of {other}',"
                       for word, other in zip(words, reversed(words), strict=True))
    accessors = "\n".join(f"""
    /** The {word} of this part. */
    public function {word}(): string
    {{
        if (!isset($this->values['{word}'])) {{
            $this->values['{word}'] = self::LABELS['{word}'] . ' ' . $this->number;
        }}
        return $this->values['{word}'];
    }}""" for word in words[:8])
    return f"""<?php
declare(strict_types=1);

namespace Site\\Modules;

/**
 * A part of the application: it registers itself, and tells a number.
 */
final class {name}
{{
    private const LABELS = [
{labels}
    ];

    /** @var array<string, string> */
    private array $values = [];

    public function __construct(private int $number)
    {{
    }}

    /** The sum over every part of the page, so that each is really used. */
    public static function value(int $seed): int
    {{
        $part = new self($seed % {factor});
        $length = strlen($part->{words[0]}()) + count(self::LABELS);
        return ($seed * {factor} + {shift} + $length) % 65521;
    }}
{accessors}

    /** @return array<string, string> those that are asked for, with their labels */
    public function labelled(string ...$names): array
    {{
        $found = [];
        foreach ($names as $name) {{
            if (array_key_exists($name, self::LABELS)) {{
                $found[$name] = self::LABELS[$name];
            }}
        }}
        ksort($found);
        return $found;
    }}
}}
"""


def post(number: int, random_words: random.Random) -> str:
    """Returns a post in a simple markup: a header, followed by paragraphs, lists and headings."""
    title = " ".join(random_words.sample(WORDS, 4)).capitalize()
    tags = ", ".join(sorted(random_words.sample(["apache", "php", "java", "ada", "databases"], 2)))
    lines = [f"title: {title}", f"date: 2025-{number % 12 + 1:02d}-{number % 28 + 1:02d}",
             f"tags: {tags}", ""]
    for section in range(4):
        lines += [f"## {' '.join(random_words.sample(WORDS, 3)).capitalize()}", ""]
        for _ in range(3):
            words = random_words.choices(WORDS, k=60)
            words[7], words[23] = f"**{words[7]}**", f"`{words[23]}`"
            words[41] = f"[{words[41]}](index.php?post={random_words.randrange(1, 25)})"
            lines += [" ".join(words).capitalize() + ".", ""]
        lines += [f"- {' '.join(random_words.sample(WORDS, 5))} <{section}> & more"
                  for _ in range(4)] + [""]
    return "\n".join(lines)


def main(folder: Path) -> None:
    here = Path(__file__).parent / "site"
    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(here, draft)
    random_words = random.Random(20251124)
    modules = draft / "modules"
    modules.mkdir()
    for number in range(CLASSES):
        (modules / f"Module{number:03d}.php").write_text(php_class(number, random_words))
    posts = draft / "blog" / "posts"
    posts.mkdir(exist_ok=True)
    for number in range(1, 25):
        (posts / f"{number:02d}.txt").write_text(post(number, random_words))
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)


def write_program(path: Path) -> None:
    """Writes the program that runs the subjects. benchlab starts it in the project's directory."""
    path.write_text("#!/bin/sh\n"
                    "exec env PYTHONPATH=kits/python/src python3 -B experiments/opcache/subject.py \"$@\"\n")
    path.chmod(0o755)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: site.py DIR")
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    main(Path(sys.argv[1]) / "site")
    write_program(Path(sys.argv[1]) / "subject")
