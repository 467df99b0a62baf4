// SPDX-License-Identifier: Apache-2.0
// PostgreSQL with pgjdbc.
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Map;
import org.postgresql.Driver;
import org.postgresql.util.DriverInfo;

/**
 * A PostgreSQL database. The driver prepares a statement on the server at its fifth execution, and
 * sends its text until then. In text mode it never prepares one (prepareThreshold=0), and does not
 * cache parsed statements.
 */
final class Postgresql extends Server {
    private static final Map<String, String> PREPARED = Map.of("sslmode", "disable");
    private static final Map<String, String> TEXT =
            Map.of(
                    "sslmode", "disable",
                    "prepareThreshold", "0",
                    "preparedStatementCacheQueries", "0");

    Postgresql(Arguments arguments, boolean prepared) throws Refusal {
        super(new Driver(), "postgresql", arguments, prepared ? PREPARED : TEXT);
    }

    static String library() {
        return "pgjdbc " + DriverInfo.DRIVER_VERSION;
    }

    /**
     * Leaves the type to the server. A string would have the type varchar, which the server does
     * not convert.
     */
    @Override
    void bindText(PreparedStatement statement, int parameter, String text) throws SQLException {
        statement.setObject(parameter, text, Types.OTHER);
    }

    @Override
    String statementCache() throws SQLException {
        return property("preparedStatementCacheQueries");
    }
}
