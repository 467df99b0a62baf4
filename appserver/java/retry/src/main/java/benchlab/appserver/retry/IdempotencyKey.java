// SPDX-License-Identifier: Apache-2.0
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
import org.jspecify.annotations.Nullable;

/**
 * The idempotency key of one call, created by {@link IdempotencyTable#key}. Pass it to {@link
 * Retry#call(Policy, Transactions, IdempotencyKey, TransactionWork)} if {@link Transactions} begins
 * the transaction, and use {@link #once} otherwise.
 *
 * @param <T> the type of the result
 */
public final class IdempotencyKey<T extends @Nullable Object> {

    /** The error code ER_DUP_ENTRY, whose SQLSTATE also stands for other constraint violations. */
    private static final int MARIADB_DUPLICATE = 1062;

    private static final String UNIQUE_VIOLATION = "23505";

    private final IdempotencyTable table;
    private final String id;
    private final @Nullable String fingerprint; // Null if there is no request.
    private final IdempotencyTable.Statements statements;
    private final Function<? super T, String> write;
    private final Function<String, ? extends T> read;

    IdempotencyKey(
            IdempotencyTable table,
            String id,
            @Nullable String fingerprint,
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
     * Returns this key with the request of the call, such as the content of an HTTP request. A
     * fingerprint of the request is stored with the key (SHA-256, as in the Ada library). If the key
     * was used with another request before, the call throws a {@link KeyReusedException}. Without a
     * request, a key that is used again returns the first result, regardless of the call's work.
     *
     * @param request the request
     * @return the key
     */
    public IdempotencyKey<T> request(byte[] request) {
        return new IdempotencyKey<>(table, id, sha256(request), write, read);
    }

    /**
     * Returns this key with a text request in UTF-8. See {@link #request(byte[])}.
     *
     * @param request the request
     * @return the key
     */
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
     * Runs work unless a transaction with this key was already committed. The work must be the only
     * content of a transaction that a container or the caller has begun on this connection. In a
     * call whose policy is {@link Policy#repeatable}, a retry can then determine the outcome of an
     * earlier commit:
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
     * @param connection the connection of the transaction
     * @param work the work
     * @param <X> a checked exception of the work
     * @return the result of the work, from this run or from the first one
     * @throws SQLException if the database reports an error
     * @throws X if the work fails
     * @throws IllegalStateException if no transaction was begun: the key would be committed before
     *     the work, and failed work would count as done
     */
    public <X extends Exception> T once(Connection connection, TransactionWork<T, X> work)
            throws SQLException, X {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("an idempotency key requires a transaction, but autocommit is on");
        }
        boolean isTaken = take(connection);
        RetriedCall.noteKey(isTaken);
        if (!isTaken) {
            StoredResult stored = find(connection);
            if (stored == null) { // The snapshot is older, or the row was deleted in the meantime.
                throw new SQLTransactionRollbackException(
                        "another transaction has inserted the key", "40001");
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
     * Inserts the key unless it exists. Done before the work, so that a second call with the key
     * waits here for the first one to finish. The server may still be committing an attempt whose
     * connection was lost.
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

    /** The stored result of a key, as text; null if the work returned null. */
    record StoredResult(@Nullable String result) {}

    /**
     * Returns the stored result, or null if the key does not exist.
     *
     * @throws KeyReusedException if the key belongs to another request
     */
    @Nullable StoredResult find(Connection connection) throws SQLException {
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

    /**
     * Compares the fingerprint. A stored key without a fingerprint was inserted by a call without a
     * request.
     */
    private void checkRequest(ResultSet row) throws SQLException {
        if (fingerprint == null) {
            return;
        }
        String stored = row.getString(2);
        if (stored != null && !stored.equals(fingerprint)) {
            throw new KeyReusedException(id);
        }
    }

    @SuppressWarnings("NullAway") // If null is stored, the work has returned it, so T permits it.
    T result(StoredResult stored) {
        return stored.result == null ? null : read.apply(stored.result);
    }

    /** Returns true if the database supports {@link #keepAndCommit}. */
    boolean comesWithCommit(Connection connection) throws SQLException {
        return statements.insertAndCommit(connection.getMetaData()) != null;
    }

    /** Inserts the key and the result and commits, atomically, in one round trip. */
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

    private void keep(Connection connection, @Nullable String result) throws SQLException {
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
