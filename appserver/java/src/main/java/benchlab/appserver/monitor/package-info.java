// SPDX-License-Identifier: Apache-2.0
/**
 * Request and query metrics (Prometheus, JSON, HTML). {@link benchlab.appserver.monitor.Monitor}
 * records, {@link benchlab.appserver.monitor.MonitorFilter} is for servlets, and {@link
 * benchlab.appserver.monitor.MonitoredDataSource} is for JDBC.
 */
package benchlab.appserver.monitor;
