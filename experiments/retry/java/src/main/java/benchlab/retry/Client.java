// SPDX-License-Identifier: Apache-2.0
// Makes calls over a connection of its own.
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

/** One thread uses it at a time. A connection that was lost is replaced when it is next wanted. */
final class Client implements Workers.Worker, AutoCloseable {

    private static final String EFFECT = "INSERT INTO effect VALUES (?, ?)";

    private final Variant variant;
    private final Database database;
    private final Call call;
    private final Sequence inputs;
    private final Transactions transactions = new Transactions(() -> LeasedConnection.of(this));
    private final List<Long> failed = new ArrayList<>();
    private Connection connection; // Null if it was lost.
    private long batch;

    /** Connects. */
    Client(Variant variant, Database database, Call call, Sequence inputs) throws SQLException {
        this.variant = variant;
        this.database = database;
        this.call = call;
        this.inputs = inputs;
        connection();
    }

    void begin(long batch) {
        this.batch = batch;
        failed.clear();
    }

    /** The calls of the batch that ended with a transient error. */
    List<Long> failed() {
        return failed;
    }

    @Override
    public long perform(long k) throws Exception {
        try {
            variant.call(this, batch, k);
        } catch (Exception failure) {
            if (TransientError.of(failure).isEmpty()) {
                throw failure;
            }
            failed.add(k);
        }
        return 1;
    }

    /** Its connection, in a transaction as soon as a statement is executed. */
    Connection connection() throws SQLException {
        if (connection == null) {
            Connection fresh = database.connect();
            try {
                // At least: those of SQLite are serializable.
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

    /** Its transactions where a library makes them. */
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

    /** Ends the transaction; a connection with which that cannot be done is given up. */
    void rollBack() throws SQLException {
        try {
            connection.rollback();
        } catch (SQLException e) {
            close();
            throw e;
        }
        if (connection.isClosed()) { // MariaDB's driver sends nothing outside of a transaction.
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
