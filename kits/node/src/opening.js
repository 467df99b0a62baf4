// SPDX-License-Identifier: Apache-2.0
// The arguments and inputs of a case.

/** The length of the seeded sequence, in values. */
const INPUTS = 4096;

const MASK = 2n ** 64n - 1n;

/**
 * Returns the first values of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), each from 0 to 2^64 -
 * 1.
 * @param {bigint} seed
 * @returns {bigint[]}
 */
export function seededSequence(seed, count = INPUTS) {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  });
}

/** One `open` command. */
export class Opening {
  #values;

  /** @param {import('./lines.js').Arguments} values */
  constructor(values) {
    this.#values = values;
    /** The first 4,096 values of the sequence for the command's seed. */
    this.inputs = seededSequence(values.integer('seed', 0n, MASK));
  }

  /**
   * Returns the argument `key`. Throws a UsageError if it is missing.
   * @param {string} key
   */
  text(key) {
    return this.#values.text(key);
  }

  /**
   * Returns the argument `key`. Throws a UsageError unless it is an integer from `least` to `most`,
   * which is at most 2^53 - 1.
   * @param {string} key
   * @param {number} least
   * @param {number} most
   */
  integer(key, least, most) {
    return Number(this.#values.integer(key, BigInt(least), BigInt(most)));
  }
}
