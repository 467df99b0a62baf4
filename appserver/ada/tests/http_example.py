# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Sends the requests in a page to the example, and compares the responses: python3 http_example.py http/REST.md PROGRAM"""

import re
import shlex
import subprocess
import sys
import urllib.error
import urllib.request

EXAMPLE_URL = "http://127.0.0.1:8080"


def answer_to(command, url):
    """Returns the output of a curl command. Supports the options -s, -H FIELD and -d CONTENT."""
    words = iter(shlex.split(command)[1:])
    request = urllib.request.Request(EXAMPLE_URL)
    for word in words:
        match word:
            case "-s":
                pass
            case "-H":
                request.add_header(*next(words).split(": ", 1))
            case "-d":
                request.data = next(words).encode()
            case _:
                request.full_url = word.replace(EXAMPLE_URL, url)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.read().decode()


def main(readme, program):
    with open(readme, encoding="utf-8") as file:
        console = re.search(r"^```console\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL).group(1)
    server = subprocess.Popen([program, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        lines = console.splitlines()
        for command, expected in zip(lines[::2], lines[1::2], strict=True):
            answer = answer_to(command.removeprefix("$ "), url)
            assert answer == expected, f"{command}\n{answer}\nexpected\n{expected}"
    finally:
        server.stdin.close()
        status = server.wait(timeout=120)
    assert status == 0, status
    print(f"the example of {readme}: {len(lines) // 2} responses are as shown")


if __name__ == "__main__":
    main(*sys.argv[1:])
