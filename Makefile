# `make test` installs what the tests need and runs all tests, in every language.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

# The lab, its tests and its examples are one build, with the same packages, features and profile, so that
# nothing is compiled twice. The linter's driver is used as the compiler: a separate lint run takes half as
# long as a build.
RUST := --quiet --locked --workspace
BUILD_RUST := lab lab-tests clippy pages subjects rust-subjects clippy-subjects
$(BUILD_RUST): export RUSTC_WORKSPACE_WRAPPER := clippy-driver
$(BUILD_RUST): export CARGO_INCREMENTAL := 0
# Cargo also shows the warnings of what is already built.
NO_WARNINGS = @warnings=$$({ $(1); } 2>&1) && [ -z "$$warnings" ] || { echo "$$warnings"; exit 1; }
LAB := BENCHLAB_PROJECT=$(CURDIR) target/debug/benchlab

# Runs a command together with a private PostgreSQL and MariaDB, whose addresses are in LAB_POSTGRESQL and
# LAB_MARIADB. If a server is not installed, the tests that need it are skipped.
SERVERS := target/debug/examples/with_services
PYTEST := build/tests/venv/bin/python -B -m pytest -q
# Pytest with a separate cache per step, since steps run concurrently.
CHECK = $(PYTEST) -o cache_dir=build/tests/cache-$@
CLOSING := ^not ok|^\# (tests|pass|fail|skipped) |^ +(error|failureType):
# Debian 12 has no recent enough Go: where Go is missing, its tests are skipped, and the other tests
# run.
GO := $(shell go version 2>/dev/null)
# Tests measure nothing that is kept: Rust subjects are built in half the time. `benchlab` builds them again before it
# measures, because these settings differ.
export CARGO_PROFILE_RELEASE_LTO := off
export CARGO_PROFILE_RELEASE_CODEGEN_UNITS := 16
export CARGO_PROFILE_RELEASE_OPT_LEVEL := 1
WITHOUT_GO := @echo "left out: all tests of what is written in Go, which is not here (https://go.dev/doc/install)"
# Experiments with subjects in Rust and Go. Their only tests are those in tests/ that run the subjects of all
# languages.
RUST_AND_GO := cache counter pool pool_sql process rest sql
GO_FOLDERS = $(if $(GO),kits/go $(RUST_AND_GO:%=experiments/%/go) experiments/cookies/go)
RUST_TESTED := kits experiments/disk experiments/io-scheduler/fixtures experiments/cookies/fixtures experiments/retry/fixtures
RUST_FOLDERS := $(RUST_TESTED) $(RUST_AND_GO:%=experiments/%)
# The options for a crate in one of these directories: it is built as by `benchlab build`, in a
# shared target directory, so that common dependencies are compiled once.
subject_of = --quiet --release --locked --manifest-path $(1)/rust/Cargo.toml --target-dir build/rust
RUST_TESTS := build/tests/rust.json

# The steps of `make test`, each a target of its own; the longest are first, and `rest`, which mostly waits.
STEPS := lab lab-tests subjects rust rest http ada protocol protocol-postgresql protocol-mariadb pages java \
    go rust-subjects clippy-subjects clippy logs node c python style
# The files that each step reads, as pathspecs. A step that passed is not run again while none of
# them has changed, unless FORCE is set; builds are always run. A step that only tests subjects does
# not depend on the lab, whose own tests check that it builds and starts subjects.
READ_BY_SUBJECTS := . :!crates :!Cargo.toml :!Cargo.lock
$(foreach step,rust pages logs clippy style,$(eval READ_BY_$(step) := .))
$(foreach step,c ada java python go node rust-subjects clippy-subjects protocol protocol-postgresql protocol-mariadb http rest, \
    $(eval READ_BY_$(step) := $(READ_BY_SUBJECTS)))
# More jobs than cores, because most tests wait.
JOBS := $(shell expr $$(nproc) + 5)

# Servers' data and other files that tests write are in memory if there is enough: creating and
# removing a thousand files for each server keeps a disk's file system busy for most of the time
# (ext4 does not reuse space that was just freed).
export TMPDIR := $(shell free=$$(df --output=avail --block-size=G /dev/shm 2>/dev/null | tail -1 | tr -d ' G'); \
    if [ "$${free:-0}" -ge 8 ] && [ -w /dev/shm ] && ! findmnt -no OPTIONS -T /dev/shm | grep -qw noexec; \
    then echo /dev/shm; else echo "$${TMPDIR:-/tmp}"; fi)

# How long random requests are compared with Go's answers.
FOR := 30m

.PHONY: test attack setup $(STEPS) $(STEPS:%=step-%)

test: setup
	@exec tests/step.py --all $(MAKE) --no-print-directory --jobs=$(JOBS) --keep-going $(STEPS:%=step-%) -- $(STEPS)

