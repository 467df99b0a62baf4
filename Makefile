# `make test` installs what the tests need and passes them all, in every language.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

# The lab, its tests and its examples are one build: the same packages, features and profile, so that nothing
# is compiled twice.
RUST := --quiet --locked --workspace
LAB := BENCHLAB_PROJECT=$(CURDIR) target/debug/benchlab

# Runs a command beside a private PostgreSQL and MariaDB.
SERVERS := target/debug/examples/with_services
PYTEST := build/tests/venv/bin/python -B -m pytest -q
# What failed runs once more by itself, as the lab takes a turn again that the host disturbed.
TWICE = $(PYTEST) -o cache_dir=build/tests/cache-$@ $(1) || \
    $(PYTEST) -o cache_dir=build/tests/cache-$@ --last-failed --last-failed-no-failures=none $(1)
CLOSING := ^not ok|^\# (tests|pass|fail|skipped) |^ +(error|failureType):
# Debian 12 has no Go that is new enough: where none is, its tests are left out and the rest passes.
GO := $(shell go version 2>/dev/null)
WITHOUT_GO := @echo "left out: all tests of what is written in Go, which is not here (https://go.dev/doc/install)"
GO_TESTED := $(if $(GO),kits/go experiments/sql/go experiments/rest/go)
GO_FOLDERS = $(GO_TESTED) $(if $(GO),$(SMALL:%=experiments/%/go) experiments/cookies/go)
# Experiments with subjects in Rust and Go whose protocol tests are all their tests, and those in Rust alone.
SMALL := cache counter pool pool_sql process
SMALL_RUST := $(SMALL) disk
RUST_SUBJECT := --manifest-path experiments/sql/rust/Cargo.toml --target-dir build/sql/rust
RUST_REST := --manifest-path experiments/rest/rust/Cargo.toml --target-dir build/rest/rust
RUST_DISK := --manifest-path experiments/disk/rust/Cargo.toml --target-dir build/disk/rust
RUST_KIT := --manifest-path kits/rust/Cargo.toml --target-dir build/kits/rust

.PHONY: test setup build lint rust languages c ada java python go rust-subject node protocol http

test: setup lint rust
	$(SERVERS) $(MAKE) --no-print-directory languages
	@echo "all suites passed"

setup:
	tests/setup.sh
	$(MAKE) --no-print-directory build
	$(LAB) build --install

build:
	cargo test $(RUST) --no-run

lint:
	cargo fmt --all --check
	cargo fmt --check --manifest-path kits/rust/Cargo.toml
	cargo fmt --check --manifest-path experiments/sql/rust/Cargo.toml
	cargo fmt --check --manifest-path experiments/rest/rust/Cargo.toml
	cargo fmt --check --manifest-path experiments/disk/rust/Cargo.toml
	cargo clippy $(RUST) --all-targets -- -D warnings
	cargo clippy --quiet --release --locked --all-targets $(RUST_KIT) -- -D warnings
	cargo clippy --quiet --release --locked --all-targets $(RUST_SUBJECT) -- -D warnings
	cargo clippy --quiet --release --locked --all-targets $(RUST_REST) -- -D warnings
	cargo clippy --quiet --release --locked --all-targets $(RUST_DISK) -- -D warnings
	$(if $(GO),test -z "$$(gofmt -l kits/go experiments/*/go)",$(WITHOUT_GO))
	$(foreach folder,$(GO_FOLDERS),go -C $(folder) vet ./... &&) true
	for experiment in $(SMALL_RUST); do \
	    cargo fmt --check --manifest-path experiments/$$experiment/rust/Cargo.toml; \
	    cargo clippy --quiet --release --locked --all-targets --manifest-path experiments/$$experiment/rust/Cargo.toml \
	        --target-dir build/$$experiment/rust -- -D warnings; \
	done

rust:
	tests/rust.sh $(RUST)

# What follows finds the servers in LAB_POSTGRESQL and LAB_MARIADB; without them it leaves out what
# needs them.
languages: c ada java python go rust-subject node
	$(MAKE) --no-print-directory --jobs=2 --output-sync protocol http

c:
	$(MAKE) -s --no-print-directory -C kits/c test
	$(MAKE) -s --no-print-directory -C experiments/rest/c test

ada:
	$(MAKE) -s --no-print-directory -C kits/ada test
	$(MAKE) -s --no-print-directory -C appserver/ada test
	$(MAKE) -s --no-print-directory -C experiments/rest/ada test

java:
	mvn -B -ntp -Dsurefire.rerunFailingTestsCount=1 test \
	    | grep -E '^\[(INFO|WARNING|ERROR)\] +(Tests run|BUILD)|ERROR|Flakes|Run [0-9]:'

python:
	$(PYTEST) -p no:cacheprovider kits/python

go:
	$(if $(GO),,$(WITHOUT_GO))
	$(foreach folder,$(GO_TESTED),go -C $(folder) test -p 1 ./... &&) true

rust-subject:
	cargo test --quiet --release --locked $(RUST_KIT)
	cargo test --quiet --release --locked $(RUST_SUBJECT)
	cargo test --quiet --release --locked $(RUST_REST)
	cargo test --quiet --release --locked $(RUST_DISK)

node:
	cd kits/node && node --test --test-reporter=tap | grep -E '$(CLOSING)'
	cd experiments/sql/node && node --test --test-reporter=tap | grep -E '$(CLOSING)'
	cd experiments/rest/node && node --test --test-reporter=tap | grep -E '$(CLOSING)'

# Drives every subject of every experiment over the protocol. What waits for databases and what waits for
# sockets do not disturb each other.
protocol:
	$(call TWICE,tests/protocol)

# Asks every server over sockets, looks at the lab's own pages in a browser, and installs its package.
http:
	$(call TWICE,tests/http tests/rest tests/opcache tests/front tests/audit tests/web tests/package)
