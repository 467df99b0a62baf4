// SPDX-License-Identifier: Apache-2.0
// A small shop whose requests and queries are counted.
package benchlab.appserver.monitor;

import benchlab.appserver.monitor.servlet.MonitorFilter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;
import javax.sql.DataSource;

final class WatchedExample {
    private final Monitor monitor = new Monitor();
    private final DataSource database;

    /** Serves the metrics of all requests and queries at /monitor to clients with the token. */
    final MonitorFilter filter;

    WatchedExample(DataSource pool, String token) {
        filter = new MonitorFilter(monitor, "shop", token);
        database = new MonitoredDataSource(pool, monitor);
    }

    /** Serves {@code GET /articles/{id}}. */
    final class Articles extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            try (var connection = database.getConnection();
                    var query =
                            connection.prepareStatement(
                                    "SELECT name FROM article WHERE id = ?")) {
                query.setString(1, request.getPathInfo().substring(1));
                try (var row = query.executeQuery()) {
                    if (row.next()) {
                        response.getWriter().print(row.getString(1));
                    } else {
                        response.sendError(HttpServletResponse.SC_NOT_FOUND);
                    }
                }
            } catch (SQLException e) {
                throw new IOException(e);
            }
        }
    }
}
