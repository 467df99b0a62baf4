#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Creates a virtual environment with the kit and the packages of requirement files, installed one after
# another:
#     sh kits/python/environment.sh DIR [FILE…]
# creates DIR/venv. Run it in the project's directory. If nothing has changed, it does nothing and needs no
# network.
set -eu
out=$1
shift
tools=build/python

# Hashes everything that an environment depends on, for comparison with the hash of the last
# successful run.
state() { { python3 -c 'import os, sys; print(os.getcwd(), sys.executable, sys.version)'; cat kits/python/environment.sh "$@"; } | sha256sum; }
is_done() { [ -f "$1/venv.state" ] && [ "$(cat "$1/venv.state")" = "$2" ]; }

full=$(state "$@")
if ! is_done "$out" "$full"; then
    mkdir -p "$out"
    rm -f "$out/venv.state"
    python3 -m venv --clear --without-pip "$out/venv"
    # Installing pip takes longer than installing all packages, so it is installed once.
    bare=$(state)
    if [ $# -gt 0 ] && ! is_done "$tools" "$bare"; then
        python3 -m venv --clear "$tools/venv"
        echo "$bare" >"$tools/venv.state"
    fi
    for requirements; do
        "$tools/venv/bin/python" -m pip --disable-pip-version-check --python "$out/venv/bin/python" \
            install -q --require-hashes --no-build-isolation -r "$requirements"
    done
    packages=$("$out/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$PWD/kits/python/src" >"$packages/lab_kit.pth"
    echo "$full" >"$out/venv.state"
fi
