# SPDX-License-Identifier: Apache-2.0
"""Creates the application: `app.py DIR` writes DIR/app.war, the exploded DIR/app, and the program of the
subjects. The static files are texts from a fixed seed: a small style sheet, and a script of a size that is
typical for websites."""

import random
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent / "app"
SERVLETS = "/usr/share/tomcat10/lib/servlet-api.jar"
SIZES = {"style.css": 2_000, "library-1.4.2.js": 256_000, "logo.svg": 4_000}
WORDS = "alpha beta gamma delta width height colour margin border padding function return const value".split()


def text(name: str, size: int) -> str:
    """Returns source text, which compresses to about a third, like real source text."""
    numbers = random.Random(name)
    lines = []
    length = 0
    while length < size:
        words = numbers.choices(WORDS, k=4)
        line = {"css": ".{0}-{n} {{ {1}: {m}px; {2}: #{c:06x}; }}",
                "js": "const {0}{n} = ({1}, {2}) => {{ return {1} + {m} * {2} - 0x{c:x}; }};",
                "svg": '<rect id="{0}{n}" x="{n}" y="{m}" fill="#{c:06x}"/>'}[name.rsplit(".", 1)[1]]
        lines.append(line.format(*words, n=numbers.randrange(10_000), m=numbers.randrange(1000),
                                 c=numbers.randrange(1 << 24)))
        length += len(lines[-1]) + 1
    body = "\n".join(lines) + "\n"
    return f'<svg xmlns="http://www.w3.org/2000/svg">\n{body}</svg>\n' if name.endswith("svg") else body


def main(folder: Path) -> None:
    draft = folder / "app.draft"
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(HERE / "web", draft)
    (draft / "files").mkdir(exist_ok=True)
    for name, size in SIZES.items():
        (draft / "files" / name).write_text(text(name, size))
    (draft / "index.html").write_text("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                                      "<title>An application</title></head><body><p>It works.</p></body></html>\n")
    sources = [str(path) for path in (HERE / "src").rglob("*.java")]
    subprocess.run(["javac", "--release", "17", "-Xlint:all", "-Werror", "-cp", SERVLETS, "-d",
                    str(draft / "WEB-INF/classes"), *sources], check=True)
    shutil.rmtree(folder / "app", ignore_errors=True)
    with zipfile.ZipFile(folder / "app.war.draft", "w", zipfile.ZIP_DEFLATED) as war:
        for path in sorted(draft.rglob("*")):
            war.write(path, path.relative_to(draft))
    draft.rename(folder / "app")
    (folder / "app.war.draft").rename(folder / "app.war")
    program = folder / "subject"
    program.write_text("#!/bin/sh\n"
                       "exec env PYTHONPATH=kits/python/src python3 -B experiments/reverse-proxy/subject.py \"$@\"\n")
    program.chmod(0o755)


def is_up_to_date(folder: Path) -> bool:
    """Returns true if the application in a directory was created after the last change of its sources."""
    made = folder / "subject"
    sources = [Path(__file__), *HERE.rglob("*")]
    return made.exists() and made.stat().st_mtime > max(path.stat().st_mtime for path in sources)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: app.py DIR")
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    if not is_up_to_date(Path(sys.argv[1])):
        main(Path(sys.argv[1]))
