// SPDX-License-Identifier: Apache-2.0
// Sums of results that are as fast as adding numbers.

/**
 * A sum modulo 2^64. Values are added as numbers as long as that is exact, below 2^53, and then
 * carried over to a BigInt.
 */
export class Sum {
  #carried = 0n;
  #recent = 0;

  /** @param {number} value a whole number from -2^53 + 1 to 2^53 - 1 */
  add(value) {
    const sum = this.#recent + value;
    if (sum <= Number.MAX_SAFE_INTEGER && sum >= Number.MIN_SAFE_INTEGER) {
      this.#recent = sum;
    } else {
      this.addBig(BigInt(this.#recent));
      this.#recent = value;
    }
  }

  /** @param {bigint} value */
  addBig(value) {
    this.#carried = BigInt.asUintN(64, this.#carried + value);
  }

  /** The sum, from 0 to 2^64 - 1. */
  get value() {
    // Added strings and fractions are detected here.
    if (!Number.isSafeInteger(this.#recent)) {
      throw new TypeError(`an added value is not a whole number: ${this.#recent}`);
    }
    return BigInt.asUintN(64, this.#carried + BigInt(this.#recent));
  }
}
