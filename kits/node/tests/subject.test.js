// SPDX-License-Identifier: Apache-2.0
// Tests conversations with a subject that uses the kit, in a separate process.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SUBJECT = fileURLToPath(new URL('echo_subject.js', import.meta.url));
const OPEN = 'open case=echo seed=7 fail_at=0 text=x';
const OPENED = '@lab opened text=x';

/** Returns the replies after hello, and the log. The subject must exit successfully. */
function talk(...commands) {
  const completed = spawnSync(process.execPath, [SUBJECT],
    { input: `${commands.join('\n')}\n`, encoding: 'utf8', timeout: 60_000 });
  assert.equal(completed.status, 0, completed.stderr);
  const [hello, ...replies] = completed.stdout.split('\n');
  assert.match(hello, new RegExp('^@lab hello protocol=1 subject=echo thread=[1-9][0-9]* '
    + `runtime=Node\\.js%20${process.versions.node} library=no%20library%201\\.0$`));
  assert.equal(replies.pop(), '', 'every line has an end');
  return { replies, log: completed.stderr };
}

const error = (code, message) => `@lab error code=${code} message=${message.replaceAll(' ', '%20')}`;

test('a conversation', () => {
  const before = process.hrtime.bigint();
  const { replies, log } = talk(OPEN, 'verify', 'verify operations=2', 'run operations=4097', 'close',
    'quit', 'verify');
  const after = process.hrtime.bigint();
  assert.deepEqual(replies.slice(0, 3), [
    OPENED, '@lab verified check=7191089600892374487 operations=1 units=2',
    '@lab verified check=7500778973487330291 operations=2 units=4']);
  const ran = replies[3].match(
    /^@lab ran start=(\d+) end=(\d+) operations=4097 units=8194 check=5769190333757026567$/);
  assert(before < BigInt(ran[1]) && BigInt(ran[1]) <= BigInt(ran[2]) && BigInt(ran[2]) < after);
  assert.deepEqual(replies.slice(4), ['@lab closed']);
  assert.match(log, /@lab torn/, 'the output of a case must be in the log');
});

test('the clock is CLOCK_MONOTONIC as another process reads it', (t) => {
  const read = () => spawnSync('python3', ['-c', 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))']);
  if (read().status !== 0) return t.skip('python3 is not installed');
  const before = BigInt(read().stdout.toString());
  const { replies } = talk('open case=noop seed=7', 'run operations=1');
  const after = BigInt(read().stdout.toString());
  const [, start, end] = replies[1].match(/start=(\d+) end=(\d+)/);
  assert(before < BigInt(start) && BigInt(start) <= BigInt(end) && BigInt(end) < after);
});

test('hello contains the ID of the working thread', async () => {
  const subject = spawn(process.execPath, [SUBJECT]);
  const hello = await new Promise((resolve) => subject.stdout.once('data', resolve));
  assert.match(String(hello), new RegExp(` thread=${subject.pid} `));
  subject.stdin.end();
  assert.equal(await new Promise((resolve) => subject.once('exit', resolve)), 0);
});

test('noop', () => {
  assert.deepEqual(talk('open case=noop seed=7', 'verify operations=9007199254740992').replies, [
    '@lab opened',
    '@lab verified check=9007199254740992 operations=9007199254740992 units=9007199254740992']);
});

test('a case with concurrent operations reports the latency of each', () => {
  const { replies } = talk('open case=wait seed=7 connections=3', 'verify', 'run operations=10');
  assert.equal(replies[1], '@lab verified check=1 operations=1 units=1');
  const [, start, end, latencies] = replies[2].match(
    /^@lab ran start=(\d+) end=(\d+) operations=10 units=10 check=10 latencies=([0-9:,]+)$/);
  const counts = latencies.split(',').map((pair) => Number(pair.split(':')[1]));
  assert.equal(counts.reduce((sum, count) => sum + count), 10);
  assert(BigInt(end) - BigInt(start) >= 4n * 4_900_000n, 'connection 0 waits four times, in turn');
});

