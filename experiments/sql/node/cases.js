// SPDX-License-Identifier: Apache-2.0
// What the subjects of all three databases share: how a case is opened and closed around its
// connections, its inputs from the seeded sequence, and the folds of values.

import { UnsupportedError } from 'benchlab-kit';

/** @typedef {import('benchlab-kit').Opening} Opening */

/**
 * How a driver names the target of `open`, connects to it, reads settings back and disconnects.
 * @template Target, Connection
 * @typedef {{
 *   target: (opening: Opening) => Target,
 *   connect: (target: Target) => Connection | Promise<Connection>,
 *   settings: (connection: Connection, opening: Opening) => object | Promise<object>,
 *   close: (connection: Connection) => unknown,
 * }} Driver
 */

/** A case that measures with one connection: `open` gets it, and returns what performs operations. */
export const withConnection = (driver, open) => (opening) =>
  opened(driver, opening, 1, ([connection]) => open(connection, opening));

/** A case that measures with `connections` of them, all at once. */
export const withConnections = (driver, open) => (opening) =>
  opened(driver, opening, opening.integer('connections', 1, 2 ** 31 - 1),
    (connections) => open(connections, opening));

/** A case that opens and closes connections itself; its settings are those of one opened before. */
export const withoutConnection = (driver, open) => async (opening) => {
  const { settings, close } = await opened(driver, opening, 1, () => null);
  await close();
  return { settings, perform: open(driver.target(opening)) };
};

async function opened(driver, opening, count, open) {
  const target = driver.target(opening);
  const connections = [];
  const close = async () => {
    for (const connection of connections) await driver.close(connection);
  };
  try {
    while (connections.length < count) connections.push(await driver.connect(target));
    const perform = await open(connections);
    const settings = await driver.settings(connections[0], opening);
    return { settings, perform, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The argument `target`, of the database that the subject serves. */
export function targetOf(opening, scheme) {
  const target = opening.text('target');
  if (!target.startsWith(scheme)) throw new UnsupportedError(`the target is not ${scheme}…`);
  return target;
}

/** Whether statements are prepared, or sent as text. */
export function isPrepared(opening) {
  const statement = opening.text('statement');
  if (statement !== 'prepared' && statement !== 'text') {
    throw new UnsupportedError('statement is neither prepared nor text');
  }
  return statement === 'prepared';
}

/** The argument `key`, a number of rows. */
export const count = (opening, key) => opening.integer(key, 1, 2 ** 31 - 1);

/** Inputs repeat after so many: operation k has that of `k % INPUTS`. */
export const INPUTS = 4096;

/** The ids to look up, from 1 to `rows`. */
export function ids(opening) {
  const rows = BigInt(count(opening, 'rows'));
  return opening.inputs.map((input) => Number(1n + input % rows));
}

/** The values to write, from 0 to 2^31 - 1. */
export const values = (opening) => opening.inputs.map((input) => Number(input >> 33n));

/** The amounts to move, from 1 to 100. */
export const amounts = (opening) => opening.inputs.map((input) => Number(1n + (input >> 20n) % 100n));

/** The ids of the rows that they move to, from 1 to `rows`. */
export function payees(opening) {
  const rows = BigInt(count(opening, 'rows'));
  return opening.inputs.map((input) => Number(1n + (input >> 32n) % rows));
}

/** A decimal with four digits after its point, such as -1.5000, times 10,000: exact below 2^53. */
export const tenThousandths = (decimal) => Number(decimal.replace('.', ''));

/** The sum of a text's Unicode code points. */
export function codePoints(text) {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at);
    if (code > 0xffff) at++; // it takes two of JavaScript's units of 16 bits
    sum += code;
  }
  return sum;
}

/** Does `work` for every item at once; if one fails, the rest is waited for nevertheless. */
export async function allAtOnce(items, work) {
  const outcomes = await Promise.allSettled(items.map(work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
