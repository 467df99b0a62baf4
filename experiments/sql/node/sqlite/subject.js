// SPDX-License-Identifier: Apache-2.0
// SQL on SQLite with better-sqlite3, which is synchronous: the work is done in this process.

import { createRequire } from 'node:module';

import { Latencies, Sum, serve } from 'benchlab-kit';
import Database from 'better-sqlite3';

import {
  INPUTS, amounts, codePoints, count, ids, isPrepared, payees, targetOf, values, withConnection,
  withConnections, withoutConnection,
} from '../cases.js';
import { addRows, isTransaction, ownInputs, ownStatements } from '../own.js';

const SELECT = 'SELECT id, value FROM test_simple ORDER BY id LIMIT';
const POINT = 'SELECT value FROM test_simple WHERE id = ?';
// NOTHING is a keyword of SQLite.
const MIXED = 'SELECT id, small, big, amount, name, "nothing", moment FROM test_mixed WHERE id = ?';
const INSERT = 'INSERT INTO test_simple (value) VALUES (?)';
const SUBTRACT = 'UPDATE test_simple SET value = value - ? WHERE id = ?';
const ADD = 'UPDATE test_simple SET value = value + ? WHERE id = ?';

const PRAGMAS = [
  'journal_mode', 'synchronous', 'encoding', 'page_size', 'cache_size', 'secure_delete'];

const driver = {
  target: (opening) => targetOf(opening, 'sqlite:').slice('sqlite:'.length),
  connect(path) {
    const db = new Database(path, { fileMustExist: true });
    db.pragma('cache_size = -2000'); // SQLite's default; the library in the package has a different one
    return db;
  },
  settings: (db) => ({
    ...db.prepare('SELECT sqlite_version() AS version, sqlite_source_id() AS source_id').get(),
    ...Object.fromEntries(PRAGMAS.map((name) => [name, db.pragma(name, { simple: true })])),
    threading: threading(db),
    statement_cache: 0, // the driver has none
    autocommit: db.inTransaction ? 0 : 1,
  }),
  close: (db) => db.close(),
};

/** Returns the mode that the library was built for: the driver sets no flags that would change it. */
function threading(db) {
  const find = db.prepare(`
    SELECT substr(compile_options, 12) FROM pragma_compile_options
    WHERE compile_options LIKE 'THREADSAFE=%'`);
  return { 0: 'single-thread', 1: 'serialized', 2: 'multi-thread' }[find.pluck().get()];
}

/**
 * Returns a function that returns the statement for each operation: always the same, or a new one each time.
 */
function statement(db, opening, sql) {
  if (!isPrepared(opening)) return () => db.prepare(sql);
  const prepared = db.prepare(sql);
  return () => prepared;
}

function connect(path) {
  return (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const db = driver.connect(path);
      try {
        check.add(db.prepare('SELECT 1').pluck().get());
      } finally {
        db.close();
      }
    }
    return { check: check.value, units: operations };
  };
}

function select1(db, opening) {
  const one = statement(db, opening, 'SELECT 1');
  return (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) check.add(one().get()[1]);
    return { check: check.value, units: operations };
  };
}

function select(db, opening) {
  const first = statement(db, opening, `${SELECT} ${count(opening, 'limit')}`);
  return (operations) => {
    const check = new Sum();
    let units = 0;
    for (let k = 0; k < operations; k++) {
      const rows = first().all();
      for (const row of rows) check.add(row.id + row.value);
      units += rows.length;
    }
    return { check: check.value, units };
  };
}

function point(db, opening) {
  const id = ids(opening);
  const byId = statement(db, opening, POINT);
  return (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) check.add(byId().get(id[k % INPUTS]).value);
    return { check: check.value, units: operations };
  };
}

function mixed(db, opening) {
  const id = ids(opening);
  const byId = db.prepare(MIXED).safeIntegers(); // a BigInt for every integer, because some are large
  return (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      const row = byId.get(id[k % INPUTS]);
      check.addBig(row.id + row.small + row.big);
      check.add(Math.round(row.amount * 10_000));
      check.add(codePoints(row.name));
      check.add(row.nothing === null ? 1 : 0);
      check.add(new Date(`${row.moment}Z`).getTime());
    }
    return { check: check.value, units: operations };
  };
}

