// SPDX-License-Identifier: Apache-2.0
/**
 * Other programs: {@link benchlab.appserver.process.Command} says what to start, runs it to its
 * end, or gives it as a {@link benchlab.appserver.process.RunningProcess}.
 */
package benchlab.appserver.process;
