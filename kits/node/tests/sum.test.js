// SPDX-License-Identifier: Apache-2.0
// Tests that sums are exact modulo 2^64, and only accept whole numbers.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { seededSequence } from '../src/opening.js';
import { Sum } from '../src/sum.js';

test('a sum equals that of BigInts', () => {
  const sum = new Sum();
  let expected = 0n;
  for (const input of seededSequence(3n, 4096)) {
    const value = BigInt.asIntN(54, input); // of either sign, often near the limits of exact numbers
    if (Number.isSafeInteger(Number(value))) sum.add(Number(value));
    else sum.addBig(value);
    expected += value;
    sum.addBig(input);
    expected += input;
    assert.equal(sum.value, BigInt.asUintN(64, expected));
  }
});

test('a negative number counts as its two\'s complement', () => {
  const sum = new Sum();
  sum.add(-1);
  assert.equal(sum.value, 2n ** 64n - 1n);
  sum.addBig(-(2n ** 63n));
  assert.equal(sum.value, 2n ** 63n - 1n);
});

test('nothing is lost at the limits of exact numbers', () => {
  const sum = new Sum();
  for (let i = 0; i < 3; i++) sum.add(Number.MAX_SAFE_INTEGER);
  assert.equal(sum.value, 3n * (2n ** 53n - 1n));
  for (let i = 0; i < 6; i++) sum.add(Number.MIN_SAFE_INTEGER);
  assert.equal(sum.value, BigInt.asUintN(64, -3n * (2n ** 53n - 1n)));
});

for (const value of [0.5, '1', NaN, undefined]) {
  test(`${typeof value} ${value} cannot be added up`, () => {
    assert.throws(() => {
      const sum = new Sum();
      sum.add(/** @type {any} */ (value));
      return sum.value;
    });
  });
}
