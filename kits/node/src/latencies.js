// SPDX-License-Identifier: Apache-2.0
// The latencies of a case with concurrent operations (docs/protocol.md).

import { performance } from 'node:perf_hooks';

/** The number of buckets: one more than the bucket of the maximum 64-bit latency. */
const BUCKETS = 1920;

/**
 * Returns the bucket of a latency, whose width is at most 1/32 of the latency, in HdrHistogram's
 * layout with 64 sub-buckets.
 * @param {number} ns a whole number from 0 to 2^53 - 1
 */
export function bucket(ns) {
  if (ns < 64) return ns;
  const high = Math.floor(ns / 2 ** 32);
  const bits = high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(ns);
  const exponent = bits - 6;
  return exponent * 32 + Math.floor(ns / 2 ** exponent);
}

/**
 * A histogram. One instance serves all connections of an event loop, because they never run in
 * parallel.
 */
export class Latencies {
  #counts = new Float64Array(BUCKETS); // integers up to 2^53

  /** @param {number} ns a whole number from 0 to 2^53 - 1 */
  count(ns) {
    this.#counts[bucket(ns)] += 1;
  }

  /** Starts the first operation of a connection. */
  start() {
    return new Stopwatch(this);
  }

  /** The argument of the reply to `run`: `INDEX:COUNT,INDEX:COUNT,…`. */
  toString() {
    return [...this.#counts.entries()]
      .filter(([, count]) => count > 0)
      .map(([index, count]) => `${index}:${count}`)
      .join(',');
  }
}

/**
 * Reads the clock once for every operation: the end of an operation is the start of the next one.
 */
class Stopwatch {
  #latencies;
  #start = performance.now(); // CLOCK_MONOTONIC in ms, to the ns; unlike hrtime, no BigInt

  /** @param {Latencies} latencies */
  constructor(latencies) {
    this.#latencies = latencies;
  }

  /** Ends an operation. */
  lap() {
    const now = performance.now();
    this.#latencies.count(Math.round((now - this.#start) * 1e6));
    this.#start = now;
  }
}
