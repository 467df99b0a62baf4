#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of the Python subject of the cache experiment, build/cache/python/venv, in which
# there is the kit and nothing else.
set -eu
cd "$(dirname "$0")/../../.."
exec sh kits/python/environment.sh build/cache/python
