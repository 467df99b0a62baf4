#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes an environment of Python with the kit, and with what files of requirements name, one after the other:
#     sh kits/python/environment.sh FOLDER [FILE…]
# makes FOLDER/venv, from the project's folder. Does nothing, and needs no network, when nothing changed.
set -eu
out=$1
shift
tools=build/python

# Sums up what an environment depends on, to be compared with what its last success left behind.
state() { { python3 -c 'import os, sys; print(os.getcwd(), sys.executable, sys.version)'; cat kits/python/environment.sh "$@"; } | sha256sum; }
is_done() { [ -f "$1/venv.state" ] && [ "$(cat "$1/venv.state")" = "$2" ]; }

full=$(state "$@")
if ! is_done "$out" "$full"; then
    mkdir -p "$out"
    rm -f "$out/venv.state"
    python3 -m venv --clear --without-pip "$out/venv"
    # To install pip takes longer than all that it installs: it is there once.
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
