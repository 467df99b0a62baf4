#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of the Python subject of the counter experiment, build/counter/python/venv, in which
# there is the kit and nothing else, and writes the loops of the increments beside it.
set -eu
cd "$(dirname "$0")/../../.."
out=build/counter/python
sh kits/python/environment.sh "$out"
"$out/venv/bin/python" -B experiments/counter/python/instructions.py >"$out/instructions.txt"
