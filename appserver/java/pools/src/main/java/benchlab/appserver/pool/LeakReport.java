// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.time.Duration;

/**
 * A lease that has been held for longer than {@link PoolOptions#leakThreshold}. It may be a leak, or
 * slow work: the lease continues.
 *
 * @param thread the name of the thread that took the lease
 * @param held the time since the thread took the lease
 * @param origin the stack trace of the call that took the lease; it was never thrown
 */
public record LeakReport(String thread, Duration held, Throwable origin) {}
