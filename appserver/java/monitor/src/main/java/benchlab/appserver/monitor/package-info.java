// SPDX-License-Identifier: Apache-2.0
/**
 * Request and query metrics (Prometheus, JSON, HTML). {@link benchlab.appserver.monitor.Monitor}
 * records them, and {@link benchlab.appserver.monitor.MonitoredDataSource} wraps JDBC. The artifact
 * {@code appserver-monitor-servlet} has a filter for servlet containers.
 */
@NullMarked
package benchlab.appserver.monitor;

import org.jspecify.annotations.NullMarked;
