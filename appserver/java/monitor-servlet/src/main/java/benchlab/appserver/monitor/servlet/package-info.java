// SPDX-License-Identifier: Apache-2.0
/**
 * Request metrics of servlet containers: {@link
 * benchlab.appserver.monitor.servlet.MonitorFilter}.
 */
@NullMarked
package benchlab.appserver.monitor.servlet;

import org.jspecify.annotations.NullMarked;
