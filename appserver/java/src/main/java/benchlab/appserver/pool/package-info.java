// SPDX-License-Identifier: Apache-2.0
/**
 * A bounded pool of resources that are costly to create, such as connections: {@link
 * benchlab.appserver.pool.Pool}.
 */
package benchlab.appserver.pool;
