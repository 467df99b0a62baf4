// SPDX-License-Identifier: Apache-2.0
// What makes a call have its effect once.
package benchlab.appserver.retry;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.HexFormat;
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
    private final String fingerprint; // Null: the request is not named.
    private final IdempotencyTable.Statements statements;
    private final Function<? super T, String> write;
    private final Function<String, ? extends T> read;

    IdempotencyKey(
            IdempotencyTable table,
            String id,
            String fingerprint,
            Function<? super T, String> write,
            Function<String, ? extends T> read) {
        this.table = table;
        this.id = Objects.requireNonNull(id, "id");
        this.fingerprint = fingerprint;
        statements = table.statements(fingerprint != null);
        this.write = Objects.requireNonNull(write, "write");
        this.read = Objects.requireNonNull(read, "read");
    }

    /**
     * The key of a call with this request, such as the content of an HTTP request. A fingerprint of
     * it is kept with the key (SHA-256, as the Ada library has it). If the key came with another one
     * before, that is a {@link KeyReusedException}. Without it a key that is used again returns the
     * first result, whatever the call is.
     */
    public IdempotencyKey<T> request(byte[] request) {
        return new IdempotencyKey<>(table, id, sha256(request), write, read);
    }

    /** The key of a call with a request that is a text, in UTF-8: {@link #request(byte[])}. */
    public IdempotencyKey<T> request(String request) {
        return request(request.getBytes(StandardCharsets.UTF_8));
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
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
                connection.prepareStatement(statements.insert(connection.getMetaData()))) {
            statement.setString(1, id);
            if (fingerprint != null) {
                statement.setString(2, fingerprint);
            }
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

    /**
     * Null if the key is not there.
     *
     * @throws KeyReusedException if it is another request's
     */
    StoredResult find(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.select)) {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                checkRequest(row);
                return new StoredResult(row.getString(1));
            }
        }
    }

    /** A key without a fingerprint was put there by a call that did not name its request. */
    private void checkRequest(ResultSet row) throws SQLException {
        if (fingerprint == null) {
            return;
        }
        String stored = row.getString(2);
        if (stored != null && !stored.equals(fingerprint)) {
            throw new KeyReusedException(id);
        }
    }

    T result(StoredResult stored) {
        return stored.result == null ? null : read.apply(stored.result);
    }

    /** True if the database can {@link #keepAndCommit}. */
    boolean comesWithCommit(Connection connection) throws SQLException {
        return statements.insertAndCommit(connection.getMetaData()) != null;
    }

    /** Puts the key and the result there and commits, all or nothing, in one round trip. */
    void keepAndCommit(Connection connection, T result) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(statements.insertAndCommit(connection.getMetaData()))) {
            statement.setString(1, id);
            statement.setString(2, result == null ? null : write.apply(result));
            if (fingerprint != null) {
                statement.setString(3, fingerprint);
            }
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
