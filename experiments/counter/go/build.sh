#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Go subject of the counter experiment, build/counter/go/subject, and writes the machine code of
# the increment loops next to it.
set -eu
cd "$(dirname "$0")/../../.."
out=build/counter/go
mkdir -p "$out"

CGO_ENABLED=0 go build -C experiments/counter/go -trimpath -buildvcs=false -o "../../../$out/subject" .
sh experiments/counter/instructions.sh "$out/subject" \
    'unsafe=main.(*unsafeCounter).increments' 'atomic=main.(*atomicCounter).increments' \
    'lock=main.(*lockCounter).increments' 'striped=main.stripedCounter.increments' \
    'side_by_side=main.(*counterPair).increments' >"$out/instructions.txt"
