// SPDX-License-Identifier: Apache-2.0
/**
 * A bounded pool of resources that are dear to make, such as connections: {@link
 * benchlab.appserver.pool.Pool}.
 */
package benchlab.appserver.pool;
