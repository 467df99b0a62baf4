#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Rust subject of the counter experiment, build/counter/rust/release/counter, and writes the
# machine code of the increment loops to build/counter/rust/instructions.txt.
set -eu
cd "$(dirname "$0")/../../.."
out=build/counter/rust

# Symbol names that distinguish instances of a generic function.
export RUSTFLAGS='-C symbol-mangling-version=v0'
cargo build --quiet --release --locked --manifest-path experiments/counter/rust/Cargo.toml --target-dir "$out"
loop() { echo "<counter::counters::$1 as counter::counters::CountingLoops>::increments"; }
sh experiments/counter/instructions.sh "$out/release/counter" \
    "unsafe=$(loop Unsafe)" "unsafe_plain=$(loop UnsafePlain)" "atomic=$(loop Atomic)" "lock=$(loop Locked)" \
    "striped=$(loop Striped)" "side_by_side=<counter::counters::Pair>::increments" >"$out/instructions.txt"
