// SPDX-License-Identifier: Apache-2.0
// The subject's side of the protocol: reads commands, executes them, and writes one reply to each.

import process from 'node:process';

import { UnsupportedError, UsageError } from './errors.js';
import { parse, readLines, reply } from './lines.js';
import { Opening } from './opening.js';

/**
 * The result of a batch: the sum of all values it produced, the number of rows or bytes, the
 * latencies of a case with concurrent operations, and metrics of the experiment by name, finite and
 * less than 10^17.
 * @typedef {{
 *   check: bigint | number,
 *   units: number,
 *   latencies?: import('./latencies.js').Latencies,
 *   metrics?: Record<string, number>,
 * }} Work
 */

/**
 * An open case. `perform` does the given number of operations, from 1 to 2^53, in a loop. This is
 * the measured code. Every call starts with the first input. A case without `perform` is a server,
 * which runs until it is closed. `settings` contains the settings that the subject has read back,
 * for the reply; `close` releases the resources of the case.
 * @typedef {{
 *   perform?: (operations: number) => Work | Promise<Work>,
 *   close?: () => unknown,
 *   settings?: Record<string, unknown>,
 * }} OpenCase
 */

/**
 * Opens a case. If this throws, it must release its resources.
 * @typedef {(opening: Opening) => OpenCase | Promise<OpenCase>} Case
 */

const OPERATIONS_MAX = 2n ** 53n;
const MESSAGE_MAX = 1000;

/**
 * Sends hello and serves the cases, and the built-in case noop, until quit or the end of the input;
 * then the process exits. From this call on, standard output of the program is redirected to
 * standard error.
 * @param {string} subject
 * @param {string} library the driver or library under test with its version
 * @param {Record<string, Case>} cases
 */
export async function serve(subject, library, cases) {
  const output = process.stdout;
  Object.defineProperty(process, 'stdout', { value: process.stderr });
  /** @param {string} line @returns {Promise<unknown>} */
  const write = (line) => new Promise((written) => output.write(line, written));

  await write(hello(subject, library));
  const session = new Session(new Map(Object.entries({ ...cases, noop })));
  for await (const line of readLines(process.stdin)) {
    const answer = await session.answer(line);
    if (answer === null) break;
    await write(answer);
  }
  await session.end();
  process.exit(0); // even if a driver has left something running
}

/** @type {Case} */
function noop() {
  return { perform: (operations) => ({ check: operations, units: operations }) };
}

/** @param {string} subject @param {string} library */
function hello(subject, library) {
  return reply('hello', {
    protocol: 1,
    subject,
    thread: process.pid, // on Linux, this is also the ID of the main thread
    runtime: `Node.js ${process.versions.node}`,
    library,
  });
}

/** Executes commands on the open case, if there is one. */
class Session {
  #cases;

  /** @type {OpenCase | null} */
  #open = null;

  /** @param {Map<string, Case>} cases */
  constructor(cases) {
    this.#cases = cases;
  }

  /**
   * Returns the reply to a line, or null for `quit`.
   * @param {Buffer | null} line
   */
  async answer(line) {
    try {
      const { verb, values } = parse(line);
      switch (verb) {
        case 'open': return await this.#openCase(values);
        case 'verify': return await this.#verify(values);
        case 'run': return await this.#run(values);
        case 'close': return await this.#close();
        case 'quit': return null;
        default: throw new UsageError(`there is no command ${verb.slice(0, 40)}`);
      }
    } catch (error) {
      return failure(error);
    }
  }

  /** Closes the case if it is still open. */
  async end() {
    if (this.#open !== null) await this.#close();
  }

  /** @param {import('./lines.js').Arguments} values */
  async #openCase(values) {
    if (this.#open !== null) throw new UsageError('a case is already open');
    const name = values.text('case');
    const opening = new Opening(values);
    const open = this.#cases.get(name);
    if (open === undefined) throw new UnsupportedError(`there is no case ${name}`);
    this.#open = await open(opening);
    return reply('opened', this.#open.settings);
  }

  /** @param {import('./lines.js').Arguments} values */
  async #verify(values) {
    const perform = this.#performer();
    const operations = values.has('operations') ? operationsOf(values) : 1;
    const { check, units } = await perform(operations);
    return reply('verified', { check: checkOf(check), operations, units });
  }

  /** @param {import('./lines.js').Arguments} values */
  async #run(values) {
    const perform = this.#performer();
    const operations = operationsOf(values);
    const start = process.hrtime.bigint(); // on Linux, this is CLOCK_MONOTONIC
    const { check, units, latencies, metrics = {} } = await perform(operations);
    const end = process.hrtime.bigint();
    return reply('ran', {
      start, end, operations, units, check: checkOf(check), ...(latencies && { latencies }),
      ...Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, decimal(value)])),
    });
  }

  async #close() {
    const { close } = this.#opened();
    this.#open = null;
    await close?.();
    return reply('closed');
  }

  /** Returns the function that performs the open case's operations. */
  #performer() {
    const { perform } = this.#opened();
    if (perform === undefined) {
      throw new UnsupportedError('the case is a server and has no operations');
    }
    return perform;
  }

  #opened() {
    if (this.#open === null) throw new UsageError('no case is open');
    return this.#open;
  }
}

/** @param {import('./lines.js').Arguments} values */
function operationsOf(values) {
  return Number(values.integer('operations', 1n, OPERATIONS_MAX));
}

/** @param {bigint | number} check */
function checkOf(check) {
  return BigInt.asUintN(64, BigInt(check));
}

const PLAIN = new Intl.NumberFormat('en', { useGrouping: false, maximumFractionDigits: 20 });

/** Formats a number without an exponent. @param {number} value */
function decimal(value) {
  return PLAIN.format(value);
}

/** @param {any} error any thrown value */
function failure(error) {
  const code = error instanceof UsageError ? 'usage'
    : error instanceof UnsupportedError ? 'unsupported' : 'failed';
  if (code === 'failed') console.error(error);
  const message = error?.message || String(error);
  const state = error?.sqlState ?? error?.code; // drivers use either for the SQLSTATE
  return reply('error', {
    code, message: (state ? `${state}: ${message}` : message).slice(0, MESSAGE_MAX),
  });
}
