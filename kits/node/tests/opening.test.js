// SPDX-License-Identifier: Apache-2.0
// Tests the seeded sequence, against the values in docs/protocol.md, and the arguments.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UsageError } from '../src/errors.js';
import { Arguments } from '../src/lines.js';
import { Opening, seededSequence } from '../src/opening.js';

const opening = (...words) => new Opening(new Arguments(words));

test('the first values', () => {
  assert.deepEqual(seededSequence(7n, 3),
    [7191089600892374487n, 309689372594955804n, 16616101746815609346n]);
});

test('the state wraps', () => {
  // After one step, the state for seed s equals s plus the constant, modulo 2^64.
  const following = (2n ** 64n - 1n + 0x9e3779b97f4a7c15n) % 2n ** 64n;
  assert.deepEqual(seededSequence(2n ** 64n - 1n, 4).slice(1), seededSequence(following, 3));
});

test('an opening has 4096 inputs of 64 bits', () => {
  const { inputs } = opening('seed=7');
  assert.equal(inputs.length, 4096);
  assert.equal(inputs.reduce((sum, value) => sum + value) % 2n ** 64n, 17024844806574203696n);
  assert(inputs.every((value) => value >= 0n && value < 2n ** 64n));
});

for (const words of [[], ['seed='], ['seed=x'], [`seed=${2n ** 64n}`]]) {
  test(`an opening with ${words} needs a seed`, () => {
    assert.throws(() => opening(...words), UsageError);
  });
}

test('arguments', () => {
  const open = opening('seed=0', 'a=x', 'n=5');
  assert.equal(open.text('a'), 'x');
  assert.equal(open.integer('n', 5, 5), 5);
  assert.throws(() => open.integer('n', 6, 7), /n is not a whole number from 6 to 7/);
  assert.throws(() => open.text('missing'), /missing is missing/);
});
