// SPDX-License-Identifier: Apache-2.0
// Code shared by the database servers: the format of their targets, and the query for their settings.
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;

abstract class Server extends Database {
    private static final Set<String> SOCKETS = Set.of("host", "socket");

    private final String settings;

    /**
     * @param scheme the scheme of the target {@code SCHEME://USER:PASSWORD@HOST:PORT/DATABASE?NAME=VALUE}, and
     *     of the JDBC URL
     * @param options properties of the driver in addition to those in the target
     */
    Server(Driver driver, String scheme, Arguments arguments, Map<String, String> options)
            throws Refusal {
        this(driver, uri(scheme, arguments.text("target")), arguments.text("settings"), options);
    }

    private Server(Driver driver, URI target, String settings, Map<String, String> options)
            throws Refusal {
        super(driver, url(target), properties(target, options));
        this.settings = settings;
    }

    @Override
    public final Map<String, String> settings(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(settings)) {
            SqlCase.toRow(row);
            var values = new LinkedHashMap<String, String>();
            ResultSetMetaData columns = row.getMetaData();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                String value = row.getString(i);
                values.put(columns.getColumnLabel(i), value == null ? "" : value);
            }
            values.put("statement_cache", statementCache());
            return values;
        }
    }

    /** Returns the number of statements that the driver caches for each connection. */
    abstract String statementCache() throws SQLException;

    private static URI uri(String scheme, String target) throws Refusal {
        if (!target.startsWith(scheme + "://")) {
            throw Refusal.unsupported("the target must be " + scheme + "://...");
        }
        try {
            return URI.create(target);
        } catch (IllegalArgumentException e) {
            throw Refusal.usage("the target must be a URI");
        }
    }

    static String url(URI target) throws Refusal {
        if (parameters(target).keySet().stream().anyMatch(SOCKETS::contains)) {
            throw Refusal.unsupported("the driver does not support Unix sockets");
        }
        if (target.getHost() == null) {
            throw Refusal.usage("the target has no host");
        }
        String port = target.getPort() < 0 ? "" : ":" + target.getPort();
        return "jdbc:" + target.getScheme() + "://" + target.getHost() + port + target.getRawPath();
    }

    static Properties properties(URI target, Map<String, String> options) {
        var properties = new Properties();
        String[] user = Objects.requireNonNullElse(target.getRawUserInfo(), "").split(":", 2);
        properties.setProperty("user", decode(user[0]));
        if (user.length == 2) {
            properties.setProperty("password", decode(user[1]));
        }
        properties.putAll(parameters(target));
        properties.putAll(options);
        return properties;
    }

    private static Map<String, String> parameters(URI target) {
        var parameters = new LinkedHashMap<String, String>();
        if (target.getRawQuery() != null) {
            for (String pair : target.getRawQuery().split("&")) {
                String[] parts = pair.split("=", 2);
                parameters.put(parts[0], parts.length == 2 ? decode(parts[1]) : "");
            }
        }
        return parameters;
    }

    /** Decodes percent-encoding only: in a URI, unlike in a form, a plus sign stands for itself. */
    private static String decode(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
