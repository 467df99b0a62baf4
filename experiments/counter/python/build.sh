#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of the Python subject of the counter experiment, build/counter/python/venv, in which
# there is the kit and nothing else, and writes the loops of the increments beside it.
set -eu
cd "$(dirname "$0")/../../.."
out=build/counter/python

python3 -m venv --clear --without-pip "$out/venv"
packages=$("$out/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$PWD/kits/python/src" >"$packages/lab_kit.pth"
"$out/venv/bin/python" -B experiments/counter/python/instructions.py >"$out/instructions.txt"
