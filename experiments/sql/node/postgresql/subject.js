// SPDX-License-Identifier: Apache-2.0
// SQL on PostgreSQL with pg: a statement with a name is prepared at its first execution, a statement without
// a name is parsed every time.

import { createRequire } from 'node:module';

import { Latencies, Sum, serve } from 'benchlab-kit';
import pg from 'pg';

import {
  INPUTS, allAtOnce, amounts, codePoints, count, ids, isPrepared, payees, targetOf, tenThousandths,
  values, withConnection, withConnections, withoutConnection,
} from '../cases.js';
import { ownPerform } from '../own.js';

const SELECT = 'SELECT id, value FROM test_simple ORDER BY id LIMIT';
const POINT = 'SELECT value FROM test_simple WHERE id = $1';
const MIXED = 'SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = $1';
const INSERT = 'INSERT INTO test_simple (value) VALUES ($1)';
const SUBTRACT = 'UPDATE test_simple SET value = value - $1 WHERE id = $2';
const ADD = 'UPDATE test_simple SET value = value + $1 WHERE id = $2';

pg.types.setTypeParser(pg.types.builtins.INT8, BigInt); // by default it would be a string

const driver = {
  target: (opening) => targetOf(opening, 'postgresql:'),
  async connect(target) {
    const client = new pg.Client(target);
    client.on('error', console.error); // a connection that is lost while idle; its next query fails
    await client.connect();
    return client;
  },
  async settings(client, opening) {
    const { rows: [row] } = await client.query(opening.text('settings'));
    return { ...row, statement_cache: 0 }; // the driver has none
  },
  close: (client) => client.end(),
};

/** Returns a function that executes a prepared statement with the values that are passed to the function. */
const prepared = (client, name, text) => (...values) => client.query({ name, text, values });

const statement = (client, opening, name, text) => (isPrepared(opening)
  ? prepared(client, name, text)
  : (...values) => client.query(text, values));

function connect(target) {
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const client = await driver.connect(target);
      try {
        const { rows: [row] } = await client.query('SELECT 1');
        check.add(row['?column?']);
      } finally {
        await client.end();
      }
    }
    return { check: check.value, units: operations };
  };
}

function select1(client, opening) {
  const query = statement(client, opening, 'select_1', 'SELECT 1');
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const { rows: [row] } = await query();
      check.add(row['?column?']);
    }
    return { check: check.value, units: operations };
  };
}

function select(client, opening) {
  const query = statement(client, opening, 'select', `${SELECT} ${count(opening, 'limit')}`);
  return async (operations) => {
    const check = new Sum();
    let units = 0;
    for (let k = 0; k < operations; k++) {
      const { rows } = await query();
      for (const row of rows) check.add(row.id + row.value);
      units += rows.length;
    }
    return { check: check.value, units };
  };
}

function point(client, opening) {
  const id = ids(opening);
  const query = statement(client, opening, 'point', POINT);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const { rows: [row] } = await query(id[k % INPUTS]);
      check.add(row.value);
    }
    return { check: check.value, units: operations };
  };
}

function mixed(client, opening) {
  const id = ids(opening);
  const query = prepared(client, 'mixed', MIXED);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const { rows: [row] } = await query(id[k % INPUTS]);
      check.add(row.id + row.small);
      check.addBig(row.big);
      check.add(tenThousandths(row.amount)); // a numeric is a string, because a number cannot represent it exactly
      check.add(codePoints(row.name));
      check.add(row.nothing === null ? 1 : 0);
      check.add(row.moment.getTime());
    }
    return { check: check.value, units: operations };
  };
}

function insert(client, opening) {
  const value = values(opening);
  const query = statement(client, opening, 'insert', INSERT);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      await query(value[k % INPUTS]);
      check.add(value[k % INPUTS]);
    }
    return { check: check.value, units: operations };
  };
}

async function transaction(client, work) {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

function insertTx(client, opening) {
  const value = values(opening);
  const rowsTx = count(opening, 'rows_tx');
  const query = prepared(client, 'insert', INSERT);
  return async (operations) => {
    const check = new Sum();
    for (let first = 0; first < operations * rowsTx; first += rowsTx) {
      await transaction(client, async () => {
        for (let k = first; k < first + rowsTx; k++) {
          await query(value[k % INPUTS]);
          check.add(value[k % INPUTS]);
        }
      });
    }
    return { check: check.value, units: operations * rowsTx };
  };
}

function updatePoint(client, opening) {
  const id = ids(opening);
  const amount = amounts(opening);
  const add = prepared(client, 'add', ADD);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      await add(amount[k % INPUTS], id[k % INPUTS]);
      check.add(amount[k % INPUTS]);
    }
    return { check: check.value, units: operations };
  };
}

function transfer(client, opening) {
  const from = ids(opening);
  const to = payees(opening);
  const amount = amounts(opening);
  const subtract = prepared(client, 'subtract', SUBTRACT);
  const add = prepared(client, 'add', ADD);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const i = k % INPUTS;
      await transaction(client, async () => {
        await subtract(amount[i], from[i]);
        await add(amount[i], to[i]);
      });
      check.add(amount[i]);
    }
    return { check: check.value, units: 2 * operations };
  };
}

function dropCreate(client, opening) {
  const table = opening.text('table');
  return async (operations) => {
    for (let k = 0; k < operations; k++) {
      await client.query('DROP TABLE test_simple');
      await client.query(table);
    }
    return { check: operations, units: operations };
  };
}

async function manyConnections(clients, opening) {
  const id = ids(opening);
  const queries = clients.map((client) => prepared(client, 'point', POINT));
  for (const query of queries) await query(id[0]); // prepares the statement
  return async (operations) => {
    const check = new Sum();
    const latencies = new Latencies();
    await allAtOnce(queries, async (query, c) => {
      const stopwatch = latencies.start();
      for (let k = c; k < operations; k += queries.length) {
        const { rows: [row] } = await query(id[k % INPUTS]);
        check.add(row.value);
        stopwatch.lap();
      }
    });
    return { check: check.value, units: operations, latencies };
  };
}

function own(client, opening) {
  const query = async ({ text }, values, index) => {
    const { rows } = await client.query({ name: `own${index}`, text, values, rowMode: 'array' });
    return rows;
  };
  return ownPerform(opening, BigInt, query, (work) => transaction(client, work));
}

const { version } = createRequire(import.meta.url)('pg/package.json');

serve('node', `pg ${version}`, {
  connect: withoutConnection(driver, connect),
  select_1: withConnection(driver, select1),
  select: withConnection(driver, select),
  point: withConnection(driver, point),
  mixed: withConnection(driver, mixed),
  insert: withConnection(driver, insert),
  insert_tx: withConnection(driver, insertTx),
  update_point: withConnection(driver, updatePoint),
  transfer: withConnection(driver, transfer),
  drop_create: withConnection(driver, dropCreate),
  connections: withConnections(driver, manyConnections),
  own: withConnection(driver, own),
});
