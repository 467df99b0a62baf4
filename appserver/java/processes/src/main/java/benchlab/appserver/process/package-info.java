// SPDX-License-Identifier: Apache-2.0
/**
 * Runs other programs. {@link benchlab.appserver.process.Command} runs a program until it exits, or
 * starts it as a {@link benchlab.appserver.process.RunningProcess}.
 */
@NullMarked
package benchlab.appserver.process;

import org.jspecify.annotations.NullMarked;
