// SPDX-License-Identifier: Apache-2.0
// The latency of every operation, for a case that does several at once (docs/protocol.md).

import { performance } from 'node:perf_hooks';

/** One more than the bucket of the longest latency that fits 64 bits. */
const BUCKETS = 1920;

/**
 * The bucket in which a latency counts: at most 1/32 as wide as the latency. That is HdrHistogram's
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

/** A histogram. One serves all connections of an event loop, for they take turns. */
export class Latencies {
  #counts = new Float64Array(BUCKETS); // whole numbers up to 2^53

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

/** Reads the clock once for every operation: the end of one is the start of the next. */
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
