// SPDX-License-Identifier: Apache-2.0
/**
 * A bounded pool of resources that are expensive to create, such as connections: {@link
 * benchlab.appserver.pool.Pool}.
 */
@NullMarked
package benchlab.appserver.pool;

import org.jspecify.annotations.NullMarked;
