// SPDX-License-Identifier: Apache-2.0
// What a batch of operations produced.
package benchlab.kit;

/**
 * The outcome of {@link Case#perform(long)}, equal for every subject that did the same work.
 *
 * @param units what the operations produced, in the case's unit: rows, bytes
 * @param check the sum modulo 2<sup>64</sup> of every value they produced, as an unsigned number
 */
public record Result(long units, long check) {}
