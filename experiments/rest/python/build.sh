#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Creates the environment of the Python subject, build/rest/python/venv, with the packages in requirements.txt
# and the kit.
set -eu
cd "$(dirname "$0")/../../.."
exec sh kits/python/environment.sh build/rest/python experiments/rest/python/requirements.txt
