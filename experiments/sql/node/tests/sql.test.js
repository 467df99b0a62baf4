// SPDX-License-Identifier: Apache-2.0
// experiments/sql/README.md, computed here without any subject: what each case yields, and what it
// leaves in the tables.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { seededSequence } from '../../../../kits/node/src/opening.js';
import { DATABASES } from './databases.js';

const ROWS = 100;
const SEED = 7n;
const TEXTS = ['a name of ASCII only', 'Ünïcödé with 中文 too', '😀 four bytes each 🎶🎶', "a quote ' in twenty c"];

const sequence = seededSequence(SEED);
const s = (k) => sequence[k % 4096];
const index = (k) => Number(s(k) % BigInt(ROWS));
const amountAt = (k) => Number(1n + ((s(k) >> 20n) % 100n));
const upTo = (n) => Array.from({ length: n }, (_, k) => k);
const sum = (numbers) => BigInt.asUintN(64, numbers.reduce((all, n) => all + BigInt(n), 0n));

const simple = seededSequence(1n, ROWS).map((value) => Number(value >> 34n));
const mixed = seededSequence(2n, ROWS).map((value, i) => ({
  id: i + 1,
  small: [-(2 ** 31), 2 ** 31 - 1, Number(BigInt.asIntN(32, value))][i % 3],
  big: [-(2n ** 63n), 2n ** 63n - 1n, BigInt.asIntN(64, value), -1n][i % 4],
  units: [-5n, 10n ** 15n - 1n, BigInt.asIntN(49, value)][i % 3], // of 0.0001
  name: TEXTS[i % 4],
  moment: Number(value % 3_155_760_000_000n),
}));

const amount = (units) => `${units < 0n ? '-' : ''}${(units < 0n ? -units : units) / 10_000n}.`
  + String((units < 0n ? -units : units) % 10_000n).padStart(4, '0');
const moment = (ms) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
const fold = (row) => sum([row.id, row.small, row.big, row.units, 1, row.moment,
  ...Array.from(row.name, (character) => character.codePointAt(0))]);

/** Check and units of n operations, and what they change in an empty or full test_simple. */
const CASES = {
  connect: (n) => [n, n],
  select_1: (n) => [n, n],
  do_1: (n) => [n, n],
  select: (n, { limit }) => [BigInt(n) * sum(simple.slice(0, limit).map((v, i) => i + 1 + v)), n * limit],
  point: (n) => [sum(upTo(n).map((k) => simple[index(k)])), n],
  mixed: (n) => [sum(upTo(n).map((k) => fold(mixed[index(k)]))), n],
  insert: (n) => [sum(upTo(n).map((k) => s(k) >> 33n)), n],
  insert_tx: (n, { rows_tx: rows }) => [sum(upTo(n * rows).map((k) => s(k) >> 33n)), n * rows],
  update_point: (n) => [sum(upTo(n).map(amountAt)), n],
  transfer: (n) => [sum(upTo(n).map(amountAt)), 2 * n],
  drop_create: (n) => [n, n],
  connections: (n) => [sum(upTo(n).map((k) => simple[index(k)])), n],
};

const POINTS = [
  ['connect', {}],
  ...['prepared', 'text'].flatMap((statement) => [
    ['select_1', { statement }],
    ['select', { statement, limit: 1 }],
    ['select', { statement, limit: ROWS }],
    ['point', { statement }],
    ['insert', { statement }],
  ]),
  ['do_1', {}], ['mixed', {}], ['insert_tx', { rows_tx: 1 }], ['insert_tx', { rows_tx: 7 }],
  ['update_point', {}], ['transfer', {}], ['drop_create', {}],
  ['connections', { connections: 1 }], ['connections', { connections: 5 }],
];
const EMPTY = ['insert', 'insert_tx', 'drop_create'];

/** A running subject. */
class Subject {
  constructor(program) {
    this.process = spawn(process.execPath, [program],
      { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, TZ: 'UTC' } });
    this.lines = createInterface(this.process.stdout)[Symbol.asyncIterator]();
  }

  async read() {
    const [sign, verb, ...words] = (await this.lines.next()).value.split(' ');
    assert.equal(sign, '@lab');
    const pairs = words.map((word) => word.split('='));
    return { verb, ...Object.fromEntries(pairs.map(([key, value]) => [key, decodeURIComponent(value)])) };
  }

  ask(command) {
    this.process.stdin.write(`${command}\n`);
    return this.read();
  }

  quit() {
    this.process.stdin.end('quit\n');
    return new Promise((resolve) => this.process.once('exit', resolve));
  }
}

async function fill(database, values) {
  for (const table of ['test_simple', 'test_mixed']) await database.query(`DROP TABLE IF EXISTS ${table}`);
  await database.query(database.table);
  await database.query(`CREATE TABLE test_mixed ${database.mixed}`);
  if (values.length > 0) {
    await database.query(`INSERT INTO test_simple (value) VALUES (${values.join('), (')})`);
  }
  const rows = mixed.map((row) => [row.id, row.small, row.big, amount(row.units),
    `'${row.name.replaceAll("'", "''")}'`, 'NULL', `'${moment(row.moment)}'`].join(', '));
  await database.query(`INSERT INTO test_mixed VALUES (${rows.join('), (')})`);
}

