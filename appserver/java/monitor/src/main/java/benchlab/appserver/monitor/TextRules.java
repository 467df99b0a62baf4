// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a database for the texts of statements, where they differ from standard SQL.
 *
 * @param hasBackslashEscapes a backslash in a text literal escapes the next character. In E'…' it
 *     always does.
 * @param hasDoubleQuotedTexts "…" is a text literal, and not a name
 * @param hasHashComments # begins a comment that ends at the end of the line
 */
public record TextRules(
        boolean hasBackslashEscapes, boolean hasDoubleQuotedTexts, boolean hasHashComments) {

    /** The rules of standard SQL, SQLite and PostgreSQL. */
    public static final TextRules STANDARD = new TextRules(false, false, false);

    /** The rules of MariaDB and MySQL in their default SQL modes. */
    public static final TextRules MARIADB = new TextRules(true, true, true);

    /**
     * If backslashes are escapes, this is one text literal, which a driver does not translate.
     * Otherwise it is a literal, a function in JDBC's escape syntax, and another literal.
     */
    private static final String PROBE = "'\\' {fn now()} \\''";

    /**
     * Returns the rules of a connection, according to its metadata, its URL and its driver. Usually
     * sends nothing to the server. Therefore, the SQL modes {@code ANSI_QUOTES} and {@code
     * NO_BACKSLASH_ESCAPES} of MariaDB are known only if the URL contains them.
     *
     * @param connection the connection
     * @return the rules; {@link #STANDARD} if the driver does not name its database
     */
    public static TextRules of(Connection connection) {
        try {
            DatabaseMetaData data = connection.getMetaData();
            return data == null ? STANDARD : of(connection, data);
        } catch (SQLException e) {
            return STANDARD; // Statements of a failed connection report the error.
        }
    }

    private static TextRules of(Connection connection, DatabaseMetaData data)
            throws SQLException {
        String product = Objects.requireNonNullElse(data.getDatabaseProductName(), "");
        if (product.contains("MariaDB") || product.contains("MySQL")) {
            return ofMode(data.getURL());
        }
        boolean hasEscapes =
                product.equals("PostgreSQL") && connection.nativeSQL(PROBE).equals(PROBE);
        return new TextRules(hasEscapes, false, false);
    }

    private static TextRules ofMode(@Nullable String url) {
        String mode = url == null ? "" : url.toUpperCase(Locale.ROOT);
        return new TextRules(
                !mode.contains("NO_BACKSLASH_ESCAPES"), !mode.contains("ANSI_QUOTES"), true);
    }
}
