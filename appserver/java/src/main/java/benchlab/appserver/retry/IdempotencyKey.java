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

/**
 * The key of one call, from {@link IdempotencyTable#key}. {@link Retry#call(Policy, Transactions,
 * IdempotencyKey, TransactionWork)} takes it where {@link Transactions} makes the transaction, and
 * {@link #once} where something else does.
 */
public final class IdempotencyKey<T> {

    /** ER_DUP_ENTRY, whose SQLSTATE is that of other violations too. */
    private static final int MARIADB_DUPLICATE = 1062;

    private static final String UNIQUE_VIOLATION = "23505";

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

    /**
     * Runs work unless a transaction with this key was committed: its result, of now or of the
     * first time. It is all that the transaction does, which a container or the caller has begun on
     * this connection. In a call whose policy is {@link Policy#repeatable} a retry then finds out
     * what became of a commit:
     *
     * <pre>{@code
     * @Retried("repeatable")
     * @Transactional
     * public String pay(String request, long amount) throws SQLException {
     *     try (var connection = database.getConnection()) {
     *         return keys.key(request).once(connection, open -> payOn(open, amount));
     *     }
     * }
     * }</pre>
     *
     * @throws IllegalStateException if no transaction was begun: the key would be committed before
     *     the work, and work that fails then be taken for done
     */
    public <X extends Exception> T once(Connection connection, TransactionWork<T, X> work)
            throws SQLException, X {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("a key is taken in a transaction: autocommit is on");
        }
        boolean isTaken = take(connection);
        RetriedCall.noteKey(isTaken);
        if (!isTaken) {
            StoredResult stored = find(connection);
            if (stored == null) { // The snapshot is older, or the row was deleted meanwhile.
                throw new SQLTransactionRollbackException(
                        "another transaction has put the key there", "40001");
            }
            return result(stored);
        }
        T result = work.run(connection);
        if (result != null) {
            keep(connection, write.apply(result));
        }
        return result;
    }

    /**
     * Puts the key there, if it is not there yet. Before the work, so that a second call with the
     * key waits here for the first one to end. The server may still be at the commit of an attempt
     * whose connection was lost.
     */
    private boolean take(Connection connection) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(table.insert(connection.getMetaData()))) {
            statement.setString(1, id);
            return statement.executeUpdate() != 0;
        } catch (SQLException e) {
            if (isDuplicate(e)) {
                return false;
            }
            throw e;
        }
    }

    /** The result that is stored with a key, as text, or null. */
    record StoredResult(String result) {}

    /** Null if the key is not there. */
    StoredResult find(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(table.select)) {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new StoredResult(row.getString(1)) : null;
            }
        }
    }

    T result(StoredResult stored) {
        return stored.result == null ? null : read.apply(stored.result);
    }

    /** Whether the database can {@link #keepAndCommit}. */
    boolean comesWithCommit(Connection connection) throws SQLException {
        return table.insertAndCommit(connection.getMetaData()) != null;
    }

    /** Puts the key and the result there and commits, all or nothing, in one round trip. */
    void keepAndCommit(Connection connection, T result) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(table.insertAndCommit(connection.getMetaData()))) {
            statement.setString(1, id);
            statement.setString(2, result == null ? null : write.apply(result));
            statement.execute();
        }
    }

    private void keep(Connection connection, String result) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(table.update)) {
            statement.setString(1, result);
            statement.setString(2, id);
            statement.executeUpdate();
        }
    }

    private static boolean isDuplicate(SQLException error) {
        return error.getErrorCode() == MARIADB_DUPLICATE
                || UNIQUE_VIOLATION.equals(error.getSQLState());
    }
}
