// SPDX-License-Identifier: Apache-2.0
// The case `own`: the user's own statements, with values to bind from a file (docs/protocol.md, The case `own`).

import { readFileSync } from 'node:fs';

import { Sum, UnsupportedError } from 'benchlab-kit';

import { codePoints } from './cases.js';

/** @typedef {import('benchlab-kit').Opening} Opening */

const float = new Float64Array(1);
const bits = new BigUint64Array(float.buffer);

/** The functions that add a value of each type to the check value. */
const FOLDS = {
  integer(sum, value) {
    if (typeof value === 'number') sum.add(value);
    else sum.addBig(BigInt(value)); // a BigInt, or a string of a number above 2^53
  },
  boolean: (sum, value) => sum.add(value ? 1 : 0),
  float(sum, value) {
    float[0] = Number(value);
    sum.addBig(bits[0]);
  },
  text: (sum, value) => sum.add(codePoints(value)),
  decimal: (sum, value) => sum.add(codePoints(value)),
  bytes: (sum, value) => sum.add(value.reduce((all, byte) => all + byte, 0)),
  date: (sum, value) => sum.add(value.getTime()),
  timestamp: (sum, value) => sum.add(value.getTime()),
};

/**
 * Reads the statements of `open`. Each has its text, the types of its parameters, and for each column a function that
 * adds a value to a sum; there are no columns if the statement returns no rows.
 * @param {Opening} opening
 */
export function ownStatements(opening) {
  const count = opening.integer('statements', 1, 100);
  return Array.from({ length: count }, (_, index) => ({
    text: opening.text(`sql${index + 1}`),
    parameters: words(opening, `parameters${index + 1}`),
    folds: words(opening, `columns${index + 1}`).map((type) => {
      if (!Object.hasOwn(FOLDS, type)) throw new UnsupportedError(`unknown type ${type}`);
      return FOLDS[type];
    }),
  }));
}

function words(opening, key) {
  const text = opening.text(key);
  return text === 'none' ? [] : text.split(',');
}

/** Returns true if the statements of an operation are one transaction. */
export const isTransaction = (opening) => opening.text('transaction') === 'yes';

/**
 * Reads the values of each statement, for each of the first operations.
 * @param {Opening} opening
 * @param {ReturnType<ownStatements>} statements
 * @param {(text: string) => number | bigint} integer how a whole number is bound
 */
export function ownInputs(opening, statements, integer) {
  if (statements.every(({ parameters }) => parameters.length === 0)) return [statements.map(() => [])];
  const bind = { integer, float: Number, text: String };
  const lines = readFileSync(opening.text('inputs'), 'utf8').replace(/\n$/, '').split('\n');
  return lines.map((line) => {
    const fields = line.split('\t');
    return statements.map(({ parameters }) => parameters.map((type) => bind[type](fields.shift())));
  });
}

/** Adds the rows of a statement, which are arrays, to the sum. */
export function addRows(sum, rows, folds) {
  for (const row of rows) {
    for (let c = 0; c < folds.length; c++) {
      if (row[c] === null) sum.add(1);
      else folds[c](sum, row[c]);
    }
  }
}

/**
 * Returns the function that performs operations with a server. `query` executes a statement with values, and returns
 * its rows as arrays; `transaction` calls a function in a transaction.
 */
export function ownPerform(opening, integer, query, transaction) {
  const statements = ownStatements(opening);
  const inputs = ownInputs(opening, statements, integer);
  const inTransaction = isTransaction(opening);
  return async (operations) => {
    const check = new Sum();
    let units = 0;
    const operate = async (values) => {
      for (let s = 0; s < statements.length; s++) {
        const { folds } = statements[s];
        const rows = await query(statements[s], values[s], s);
        if (folds.length === 0) {
          check.add(1);
          units += 1;
        } else {
          addRows(check, rows, folds);
          units += rows.length;
        }
      }
    };
    for (let k = 0; k < operations; k++) {
      const values = inputs[k % inputs.length];
      if (inTransaction) await transaction(() => operate(values));
      else await operate(values);
    }
    return { check: check.value, units };
  };
}
