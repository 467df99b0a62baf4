#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of the Python subject of the cache experiment, build/cache/python/venv, in which
# there is the kit and nothing else.
set -eu
cd "$(dirname "$0")/../../.."
out=build/cache/python

python3 -m venv --clear --without-pip "$out/venv"
packages=$("$out/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$PWD/kits/python/src" >"$packages/lab_kit.pth"
