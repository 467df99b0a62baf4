#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Ada subject of the counter experiment, build/counter/ada/subject, and writes the loops of
# its increments next to it.
set -eu
cd "$(dirname "$0")/../../.."
out=build/counter/ada

appserver/ada/with-crates gprbuild -q -p -s -P experiments/counter/ada/counter.gpr
# GNAT's name of an overriding procedure in an instance ends with X.
loop() { echo "schemes__$1_loops__incrementX"; }
sh experiments/counter/instructions.sh "$out/subject" \
    "unsafe=$(loop unsafe)" "unsafe_plain=$(loop unsafe_plain)" "atomic=$(loop atomic)" \
    "lock=$(loop lock)" "striped=$(loop striped)" "side_by_side=counter_cases__increment_both" \
    >"$out/instructions.txt"
