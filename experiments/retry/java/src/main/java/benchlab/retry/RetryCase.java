// SPDX-License-Identifier: Apache-2.0
// Concurrent calls of one kind by multiple clients.
package benchlab.retry;

import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Sequence;
import benchlab.kit.Workers;
import benchlab.sql.Database;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class RetryCase implements Case {

    private final Variant variant;
    private final Database database;
    private final List<Client> clients = new ArrayList<>();
    private HttpService service; // Null unless calls are HTTP requests.
    private final Workers workers;
    private long batch;

    /**
     * Opens the case.
     *
     * @param variant the variant, which this case closes, even if the case cannot be opened
     * @param database the database
     * @param call the kind of call
     * @param inputs the inputs of the calls
     * @param count the number of clients
     * @param rate the number of calls that are due per second; if it is 0, a client makes its next
     *     call when the previous one has ended
     */
    RetryCase(
            Variant variant, Database database, Call call, Sequence inputs, int count, long rate)
            throws Exception {
        this.variant = variant;
        this.database = database;
        try {
            if (call == Call.HTTP) {
                service = new HttpService(database, call, inputs, count);
            }
            for (int c = 0; c < count; c++) {
                clients.add(
                        service == null
                                ? new Client(variant, database, call, inputs)
                                : new Client(variant, database, call, inputs, service));
            }
        } catch (SQLException | IOException e) {
            disconnect();
            throw e;
        }
        workers = new Workers(clients, rate);
    }

    /**
     * Reads the settings with the first client, in autocommit mode, which leaves no transaction
     * open.
     */
    @Override
    public Map<String, String> settings() throws SQLException {
        Connection connection = clients.get(0).connection();
        connection.setAutoCommit(true);
        Map<String, String> settings = database.settings(connection);
        connection.setAutoCommit(false);
        return settings;
    }

    @Override
    public Result perform(long operations) throws Exception {
        batch++;
        clients.forEach(client -> client.begin(batch));
        Statistics before = variant.statistics();
        Result result = workers.perform(operations);
        var failed = clients.stream().flatMap(client -> client.failed().stream()).toList();
        return variant.statistics().since(before).addTo(result).withFailed(failed);
    }

    @Override
    public void close() throws Exception {
        workers.close();
        disconnect();
    }

    private void disconnect() throws Exception {
        HttpService ending = service;
        try (variant; ending) { // The tables of the variant may be in use until the end.
            for (Client client : clients) {
                client.close();
            }
        }
    }
}
