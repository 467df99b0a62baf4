#!/bin/sh
# Measures the time that benchlab adds to a batch, for each kit: the round trip of a noop batch of one operation.
set -eu
cd "$(dirname "$0")/.."

./benchlab build sql
cargo build --quiet --profile local --locked --package lab-bench --example round_trip
trip() {
    echo "$1"
    shift
    target/local/examples/round_trip "$@"
}
trip C build/sql/c/subject
trip Ada build/sql/ada/subject
trip Java java -cp 'build/sql/java/classes:build/sql/java/lib/*' benchlab.sql.SqlSubject
trip Python build/sql/python/venv/bin/python -B experiments/sql/python/sqlite3_subject.py
