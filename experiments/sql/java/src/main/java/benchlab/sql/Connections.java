// SPDX-License-Identifier: Apache-2.0
// connections: the operations of point, shared among n connections, each with its own thread.
package benchlab.sql;

import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Sequence;
import benchlab.kit.Workers;
import benchlab.kit.Workers.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class Connections implements Case {
    /**
     * The number of executions after which every driver has prepared a statement: pgjdbc prepares
     * it at the fifth execution, the other drivers at the first.
     */
    private static final int EXECUTIONS = 5;

    private final Database database;
    private final List<Connection> connections = new ArrayList<>();
    private final Workers workers;

    Connections(Database database, Sequence ids, int count) throws SQLException {
        this.database = database;
        var clients = new ArrayList<Worker>();
        try {
            for (int c = 0; c < count; c++) {
                Connection connection = database.connect();
                connections.add(connection);
                clients.add(client(connection.prepareStatement(Point.SQL), ids));
            }
        } catch (SQLException e) {
            closeAll();
            throw e;
        }
        workers = new Workers(clients);
    }

    private static Worker client(PreparedStatement statement, Sequence ids) throws SQLException {
        for (int k = 0; k < EXECUTIONS; k++) {
            Point.value(statement, ids.at(k));
        }
        return k -> Point.value(statement, ids.at(k));
    }

    @Override
    public Map<String, String> settings() throws SQLException {
        return database.settings(connections.get(0));
    }

    @Override
    public Result perform(long operations) throws Exception {
        return workers.perform(operations);
    }

    @Override
    public void close() throws Exception {
        workers.close();
        closeAll();
    }

    private void closeAll() throws SQLException {
        for (Connection connection : connections) {
            connection.close();
        }
    }
}
