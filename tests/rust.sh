#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the lab: rust.sh CARGO-OPTION... What failed runs once more by itself, as the lab takes a
# turn again that the host disturbed; what passes then only is named.
set -euo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT

cargo test "$@" --no-fail-fast 2>&1 | tee "$log" && exit
mapfile -t failed < <(awk '
    # Twice for each program: what they printed, then their names.
    /^failures:$/ { count = 0 }
    /^    [^ ]/ { name[count++] = substr($0, 5) }
    /^test result: FAILED/ { for (i = 0; i < count; i++) print name[i] }' "$log" | sort -u)
[ ${#failed[@]} -gt 0 ] || exit 1

echo "once more: ${failed[*]}"
cargo test "$@" --no-fail-fast -- --exact --test-threads=1 "${failed[@]}" | grep -v '^$\|^running 0\|ok. 0 passed'
echo "unsteady, passed the second time: ${failed[*]}"
