// SPDX-License-Identifier: Apache-2.0
// Tests the buckets, against the table in docs/protocol.md, and counting.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Latencies, bucket } from '../src/latencies.js';

test('the buckets of the table in docs/protocol.md', () => {
  const protocol = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8');
  const row = (name) => protocol.match(`\n\\| ${name} \\|(.*)\\|\n`)[1]
    .split('|').map((cell) => Number(cell.replaceAll(',', '')));
  const values = row('v');
  assert(values.length >= 10);
  assert.deepEqual(values.map(bucket), row('index'));
});

test('buckets have no gaps, and their width is at most 1/32 of their values', () => {
  let last = -1;
  let first = 0; // of the previous bucket
  for (let ns = 0; ns < 100_000; ns++) {
    const index = bucket(ns);
    assert(index === last || index === last + 1, `${ns}`);
    if (index !== last) [last, first] = [index, ns];
    assert((ns - first) * 32 <= first, `${ns}`);
  }
});

test('each power of two up to 2^52 begins a bucket', () => {
  for (let bits = 7; bits <= 53; bits++) {
    const power = 2 ** (bits - 1);
    assert.equal(bucket(power), (bits - 6) * 32 + 32);
    assert.equal(bucket(power - 1), bucket(power) - 1);
  }
});

test('a histogram is written in ascending order, without empty buckets', () => {
  const latencies = new Latencies();
  for (const ns of [1_000_000, 64, 65, 1_000_001, 0, 1_000_000]) latencies.count(ns);
  assert.equal(String(latencies), '0:1,64:2,509:3');
});

test('a stopwatch counts the time between its laps', () => {
  const latencies = new Latencies();
  const stopwatch = latencies.start();
  const start = process.hrtime.bigint();
  while (process.hrtime.bigint() - start < 2_000_000n);
  stopwatch.lap();
  const [, index, count] = String(latencies).match(/^(\d+):(\d+)$/);
  assert.equal(count, '1');
  assert(Number(index) >= bucket(2_000_000), index);
});
