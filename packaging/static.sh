#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the lab with musl, so that it needs no shared library: static.sh [x86_64|aarch64]; into build/.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
own=$(uname -m)
architecture=${1:-$own}
case $architecture in
x86_64 | aarch64) ;;
*) echo "static.sh: x86_64 or aarch64, not $architecture" >&2; exit 2 ;;
esac
target=$architecture-unknown-linux-musl

if [ "$architecture" = "$own" ]; then
    compiler=musl-gcc
    from=" (apt-get install musl-tools)"
else
    compiler=$architecture-linux-musl-gcc
    from=
    linker=CARGO_TARGET_$(echo "$target" | tr 'a-z-' 'A-Z_')_LINKER
    export "$linker=$compiler"
fi
missing=
lack() { missing="$missing${missing:+, and }$1"; }
command -v "$compiler" >/dev/null || lack "the compiler $compiler$from"
# What subjects and servers are started with is for the GNU C library, which these have.
[ "$architecture" = "$own" ] || command -v "$architecture-linux-gnu-gcc" >/dev/null \
    || lack "the compiler $architecture-linux-gnu-gcc (apt-get install gcc-$(echo "$architecture" | tr _ -)-linux-gnu)"
[ -d "$(rustc --print target-libdir --target "$target")" ] \
    || lack "Rust's own library for $target (rustup target add $target; Debian has none)"
[ -z "$missing" ] || { echo "static.sh: a static build needs $missing" >&2; exit 2; }

cd "$root"
cargo build --profile dist --locked --package benchlab --target "$target"
mkdir -p build
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
install -m 755 "target/$target/dist/benchlab" "build/benchlab-$version-$architecture"
echo "build/benchlab-$version-$architecture"
