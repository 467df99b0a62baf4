// SPDX-License-Identifier: Apache-2.0
// SQL on MariaDB with mysql2: execute prepares a statement at its first execution, query sends a text that
// contains the values.

import { createRequire } from 'node:module';

import { Latencies, Sum, serve } from 'benchlab-kit';
import mysql from 'mysql2/promise';

import {
  INPUTS, allAtOnce, amounts, codePoints, count, ids, isPrepared, payees, targetOf, tenThousandths,
  values, withConnection, withConnections, withoutConnection,
} from '../cases.js';
import { ownPerform } from '../own.js';

const SELECT = 'SELECT id, value FROM test_simple ORDER BY id LIMIT';
const POINT = 'SELECT value FROM test_simple WHERE id = ?';
const MIXED = 'SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = ?';
const INSERT = 'INSERT INTO test_simple (value) VALUES (?)';
const SUBTRACT = 'UPDATE test_simple SET value = value - ? WHERE id = ?';
const ADD = 'UPDATE test_simple SET value = value + ? WHERE id = ?';

const driver = {
  target(opening) {
    const uri = new URL(targetOf(opening, 'mariadb:'));
    return {
      ...place(uri),
      user: decodeURIComponent(uri.username),
      password: decodeURIComponent(uri.password),
      database: decodeURIComponent(uri.pathname.slice(1)),
      timezone: 'Z', // of a Date; a datetime has no time zone
      supportBigNumbers: true, // a bigint above 2^53 is a string, to be exact
    };
  },
  async connect(target) {
    const connection = await mysql.createConnection(target);
    connection.on('error', console.error); // a connection that is lost while idle; its next statement fails
    return connection;
  },
  async settings(connection, opening) {
    const [[row]] = await connection.query(opening.text('settings'));
    return { ...row, statement_cache: connection.config.maxPreparedStatements };
  },
  close: (connection) => connection.end(),
};

function place(uri) {
  const socketPath = uri.searchParams.get('socket');
  return socketPath === null ? { host: uri.hostname, port: Number(uri.port || 3306) } : { socketPath };
}

/** Returns a function that executes a prepared statement with the values that are passed to the function. */
const prepared = (connection, sql) => (...values) => connection.execute(sql, values);

const statement = (connection, opening, sql) => (isPrepared(opening)
  ? prepared(connection, sql)
  : (...values) => connection.query(sql, values));

function connect(target) {
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const connection = await driver.connect(target);
      try {
        const [[row]] = await connection.query('SELECT 1');
        check.add(row[1]);
      } finally {
        await connection.end();
      }
    }
    return { check: check.value, units: operations };
  };
}

function select1(connection, opening) {
  const query = statement(connection, opening, 'SELECT 1');
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const [[row]] = await query();
      check.add(row[1]);
    }
    return { check: check.value, units: operations };
  };
}

function do1(connection) {
  return async (operations) => {
    for (let k = 0; k < operations; k++) await connection.query('DO 1');
    return { check: operations, units: operations };
  };
}

function select(connection, opening) {
  const query = statement(connection, opening, `${SELECT} ${count(opening, 'limit')}`);
  return async (operations) => {
    const check = new Sum();
    let units = 0;
    for (let k = 0; k < operations; k++) {
      const [rows] = await query();
      for (const row of rows) check.add(row.id + row.value);
      units += rows.length;
    }
    return { check: check.value, units };
  };
}

function point(connection, opening) {
  const id = ids(opening);
  const query = statement(connection, opening, POINT);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const [[row]] = await query(id[k % INPUTS]);
      check.add(row.value);
    }
    return { check: check.value, units: operations };
  };
}

function mixed(connection, opening) {
  const id = ids(opening);
  const query = prepared(connection, MIXED);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const [[row]] = await query(id[k % INPUTS]);
      check.add(row.id + row.small);
      check.addBig(BigInt(row.big));
      check.add(tenThousandths(row.amount)); // a decimal is a string, because a number cannot represent it exactly
      check.add(codePoints(row.name));
      check.add(row.nothing === null ? 1 : 0);
      check.add(row.moment.getTime());
    }
    return { check: check.value, units: operations };
  };
}

function insert(connection, opening) {
  const value = values(opening);
  const query = statement(connection, opening, INSERT);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      await query(value[k % INPUTS]);
      check.add(value[k % INPUTS]);
    }
    return { check: check.value, units: operations };
  };
}

async function transaction(connection, work) {
  await connection.beginTransaction();
  try {
    await work();
    await connection.commit();
  } catch (error) {
    await connection.rollback();
    throw error;
  }
}

function insertTx(connection, opening) {
  const value = values(opening);
  const rowsTx = count(opening, 'rows_tx');
  const query = prepared(connection, INSERT);
  return async (operations) => {
    const check = new Sum();
    for (let first = 0; first < operations * rowsTx; first += rowsTx) {
      await transaction(connection, async () => {
        for (let k = first; k < first + rowsTx; k++) {
          await query(value[k % INPUTS]);
          check.add(value[k % INPUTS]);
        }
      });
    }
    return { check: check.value, units: operations * rowsTx };
  };
}

function updatePoint(connection, opening) {
  const id = ids(opening);
  const amount = amounts(opening);
  const add = prepared(connection, ADD);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      await add(amount[k % INPUTS], id[k % INPUTS]);
      check.add(amount[k % INPUTS]);
    }
    return { check: check.value, units: operations };
  };
}

function transfer(connection, opening) {
  const from = ids(opening);
  const to = payees(opening);
  const amount = amounts(opening);
  const subtract = prepared(connection, SUBTRACT);
  const add = prepared(connection, ADD);
  return async (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const i = k % INPUTS;
      await transaction(connection, async () => {
        await subtract(amount[i], from[i]);
        await add(amount[i], to[i]);
      });
      check.add(amount[i]);
    }
    return { check: check.value, units: 2 * operations };
  };
}

function dropCreate(connection, opening) {
  const table = opening.text('table');
  return async (operations) => {
    for (let k = 0; k < operations; k++) {
      await connection.query('DROP TABLE test_simple');
      await connection.query(table);
    }
    return { check: operations, units: operations };
  };
}

async function manyConnections(connections, opening) {
  const id = ids(opening);
  const queries = connections.map((connection) => prepared(connection, POINT));
  for (const query of queries) await query(id[0]); // prepares the statement
  return async (operations) => {
    const check = new Sum();
    const latencies = new Latencies();
    await allAtOnce(queries, async (query, c) => {
      const stopwatch = latencies.start();
      for (let k = c; k < operations; k += queries.length) {
        const [[row]] = await query(id[k % INPUTS]);
        check.add(row.value);
        stopwatch.lap();
      }
    });
    return { check: check.value, units: operations, latencies };
  };
}

function own(connection, opening) {
  const query = async ({ text }, values) => {
    const [rows] = await connection.execute({ sql: text, values, rowsAsArray: true });
    return rows;
  };
  return ownPerform(opening, Number, query, (work) => transaction(connection, work));
}

const { version } = createRequire(import.meta.url)('mysql2/package.json');

serve('node', `mysql2 ${version}`, {
  connect: withoutConnection(driver, connect),
  select_1: withConnection(driver, select1),
  do_1: withConnection(driver, do1),
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
