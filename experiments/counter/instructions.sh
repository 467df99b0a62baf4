#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the machine code of the innermost loop of functions, or of the whole function if it has no loop.
# Usage: instructions.sh PROGRAM SCHEME=SYMBOL..., with symbols as `nm -C` prints them.
set -eu

program=$1
shift
for pair; do
    scheme=${pair%%=*}
    symbol=${pair#*=}
    # shellcheck disable=SC2046 # two words, the bounds of the function
    set -- $(nm -C -S "$program" | awk -v symbol="$symbol" '
        { name = $0; sub(/^[0-9a-f]+ [0-9a-f]+ [a-zA-Z] /, "", name) }
        name == symbol { print "0x" $1, "0x" $2; exit }')
    [ $# -eq 2 ] || { echo "$0: there is no symbol $symbol in $program" >&2; exit 1; }
    objdump -d -C --no-show-raw-insn --start-address="$1" --stop-address="$(($1 + $2))" "$program" |
        awk -v scheme="$scheme" -f "$(dirname "$0")/loop.awk"
done
