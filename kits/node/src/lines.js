// SPDX-License-Identifier: Apache-2.0
// Reads and writes lines of the protocol, with percent-encoding.

import { Buffer } from 'node:buffer';

import { UsageError } from './errors.js';

/** The maximum length of a line in bytes, without its LF. */
export const LINE_MAX = 65_536;

const LF = 10;
const NOTHING = Buffer.alloc(0);
const ARGUMENT = /^([a-z][a-z0-9_]*)=((?:[A-Za-z0-9\-._~/:,+]|%[0-9A-Fa-f]{2})*)$/;
const NUMBER = /^[0-9]{1,20}$/;

/**
 * Yields each line without its LF, and null for a line that is too long.
 * @param {AsyncIterable<Buffer> | Iterable<Buffer>} chunks
 * @returns {AsyncGenerator<Buffer | null>}
 */
export async function* readLines(chunks) {
  let line = NOTHING;
  for await (let chunk of chunks) {
    for (let end; (end = chunk.indexOf(LF)) >= 0; chunk = chunk.subarray(end + 1)) {
      yield unlessTooLong(joined(line, chunk.subarray(0, end)));
      line = NOTHING;
    }
    line = joined(line, chunk);
  }
  if (line.length > 0) yield unlessTooLong(line); // the last line, which has no LF
}

/**
 * Concatenates two buffers, up to a length that shows that the line is too long.
 * @param {Buffer} line
 * @param {Buffer} more
 */
function joined(line, more) {
  return Buffer.concat([line, more.subarray(0, LINE_MAX + 1 - line.length)]);
}

/** @param {Buffer} line */
function unlessTooLong(line) {
  return line.length > LINE_MAX ? null : line;
}

/**
 * Splits a line into its verb and its arguments.
 * @param {Buffer | null} line
 * @returns {{ verb: string, values: Arguments }}
 * @throws {UsageError} if an argument is malformed
 */
export function parse(line) {
  if (line === null) throw new UsageError(`the line is longer than ${LINE_MAX} bytes`);
  const [verb, ...words] = line.toString().split(' ');
  return { verb, values: new Arguments(words) };
}

/** The arguments of a command. If a key is repeated, its first value is used. */
export class Arguments {
  /** @type {Map<string, string>} still encoded */
  #encoded = new Map();

  /** @param {string[]} words */
  constructor(words) {
    words.forEach((word, index) => {
      const match = ARGUMENT.exec(word);
      if (match === null) {
        throw new UsageError(`argument ${index + 1} is not key=value, percent-encoded`);
      }
      const [, key, value] = match;
      if (!this.#encoded.has(key)) this.#encoded.set(key, value);
    });
  }

  /** @param {string} key */
  has(key) {
    return this.#encoded.has(key);
  }

  /**
   * Returns the argument `key`.
   * @param {string} key
   * @returns {string}
   * @throws {UsageError} if the argument is missing or not UTF-8
   */
  text(key) {
    const value = this.#encoded.get(key);
    if (value === undefined) throw new UsageError(`the argument ${key} is missing`);
    try {
      return decodeURIComponent(value);
    } catch {
      throw new UsageError(`the argument ${key} is not UTF-8`);
    }
  }

  /**
   * Returns the argument `key`, a decimal integer from `least` to `most`.
   * @param {string} key
   * @param {bigint} least
   * @param {bigint} most
   * @returns {bigint}
   * @throws {UsageError} if the argument is missing or not such an integer
   */
  integer(key, least, most) {
    const text = this.text(key);
    const value = NUMBER.test(text) ? BigInt(text) : -1n;
    if (value < least || value > most) {
      throw new UsageError(`${key} is not a whole number from ${least} to ${most}`);
    }
    return value;
  }
}

/**
 * Returns a reply as a line with its LF. Null and undefined become an empty value.
 * @param {string} verb
 * @param {Record<string, unknown>} values
 */
export function reply(verb, values = {}) {
  const words = Object.entries(values).map(([key, value]) => ` ${key}=${encode(String(value ?? ''))}`);
  return `@lab ${verb}${words.join('')}\n`;
}

/** @param {string} text */
function encode(text) {
  const wellFormed = Buffer.from(text).toString(); // half of a surrogate pair has no UTF-8
  return encodeURIComponent(wellFormed)
    .replace(/%(?:2F|3A|2C|2B)/g, decodeURIComponent)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