/** The values of test_simple after batches of so many operations each. */
function valuesAfter(name, parameters, batches) {
  const values = EMPTY.includes(name) ? [] : [...simple];
  for (const operations of batches) {
    for (const k of upTo(operations * (parameters.rows_tx ?? 1))) {
      if (name.startsWith('insert')) values.push(Number(s(k) >> 33n));
      if (name === 'update_point') values[index(k)] += amountAt(k);
      if (name === 'transfer') {
        values[index(k)] -= amountAt(k);
        values[Number((s(k) >> 32n) % BigInt(ROWS))] += amountAt(k);
      }
    }
  }
  return values;
}

for (const Database of DATABASES) {
  describe(Database.name, { skip: Database.lacks }, () => {
    const database = new Database();
    let subject;

    const open = (name, parameters) => Object.entries({
      case: name, seed: SEED, rows: ROWS, target: database.target, table: database.table,
      settings: database.settings, ...parameters,
    }).reduce((line, [key, value]) => `${line} ${key}=${encodeURIComponent(value).replace(/[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16)}`)}`, 'open');

    before(() => database.connect());
    after(() => database.close());

    beforeEach(async () => {
      subject = new Subject(database.program);
      const hello = await subject.read();
      assert.equal(hello.subject, 'node');
      assert.equal(Number(hello.thread), subject.process.pid);
    });

    afterEach(async () => assert.equal(await subject.quit(), 0));

    for (const [name, parameters] of POINTS) {
      if (name === 'do_1' && database.name !== 'mariadb') continue;

      test([name, ...Object.values(parameters)].join(' '), async () => {
        await fill(database, EMPTY.includes(name) ? [] : simple);
        const opened = await subject.ask(open(name, parameters));
        assert.equal(opened.verb, 'opened', opened.message);
        for (const [key, value] of Object.entries(database.expectedSettings)) {
          assert.equal(opened[key], value, key);
        }
        const expected = (operations) => CASES[name](operations, parameters).map(String);
        const batches = [1, 2, 60, 60];
        for (const operations of batches) { // every batch begins its inputs anew
          const ran = await subject.ask(`run operations=${operations}`);
          assert.deepEqual([ran.check, ran.units], expected(operations), ran.message);
          const counted = ran.latencies?.split(',').map((pair) => Number(pair.split(':')[1]));
          assert.equal(counted?.reduce((all, count) => all + count),
            name === 'connections' ? operations : undefined);
        }
        assert.equal((await subject.ask('close')).verb, 'closed');

        const rows = await database.query('SELECT id, value FROM test_simple ORDER BY id');
        assert.deepEqual(rows.map((row) => row.value), valuesAfter(name, parameters, batches));
      });
    }

    test('what fails is reported with the driver\'s words, leaves no transaction, and can be done again', async () => {
      for (const [name, parameters] of [['insert_tx', { rows_tx: 2 }], ['transfer', {}], ['point', { statement: 'prepared' }]]) {
        await fill(database, simple);
        await subject.ask(open(name, parameters));
        await database.query('DROP TABLE test_simple');
        const failed = await subject.ask('run operations=2');
        assert.equal(failed.code, 'failed');
        assert.match(failed.message, /test_simple/);
        await fill(database, simple); // would wait if a transaction was left open
        assert.equal((await subject.ask('close')).verb, 'closed');
        assert.equal((await subject.ask(open(name, parameters))).verb, 'opened');
        assert.equal((await subject.ask('run operations=2')).verb, 'ran');
        await subject.ask('close');
      }
    });

    for (const [code, name, parameters] of [
      ['usage', 'select', { statement: 'text' }],
      ['usage', 'select', { statement: 'text', limit: '1;' }],
      ['usage', 'point', { statement: 'text', rows: 0 }],
      ['usage', 'point', {}],
      ['unsupported', 'point', { statement: 'nonsense' }],
      ['unsupported', 'select_1', { statement: 'text', target: 'nonsense:x' }],
      ['unsupported', 'nonsense', {}],
    ]) {
      test(`${name} with ${JSON.stringify(parameters)} is refused as ${code}`, async () => {
        assert.equal((await subject.ask(open(name, parameters))).code, code);
      });
    }

    test('a database that is not there', async () => {
      const target = database.name === 'sqlite' ? `${database.target}.missing`
        : database.target.replace(/:\d+\//, ':1/');
      for (const name of ['connect', 'insert_tx']) {
        const { code, message } = await subject.ask(open(name, { rows_tx: 1, target }));
        assert.equal(code, 'failed');
        assert(message.length > 0);
      }
    });
  });
}
