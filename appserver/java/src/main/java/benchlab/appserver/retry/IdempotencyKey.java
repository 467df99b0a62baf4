// SPDX-License-Identifier: Apache-2.0
// What makes a call have its effect once.
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.Objects;
import java.util.function.Function;

/** The key of one call, from {@link IdempotencyTable#key}. */
public final class IdempotencyKey<T> {

    /** Integrity constraint violation: of SQLSTATE, and SQLite's SQLITE_CONSTRAINT. */
    private static final String VIOLATION = "23";

    private static final int SQLITE_CONSTRAINT = 19;

    private final IdempotencyTable table;
    private final String id;
    private final Function<? super T, String> write;
    private final Function<String, ? extends T> read;

    IdempotencyKey(
            IdempotencyTable table,
            String id,
            Function<? super T, String> write,
            Function<String, ? extends T> read) {
        this.table = table;
        this.id = Objects.requireNonNull(id, "id");
        this.write = Objects.requireNonNull(write, "write");
        this.read = Objects.requireNonNull(read, "read");
    }

    /** The work's result: of now, or of the first time. */
    <X extends Exception> T once(Connection connection, TransactionWork<T, X> work)
            throws SQLException, X {
        try (PreparedStatement statement = connection.prepareStatement(table.select)) {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                if (row.next()) {
                    String text = row.getString(1);
                    return text == null ? null : read.apply(text);
                }
            }
        }
        take(connection);
        T result = work.run(connection);
        if (result != null) {
            keep(connection, write.apply(result));
        }
        return result;
    }

    /**
     * Before the work, so that a second call with the key waits here for the first one to end. The
     * server may still be at the commit of an attempt whose connection was lost.
     */
    private void take(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(table.insert)) {
            statement.setString(1, id);
            statement.executeUpdate();
            RetriedCall.noteKeyTaken();
        } catch (SQLException e) {
            if (isViolation(e)) {
                throw new SQLTransactionRollbackException(
                        "another transaction has put the key there", "40001", e);
            }
            throw e;
        }
    }

    private void keep(Connection connection, String result) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(table.update)) {
            statement.setString(1, result);
            statement.setString(2, id);
            statement.executeUpdate();
        }
    }

    private static boolean isViolation(SQLException error) {
        String state = error.getSQLState();
        return state == null
                ? (error.getErrorCode() & 0xFF) == SQLITE_CONSTRAINT
                : state.startsWith(VIOLATION);
    }
}
