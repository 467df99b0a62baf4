#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of the Python subject, build/rest/python/venv, with what requirements.txt
# names and the kit. Does nothing, and needs no network, when nothing changed.
set -eu

cd "$(dirname "$0")/../../.."
here=experiments/rest/python
out=build/rest/python

# Sums up what a step depends on, to be compared with what its last success left behind.
venv_state() { { python3 -c 'import sys; print(sys.executable, sys.version)'
    cat "$here/build.sh" "$here/requirements.txt"; } | sha256sum; }
kit_state() { find kits/python/src kits/python/pyproject.toml -name '__pycache__' -prune -o -type f -print |
    LC_ALL=C sort | xargs sha256sum; }

is_done() { [ -f "$out/$1.state" ] && [ "$(cat "$out/$1.state")" = "$2" ]; }

pip() { "$out/venv/bin/python" -m pip --disable-pip-version-check "$@"; }

mkdir -p "$out"
venv=$(venv_state)
if ! is_done venv "$venv"; then
    rm -f "$out"/*.state
    python3 -m venv --clear "$out/venv"
    pip install -q --require-hashes -r "$here/requirements.txt"
    echo "$venv" >"$out/venv.state"
fi

kit=$(kit_state)
if ! is_done kit "$kit"; then
    pip install -q --no-index --no-deps --no-build-isolation --force-reinstall ./kits/python
    echo "$kit" >"$out/kit.state"
fi