# A step's own make does not know the other steps.
$(STEPS:%=step-%): step-%:
	@MAKEFLAGS= tests/step.py $(if $(FORCE),,$(READ_BY_$*:%=--reads='%')) $* $(MAKE) --no-print-directory $*

# What has to end before a step begins: the steps that it needs, and those that write the same
# files. Make starts a step that had to wait only after all others have begun; therefore the others
# also wait for the steps that the longest one, `rust`, waits for.
step-lab-tests step-subjects step-logs: step-lab
step-rust step-clippy: step-lab-tests
step-ada step-java step-http: step-subjects
step-protocol step-protocol-postgresql step-protocol-mariadb step-rest step-pages: step-subjects step-lab-tests
step-rust-subjects: step-subjects
step-clippy-subjects: step-rust-subjects

setup:
	tests/setup.sh

# Subjects are built with these two programs while the lab's tests are compiled.
lab:
	cargo build $(RUST) --bin benchlab --example with_services

lab-tests:
	mkdir -p build/tests
	cargo test $(RUST) --lib --bins --tests --no-run --message-format=json-render-diagnostics >$(RUST_TESTS)

# Also builds the Ada servers that are tested over sockets.
subjects:
	$(LAB) build --install
	$(MAKE) -s --no-print-directory -C appserver/ada http_programs

style:
	cargo fmt --all --check
	tests/imports.py crates/*
	tests/links.py
	tests/words.py
	tests/deny.py
	$(foreach folder,$(RUST_FOLDERS),cargo fmt --check --manifest-path $(folder)/rust/Cargo.toml &&) true
	$(if $(GO),test -z "$$(gofmt -l kits/go experiments/*/go)",$(WITHOUT_GO))
	$(foreach folder,$(GO_FOLDERS),go -C $(folder) vet ./... &&) true

clippy:
	$(call NO_WARNINGS,cargo test $(RUST) --all-targets --no-run)

# The experiment counter is built in a directory of its own.
clippy-subjects:
	$(call NO_WARNINGS,$(foreach folder,$(RUST_TESTED),cargo test $(call subject_of,$(folder)) --all-targets --no-run &&) \
	    $(foreach folder,$(filter-out %/counter,$(RUST_AND_GO:%=experiments/%)),cargo build $(call subject_of,$(folder)) &&) \
	    sh experiments/counter/rust/build.sh)

rust:
	tests/rust.py $(RUST_TESTS)

c:
	$(MAKE) -s --no-print-directory -C kits/c test
	$(MAKE) -s --no-print-directory -C experiments/rest/c test

ada:
	$(MAKE) -s --no-print-directory -C kits/ada test
	$(SERVERS) $(MAKE) -s --no-print-directory -C appserver/ada test
	$(MAKE) -s --no-print-directory -C experiments/rest/ada test

java:
	$(SERVERS) mvn -B -ntp test \
	    | grep -E '^\[(INFO|WARNING|ERROR)\] +(Tests run|BUILD)|ERROR'
	mvn -q -B -ntp -f appserver/java -DskipTests -pl examples -am package
	$(SERVERS) --only postgresql python3 -B appserver/tests/guides.py java build/appserver/java/appserver-examples
	python3 -B appserver/java/tests/release.py build/appserver/java/release

python:
	$(PYTEST) -p no:cacheprovider kits/python tests/steps

# With the flags with which subjects are built: with others, the standard library and SQLite would be compiled again.
go style: export GOFLAGS := -trimpath

go:
	$(if $(GO),go -C kits/go test ./...,$(WITHOUT_GO))

rust-subjects:
	$(foreach folder,$(RUST_TESTED),cargo test $(call subject_of,$(folder)) &&) true

node:
	cd kits/node && node --test --test-reporter=tap | grep -E '$(CLOSING)'

# Tests every subject of every experiment over the protocol. Each of these three steps has its own server, because the
# servers count statements.
protocol:
	$(CHECK) tests/protocol -k "not postgresql and not mariadb"

protocol-postgresql:
	$(SERVERS) --only postgresql $(CHECK) tests/protocol -k postgresql

protocol-mariadb:
	$(SERVERS) --only mariadb $(CHECK) tests/protocol -k "mariadb and not postgresql"

http:
	$(CHECK) tests/http

# Full-size attacks on the HTTP servers in Ada; the step `http` runs short ones.
attack: setup lab
	$(LAB) build rest --install
	$(PYTEST) -p no:cacheprovider --durations=0 tests/http/test_attacks.py tests/http/test_streams.py \
	    tests/http/test_multipart.py tests/http/test_beside_go.py --attack-for $(FOR)

rest:
	$(CHECK) tests/rest

# Logs in many formats, read by the lab and by an exact implementation; and the lab's own formats, read by their tools
# and schemas.
logs:
	$(CHECK) tests/logs tests/formats

# The lab's own pages in a browser, pages of web servers, and the lab's package.
pages:
	$(CHECK) tests/opcache tests/reverse-proxy tests/audit tests/web tests/package