function insert(db, opening) {
  const value = values(opening);
  const one = statement(db, opening, INSERT);
  return (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      one().run(value[k % INPUTS]);
      check.add(value[k % INPUTS]);
    }
    return { check: check.value, units: operations };
  };
}

function insertTx(db, opening) {
  const value = values(opening);
  const rowsTx = count(opening, 'rows_tx');
  const one = db.prepare(INSERT);
  return (operations) => {
    const check = new Sum();
    const insertFrom = db.transaction((first) => {
      for (let k = first; k < first + rowsTx; k++) {
        one.run(value[k % INPUTS]);
        check.add(value[k % INPUTS]);
      }
    });
    for (let first = 0; first < operations * rowsTx; first += rowsTx) insertFrom(first);
    return { check: check.value, units: operations * rowsTx };
  };
}

function updatePoint(db, opening) {
  const id = ids(opening);
  const amount = amounts(opening);
  const add = db.prepare(ADD);
  return (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      add.run(amount[k % INPUTS], id[k % INPUTS]);
      check.add(amount[k % INPUTS]);
    }
    return { check: check.value, units: operations };
  };
}

function transfer(db, opening) {
  const from = ids(opening);
  const to = payees(opening);
  const amount = amounts(opening);
  const subtract = db.prepare(SUBTRACT);
  const add = db.prepare(ADD);
  const move = db.transaction((i) => {
    subtract.run(amount[i], from[i]);
    add.run(amount[i], to[i]);
  });
  return (operations) => {
    const check = new Sum();
    for (let k = 0; k < operations; k++) {
      move(k % INPUTS);
      check.add(amount[k % INPUTS]);
    }
    return { check: check.value, units: 2 * operations };
  };
}

function dropCreate(db, opening) {
  const table = opening.text('table');
  return (operations) => {
    for (let k = 0; k < operations; k++) {
      db.exec('DROP TABLE test_simple');
      db.exec(table);
    }
    return { check: operations, units: operations };
  };
}

/** Opens the case `connections`. All calls are synchronous, so the connections take turns. */
function manyConnections(connections, opening) {
  const id = ids(opening);
  const points = connections.map((db) => db.prepare(POINT));
  return (operations) => {
    const check = new Sum();
    const latencies = new Latencies();
    const stopwatches = points.map(() => latencies.start());
    for (let k = 0; k < operations; k++) {
      const c = k % points.length;
      check.add(points[c].get(id[k % INPUTS]).value);
      stopwatches[c].lap();
    }
    return { check: check.value, units: operations, latencies };
  };
}

/**
 * Opens the case `own`. Whole numbers are bound and returned as BigInts, because the driver returns both integers and
 * reals as numbers.
 */
function own(db, opening) {
  const statements = ownStatements(opening).map(({ text, parameters, folds }) => {
    const prepared = db.prepare(text);
    return { parameters, folds, prepared: folds.length > 0 ? prepared.raw().safeIntegers() : prepared };
  });
  const inputs = ownInputs(opening, statements, BigInt);
  return (operations) => {
    const check = new Sum();
    let units = 0;
    const operate = (values) => {
      for (let s = 0; s < statements.length; s++) {
        const { prepared, folds } = statements[s];
        if (folds.length === 0) {
          prepared.run(values[s]);
          check.add(1);
          units += 1;
        } else {
          const rows = prepared.all(values[s]);
          addRows(check, rows, folds);
          units += rows.length;
        }
      }
    };
    const perform = isTransaction(opening) ? db.transaction(operate) : operate;
    for (let k = 0; k < operations; k++) perform(inputs[k % inputs.length]);
    return { check: check.value, units };
  };
}

const { version } = createRequire(import.meta.url)('better-sqlite3/package.json');
const sqlite = new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get();

serve('node', `better-sqlite3 ${version}, SQLite ${sqlite}`, {
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