test('metrics are decimal numbers of a run', () => {
  const { replies } = talk('open case=measure seed=7', 'run operations=3', 'verify operations=3');
  assert.match(replies[1],
    / check=3 small=-0\.000012 lost=33\.333333333333336 none=0 large=98765432109876540$/);
  assert.equal(replies[2], '@lab verified check=3 operations=3 units=3');
});

test('a case without operations serves until it is closed', async () => {
  const subject = spawn(process.execPath, [SUBJECT], { stdio: ['pipe', 'pipe', 'ignore'] });
  const replies = createInterface(subject.stdout)[Symbol.asyncIterator]();
  const ask = async (command) => {
    subject.stdin.write(`${command}\n`);
    return (await replies.next()).value;
  };
  await replies.next();
  for (const round of [1, 2]) {
    const [, port] = (await ask('open case=greet seed=7')).match(/^@lab opened port=(\d+)$/);
    assert.equal(await greeting(port), 'hello', `round ${round}`);
    for (const command of ['verify', 'run operations=1']) {
      assert.equal(await ask(command), error('unsupported', 'the case is a server and has no operations'));
    }
    assert.equal(await greeting(port), 'hello', 'the server must continue to respond');
    assert.equal(await ask('close'), '@lab closed');
    await assert.rejects(greeting(port), { code: 'ECONNREFUSED' });
  }
  subject.stdin.end('open case=greet seed=7\n');
  assert.deepEqual(await once(subject, 'exit'), [0, null], 'the end of the input must close the case, too');
});

async function greeting(port) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return String((await socket.toArray())[0]);
}

test('failed work is reported and logged, and the case stays open', () => {
  const { replies, log } = talk(OPEN.replace('fail_at=0', 'fail_at=2'), 'verify operations=2', 'verify');
  assert.deepEqual(replies, [OPENED, error('failed', 'operation 2 failed'),
    '@lab verified check=7191089600892374487 operations=1 units=2']);
  assert.match(log, /RangeError: operation 2 failed/);
});

test('a failure is reported with its SQLSTATE', () => {
  assert.equal(talk(OPEN.replace('fail_at=0 text=x', 'fail_at=1 text=42P01'), 'verify').replies[1],
    error('failed', '42P01: operation 1 failed'));
});

for (const end of ['close', 'quit', '']) {
  test(`a case is closed when it ends with ${end || 'the end of the input'}`, () => {
    assert.equal(talk(OPEN, end).log.match(/echo was closed/g).length, 1);
  });
}

test('a failed open leaves nothing open', () => {
  assert.deepEqual(
    talk(OPEN.replace('text=x', 'text=unsupported'), 'verify', OPEN.replace('text=x', ''),
      'open case=echo seed=7 text=x', OPEN).replies,
    [error('unsupported', 'this text is not supported'), error('usage', 'no case is open'),
      error('usage', 'argument 4 is not key%3Dvalue, percent-encoded'),
      error('usage', 'the argument fail_at is missing'), OPENED]);
});

for (const [commands, expected] of [
  [['', 'Run'], [error('usage', 'there is no command '), error('usage', 'there is no command Run')]],
  [['verify', 'run operations=1', 'close'], Array(3).fill(error('usage', 'no case is open'))],
  [['open seed=7'], [error('usage', 'the argument case is missing')]],
  [['open case=nonsense seed=7'], [error('unsupported', 'there is no case nonsense')]],
  [['open case=constructor seed=7'], [error('unsupported', 'there is no case constructor')]],
  [[OPEN, OPEN], [OPENED, error('usage', 'a case is already open')]],
  [[OPEN, 'run'], [OPENED, error('usage', 'the argument operations is missing')]],
  [[OPEN, 'run operations=0'],
    [OPENED, error('usage', 'operations is not a whole number from 1 to 9007199254740992')]],
  [['x'.repeat(65_537)], [error('usage', 'the line is longer than 65536 bytes')]],
  [[`open seed=7 case=${'x'.repeat(5000)}`],
    [error('unsupported', `there is no case ${'x'.repeat(983)}`)]],
]) {
  test(`errors of ${commands.join('; ').slice(0, 60) || 'an empty line'}`, () => {
    assert.deepEqual(talk(...commands).replies, expected);
  });
}
