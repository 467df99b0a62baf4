// SPDX-License-Identifier: Apache-2.0
/**
 * What each page of a server costs, and the queries within it: {@link
 * benchlab.appserver.monitor.Monitor} counts, {@link benchlab.appserver.monitor.MonitorFilter} is
 * for servlets, {@link benchlab.appserver.monitor.MonitoredDataSource} for JDBC.
 */
package benchlab.appserver.monitor;
