#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Creates the environment of the counter experiment's Python subject, build/counter/python/venv, which only
# contains the kit, and writes the bytecode of the increment loops next to it.
set -eu
cd "$(dirname "$0")/../../.."
out=build/counter/python
sh kits/python/environment.sh "$out"
"$out/venv/bin/python" -B experiments/counter/python/instructions.py >"$out/instructions.txt"
