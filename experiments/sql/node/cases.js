// SPDX-License-Identifier: Apache-2.0
// Code shared by the subjects of all three databases: opening and closing a case with its connections, inputs
// from the seeded sequence, and the folding of values.

import { UnsupportedError } from 'benchlab-kit';

/** @typedef {import('benchlab-kit').Opening} Opening */

/**
 * A driver: finds the target of `open`, connects to it, reads the settings and disconnects.
 * @template Target, Connection
 * @typedef {{
 *   target: (opening: Opening) => Target,
 *   connect: (target: Target) => Connection | Promise<Connection>,
 *   settings: (connection: Connection, opening: Opening) => object | Promise<object>,
 *   close: (connection: Connection) => unknown,
 * }} Driver
 */

/** A case that uses one connection: `open` receives the connection, and returns the function that performs operations. */
export const withConnection = (driver, open) => (opening) =>
  opened(driver, opening, 1, ([connection]) => open(connection, opening));

/** A case that uses `connections` connections at the same time. */
export const withConnections = (driver, open) => (opening) =>
  opened(driver, opening, opening.integer('connections', 1, 2 ** 31 - 1),
    (connections) => open(connections, opening));

/**
 * A case that opens and closes connections itself; its settings are read over a separate connection that is opened
 * first.
 */
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

/** Returns the argument `target`, which must name the subject's database. */
export function targetOf(opening, scheme) {
  const target = opening.text('target');
  if (!target.startsWith(scheme)) throw new UnsupportedError(`the target must be ${scheme}…`);
  return target;
}

/** Returns true if statements are prepared, and false if they are sent as text. */
export function isPrepared(opening) {
  const statement = opening.text('statement');
  if (statement !== 'prepared' && statement !== 'text') {
    throw new UnsupportedError('expected statement=prepared or statement=text');
  }
  return statement === 'prepared';
}

/** Returns the argument `key`, a number of rows. */
export const count = (opening, key) => opening.integer(key, 1, 2 ** 31 - 1);

/** The number of inputs after which they repeat: operation k has the input `k % INPUTS`. */
export const INPUTS = 4096;

/** Returns the ids to select, from 1 to `rows`. */
export function ids(opening) {
  const rows = BigInt(count(opening, 'rows'));
  return opening.inputs.map((input) => Number(1n + input % rows));
}

/** Returns the values to write, from 0 to 2^31 - 1. */
export const values = (opening) => opening.inputs.map((input) => Number(input >> 33n));

/** Returns the amounts to move, from 1 to 100. */
export const amounts = (opening) => opening.inputs.map((input) => Number(1n + (input >> 20n) % 100n));

/** Returns the ids of the rows that the amounts are added to, from 1 to `rows`. */
export function payees(opening) {
  const rows = BigInt(count(opening, 'rows'));
  return opening.inputs.map((input) => Number(1n + (input >> 32n) % rows));
}

/** Converts a decimal with four decimals, such as -1.5000, to ten-thousandths, which are exact below 2^53. */
export const tenThousandths = (decimal) => Number(decimal.replace('.', ''));

/** Returns the sum of a text's Unicode code points. */
export function codePoints(text) {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at);
    if (code > 0xffff) at++; // it consists of two of JavaScript's 16-bit code units
    sum += code;
  }
  return sum;
}

/** Calls `work` for all items concurrently; if one fails, it still waits for the others. */
export async function allAtOnce(items, work) {
  const outcomes = await Promise.allSettled(items.map(work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
