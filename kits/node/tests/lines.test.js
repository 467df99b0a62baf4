// SPDX-License-Identifier: Apache-2.0
// Tests how lines are read, split and written.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UsageError } from '../src/errors.js';
import { Arguments, parse, readLines, reply } from '../src/lines.js';
import { seededSequence } from '../src/opening.js';

const x = (count) => 'x'.repeat(count);

/** Returns the lines of a content that arrives in chunks of `size` bytes. */
async function linesOf(content, size) {
  const bytes = Buffer.from(content);
  const chunks = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  const lines = [];
  for await (const line of readLines(chunks)) lines.push(line && line.toString());
  return lines;
}

for (const [content, expected] of [
  ['', []],
  ['\n', ['']],
  ['a\r\n\nb', ['a\r', '', 'b']],
  [`${x(65_536)}\na\n`, [x(65_536), 'a']],
  [`${x(65_537)}\na\n`, [null, 'a']],
  [`${x(300_000)}\na\n`, [null, 'a']],
  [x(65_536), [x(65_536)]],
  [x(65_537), [null]],
  [`${x(131_073)}\n`, [null]],
]) {
  test(`${content.length} bytes are read as ${expected.length} lines`, async () => {
    for (const size of [997, 65_536, 1_000_000]) {
      assert.deepEqual(await linesOf(content, size), expected);
    }
  });
}

test('values are decoded, and the first value of a key is used', () => {
  const { verb, values } = parse(Buffer.from('open a=%41%2b+ b_1= a=2 c=%c3%A9 d=%ff'));
  assert.equal(verb, 'open');
  assert.equal(values.text('a'), 'A++');
  assert.equal(values.text('b_1'), '');
  assert.equal(values.text('c'), 'é');
  assert.throws(() => values.text('d'), UsageError, 'it is not UTF-8');
  assert.throws(() => values.text('e'), /e is missing/);
});

for (const line of [
  'open a', 'open  a=1', 'open =1', 'open A=1', 'open 1a=1', 'open a=%', 'open a=%4', 'open a=%zz',
  'open a=b=c', 'open a=\xff', 'open a=²', 'open a=1\r', 'open a=1\n',
]) {
  test(`${JSON.stringify(line)} is rejected`, () => {
    assert.throws(() => parse(Buffer.from(line, 'latin1')), UsageError);
  });
}

test('a line that was too long is rejected', () => {
  assert.throws(() => parse(null), UsageError);
});

test('a reply encodes special characters in upper case', () => {
  assert.equal(reply('opened', { a: "aZ09-._~/:,+ %=ü!'()*", b: 7n }),
    '@lab opened a=aZ09-._~/:,+%20%25%3D%C3%BC%21%27%28%29%2A b=7\n');
  assert.equal(reply('closed'), '@lab closed\n');
  assert.equal(reply('opened', { a: null, b: 0 }), '@lab opened a= b=0\n');
});

test('half of a surrogate pair is written as U+FFFD', () => {
  assert.equal(reply('error', { message: '😀'.slice(0, 1) }), '@lab error message=%EF%BF%BD\n');
});

for (const value of ['', '-1', '%2B1', '+1', '%201', '1_0', '0x1', '1.0', '11', '%D9%A1', '9'.repeat(5000)]) {
  test(`${value.slice(0, 20) || 'nothing'} is not a whole number from 0 to 10`, () => {
    assert.throws(() => new Arguments([`n=${value}`]).integer('n', 0n, 10n), UsageError);
  });
}

test('a whole number may be either end of its range', () => {
  assert.equal(new Arguments(['n=0']).integer('n', 0n, 10n), 0n);
  assert.equal(new Arguments(['n=10']).integer('n', 0n, 10n), 10n);
});

// The same numbers in every run.
const random = (() => {
  const numbers = seededSequence(1n, 200_000);
  let next = 0;
  return (below) => Number(numbers[next++] % BigInt(below));
})();

test('any line is parsed or rejected', () => {
  const command = Buffer.from('open case=select limit=100 seed=7 target=sqlite:/a%20b.db');
  for (let round = 0; round < 5000; round++) {
    const line = Buffer.from(command);
    for (let change = random(4); change >= 0; change--) line[random(line.length)] = random(256);
    try {
      const { values } = parse(line);
      for (const key of ['case', 'target']) if (values.has(key)) values.text(key);
    } catch (error) {
      assert(error instanceof UsageError, `${line}: ${error}`);
    }
  }
});

test('any value survives a round trip', () => {
  for (let round = 0; round < 2000; round++) {
    const codes = Array.from({ length: random(20) }, () => random([128, 2048, 0xd800, 0x11_0000][random(4)]));
    const value = codes.filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code)).join('');
    const written = reply('opened', { value });
    assert.match(written, /^@lab opened value=(?:[A-Za-z0-9\-._~/:,+]|%[0-9A-F]{2})*\n$/);
    const { values } = parse(Buffer.from(written.slice('@lab '.length, -1)));
    assert.equal(values.text('value'), value);
  }
});
