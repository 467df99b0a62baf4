# `make test` installs what the tests need and passes them all, in every language.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

.PHONY: test setup lint rust java ada c python protocol

test: setup lint rust c ada java python protocol
	@echo "all suites passed"

setup:
	tests/setup.sh

lint:
	cargo fmt --all --check
	cargo clippy --quiet --release --locked --workspace --all-targets -- -D warnings

rust:
	cargo test --quiet --release --locked --workspace --no-fail-fast

c:
	$(MAKE) -s --no-print-directory -C kits/c test

ada:
	$(MAKE) -s --no-print-directory -C kits/ada test
	$(MAKE) -s --no-print-directory -C appserver/ada test

java:
	mvn -B -ntp test | grep -E '^\[(INFO|WARNING|ERROR)\] +(Tests run|BUILD)|ERROR'

python:
	build/tests/venv/bin/python -B -m pytest -q kits/python

# Drives every subject of every experiment over the protocol.
protocol:
	build/tests/venv/bin/python -B -m pytest -q tests
