// SPDX-License-Identifier: Apache-2.0
package benchlab.retry;

import benchlab.appserver.retry.Transactions;
import benchlab.kit.Sequence;
import benchlab.kit.Workers;
import benchlab.sql.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes calls over its own connection. It is used by one thread at a time, and replaces a lost
 * connection on its next use.
 */
final class Client implements Workers.Worker, AutoCloseable {

    private static final String EFFECT = "INSERT INTO effect VALUES (?, ?)";

    private final Variant variant;
    private final Database database;
    private final Call call;
    private final Sequence inputs;
    private final Transactions transactions = new Transactions(() -> LeasedConnection.of(this));
    private final List<Long> failed = new ArrayList<>();
    private final HttpService service;
    private Connection connection; // Null if the connection was lost.
    private long batch;

    /** Creates a client and connects it. */
    Client(Variant variant, Database database, Call call, Sequence inputs) throws SQLException {
        this(variant, database, call, inputs, null);
        connection();
    }

    /**
     * Creates a client that calls a service or, if {@code service} is null, a database to which it
     * is not connected yet.
     */
    Client(Variant variant, Database database, Call call, Sequence inputs, HttpService service) {
        this.variant = variant;
        this.database = database;
        this.call = call;
        this.inputs = inputs;
        this.service = service;
    }

    /** Returns the service to which this client sends its calls; null if it makes them itself. */
    HttpService service() {
        return service;
    }

    void begin(long batch) {
        this.batch = batch;
        failed.clear();
    }

    /** Returns the calls of the batch that ended with a transient error, or were rejected. */
    List<Long> failed() {
        return failed;
    }

    @Override
    public long perform(long k) throws Exception {
        try {
            variant.call(this, batch, k);
        } catch (Exception failure) {
            if (TransientError.of(failure).isEmpty() && !Breakers.isRejection(failure)) {
                throw failure;
            }
            failed.add(k);
        }
        return 1;
    }

    /** Returns the connection. It is in a transaction as soon as a statement has been executed. */
    Connection connection() throws SQLException {
        if (connection == null) {
            Connection fresh = database.connect();
            try {
                // The minimum: SQLite's transactions are serializable.
                fresh.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                fresh.setAutoCommit(false);
            } catch (SQLException e) {
                fresh.close();
                throw e;
            }
            connection = fresh;
        }
        return connection;
    }

    /**
     * Returns the client's transactions, for variants in which a library begins and commits them.
     */
    Transactions transactions() {
        return transactions;
    }

    /** Does the work of call {@code k} of the batch in its transaction. */
    void work(Connection transaction, long k) throws SQLException {
        call.make(transaction, inputs.at(k));
        try (PreparedStatement statement = transaction.prepareStatement(EFFECT)) {
            statement.setLong(1, batch);
            statement.setLong(2, k);
            statement.executeUpdate();
        }
    }

    /** Rolls back the transaction, and drops the connection if that fails. */
    void rollBack() throws SQLException {
        try {
            connection.rollback();
        } catch (SQLException e) {
            close();
            throw e;
        }
        if (connection.isClosed()) { // Outside of a transaction, MariaDB's driver sends nothing.
            close();
        }
    }

    @Override
    public void close() throws SQLException {
        if (connection != null) {
            Connection closing = connection;
            connection = null;
            closing.close();
        }
    }
}
