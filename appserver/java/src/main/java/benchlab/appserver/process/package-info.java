// SPDX-License-Identifier: Apache-2.0
/**
 * Starts other programs: {@link benchlab.appserver.process.Command} runs a program to its end, or
 * starts it as a {@link benchlab.appserver.process.RunningProcess}.
 */
package benchlab.appserver.process;
