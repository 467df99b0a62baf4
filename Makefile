# `make test` installs what the tests need and passes them all, in every language.

.PHONY: test setup lint rust java ada c python protocol

test: setup lint rust c ada java python protocol
	@echo "all suites passed"

setup:
	tests/setup.sh

lint:
	cargo fmt --all --check
	cargo clippy --quiet --release --locked --workspace --all-targets -- -D warnings

rust:
	cargo test --quiet --release --locked --workspace

c:
	$(MAKE) -s -C kits/c test

ada:
	$(MAKE) -s -C kits/ada test
	$(MAKE) -s -C appserver/ada test

java:
	mvn -q -B test

python:
	build/tests/venv/bin/python -m pytest -q kits/python/tests

# Drives every subject of every experiment over the protocol.
protocol:
	build/tests/venv/bin/python -m pytest -q tests/protocol
