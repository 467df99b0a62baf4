#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Creates the environment of the cache experiment's Python subject, build/cache/python/venv, which only
# contains the kit.
set -eu
cd "$(dirname "$0")/../../.."
exec sh kits/python/environment.sh build/cache/python
