// SPDX-License-Identifier: Apache-2.0
/**
 * Request and query metrics (Prometheus, JSON, HTML): {@link benchlab.appserver.monitor.Monitor}
 * counts, {@link benchlab.appserver.monitor.MonitorFilter} is for servlets, {@link
 * benchlab.appserver.monitor.MonitoredDataSource} for JDBC.
 */
package benchlab.appserver.monitor;
