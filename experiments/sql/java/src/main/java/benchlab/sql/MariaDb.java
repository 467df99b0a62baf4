// SPDX-License-Identifier: Apache-2.0
// MariaDB with MariaDB Connector/J.
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import java.sql.SQLException;
import java.util.Map;
import org.mariadb.jdbc.Driver;
import org.mariadb.jdbc.util.VersionFactory;

/**
 * A MariaDB database. The driver prepares statements on the server only if a property enables this;
 * otherwise it inserts the parameters into the text.
 */
final class MariaDb extends Server {

    MariaDb(Arguments arguments, boolean prepared) throws Refusal {
        super(
                new Driver(),
                "mariadb",
                arguments,
                Map.of(
                        "sslMode", "disable",
                        "useServerPrepStmts", String.valueOf(prepared)));
    }

    static String library() {
        return "MariaDB Connector/J " + VersionFactory.getInstance().getVersion();
    }

    /** Returns the size of the cache of statements that are prepared on the server. */
    @Override
    String statementCache() throws SQLException {
        boolean isUsed =
                Boolean.parseBoolean(property("useServerPrepStmts"))
                        && Boolean.parseBoolean(property("cachePrepStmts"));
        return isUsed ? property("prepStmtCacheSize") : "0";
    }

    @Override
    boolean hasDo() {
        return true;
    }
}
